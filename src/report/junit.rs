//! JUnit XML, as CI systems read it: one suite for each file, one case for each object in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{LocatedFinding, Report};
use crate::rules::Severity;

/// What is in the report of one file.
#[derive(Default)]
struct Suite<'r> {
    /// By object, in the order of names.
    objects: BTreeMap<String, Vec<&'r LocatedFinding>>,
    problems: Vec<String>,
}

impl Suite<'_> {
    fn failures(&self) -> usize {
        let fails =
            |findings: &&Vec<&LocatedFinding>| findings.iter().any(|f| f.finding.severity == Severity::Error);
        self.objects.values().filter(fails).count()
    }

    fn tests(&self) -> usize {
        self.objects.len() + self.problems.len()
    }
}

pub(super) fn render(report: &Report) -> String {
    let mut suites: BTreeMap<&str, Suite<'_>> = BTreeMap::new();
    for located in &report.findings {
        let suite = suites.entry(&located.file).or_default();
        suite.objects.entry(located.object.path()).or_default().push(located);
    }
    for problem in &report.problems {
        let suite = suites.entry(&problem.file).or_default();
        suite.problems.push(format!("line {}: {}", problem.line, problem.message));
    }
    let tests: usize = suites.values().map(Suite::tests).sum();
    let failures: usize = suites.values().map(Suite::failures).sum();
    let errors = report.problems.len();
    // Objects without a finding are not known by name: together they are one case that passes.
    let silent = report.summary.objects > 0;
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sundown\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">\n",
        tests + usize::from(silent)
    );
    if silent {
        let _ = writeln!(
            text,
            "  <testsuite name=\"sundown check\" tests=\"1\" failures=\"0\" errors=\"0\">\n    <testcase name=\"{} read\" classname=\"sundown\"/>\n  </testsuite>",
            super::count(report.summary.objects, "object")
        );
    }
    for (file, suite) in &suites {
        one(&mut text, file, suite);
    }
    text.push_str("</testsuites>\n");
    text
}

fn one(text: &mut String, file: &str, suite: &Suite<'_>) {
    let (tests, failures, errors) = (suite.tests(), suite.failures(), suite.problems.len());
    let file = escape(file);
    let _ = writeln!(
        text,
        "  <testsuite name=\"{file}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
    );
    for (object, findings) in &suite.objects {
        let _ = writeln!(text, "    <testcase name=\"{}\" classname=\"{file}\">", escape(object));
        let (errors, others): (Vec<&LocatedFinding>, Vec<&LocatedFinding>) =
            findings.iter().partition(|located| located.finding.severity == Severity::Error);
        if let Some(first) = errors.first() {
            let _ = writeln!(
                text,
                "      <failure type=\"{}\" message=\"{}\">{}</failure>",
                first.finding.rule,
                escape(&first.finding.message),
                escape(&lines(&errors))
            );
        }
        if !others.is_empty() {
            let _ = writeln!(text, "      <system-out>{}</system-out>", escape(&lines(&others)));
        }
        text.push_str("    </testcase>\n");
    }
    for problem in &suite.problems {
        let problem = escape(problem);
        let _ = writeln!(
            text,
            "    <testcase name=\"readable\" classname=\"{file}\">\n      <error type=\"unreadable\" message=\"{problem}\"/>\n    </testcase>"
        );
    }
    text.push_str("  </testsuite>\n");
}

fn lines(findings: &[&LocatedFinding]) -> String {
    let line = |located: &&LocatedFinding| {
        let finding = &located.finding;
        let severity = finding.severity.as_str();
        format!(
            "{}:{}:{}: {severity}[{}]: {} {}",
            located.file, located.line, located.column, finding.rule, finding.message, finding.help
        )
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Escapes text for XML; what XML 1.0 cannot hold becomes the replacement character.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
