//! JSON: the contract for programs.

use serde::Serialize;
use serde_json::Value;

use super::{LocatedFinding, ObjectRef, ReadProblem, RenderOptions, Report, Summary};
use crate::policy::API_VERSION;
use crate::rules::{Action, Severity};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonReport<'r> {
    api_version: &'static str,
    kind: &'static str,
    summary: Summary,
    findings: Vec<JsonFinding<'r>>,
    problems: Vec<JsonProblem<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previews: Option<Vec<JsonPreview<'r>>>,
}

#[derive(Serialize)]
struct JsonFinding<'r> {
    rule: &'r str,
    severity: Severity,
    /// Null where no policy has a say: what the API server itself would refuse.
    policy: Option<&'r str>,
    file: &'r str,
    document: usize,
    line: usize,
    column: usize,
    object: &'r ObjectRef,
    path: &'r str,
    action: Action,
    message: &'r str,
    help: &'r str,
    from: &'r Value,
    to: &'r Value,
}

#[derive(Serialize)]
struct JsonPreview<'r> {
    file: &'r str,
    object: &'r ObjectRef,
    diff: String,
}

#[derive(Serialize)]
struct JsonProblem<'r> {
    file: &'r str,
    /// Null where the file as a whole could not be read.
    document: Option<usize>,
    line: usize,
    column: usize,
    message: &'r str,
}

impl<'r> JsonProblem<'r> {
    fn of(problem: &'r ReadProblem) -> Self {
        Self {
            file: &problem.file,
            document: Some(problem.document).filter(|number| *number > 0),
            line: problem.line,
            column: problem.column,
            message: &problem.message,
        }
    }
}

impl<'r> JsonFinding<'r> {
    fn of(located: &'r LocatedFinding) -> Self {
        let finding = &located.finding;
        Self {
            rule: finding.rule,
            severity: finding.severity,
            policy: Some(finding.policy.as_str()).filter(|policy| !policy.is_empty()),
            file: &located.file,
            document: located.document,
            line: located.line,
            column: located.column,
            object: &located.object,
            path: &finding.path,
            action: finding.action,
            message: &finding.message,
            help: &finding.help,
            from: &finding.from,
            to: &finding.to,
        }
    }
}

fn report<'r>(report: &'r Report, options: &RenderOptions) -> JsonReport<'r> {
    let preview = |preview: &'r super::Preview| JsonPreview {
        file: &preview.file,
        object: &preview.object,
        diff: preview.diff(),
    };
    JsonReport {
        api_version: API_VERSION,
        kind: "Report",
        summary: report.summary,
        findings: report.findings.iter().map(JsonFinding::of).collect(),
        problems: report.problems.iter().map(JsonProblem::of).collect(),
        previews: options.fix_preview.then(|| report.previews.iter().map(preview).collect()),
    }
}

/// The report as one JSON value.
pub(super) fn value(of: &Report, options: &RenderOptions) -> Value {
    serde_json::to_value(report(of, options)).unwrap_or_default()
}

pub(super) fn render(of: &Report, options: &RenderOptions) -> String {
    serde_json::to_string_pretty(&report(of, options)).unwrap_or_default() + "\n"
}
