//! pre-stop-too-long: a preStop hook that eats the grace.

use super::finding::Mode;
use super::finding::Severity;
use super::grace_period::grace_after;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "pre-stop-too-long",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Warns about preStop hooks that take the whole grace or window.",
    why: "preStop runs inside the grace period: what it takes is missing between SIGTERM and SIGKILL.",
    leaves: "Hooks whose length cannot be told: only a sleep action and a command that is nothing but sleep N are read.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "terminationGracePeriodSeconds: 60\ncontainers:\n- lifecycle: {preStop: {sleep: {seconds: 60}}}",
    after: "terminationGracePeriodSeconds: 60\ncontainers:\n- lifecycle: {preStop: {sleep: {seconds: 10}}}",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let pod = scene.subject.pod;
    let Some((window, policy)) = group.tightest(pod) else { return Vec::new() };
    let has = grace_after(scene, Mode::Enforce).min(window);
    if window == 0 {
        return Vec::new();
    }
    let too_long = pod.all_containers().filter_map(|(list, index, container)| {
        let takes = container.lifecycle.pre_stop.known_seconds();
        (takes > 0 && takes >= has).then_some((list, index, takes))
    });
    let say = |(list, index, takes): (&str, usize, i64)| {
        Proposal::say(
            policy,
            Severity::Warning,
            scene.subject.pod_path(&format!("/spec/{list}/{index}/lifecycle/preStop")),
            format!("preStop takes {takes} s of the {has} s the pod has: nothing is left for SIGTERM"),
            "shorten the hook",
        )
    };
    too_long.map(say).collect()
}
