//! near-miss-toleration: a toleration that almost matches.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Case, Group, Scene};
use crate::policy::RuleKind;
use crate::subject::{Match, Placement, Taint, Toleration, place};

pub(super) const RULE: Rule = Rule {
    id: "near-miss-toleration",
    kind: RuleKind::Advice,
    pools: Pools::Unreached,
    objects: Objects::Pods,
    summary: "Warns about tolerations that name the taint of the pool but do not match it.",
    why: "A missing operator means Equal to the empty value, and values are compared to the letter: the pod silently stays off the pool.",
    leaves: "Pods that tolerate the taint by another toleration, and pods that hard node rules keep off the pool.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "tolerations:\n- key: preemptible   # operator Equal, value empty\n  effect: NoSchedule",
    after: "tolerations:\n- key: preemptible\n  operator: Exists\n  effect: NoSchedule",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    group.cases.iter().filter_map(|case| near_miss(scene, case)).collect()
}

fn near_miss(scene: &Scene<'_>, case: &Case<'_>) -> Option<Proposal> {
    let pod = scene.subject.pod;
    let taint = case.policy.pool.taint.as_ref()?;
    let kept_off = place(pod, None, &case.policy.pool).placement == Placement::Never;
    if kept_off || case.reach.tolerance != Some(Match::No) {
        return None;
    }
    let alike = |toleration: &Toleration<'_>| toleration.key.trim().eq_ignore_ascii_case(&taint.key);
    let (index, toleration) = pod.tolerations.iter().enumerate().find(|(_, toleration)| alike(toleration))?;
    let (field, written) = difference(toleration, taint);
    Some(Proposal::say(
        &case.policy.name,
        Severity::Warning,
        scene.subject.pod_path(&format!("/spec/tolerations/{index}")),
        format!(
            "{field} {written:?} does not match the taint {}: the pod stays off the pool",
            taint.display()
        ),
        "write operator: Exists with this key and no value, or the very value and effect of the taint",
    ))
}

/// The first field that keeps the toleration from matching.
fn difference<'t>(toleration: &'t Toleration<'_>, taint: &Taint) -> (&'static str, &'t str) {
    if toleration.key != taint.key.as_str() {
        ("key", &toleration.key)
    } else if !toleration.effect.is_empty() && toleration.effect != taint.effect.as_str() {
        ("effect", &toleration.effect)
    } else if matches!(toleration.operator.as_str(), "" | "Equal" | "Gt" | "Lt") {
        ("value", &toleration.value)
    } else {
        ("operator", &toleration.operator)
    }
}
