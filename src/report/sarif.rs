//! SARIF 2.1.0, for code scanning.

use std::path::{Component, Path};

use serde_json::{Value, json};

use super::{LocatedFinding, ReadProblem, Report};
use crate::manifest::INVALID_OBJECT;
use crate::policy::RuleKind;
use crate::rules::{REGISTRY, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(report: &Report) -> String {
    let mut ids: Vec<&str> = report.findings.iter().map(|located| located.finding.rule).collect();
    ids.sort_unstable();
    ids.dedup();
    let results: Vec<Value> = report.findings.iter().map(|located| result(located, &ids)).collect();
    let notifications: Vec<Value> = report.problems.iter().map(notification).collect();
    let sarif = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "sundown",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": ids.iter().map(|id| descriptor(id)).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": report.problems.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&sarif).unwrap_or_default() + "\n"
}

fn descriptor(id: &str) -> Value {
    let (summary, why, level) = match REGISTRY.iter().find(|rule| rule.id == id) {
        Some(rule) => (rule.summary, rule.why, if rule.kind == RuleKind::Core { "error" } else { "warning" }),
        None if id == INVALID_OBJECT => (
            "Reports what the API server would refuse.",
            "An object that the API server refuses never runs; keys that are written twice are read as the last one.",
            "error",
        ),
        None => ("", "", "warning"),
    };
    json!({
        "id": id,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": why},
        "defaultConfiguration": {"level": level},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(located: &LocatedFinding, ids: &[&str]) -> Value {
    let finding = &located.finding;
    let object = located.object.path();
    let message = match finding.help.as_str() {
        "" => finding.message.clone(),
        help => format!("{} ({help})", finding.message),
    };
    json!({
        "ruleId": finding.rule,
        "ruleIndex": ids.iter().position(|id| *id == finding.rule),
        "level": level(finding.severity),
        "message": {"text": message},
        "locations": [{
            "physicalLocation": place(&located.file, located.line, located.column),
            "logicalLocations": [{"fullyQualifiedName": object, "kind": "object"}],
        }],
        // Stays the same when lines move.
        "partialFingerprints": {
            "sundown/v1": format!("{}:{}:{object}:{}", finding.rule, located.file, finding.path),
        },
    })
}

fn notification(problem: &ReadProblem) -> Value {
    json!({
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": place(&problem.file, problem.line, problem.column)}],
    })
}

fn place(file: &str, line: usize, column: usize) -> Value {
    json!({
        "artifactLocation": {"uri": uri(file)},
        "region": {"startLine": line.max(1), "startColumn": column.max(1)},
    })
}

/// A path as a URI reference: `/` between parts, everything else but unreserved characters in percent.
fn uri(file: &str) -> String {
    let encode = |part: &str| -> String {
        part.bytes()
            .map(|byte| match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                other => format!("%{other:02X}"),
            })
            .collect()
    };
    let parts = Path::new(file).components().filter_map(|component| match component {
        Component::CurDir => None,
        Component::RootDir => Some(String::new()),
        other => Some(encode(&other.as_os_str().to_string_lossy())),
    });
    let path = parts.collect::<Vec<_>>().join("/");
    if path.starts_with('/') { format!("file://{path}") } else { path }
}
