//! topology-spread: replicas over node types.

use serde_json::{Map, Value};

use super::finding::Severity;
use super::proposal::{Edit, Proposal, Want};
use super::registry::{Objects, Pools, Rule};
use super::scene::{Case, Coverage, Group, Scene};
use crate::policy::{CLUSTER_DEFAULTS, Constraint, RuleKind};
use crate::subject::{ControllerKind, POD_TEMPLATE_HASH, Placement};

pub(super) const RULE: Rule = Rule {
    id: "topology-spread",
    kind: RuleKind::Core,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Appends topologySpreadConstraints by node type, so that a preemption never takes all replicas.",
    why: "PodDisruptionBudgets are honoured neither by the kubelet nor by the taint manager: only replicas elsewhere \
          survive. Any constraint switches the cluster's default spreading off, so the default hostname constraint \
          is written out beside it when the pod had none.",
    leaves: "Pods that already have a constraint on the key, pods whose controller is not a ReplicaSet, StatefulSet or \
             ReplicationController (Jobs by parameter), pods without a label to select them by, pods that must run \
             on the pool (one domain only), and keys that some schedulable node lacks.",
    opt_out: "Write a constraint of your own on the key: it is kept as it is.",
    before: "spec:\n  containers: [{name: web}]",
    after: "spec:\n  containers: [{name: web}]\n  topologySpreadConstraints:\n  - topologyKey: type\n    maxSkew: 1\n    \
            whenUnsatisfiable: ScheduleAnyway\n    labelSelector: {matchLabels: {app: web}}\n    \
            matchLabelKeys: [pod-template-hash]\n  - topologyKey: kubernetes.io/hostname   # the cluster's own default, \
            kept\n    maxSkew: 3\n    whenUnsatisfiable: ScheduleAnyway\n    labelSelector: {matchLabels: {app: web}}\n    \
            matchLabelKeys: [pod-template-hash]",
    decide,
};

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let pod = scene.subject.pod;
    let cases: Vec<Case<'_>> = group.cases.iter().filter(|case| may_spread(scene, case)).copied().collect();
    let mut added: Vec<(&str, Constraint)> = Vec::new();
    for (policy, constraint) in wanted(&cases) {
        let there =
            pod.topology_spread_constraints.iter().any(|own| own.topology_key == *constraint.topology_key);
        if !there && usable(scene, &constraint.topology_key) {
            add(&mut added, policy, constraint.clone());
        }
    }
    if added.is_empty() {
        return Vec::new();
    }
    if pod.topology_spread_constraints.is_empty() {
        for case in &cases {
            cluster_defaults(scene, case, &mut added);
        }
    }
    let ignored: Vec<String> = cases
        .iter()
        .flat_map(|case| case.policy.rules.topology_spread.ignore_labels.iter().cloned())
        .collect();
    let match_labels: Vec<(&str, &str)> = scene.subject.pod_metadata.stable_labels(&ignored).collect();
    if match_labels.is_empty() {
        return vec![no_selector(scene, group)];
    }
    added.iter().map(|(policy, constraint)| append(scene, policy, constraint, &match_labels)).collect()
}

/// Whether pods of this controller are spread at all.
pub(super) fn may_spread(scene: &Scene<'_>, case: &Case<'_>) -> bool {
    let by_controller = match scene.subject.controller {
        Some(
            ControllerKind::ReplicaSet | ControllerKind::StatefulSet | ControllerKind::ReplicationController,
        ) => true,
        Some(ControllerKind::Job) => case.policy.rules.topology_spread.jobs,
        _ => false,
    };
    by_controller && !scene.subject.pod.is_system_critical()
}

/// The constraints that the policies want, without the node type of a pool that the pod must run on.
pub(super) fn wanted<'c>(cases: &'c [Case<'_>]) -> impl Iterator<Item = (&'c str, &'c Constraint)> {
    cases.iter().flat_map(|case| {
        let pinned = (case.reach.placement == Placement::Must)
            .then_some(case.policy.pool.node_type_key.as_deref())
            .flatten();
        let constraints = case.policy.rules.topology_spread.constraints.iter();
        constraints
            .filter(move |constraint| pinned != Some(constraint.topology_key.as_str()))
            .map(|constraint| (case.policy.name.as_str(), constraint))
    })
}

/// A key may be used where every schedulable node bears it, as far as anybody watches.
fn usable(scene: &Scene<'_>, key: &str) -> bool {
    matches!(scene.view.coverage(key), Coverage::NotWatched | Coverage::Everywhere)
}

fn add<'p>(added: &mut Vec<(&'p str, Constraint)>, policy: &'p str, constraint: Constraint) {
    if added.iter().all(|(_, known)| known.topology_key != constraint.topology_key) {
        added.push((policy, constraint));
    }
}

/// Kubernetes' own default constraints, which the first explicit one switches off.
fn cluster_defaults<'p>(scene: &Scene<'_>, case: &Case<'p>, added: &mut Vec<(&'p str, Constraint)>) {
    let spread = &case.policy.rules.topology_spread;
    if !spread.keep_cluster_defaults {
        return;
    }
    for (key, max_skew) in CLUSTER_DEFAULTS {
        if spread.cluster_default_keys.iter().any(|wanted| wanted == key) && usable(scene, key) {
            add(added, &case.policy.name, Constraint::soft(key, max_skew));
        }
    }
}

fn append(scene: &Scene<'_>, policy: &str, constraint: &Constraint, labels: &[(&str, &str)]) -> Proposal {
    let key = &constraint.topology_key;
    Proposal {
        policy: policy.to_owned(),
        severity: Severity::Warning,
        path: scene.subject.pod_path("/spec/topologySpreadConstraints"),
        message: format!("a constraint on {key} is added, so that one preemption does not take all replicas"),
        help: format!("write a constraint on {key} of your own if you want another"),
        from: Value::Null,
        to: value(scene, constraint, labels),
        want: Want::Change(Edit::AppendConstraint),
    }
}

fn no_selector(scene: &Scene<'_>, group: &Group<'_>) -> Proposal {
    Proposal::say(
        group.policy(),
        Severity::Warning,
        scene.subject.pod_path("/metadata/labels"),
        "not spread over node types: the pod has no label that tells it from other pods",
        "give the pod (template) a label such as app",
    )
}

/// The constraint as the API takes it, with its selector.
fn value(scene: &Scene<'_>, constraint: &Constraint, labels: &[(&str, &str)]) -> Value {
    let match_labels: Map<String, Value> =
        labels.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
    let has_hash = scene.subject.pod_metadata.labels.get(POD_TEMPLATE_HASH).is_some();
    let members = [
        ("topologyKey", Some(Value::from(constraint.topology_key.as_str()))),
        ("maxSkew", Some(Value::from(constraint.max_skew))),
        ("whenUnsatisfiable", Some(Value::from(constraint.when_unsatisfiable.as_str()))),
        ("minDomains", constraint.min_domains.map(Value::from)),
        ("nodeAffinityPolicy", constraint.node_affinity_policy.as_deref().map(Value::from)),
        ("nodeTaintsPolicy", constraint.node_taints_policy.as_deref().map(Value::from)),
        (
            "labelSelector",
            Some(Value::Object(Map::from_iter([("matchLabels".to_owned(), match_labels.into())]))),
        ),
        ("matchLabelKeys", has_hash.then(|| Value::from(vec![POD_TEMPLATE_HASH]))),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
