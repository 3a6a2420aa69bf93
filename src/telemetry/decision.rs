//! One log line a decision.

use tracing::{Level, debug, enabled, info};

use super::families::mode_word;
use crate::review::{Decision, Endpoint, Record};
use crate::rules::{Finding, Severity};

/// Logs a decision: at info when it had or would have had an effect, else at debug. Nothing is built for a level
/// that is off.
pub fn log_decision(endpoint: Endpoint, record: &Record) {
    if has_effect(record) {
        if enabled!(Level::INFO) {
            log_effect(endpoint, record);
        }
        return;
    }
    debug!(
        uid = record.uid.as_str(),
        namespace = record.namespace.as_str(),
        name = record.name.as_str(),
        resource = record.resource,
        operation = record.operation,
        decision = record.decision.as_str(),
        mode = mode_word(endpoint),
        "review"
    );
}

fn log_effect(endpoint: Endpoint, record: &Record) {
    info!(
        uid = record.uid.as_str(),
        namespace = record.namespace.as_str(),
        name = record.name.as_str(),
        resource = record.resource,
        operation = record.operation,
        decision = record.decision.as_str(),
        mode = mode_word(endpoint),
        rules = rules(&record.findings).as_str(),
        messages = messages(record).as_deref(),
        would_be_patch = record.would_be_patch.as_deref(),
        exempt = record.exempt.as_deref(),
        "review"
    );
}

fn has_effect(record: &Record) -> bool {
    !matches!(record.decision, Decision::Allowed | Decision::NotOurs)
        || record.exempt.is_some()
        || record.findings.iter().any(|finding| finding.severity >= Severity::Warning)
}

/// Rule ids in order of first appearance, comma-separated.
fn rules(findings: &[Finding]) -> String {
    let mut rules: Vec<&str> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    rules.join(",")
}

/// What the findings say. A patch that is carried out is recorded on the pod, so the line names its rules only.
fn messages(record: &Record) -> Option<String> {
    if record.decision == Decision::Patched {
        return None;
    }
    let messages: Vec<&str> = record.findings.iter().map(|finding| finding.message.as_str()).collect();
    Some(messages.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::rules::{Action, Intent, Mode};

    fn finding(rule: &'static str, severity: Severity) -> Finding {
        Finding {
            rule,
            severity,
            mode: Mode::Warn,
            intent: Intent::Inform,
            policy: String::new(),
            path: String::new(),
            action: Action::Advise,
            message: format!("{rule} says"),
            help: String::new(),
            from: Value::Null,
            to: Value::Null,
        }
    }

    fn record(decision: Decision, findings: Vec<Finding>) -> Record {
        Record {
            decision,
            resource: "pods",
            operation: "CREATE",
            uid: String::new(),
            namespace: String::new(),
            name: String::new(),
            findings,
            would_be_patch: None,
            exempt: None,
        }
    }

    #[test]
    fn effects_are_changes_denials_warnings_and_exemptions() {
        assert!(!has_effect(&record(Decision::Allowed, vec![])));
        assert!(!has_effect(&record(Decision::NotOurs, vec![])));
        assert!(!has_effect(&record(Decision::Allowed, vec![finding("a", Severity::Info)])));
        assert!(has_effect(&record(Decision::Allowed, vec![finding("a", Severity::Warning)])));
        assert!(has_effect(&record(Decision::WouldPatch, vec![])));
        assert!(has_effect(&Record { exempt: Some("why".into()), ..record(Decision::Allowed, vec![]) }));
    }

    #[test]
    fn rules_are_named_once_and_messages_all() {
        let findings =
            [finding("a", Severity::Info), finding("b", Severity::Info), finding("a", Severity::Info)];
        assert_eq!(rules(&findings), "a,b");
        let [one, two, three] = findings;
        let said = |decision| messages(&record(decision, vec![one.clone(), two.clone(), three.clone()]));
        assert_eq!(said(Decision::Denied).as_deref(), Some("a says; b says; a says"));
        assert_eq!(said(Decision::Patched), None);
    }
}
