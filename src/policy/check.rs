//! From the shape of a file to a checked [`Policy`]: all errors of a document at once.

use super::check_rules::rules;
use super::check_shutdown::windows;
use super::file::{RawEffect, RawPolicy, RawPool, RawTaint, RawWildcard};
use super::issues::Issues;
use super::mode::{Mode, RuleInfo};
use super::pool::Pool;
use super::{API_VERSION, Policy};
use crate::subject::Taint;
use crate::yaml::escaped;

/// The kind of a policy document.
pub(super) const KIND: &str = "PreemptionPolicy";

/// Checks one document; the policy is meaningful only if no issue is an error.
pub(super) fn check(raw: RawPolicy, catalogue: &[RuleInfo], issues: &mut Issues) -> Policy {
    header(&raw, issues);
    let name = name(raw.metadata.unwrap_or_default().name, issues);
    let Some(spec) = raw.spec else {
        issues.error("", "spec is missing", "add spec with pool, shutdown and, if need be, rules");
        return incomplete(name);
    };
    let pool = match spec.pool {
        Some(raw) => pool(raw, issues),
        None => {
            issues.error("/spec", "pool is missing", "add pool with a taint, nodeLabels, or both");
            Pool::default()
        }
    };
    let windows = windows(spec.shutdown, issues);
    let rules = rules(spec.rules.unwrap_or_default(), &pool, catalogue, issues);
    let by_wildcard = match spec.by_wildcard {
        Some(RawWildcard::Enforce) => Mode::Enforce,
        Some(RawWildcard::Warn) | None => Mode::Warn,
    };
    Policy { name, pool, by_wildcard, windows, rules, exemptions: spec.exemptions.unwrap_or(true) }
}

fn incomplete(name: String) -> Policy {
    let rules = rules(Default::default(), &Pool::default(), &[], &mut Issues::default());
    Policy {
        name,
        pool: Pool::default(),
        by_wildcard: Mode::Warn,
        windows: Default::default(),
        rules,
        exemptions: true,
    }
}

fn header(raw: &RawPolicy, issues: &mut Issues) {
    match raw.api_version.as_deref() {
        Some(API_VERSION) => {}
        Some(other) => issues.error(
            "/apiVersion",
            format!("unknown version {other:?}"),
            format!("write apiVersion: {API_VERSION}"),
        ),
        None => issues.error("", "apiVersion is missing", format!("add apiVersion: {API_VERSION}")),
    }
    match raw.kind.as_deref() {
        Some(KIND) => {}
        Some(other) => {
            issues.error("/kind", format!("unknown kind {other:?}"), format!("write kind: {KIND}"));
        }
        None => issues.error("", "kind is missing", format!("add kind: {KIND}")),
    }
}

fn name(name: Option<String>, issues: &mut Issues) -> String {
    let Some(name) = name else {
        issues.error(
            "",
            "metadata.name is missing",
            "add metadata: {name: …}; findings name the policy by it",
        );
        return String::new();
    };
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if name.len() > 63 || !name.chars().all(inner) || !name.starts_with(ends) || !name.ends_with(ends) {
        issues.error(
            "/metadata/name",
            format!("{name:?} is no valid name"),
            "use at most 63 lower-case letters, digits, - and ., beginning and ending with a letter or digit",
        );
    }
    name
}

fn pool(raw: RawPool, issues: &mut Issues) -> Pool {
    let taint = raw.taint.and_then(|raw| taint(raw, issues));
    let node_labels: Vec<_> = raw.node_labels.unwrap_or_default().into_iter().collect();
    for (key, value) in &node_labels {
        let pointer = format!("/spec/pool/nodeLabels/{}", escaped(key));
        label_key(&pointer, key, issues);
        label_value(&pointer, value, issues);
    }
    if taint.is_none() && node_labels.is_empty() {
        issues.error(
            "/spec/pool",
            "a pool needs a taint or nodeLabels",
            "add taint: {key, value, effect}, or nodeLabels that only this pool's nodes bear",
        );
    }
    if let Some(key) = &raw.node_type_key {
        label_key("/spec/pool/nodeTypeKey", key, issues);
    }
    if let Some(value) = &raw.node_type_value {
        label_value("/spec/pool/nodeTypeValue", value, issues);
        if raw.node_type_key.is_none() {
            issues.error(
                "/spec/pool/nodeTypeValue",
                "nodeTypeValue without nodeTypeKey",
                "add nodeTypeKey, the label key that holds this value",
            );
        }
    }
    contradiction(&node_labels, raw.node_type_key.as_deref(), raw.node_type_value.as_deref(), issues);
    Pool { taint, node_labels, node_type_key: raw.node_type_key, node_type_value: raw.node_type_value }
}

/// One label cannot have two values on the same nodes.
fn contradiction(labels: &[(String, String)], key: Option<&str>, value: Option<&str>, issues: &mut Issues) {
    let (Some(key), Some(value)) = (key, value) else { return };
    if let Some((_, other)) = labels.iter().find(|(known, other)| known == key && other != value) {
        issues.error(
            "/spec/pool/nodeTypeValue",
            format!("nodeLabels gives {key} the value {other:?}, nodeTypeValue says {value:?}"),
            "make both say what the nodes bear",
        );
    }
}

fn taint(raw: RawTaint, issues: &mut Issues) -> Option<Taint> {
    if raw.key.as_deref().is_none_or(str::is_empty) {
        issues.error(
            "/spec/pool/taint",
            "the taint has no key",
            "add key: the taint key of the pool's nodes",
        );
    }
    if raw.effect.is_none() {
        issues.error(
            "/spec/pool/taint",
            "the taint has no effect",
            "add effect: NoSchedule, PreferNoSchedule or NoExecute",
        );
    }
    let key = raw.key.filter(|key| !key.is_empty())?;
    label_key("/spec/pool/taint/key", &key, issues);
    if let Some(value) = &raw.value {
        label_value("/spec/pool/taint/value", value, issues);
    }
    let effect = match raw.effect? {
        RawEffect::NoSchedule => "NoSchedule",
        RawEffect::PreferNoSchedule => "PreferNoSchedule",
        RawEffect::NoExecute => "NoExecute",
    };
    Some(Taint { key, value: raw.value, effect: effect.to_owned() })
}

/// A label or taint key as the API takes it.
pub(super) fn label_key(pointer: &str, key: &str, issues: &mut Issues) {
    if !crate::subject::is_qualified_name(key) {
        issues.error(
            pointer,
            format!("{key:?} is no valid label key"),
            "write [prefix/]name, where name has at most 63 letters, digits, -, _ and .",
        );
    }
}

fn label_value(pointer: &str, value: &str, issues: &mut Issues) {
    if !crate::subject::is_label_value(value) {
        issues.error(
            pointer,
            format!("{value:?} is no valid label value"),
            "use at most 63 letters, digits, -, _ and ., beginning and ending with a letter or digit",
        );
    }
}
