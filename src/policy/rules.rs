//! What a policy says of the rules: modes, and the parameters of the core rules.

use super::mode::Mode;

/// Modes and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// One mode per rule, in the order of the registry.
    pub(super) modes: Vec<Mode>,
    /// Parameters of grace-period.
    pub grace_period: GracePeriod,
    /// Parameters of topology-spread.
    pub topology_spread: TopologySpread,
    /// Parameters of not-ready-toleration.
    pub not_ready: NotReady,
    /// Parameters of rwo-statefulset.
    pub rwo_statefulset: RwoStatefulSet,
}

impl Rules {
    /// The mode of the rule at this place in the registry.
    pub fn mode(&self, index: usize) -> Mode {
        self.modes.get(index).copied().unwrap_or(Mode::Off)
    }
}

/// What a pod gets for which no grace period was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraceDefault {
    /// What the API server filled in.
    #[default]
    Keep,
    /// The whole window.
    Window,
    /// This many seconds, capped by the window.
    Seconds(i64),
}

/// Parameters of grace-period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GracePeriod {
    /// What is filled in where nothing was written.
    pub default: GraceDefault,
}

/// A spread constraint to append, without the selector, which is derived from the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Node label key whose values are the domains.
    pub topology_key: String,
    /// Largest difference between two domains.
    pub max_skew: i64,
    /// `ScheduleAnyway` or `DoNotSchedule`.
    pub when_unsatisfiable: String,
    /// Fewest domains, with DoNotSchedule only.
    pub min_domains: Option<i64>,
    /// `Honor` or `Ignore`.
    pub node_affinity_policy: Option<String>,
    /// `Honor` or `Ignore`.
    pub node_taints_policy: Option<String>,
}

impl Constraint {
    /// A soft constraint.
    pub fn soft(topology_key: &str, max_skew: i64) -> Self {
        Self {
            topology_key: topology_key.to_owned(),
            max_skew,
            when_unsatisfiable: "ScheduleAnyway".to_owned(),
            min_domains: None,
            node_affinity_policy: None,
            node_taints_policy: None,
        }
    }
}

/// Parameters of topology-spread.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologySpread {
    /// Constraints to append, one per key.
    pub constraints: Vec<Constraint>,
    /// More label keys to leave out of the derived selector.
    pub ignore_labels: Vec<String>,
    /// Whether to write out the cluster's default constraints, which any constraint switches off.
    pub keep_cluster_defaults: bool,
    /// The keys to write out: hostname, zone.
    pub cluster_default_keys: Vec<String>,
    /// Whether pods of Jobs are spread too.
    pub jobs: bool,
}

/// Parameters of not-ready-toleration.
#[derive(Clone, Debug, PartialEq)]
pub struct NotReady {
    /// Seconds of pods that may overlap with their replacement.
    pub overlap_seconds: i64,
    /// Seconds that the API server fills in on this cluster.
    pub cluster_default_seconds: i64,
}

/// Parameters of rwo-statefulset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RwoStatefulSet {
    /// Storage classes whose ReadWriteOnce volumes move freely.
    pub allowed_storage_classes: Vec<String>,
}
