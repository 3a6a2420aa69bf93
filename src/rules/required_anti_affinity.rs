//! required-anti-affinity: a replica that cannot find a node.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Kind, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "required-anti-affinity",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Advises against required pod anti-affinity of StatefulSets on the pool.",
    why: "After a preemption the replica needs a node without another replica: until one is there it stays Pending.",
    leaves: "Preferred anti-affinity, and workloads other than StatefulSets.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "affinity:\n  podAntiAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution: [...]",
    after: "affinity:\n  podAntiAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution: [...]",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let required = scene.subject.pod.affinity.pod_anti_affinity.is_required();
    if scene.subject.kind != Kind::StatefulSet || !required {
        return Vec::new();
    }
    let field = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    vec![Proposal::say(
        group.policy(),
        Severity::Warning,
        scene.subject.pod_path(field),
        "required anti-affinity: after a preemption a replica stays Pending until another node is free",
        "make it preferred, or use a spread constraint with ScheduleAnyway",
    )]
}
