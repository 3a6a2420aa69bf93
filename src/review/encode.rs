//! Encodes the response of an AdmissionReview.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::patch::Operation;
use crate::rules::{Action, Finding, Severity};

/// Longest warning, in characters; the API server cuts longer ones when there are many.
const WARNING_CHARS: usize = 120;

/// What a response says, before it is bytes.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Message of a denial; `None` allows.
    pub denial: Option<String>,
    pub patch: Option<String>,
    pub warnings: Vec<String>,
    pub audit: AuditAnnotations,
}

/// Audit annotations; the API server puts the name of the webhook before the key.
#[derive(Debug, Default, Serialize)]
pub(super) struct AuditAnnotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exempt: Option<String>,
}

impl AuditAnnotations {
    fn is_empty(&self) -> bool {
        self.patch.is_none() && self.findings.is_none() && self.exempt.is_none()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "AuditAnnotations::is_empty")]
    audit_annotations: &'a AuditAnnotations,
}

#[derive(Serialize)]
struct Status<'a> {
    status: &'static str,
    code: u16,
    reason: &'static str,
    message: &'a str,
}

/// The response body.
pub(super) fn encode(uid: &str, answer: &Answer) -> serde_json::Result<Vec<u8>> {
    let denied = |message| Status { status: "Failure", code: 403, reason: "Forbidden", message };
    let review = Review {
        api_version: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: Response {
            uid,
            allowed: answer.denial.is_none(),
            status: answer.denial.as_deref().map(denied),
            patch_type: answer.patch.as_ref().map(|_| "JSONPatch"),
            patch: answer.patch.as_ref().map(|patch| STANDARD.encode(patch)),
            warnings: &answer.warnings,
            audit_annotations: &answer.audit,
        },
    };
    serde_json::to_vec(&review)
}

/// The patch as JSON text; `None` when there is nothing to do, since even an empty patch costs the API server.
pub(super) fn patch_text(operations: &[Operation<'_>]) -> serde_json::Result<Option<String>> {
    if operations.is_empty() { Ok(None) } else { serde_json::to_string(operations).map(Some) }
}

/// What the client is to read: advice, and what is changed against what was written.
pub(super) fn warnings(findings: &[Finding]) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for finding in findings {
        let against_the_user = finding.action == Action::Change && finding.severity == Severity::Error;
        if finding.action == Action::Advise || against_the_user {
            let text = clip(&format!("{}: {}", finding.rule, finding.message));
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
    }
    warnings
}

/// One line of at most [`WARNING_CHARS`] characters without control characters.
pub(super) fn clip(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    if text.chars().count() <= WARNING_CHARS {
        return clean.collect();
    }
    clean.take(WARNING_CHARS - 1).chain(['…']).collect()
}

/// The message of a denial: every reason, and the ways out.
pub(super) fn denial(findings: &[Finding]) -> String {
    let denials: Vec<&Finding> = findings.iter().filter(|finding| finding.action == Action::Deny).collect();
    let mut parts: Vec<String> =
        denials.iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect();
    let mut helps: Vec<&str> = denials.iter().map(|finding| finding.help.as_str()).collect();
    helps.dedup();
    parts.push(format!("Ways out: {}.", helps.join("; ")));
    parts.join(". ")
}

#[derive(Serialize)]
struct AuditFinding<'a> {
    rule: &'a str,
    mode: &'a str,
    message: &'a str,
}

/// The findings as the audit annotation holds them.
pub(super) fn findings_text(findings: &[Finding]) -> serde_json::Result<Option<String>> {
    if findings.is_empty() {
        return Ok(None);
    }
    let short = findings.iter().map(|finding| AuditFinding {
        rule: finding.rule,
        mode: finding.mode.as_str(),
        message: &finding.message,
    });
    serde_json::to_string(&short.collect::<Vec<_>>()).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_one_short_line() {
        assert_eq!(clip("a\nb"), "a b");
        let long = "ä".repeat(200);
        assert_eq!(clip(&long).chars().count(), WARNING_CHARS);
        assert_eq!(clip(&"x".repeat(WARNING_CHARS)), "x".repeat(WARNING_CHARS));
    }
}
