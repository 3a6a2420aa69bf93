//! forever-toleration: a pod that never leaves a dead node.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;
use crate::subject::{ControllerKind, NOT_READY, Taint, UNREACHABLE, first_match};

pub(super) const RULE: Rule = Rule {
    id: "forever-toleration",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Warns about pods that tolerate not-ready or unreachable without seconds.",
    why: "The taint manager goes by the first matching toleration: without seconds the pod is never evicted from a dead node, and so never replaced.",
    leaves: "Pods of DaemonSets, whose controller adds these tolerations on purpose, and pods without a controller.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "tolerations:\n- operator: Exists",
    after: "tolerations:\n- key: preemptible\n  operator: Exists\n  effect: NoSchedule",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    if matches!(subject.controller, None | Some(ControllerKind::DaemonSet)) {
        return Vec::new();
    }
    let forever = |key: &'static str| {
        let (index, first) = first_match(&subject.pod.tolerations, &Taint::no_execute(key))?;
        first.toleration_seconds.is_none().then_some((index, key))
    };
    let mut found: Vec<(usize, &str)> = [NOT_READY, UNREACHABLE].into_iter().filter_map(forever).collect();
    found.dedup_by_key(|(index, _)| *index);
    let say = |(index, key): (usize, &str)| {
        Proposal::say(
            group.policy(),
            Severity::Warning,
            subject.pod_path(&format!("/spec/tolerations/{index}")),
            format!("toleration {index} tolerates {key} forever: a pod on a dead node is never replaced"),
            "name the key of the taint you mean, or add tolerationSeconds",
        )
    };
    found.into_iter().map(say).collect()
}
