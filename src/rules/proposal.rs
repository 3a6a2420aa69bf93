//! What a rule proposes, before modes have their say.

use serde_json::Value;

use super::finding::{Action, Finding, Intent, Mode, Severity};

/// A semantic change to a pod: what is set or appended; the value is the finding's `to`. The codec turns it
/// into JSON Patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Set terminationGracePeriodSeconds.
    SetGrace,
    /// Set the tolerationSeconds of the toleration at this index.
    SetTolerationSeconds(usize),
    /// Append a toleration.
    AppendToleration,
    /// Append a spread constraint.
    AppendConstraint,
}

/// What a rule wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// Change the pod.
    Change(Edit),
    /// Refuse the object.
    Deny,
    /// Let it pass for the reason that the user gave.
    Exempt(String),
    /// Tell the user, whatever the mode.
    Say,
}

/// One thing a rule proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Name of the policy it was decided by.
    pub policy: String,
    /// How bad it is in enforce mode.
    pub severity: Severity,
    /// JSON pointer of the field.
    pub path: String,
    /// What is wanted.
    pub want: Want,
    /// What is wrong or changed, and why.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// Value before.
    pub from: Value,
    /// Value after.
    pub to: Value,
}

impl Proposal {
    /// Something to tell, without a change.
    pub fn say(
        policy: &str,
        severity: Severity,
        path: String,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            policy: policy.to_owned(),
            severity,
            path,
            want: Want::Say,
            message: message.into(),
            help: help.into(),
            from: Value::Null,
            to: Value::Null,
        }
    }

    /// Turns it into a finding of a rule in a mode; the edit is kept only if it is to be carried out.
    pub(super) fn into_finding(self, rule: &'static str, mode: Mode) -> (Finding, Option<Edit>) {
        let (action, severity) = match (mode, &self.want) {
            (Mode::Enforce, Want::Change(_)) => (Action::Change, self.severity),
            (Mode::Enforce, Want::Deny) => (Action::Deny, self.severity),
            (Mode::Enforce | Mode::Warn, _) if self.severity == Severity::Info => {
                (Action::None, Severity::Info)
            }
            (Mode::Enforce | Mode::Warn, _) => (Action::Advise, Severity::Warning),
            _ => (Action::None, Severity::Info),
        };
        let intent = match self.want {
            Want::Change(_) if mode == Mode::Enforce => Intent::Change,
            Want::Deny if mode == Mode::Enforce => Intent::Deny,
            _ => Intent::Inform,
        };
        let edit = match self.want {
            Want::Change(edit) if intent == Intent::Change => Some(edit),
            _ => None,
        };
        let finding = Finding {
            rule,
            severity,
            mode,
            intent,
            policy: self.policy,
            path: self.path,
            action,
            message: self.message,
            help: self.help,
            from: self.from,
            to: self.to,
        };
        (finding, edit)
    }
}
