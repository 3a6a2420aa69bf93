//! Workflow commands of GitHub Actions, which become annotations of a pull request.

use std::fmt::Write as _;

use super::Report;
use crate::rules::Severity;

pub(super) fn render(report: &Report) -> String {
    let mut text = String::new();
    for located in &report.findings {
        let finding = &located.finding;
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let message = match finding.help.as_str() {
            "" => finding.message.clone(),
            help => format!("{}\n{help}", finding.message),
        };
        line(&mut text, command, &located.file, located.line, located.column, finding.rule, &message);
    }
    for problem in &report.problems {
        line(&mut text, "error", &problem.file, problem.line, problem.column, "unreadable", &problem.message);
    }
    text
}

fn line(
    text: &mut String,
    command: &str,
    file: &str,
    line: usize,
    column: usize,
    title: &str,
    message: &str,
) {
    let (file, title, message) = (property(file), property(title), data(message));
    let _ =
        writeln!(text, "::{command} file={file},line={line},col={column},title=sundown {title}::{message}");
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
