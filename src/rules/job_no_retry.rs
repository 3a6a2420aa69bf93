//! job-no-retry: a Job that a preemption fails.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Kind, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "job-no-retry",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Warns about Jobs whose policy counts a preemption as failure and allows none.",
    why: "A preempted pod ends as Failed with the condition DisruptionTarget; without a rule that ignores it, it uses up the backoffLimit.",
    leaves: "Jobs that allow failures, and Jobs whose podFailurePolicy ignores DisruptionTarget.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "kind: Job\nspec:\n  backoffLimit: 0",
    after: "kind: Job\nspec:\n  backoffLimit: 0\n  podFailurePolicy:\n    rules:\n    - action: Ignore\n      onPodConditions: [{type: DisruptionTarget}]",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    let is_job = matches!(subject.kind, Kind::Job | Kind::CronJob);
    let Some(workload) = subject.workload.filter(|_| is_job) else { return Vec::new() };
    let about_disruption =
        workload.pod_failure_policy.rules.iter().find(|rule| {
            rule.on_pod_conditions.iter().any(|condition| condition.r#type == "DisruptionTarget")
        });
    let (field, message) = match about_disruption.map(|rule| rule.action.as_str()) {
        Some("Ignore") => return Vec::new(),
        Some("FailJob" | "FailIndex") => {
            ("/podFailurePolicy", "podFailurePolicy fails the Job when a pod of it is preempted")
        }
        _ if workload.backoff_limit == Some(0) => {
            ("/backoffLimit", "backoffLimit 0 and no podFailurePolicy: one preemption fails the Job")
        }
        _ => return Vec::new(),
    };
    vec![Proposal::say(
        group.policy(),
        Severity::Warning,
        format!("{}{field}", subject.kind.spec_pointer()),
        message,
        "add a podFailurePolicy rule with action: Ignore on the pod condition DisruptionTarget",
    )]
}
