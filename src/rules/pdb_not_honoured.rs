//! pdb-not-honoured: a budget that nobody asks.

use super::finding::Severity;
use super::proposal::Proposal;
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;

pub(super) const RULE: Rule = Rule {
    id: "pdb-not-honoured",
    kind: RuleKind::Advice,
    pools: Pools::Reached,
    objects: Objects::Workloads,
    summary: "Says that a PodDisruptionBudget does not hold against a preemption.",
    why: "Neither the kubelet at shutdown nor the taint manager asks the budget: it holds for drains only.",
    leaves: "Workloads without a budget, and budgets that are not known (a webhook without a cluster view knows none).",
    opt_out: "Set the mode of the rule to off in the policy.",
    before: "kind: PodDisruptionBudget\nspec:\n  minAvailable: 2\n  selector: {matchLabels: {app: web}}",
    after: "kind: Deployment\nspec:\n  replicas: 4   # what must survive, spread over node types",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    let Some(budget) = scene.view.disruption_budget(subject.namespace, &subject.pod_metadata.labels) else {
        return Vec::new();
    };
    vec![Proposal::say(
        group.policy(),
        Severity::Warning,
        subject.pod_path("/metadata/labels"),
        format!(
            "PodDisruptionBudget {budget} is honoured neither by a node's shutdown nor by taint eviction"
        ),
        "rely on replicas spread over node types instead",
    )]
}
