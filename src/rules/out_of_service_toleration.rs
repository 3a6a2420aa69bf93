//! out-of-service-toleration: a pod that an administrator cannot free.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;
use crate::subject::{ControllerKind, OUT_OF_SERVICE};

pub(super) const RULE: Rule = Rule {
    id: "out-of-service-toleration",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Warns about pods that tolerate the out-of-service taint by name.",
    why: "The taint node.kubernetes.io/out-of-service is how pods and volumes of a dead node are freed: a pod that tolerates it is not.",
    leaves: "Key-less tolerations, of which forever-toleration speaks, and pods of DaemonSets.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "tolerations:\n- key: node.kubernetes.io/out-of-service\n  operator: Exists",
    after: "tolerations: []",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    let index = subject.pod.tolerations.iter().position(|toleration| toleration.key == OUT_OF_SERVICE);
    let Some(index) = index.filter(|_| subject.controller != Some(ControllerKind::DaemonSet)) else {
        return Vec::new();
    };
    vec![Proposal::say(
        group.policy(),
        Severity::Warning,
        subject.pod_path(&format!("/spec/tolerations/{index}")),
        "tolerates out-of-service: that taint will not free the pod and its volumes from a dead node",
        "remove this toleration",
    )]
}
