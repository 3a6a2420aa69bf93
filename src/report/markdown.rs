//! Markdown for a comment on a pull request.

use std::fmt::Write as _;

use super::{LocatedFinding, RenderOptions, Report};
use crate::rules::Severity;

pub(super) fn render(report: &Report, options: &RenderOptions) -> String {
    let mut text = format!("### sundown\n\n{}\n", report.summary.line());
    for (severity, title) in
        [(Severity::Error, "Errors"), (Severity::Warning, "Warnings"), (Severity::Info, "Infos")]
    {
        let of_severity = report.findings.iter().filter(|located| located.finding.severity == severity);
        table(&mut text, title, &of_severity.collect::<Vec<_>>());
    }
    if !report.problems.is_empty() {
        text.push_str("\n#### Unreadable\n\n| place | what is wrong |\n|---|---|\n");
        for problem in &report.problems {
            let place = format!("{}:{}:{}", problem.file, problem.line, problem.column);
            let _ = writeln!(text, "| {} | {} |", cell(&place), cell(&problem.message));
        }
    }
    if options.fix_preview {
        for preview in &report.previews {
            let name = cell(&preview.object.path());
            // A fence longer than any run of backticks inside.
            let _ = write!(
                text,
                "\n<details><summary>{name} as admitted</summary>\n\n``````diff\n{}``````\n\n</details>\n",
                preview.diff().replace("``````", "`````")
            );
        }
    }
    for remark in report.remarks() {
        let _ = write!(text, "\n_{}_\n", cell(&remark));
    }
    text
}

fn table(text: &mut String, title: &str, findings: &[&LocatedFinding]) {
    if findings.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n#### {title}\n\n| object | rule | what | how to mend it | place |\n|---|---|---|---|---|\n"
    );
    for located in findings {
        let finding = &located.finding;
        let place = format!("{}:{}:{}", located.file, located.line, located.column);
        let cells = [&located.object.path(), finding.rule, &finding.message, &finding.help, &place].map(cell);
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

/// Text that stays in its cell and is no markup: neither Markdown nor HTML.
fn cell(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
