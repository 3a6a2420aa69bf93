//! window-is-zero: a pool on which nothing waits.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "window-is-zero",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Warns about every workload on a pool whose window is 0.",
    why: "With graceful node shutdown off, or with the whole budget kept for critical pods, a pod gets no SIGTERM and no time, whatever its grace.",
    leaves: "Pools with a window, and system-critical pods.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "shutdown:\n  shutdownGracePeriod: 0s",
    after: "shutdown:\n  shutdownGracePeriod: 150s\n  shutdownGracePeriodCriticalPods: 30s",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let pod = scene.subject.pod;
    let none = group.cases.iter().find(|case| case.window(pod) == 0);
    let Some(case) = none.filter(|_| !pod.is_system_critical()) else { return Vec::new() };
    let pool = &case.policy.name;
    vec![Proposal::say(
        pool,
        Severity::Warning,
        scene.subject.pod_path("/spec/terminationGracePeriodSeconds"),
        format!("the window of pool {pool} is 0 s: the pod ends without notice, and no grace period helps"),
        "turn graceful node shutdown on for the pool's nodes and write it into the policy",
    )]
}
