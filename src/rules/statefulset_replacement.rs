//! statefulset-replacement: when the replacement of a StatefulSet pod comes.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Kind, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "statefulset-replacement",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Says when a pod of a StatefulSet on the pool is replaced after an abrupt loss of its node.",
    why: "Its identity must not run twice: on a node that is gone for good the pod is replaced only when the Node object is removed or gets the out-of-service taint, whatever its tolerationSeconds.",
    leaves: "Everything but StatefulSets.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "kind: StatefulSet",
    after: "kind: Deployment   # where the pods need no identity",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    if scene.subject.kind != Kind::StatefulSet {
        return Vec::new();
    }
    vec![Proposal::say(
        group.policy(),
        Severity::Info,
        "/spec".to_owned(),
        "its pod on a lost node waits for the node's removal or the out-of-service taint",
        "use a Deployment where the pods need no identity",
    )]
}
