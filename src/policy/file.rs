//! The shape of a policy file, as serde and the JSON Schema see it. Every field is optional here, so that all
//! errors of a file can be told at once; [`super::check`] says what is missing.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::mode::Mode;

/// A policy for one pool of preemptible nodes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PreemptionPolicy")]
pub(super) struct RawPolicy {
    /// `sundown.dev/v1alpha1`.
    pub api_version: Option<String>,
    /// `PreemptionPolicy`.
    pub kind: Option<String>,
    /// Metadata.
    pub metadata: Option<RawMetadata>,
    /// What the policy says.
    pub spec: Option<RawSpec>,
}

/// Metadata of a policy.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawMetadata {
    /// Name of the policy; findings, logs and metrics use it.
    pub name: Option<String>,
}

/// Pool, budget and rules.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawSpec {
    /// The preemptible nodes; a taint or labels are required.
    pub pool: Option<RawPool>,
    /// What happens to pods that tolerate the taint by a key-less toleration only. Default: warn.
    pub by_wildcard: Option<RawWildcard>,
    /// The nodes' shutdown budget; a window form or a notice is required.
    pub shutdown: Option<RawShutdown>,
    /// What each rule does; core rules default to enforce, advice to warn.
    pub rules: Option<RawRules>,
    /// Whether annotations of workloads may exempt them. Default: true.
    pub exemptions: Option<bool>,
}

/// `warn` or `enforce`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawWildcard {
    /// They are warned about.
    Warn,
    /// They are treated as if they named the taint.
    Enforce,
}

/// A group of preemptible nodes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawPool {
    /// Taint of all its nodes.
    pub taint: Option<RawTaint>,
    /// Labels that only this pool's nodes bear.
    pub node_labels: Option<BTreeMap<String, String>>,
    /// Label key whose values tell node types apart, present on all nodes of the cluster.
    pub node_type_key: Option<String>,
    /// The value of nodeTypeKey on this pool.
    pub node_type_value: Option<String>,
}

/// A taint.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawTaint {
    /// Taint key.
    pub key: Option<String>,
    /// Taint value; left out = unknown, any value matches.
    pub value: Option<String>,
    /// NoSchedule, PreferNoSchedule or NoExecute.
    pub effect: Option<RawEffect>,
}

/// Effect of a taint.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum RawEffect {
    /// Keeps new pods away.
    NoSchedule,
    /// Makes the node unattractive only.
    PreferNoSchedule,
    /// Keeps new pods away and evicts running ones.
    NoExecute,
}

/// Shutdown budget of the nodes, as the kubelet's configuration has it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawShutdown {
    /// Whole budget, in Go's duration syntax (150s, 2m30s). 0s: graceful node shutdown is off.
    pub shutdown_grace_period: Option<String>,
    /// The part of it for critical pods, in Go's duration syntax.
    pub shutdown_grace_period_critical_pods: Option<String>,
    /// The form by pod priority, instead of the two above.
    pub shutdown_grace_period_by_pod_priority: Option<Vec<RawBucket>>,
    /// Where the cloud warns ahead and something drains the node.
    pub notice: Option<RawNotice>,
    /// Seconds after which the cloud kills the node, come what may.
    pub deadline_seconds: Option<i64>,
    /// Seconds kept free in every window. Default: 0.
    pub reserve_seconds: Option<i64>,
    /// systemd-logind of the nodes.
    pub logind: Option<RawLogind>,
}

/// One phase of the shutdown.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawBucket {
    /// Lowest pod priority of the phase.
    pub priority: Option<i32>,
    /// Seconds of the phase.
    pub shutdown_grace_period_seconds: Option<i64>,
}

/// A warning before the preemption.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawNotice {
    /// Seconds between the warning and the end of the node.
    pub seconds: Option<i64>,
    /// Seconds until the drain begins. Default: 0.
    pub reaction_seconds: Option<i64>,
}

/// systemd-logind of the nodes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawLogind {
    /// InhibitDelayMaxSec in seconds; never below the sum of the phases.
    pub inhibit_delay_max_sec: Option<i64>,
}

/// Rules: the core ones with their parameters, the advice rules with a mode.
#[derive(Clone, Debug, Default)]
pub(super) struct RawRules {
    pub grace_period: Option<RawGracePeriod>,
    pub topology_spread: Option<RawTopologySpread>,
    pub not_ready_toleration: Option<RawNotReady>,
    pub rwo_statefulset: Option<RawRwoStatefulSet>,
    /// By id; whether the id is that of a rule is checked later.
    pub others: BTreeMap<String, RawAdvice>,
}

impl<'de> Deserialize<'de> for RawRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RulesVisitor;
        impl<'de> Visitor<'de> for RulesVisitor {
            type Value = RawRules;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from rule ids to their settings")
            }

            fn visit_unit<E: Error>(self) -> Result<RawRules, E> {
                Ok(RawRules::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawRules, A::Error> {
                let mut rules = RawRules::default();
                while let Some(id) = map.next_key::<String>()? {
                    match id.as_str() {
                        "grace-period" => rules.grace_period = map.next_value()?,
                        "topology-spread" => rules.topology_spread = map.next_value()?,
                        "not-ready-toleration" => rules.not_ready_toleration = map.next_value()?,
                        "rwo-statefulset" => rules.rwo_statefulset = map.next_value()?,
                        _ => {
                            let advice = map.next_value::<Option<RawAdvice>>()?.unwrap_or_default();
                            rules.others.insert(id, advice);
                        }
                    }
                }
                Ok(rules)
            }
        }
        deserializer.deserialize_map(RulesVisitor)
    }
}

/// Settings of grace-period.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawGracePeriod {
    /// Mode; default: enforce.
    pub mode: Option<Mode>,
    /// What pods get for which nothing was written: `window`, seconds (30 or more), or `keep`. Default: keep.
    pub default: Option<RawGraceDefault>,
}

/// `window`, `keep` or seconds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected window, keep, or whole seconds")]
pub(super) enum RawGraceDefault {
    /// Seconds, 30 or more.
    Seconds(i64),
    /// `window` or `keep`.
    Word(RawGraceWord),
}

/// `window` or `keep`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawGraceWord {
    /// The whole window.
    Window,
    /// What the API server filled in.
    Keep,
}

/// Settings of topology-spread.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawTopologySpread {
    /// Mode; default: enforce, off without nodeTypeKey and constraints.
    pub mode: Option<Mode>,
    /// Constraints to append; default: one on the pool's nodeTypeKey. The selector is derived from the pod.
    pub constraints: Option<Vec<RawConstraint>>,
    /// More label keys to leave out of the derived selector.
    pub ignore_labels: Option<Vec<String>>,
    /// Write out the cluster's default constraints, which any constraint switches off. Default: true.
    pub keep_cluster_defaults: Option<bool>,
    /// Which of them: kubernetes.io/hostname, topology.kubernetes.io/zone. Default: hostname.
    pub cluster_default_keys: Option<Vec<String>>,
    /// Spread pods of Jobs too. Default: false.
    pub jobs: Option<bool>,
}

/// A spread constraint without its selector.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawConstraint {
    /// Node label key whose values are the domains.
    pub topology_key: Option<String>,
    /// Largest difference between two domains. Default: 1.
    pub max_skew: Option<i64>,
    /// Default: ScheduleAnyway.
    pub when_unsatisfiable: Option<RawWhenUnsatisfiable>,
    /// Fewest domains; with DoNotSchedule only.
    pub min_domains: Option<i64>,
    /// Honor or Ignore.
    pub node_affinity_policy: Option<RawInclusion>,
    /// Honor or Ignore.
    pub node_taints_policy: Option<RawInclusion>,
}

/// What happens when the constraint cannot be met.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum RawWhenUnsatisfiable {
    /// The pod stays Pending.
    DoNotSchedule,
    /// The pod goes where it breaks the constraint least.
    ScheduleAnyway,
}

/// Whether nodes that the pod cannot use are counted.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum RawInclusion {
    /// Only nodes that the pod can use.
    Honor,
    /// All nodes.
    Ignore,
}

/// Settings of not-ready-toleration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawNotReady {
    /// Mode; default: enforce.
    pub mode: Option<Mode>,
    /// Seconds of pods that may overlap with their replacement. Default: 30.
    pub overlap_seconds: Option<i64>,
    /// Seconds the API server fills in on this cluster. Default: 300.
    pub cluster_default_seconds: Option<i64>,
}

/// Settings of rwo-statefulset.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawRwoStatefulSet {
    /// Mode; default: enforce.
    pub mode: Option<Mode>,
    /// Storage classes whose ReadWriteOnce volumes move freely.
    pub allowed_storage_classes: Option<Vec<String>>,
}

/// Settings of an advice rule.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RawAdvice {
    /// off, audit or warn; default: warn.
    pub mode: Option<Mode>,
}
