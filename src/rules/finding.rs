//! What a rule says: a finding, and the edit it wants.

use serde_json::Value;

pub use crate::policy::Mode;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing to do.
    Info,
    /// Advice, a default that is filled in, or seconds equal to the cluster's default.
    Warning,
    /// Would be denied, or is changed against what was written.
    Error,
}

impl Severity {
    /// The word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What sundown does about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The object is changed at admission.
    Change,
    /// The object is refused at admission.
    Deny,
    /// The user is told; nothing is changed.
    Advise,
    /// Nothing happens: audit mode, or information only.
    None,
}

impl Action {
    /// The word used in reports and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Deny => "deny",
            Self::Advise => "advise",
            Self::None => "none",
        }
    }
}

/// What a finding leads to in a namespace that enforces, whatever this one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// The user is told.
    Inform,
    /// The pod is changed.
    Change,
    /// The object is refused.
    Deny,
}

/// One thing that one rule has to say about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Stable kebab-case id of the rule.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The mode this finding acts in: the weaker of the rule's and the namespace's.
    pub mode: Mode,
    /// What comes of it in an enforcing namespace.
    pub intent: Intent,
    /// Name of the policy (pool) it was decided by.
    pub policy: String,
    /// JSON pointer (RFC 6901) to the field, relative to the object under review.
    pub path: String,
    /// What is done about it.
    pub action: Action,
    /// What is wrong or changed, and why; one line.
    pub message: String,
    /// How to mend it; one line.
    pub help: String,
    /// Value before; null where there was none or nothing is changed.
    pub from: Value,
    /// Value after; null where nothing is changed.
    pub to: Value,
}
