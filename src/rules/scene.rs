//! What a rule is given: the object, the pools it may land on, and what is known of the cluster.

use crate::policy::{Mode, Policy};
use crate::subject::{
    AccessModes, ControllerKind, Labels, Metadata, Placement, PodSpec, Reach, WorkloadSpec, place,
};

/// The kinds of objects that rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// v1 Pod.
    Pod,
    /// apps/v1 Deployment.
    Deployment,
    /// apps/v1 StatefulSet.
    StatefulSet,
    /// apps/v1 DaemonSet.
    DaemonSet,
    /// apps/v1 ReplicaSet.
    ReplicaSet,
    /// v1 ReplicationController.
    ReplicationController,
    /// batch/v1 Job.
    Job,
    /// batch/v1 CronJob.
    CronJob,
}

impl Kind {
    /// The kind of this group and name, if it holds pods that rules know.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        Some(match (api_version, kind) {
            ("v1", "Pod") => Self::Pod,
            ("v1", "ReplicationController") => Self::ReplicationController,
            ("apps/v1", "Deployment") => Self::Deployment,
            ("apps/v1", "StatefulSet") => Self::StatefulSet,
            ("apps/v1", "DaemonSet") => Self::DaemonSet,
            ("apps/v1", "ReplicaSet") => Self::ReplicaSet,
            ("batch/v1", "Job") => Self::Job,
            ("batch/v1", "CronJob") => Self::CronJob,
            _ => return None,
        })
    }

    /// JSON pointer of the pod's metadata and spec in the object.
    pub fn pod_pointer(self) -> &'static str {
        match self {
            Self::Pod => "",
            Self::CronJob => "/spec/jobTemplate/spec/template",
            _ => "/spec/template",
        }
    }

    /// JSON pointer of the workload's own spec.
    pub fn spec_pointer(self) -> &'static str {
        if self == Self::CronJob { "/spec/jobTemplate/spec" } else { "/spec" }
    }

    /// What will manage the pods of a workload of this kind.
    pub fn pod_controller(self) -> Option<ControllerKind> {
        Some(match self {
            Self::Pod => return None,
            Self::Deployment | Self::ReplicaSet => ControllerKind::ReplicaSet,
            Self::ReplicationController => ControllerKind::ReplicationController,
            Self::StatefulSet => ControllerKind::StatefulSet,
            Self::DaemonSet => ControllerKind::DaemonSet,
            Self::Job | Self::CronJob => ControllerKind::Job,
        })
    }
}

/// An object under review.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its own metadata.
    pub metadata: &'a Metadata<'a>,
    /// Metadata of the pod, or of the pod template.
    pub pod_metadata: &'a Metadata<'a>,
    /// Spec of the pod, or of the pod template.
    pub pod: &'a PodSpec<'a>,
    /// What manages the pod.
    pub controller: Option<ControllerKind>,
    /// Spec of the workload; `None` for a pod.
    pub workload: Option<&'a WorkloadSpec<'a>>,
}

impl Subject<'_> {
    /// JSON pointer of a field of the pod, relative to the object.
    pub fn pod_path(&self, field: &str) -> String {
        format!("{}{field}", self.kind.pod_pointer())
    }
}

/// A persistent volume claim, as far as rules read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What its access modes mean.
    pub modes: AccessModes,
    /// Storage class; empty when unknown or the cluster's default.
    pub storage_class: String,
}

/// Which nodes bear a label key.
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// Nobody watches nodes here: the policy's word is taken.
    NotWatched,
    /// Nodes are watched but not known yet.
    Pending,
    /// Every schedulable node bears it.
    Everywhere,
    /// These schedulable nodes lack it.
    Missing(Vec<String>),
}

/// What is known of the cluster around the object. No method does I/O: answers come from caches.
pub trait View: Send + Sync {
    /// The claim of this name, if it is known.
    fn claim(&self, namespace: &str, name: &str) -> Option<Claim>;

    /// Which nodes bear a label key.
    fn coverage(&self, key: &str) -> Coverage;

    /// Whether volumes of this storage class are bound to one node.
    fn is_local_class(&self, storage_class: &str) -> bool;

    /// Name of a PodDisruptionBudget that selects pods with these labels.
    fn disruption_budget(&self, namespace: &str, labels: &Labels<'_>) -> Option<String>;
}

/// Knows nothing: a webhook without a cluster view.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoView;

impl View for NoView {
    fn claim(&self, _: &str, _: &str) -> Option<Claim> {
        None
    }

    fn coverage(&self, _: &str) -> Coverage {
        Coverage::NotWatched
    }

    fn is_local_class(&self, _: &str) -> bool {
        false
    }

    fn disruption_budget(&self, _: &str, _: &Labels<'_>) -> Option<String> {
        None
    }
}

/// A policy, and how the pod reaches its pool.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// How the pod gets there.
    pub reach: Reach,
}

impl Case<'_> {
    /// Window in seconds that the pod has on this pool.
    pub fn window(&self, pod: &PodSpec<'_>) -> i64 {
        self.policy.windows.seconds(pod.priority_or_zero())
    }
}

/// All policies, parted by whether the pod may or must land on their pool.
#[derive(Clone, Debug)]
pub struct Pooled<'a> {
    /// The pools it may or must land on.
    pub reached: Vec<Case<'a>>,
    /// The pools it cannot land on.
    pub unreached: Vec<Case<'a>>,
}

impl<'a> Pooled<'a> {
    /// Places a pod on the pools of all policies, in their order.
    pub fn of(pod: &PodSpec<'_>, policies: &'a [Policy]) -> Self {
        let place = |policy: &'a Policy| {
            let reach = place(pod, policy.pool.taint.as_ref(), &policy.pool);
            Case { policy, reach }
        };
        let (unreached, reached) =
            policies.iter().map(place).partition(|case| case.reach.placement == Placement::Never);
        Self { reached, unreached }
    }
}

/// Everything a rule may look at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The object.
    pub subject: &'a Subject<'a>,
    /// The object before an UPDATE.
    pub old: Option<&'a Subject<'a>>,
    /// All loaded policies.
    pub policies: &'a [Policy],
    /// How the pod reaches their pools.
    pub pooled: &'a Pooled<'a>,
    /// The cluster around it.
    pub view: &'a dyn View,
}

/// The cases that one rule acts on in one mode: never empty.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The mode, before the namespace's.
    pub mode: Mode,
    /// The cases.
    pub cases: Vec<Case<'a>>,
}

impl<'a> Group<'a> {
    /// Groups the cases by the mode in which this rule acts on them, strongest first. A pool that is reached
    /// by wildcard only caps the mode, unless its policy says otherwise.
    pub fn by_mode(cases: &[Case<'a>], rule: usize) -> Vec<Self> {
        let mode_of = |case: &Case<'_>| {
            let mode = case.policy.rules.mode(rule);
            if case.reach.by_wildcard() { mode.min(case.policy.by_wildcard) } else { mode }
        };
        let of_mode = |mode: Mode| Self {
            mode,
            cases: cases.iter().filter(|case| mode_of(case) == mode).copied().collect(),
        };
        let groups = Mode::ALL.into_iter().rev().filter(|mode| *mode != Mode::Off).map(of_mode);
        groups.filter(|group| !group.cases.is_empty()).collect()
    }

    /// The smallest window, and the policy it comes from.
    pub fn tightest(&self, pod: &PodSpec<'_>) -> Option<(i64, &'a str)> {
        let windows = self.cases.iter().map(|case| (case.window(pod), case.policy.name.as_str()));
        windows.min_by_key(|(seconds, _)| *seconds)
    }

    /// Name of the first policy.
    pub fn policy(&self) -> &'a str {
        self.cases.first().map(|case| case.policy.name.as_str()).unwrap_or_default()
    }
}
