//! spread-key-missing: a constraint on a label that some node lacks.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Case, Coverage, Group, Scene};
use super::topology_spread::{may_spread, wanted};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "spread-key-missing",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Warns when a constraint uses a node label that some schedulable node lacks.",
    why: "A node without one soft key scores 0 on all of them, and a hard key shuts it out: measured, all replicas then land on the pool.",
    leaves: "Clusters whose nodes nobody watches (a webhook without a cluster view), and keys that all nodes bear.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "nodes without the label type",
    after: "every node with the label type",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    let written = subject.pod.topology_spread_constraints.iter().enumerate().map(|(index, constraint)| {
        let path = subject.pod_path(&format!("/spec/topologySpreadConstraints/{index}/topologyKey"));
        (path, constraint.topology_key.as_str(), "")
    });
    let spread: Vec<Case<'_>> = group.cases.iter().filter(|case| may_spread(scene, case)).copied().collect();
    let held_back = wanted(&spread).map(|(_, constraint)| {
        let path = subject.pod_path("/spec/topologySpreadConstraints");
        (path, constraint.topology_key.as_str(), ", so no constraint on it is added")
    });
    let mut seen: Vec<&str> = Vec::new();
    let mut proposals = Vec::new();
    for (path, key, consequence) in written.chain(held_back) {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        if let Coverage::Missing(nodes) = scene.view.coverage(key) {
            proposals.push(missing(group, path, key, &nodes, consequence));
        }
    }
    proposals
}

fn missing(group: &Group<'_>, path: String, key: &str, nodes: &[String], consequence: &str) -> Proposal {
    let named: Vec<&str> = nodes.iter().take(3).map(String::as_str).collect();
    let more = if nodes.len() > named.len() { ", …" } else { "" };
    Proposal::say(
        group.policy(),
        Severity::Warning,
        path,
        format!("{} nodes lack the label {key} ({}{more}){consequence}", nodes.len(), named.join(", ")),
        format!("label all nodes with {key}"),
    )
}
