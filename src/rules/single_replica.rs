//! single-replica: one replica is none during a preemption.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Kind, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "single-replica",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Advises against a single replica on the pool.",
    why: "With one replica the service is down from the end of the pod until its replacement is ready.",
    leaves: "Jobs, DaemonSets, and workloads scaled to 0.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "spec:\n  replicas: 1",
    after: "spec:\n  replicas: 2",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let serves = matches!(
        scene.subject.kind,
        Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet | Kind::ReplicationController
    );
    let replicas = scene.subject.workload.map(|workload| workload.replicas.unwrap_or(1));
    if !serves || replicas != Some(1) {
        return Vec::new();
    }
    vec![Proposal::say(
        group.policy(),
        Severity::Warning,
        "/spec/replicas".to_owned(),
        "a single replica: the service is down until its replacement is ready",
        "run 2 or more replicas",
    )]
}
