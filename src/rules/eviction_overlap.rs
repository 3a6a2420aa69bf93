//! eviction-overlap: two pods at once where only one may run.

use super::finding::Mode;
use super::finding::Severity;
use super::grace_period::grace_after;
use super::not_ready_toleration::{Replacement, replacement};
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;
use crate::subject::{ControllerKind, NOT_READY, Taint, UNREACHABLE, first_match};

pub(super) const RULE: Rule = Rule {
    id: "eviction-overlap",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Warns when a pod that should not overlap with its replacement is replaced before its grace is over.",
    why: "The taint manager deletes the pod after tolerationSeconds and its controller starts the next one, while the old one still has the rest of its grace.",
    leaves: "Pods of StatefulSets (their identity is free only when the old pod is gone), and pods that may overlap.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "kind: Deployment\nspec:\n  strategy: {type: Recreate}",
    after: "kind: Deployment\nspec:\n  strategy: {type: Recreate}\n  template:\n    metadata:\n      annotations: {sundown.dev/replacement: exclusive}",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    let Some((window, policy)) = group.tightest(subject.pod) else { return Vec::new() };
    let runs = grace_after(scene, Mode::Enforce).min(window);
    match replacement(scene).and_then(Result::ok) {
        Some(Replacement::Overlap) => recreate(scene, group, runs, policy).into_iter().collect(),
        Some(Replacement::Exclusive) if subject.controller != Some(ControllerKind::StatefulSet) => {
            exclusive(scene, group, runs, policy)
        }
        _ => Vec::new(),
    }
}

/// A Deployment that asks for Recreate says that its pods must not overlap.
fn recreate(scene: &Scene<'_>, group: &Group<'_>, runs: i64, policy: &str) -> Option<Proposal> {
    let workload = scene.subject.workload?;
    let overlap = group.cases.iter().map(|case| case.policy.rules.not_ready.overlap_seconds).min()?;
    (workload.strategy.r#type == "Recreate" && overlap < runs).then(|| {
        Proposal::say(
            policy,
            Severity::Warning,
            "/spec/strategy/type".to_owned(),
            format!(
                "Recreate, but a preempted pod runs {runs} s and is replaced after {overlap} s: they overlap"
            ),
            "annotate the pod template with sundown.dev/replacement: exclusive",
        )
    })
}

fn exclusive(scene: &Scene<'_>, group: &Group<'_>, runs: i64, policy: &str) -> Vec<Proposal> {
    let defaults: Vec<i64> =
        group.cases.iter().map(|case| case.policy.rules.not_ready.cluster_default_seconds).collect();
    let short = |key: &'static str| {
        let (index, first) = first_match(&scene.subject.pod.tolerations, &Taint::no_execute(key))?;
        let seconds = first.toleration_seconds?;
        (seconds < runs && !defaults.contains(&seconds)).then_some((index, key, seconds))
    };
    let say = |(index, key, seconds): (usize, &str, i64)| {
        Proposal::say(
            policy,
            Severity::Warning,
            scene.subject.pod_path(&format!("/spec/tolerations/{index}/tolerationSeconds")),
            format!("{key}: replaced after {seconds} s while the old pod may run {runs} s: they overlap"),
            format!("write {runs} or more"),
        )
    };
    [NOT_READY, UNREACHABLE].into_iter().filter_map(short).map(say).collect()
}
