//! The counter families: which combinations of labels exist, and which row an event belongs to.

use super::counters::{CounterTable, place};
use crate::review::{Decision, Endpoint, Record};
use crate::rules::{Action, Finding, Mode};

const MODES: [&str; 2] = ["enforce", "audit"];
const RESOURCES: [&str; 4] = ["pods", "statefulsets", "deployments", "other"];
const OPERATIONS: [&str; 3] = ["CREATE", "UPDATE", "other"];
const DECISIONS: [Decision; 6] = [
    Decision::Patched,
    Decision::Denied,
    Decision::WouldPatch,
    Decision::WouldDeny,
    Decision::NotOurs,
    Decision::Allowed,
];
const ACTIONS: [Action; 4] = [Action::Change, Action::Deny, Action::Advise, Action::None];
const RULE_MODES: [Mode; 4] = [Mode::Enforce, Mode::Warn, Mode::Audit, Mode::Off];
/// Where a finding is counted whose rule is not in the registry.
pub(super) const OTHER_RULE: &str = "other";

/// Whether nothing may be changed at this endpoint.
pub(super) fn is_audit(endpoint: Endpoint) -> bool {
    matches!(endpoint, Endpoint::PodsAudit | Endpoint::WorkloadsAudit)
}

/// The label and log word for an endpoint's mode.
pub(super) fn mode_word(endpoint: Endpoint) -> &'static str {
    if is_audit(endpoint) { "audit" } else { "enforce" }
}

/// The row of [`reviews`] that `record` belongs to.
pub(super) fn review_row(endpoint: Endpoint, record: &Record) -> usize {
    let mode = usize::from(is_audit(endpoint));
    let resource = place(&RESOURCES, &record.resource);
    let operation = place(&OPERATIONS, &record.operation);
    let decision = place(&DECISIONS, &record.decision);
    ((mode * RESOURCES.len() + resource) * OPERATIONS.len() + operation) * DECISIONS.len() + decision
}

/// The row of [`findings`] over the same `rules` that `finding` belongs to.
pub(super) fn finding_row(rules: &[&'static str], finding: &Finding) -> usize {
    let rule = place(rules, &finding.rule);
    let action = place(&ACTIONS, &finding.action);
    (rule * ACTIONS.len() + action) * RULE_MODES.len() + place(&RULE_MODES, &finding.mode)
}

pub(super) fn reviews() -> CounterTable<4> {
    let mut table = CounterTable::new("sundown_reviews", "Reviews decided");
    for mode in MODES {
        for resource in RESOURCES {
            for operation in OPERATIONS {
                for decision in DECISIONS {
                    let labels = [
                        ("mode", mode),
                        ("resource", resource),
                        ("operation", operation),
                        ("decision", decision.as_str()),
                    ];
                    table.push(labels, review_is_expected(mode, resource, operation, decision));
                }
            }
        }
    }
    table
}

/// Whether the chart's webhook configuration and the core rules can lead to this combination.
fn review_is_expected(mode: &str, resource: &str, operation: &str, decision: Decision) -> bool {
    let audit = mode == "audit";
    match decision {
        Decision::NotOurs => resource == "other" && operation == "other",
        _ if resource == "other" || operation == "other" => false,
        Decision::Allowed => resource != "pods" || operation == "CREATE",
        Decision::Patched => !audit && resource == "pods" && operation == "CREATE",
        Decision::WouldPatch => audit && resource == "pods" && operation == "CREATE",
        Decision::Denied => !audit && resource == "statefulsets",
        Decision::WouldDeny => audit && resource == "statefulsets",
    }
}

pub(super) fn findings(rules: &[&'static str]) -> CounterTable<3> {
    let mut table =
        CounterTable::new("sundown_findings", "Findings, by rule and by what was done about them");
    for rule in rules {
        for action in ACTIONS {
            for mode in RULE_MODES {
                let labels = [("rule", *rule), ("action", action.as_str()), ("mode", mode.as_str())];
                table.push(labels, *rule != OTHER_RULE && finding_is_expected(action, mode));
            }
        }
    }
    table
}

fn finding_is_expected(action: Action, mode: Mode) -> bool {
    match action {
        Action::Change | Action::Deny => mode == Mode::Enforce,
        Action::Advise => matches!(mode, Mode::Enforce | Mode::Warn),
        Action::None => mode == Mode::Audit,
    }
}

pub(super) fn reasons(name: &'static str, help: &'static str, reasons: &[&'static str]) -> CounterTable<1> {
    let mut table = CounterTable::new(name, help);
    for reason in reasons {
        table.push([("reason", *reason)], true);
    }
    table
}

pub(super) fn policy_reloads() -> CounterTable<1> {
    let mut table = CounterTable::new("sundown_policy_reloads", "Reloads of the policy files, by result");
    table.push([("result", "success")], true);
    table.push([("result", "failure")], true);
    table
}
