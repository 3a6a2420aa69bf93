//! spread-outweighed: a preference that beats the spread.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Case, Group, Scene};
use super::topology_spread::may_spread;
use crate::policy::RuleKind;
use crate::subject::{Placement, Truth};

pub(super) const RULE: Rule = Rule {
    id: "spread-outweighed",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Warns when a preferred node affinity for the pool outweighs a soft spread constraint.",
    why: "The scheduler adds both scores up: measured with 8 replicas, a preference for the pool kept all of them there in spite of a ScheduleAnyway constraint by node type.",
    leaves: "Pods with a DoNotSchedule constraint on the node type, and preferences that do not select the pool.",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "preferredDuringSchedulingIgnoredDuringExecution:\n- weight: 100\n  preference: {matchExpressions: [{key: type, operator: In, values: [preemptible]}]}",
    after: "topologySpreadConstraints:\n- topologyKey: type\n  maxSkew: 1\n  whenUnsatisfiable: DoNotSchedule",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    group.cases.iter().filter_map(|case| outweighed(scene, case)).collect()
}

fn outweighed(scene: &Scene<'_>, case: &Case<'_>) -> Option<Proposal> {
    let pod = scene.subject.pod;
    let key = case.policy.pool.node_type_key.as_deref()?;
    let own = || pod.topology_spread_constraints.iter().filter(|constraint| constraint.topology_key == key);
    let hard = own().any(|constraint| constraint.when_unsatisfiable == "DoNotSchedule");
    let injected = may_spread(scene, case)
        && case.policy.rules.topology_spread.constraints.iter().any(|constraint| {
            constraint.topology_key == key && constraint.when_unsatisfiable == "ScheduleAnyway"
        });
    let spread = own().next().is_some() || injected;
    if hard || !spread || case.reach.placement == Placement::Must {
        return None;
    }
    let preferred = pod.affinity.node_affinity.preferred.iter().enumerate();
    let (index, term) = preferred
        .filter(|(_, term)| term.preference.matches(&case.policy.pool) == Truth::Yes)
        .max_by_key(|(_, term)| term.weight)?;
    let field = "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";
    Some(Proposal::say(
        &case.policy.name,
        Severity::Warning,
        scene.subject.pod_path(&format!("{field}/{index}")),
        format!(
            "a preference of weight {} for the pool outweighs the soft spread over {key}",
            term.weight.unwrap_or(0)
        ),
        format!(
            "lower its weight below that of a preference for other nodes, or write DoNotSchedule on {key}"
        ),
    ))
}
