//! Text for people.

use std::fmt::Write as _;

use super::{LocatedFinding, RenderOptions, Report, printable};
use crate::rules::Severity;

/// ANSI codes, or none.
struct Paint(bool);

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn severity(&self, severity: Severity) -> String {
        let code = match severity {
            Severity::Error => "31;1",
            Severity::Warning => "33;1",
            Severity::Info => "36;1",
        };
        self.with(code, severity.as_str())
    }
}

pub(super) fn render(report: &Report, options: &RenderOptions) -> String {
    let paint = Paint(options.color);
    let mut text = String::new();
    let mut heading = String::new();
    for finding in &report.findings {
        let of_object = format!("{} ({})", printable(&finding.object.path()), printable(&finding.file));
        if of_object != heading {
            let _ = writeln!(text, "{}", paint.with("1", &of_object));
            heading = of_object;
        }
        one(&mut text, finding, &paint);
    }
    for problem in &report.problems {
        let place = format!("{}:{}:{}", printable(&problem.file), problem.line, problem.column);
        let _ =
            writeln!(text, "{place}: {}: {}", paint.with("31;1", "unreadable"), printable(&problem.message));
    }
    if options.fix_preview {
        for preview in &report.previews {
            let _ = write!(text, "\n{}", printable(&preview.diff()));
        }
    }
    let _ = writeln!(text, "{}", report.summary.line());
    for remark in report.remarks() {
        let _ = writeln!(text, "note: {}", printable(&remark));
    }
    text
}

fn one(text: &mut String, located: &LocatedFinding, paint: &Paint) {
    let finding = &located.finding;
    let place = format!("{}:{}:{}", printable(&located.file), located.line, located.column);
    let severity = paint.severity(finding.severity);
    let _ = writeln!(text, "  {place}: {severity}[{}]: {}", finding.rule, printable(&finding.message));
    if finding.to.is_number() {
        let _ = writeln!(text, "    {}: {} -> {}", finding.path, finding.from, finding.to);
    }
    if !finding.help.is_empty() {
        let _ = writeln!(text, "    help: {}", printable(&finding.help));
    }
}
