//! Pods and workloads: the fields that rules read, and nothing else.

use serde::Deserialize;

use super::affinity::Affinity;
use super::labels::{Labels, PER_POD_LABELS};
use super::scalar::{List, Presence, Text, or_default};
use super::tolerations::Toleration;
use super::volumes::{ClaimTemplate, Volume};

/// Metadata of an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Metadata<'a> {
    /// Name; empty on CREATE of pods that a controller names by prefix.
    pub name: Text<'a>,
    /// Prefix of a name that the API server completes.
    pub generate_name: Text<'a>,
    /// Namespace.
    pub namespace: Text<'a>,
    /// Labels.
    pub labels: Labels<'a>,
    /// Annotations.
    pub annotations: Labels<'a>,
    /// Owners.
    pub owner_references: List<OwnerReference<'a>>,
    /// Who manages which fields; only the operation is read.
    pub managed_fields: List<ManagedFields<'a>>,
    /// Set while the object is being deleted.
    pub deletion_timestamp: Presence,
}

/// An owner of an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct OwnerReference<'a> {
    /// Kind of the owner.
    pub kind: Text<'a>,
    /// Name of the owner.
    pub name: Text<'a>,
    /// This owner is the managing controller.
    pub controller: Option<bool>,
}

/// One entry of managedFields.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct ManagedFields<'a> {
    /// `Apply` or `Update`.
    pub operation: Text<'a>,
}

/// Kinds of controllers that rules tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerKind {
    /// apps/v1 ReplicaSet, usually of a Deployment.
    ReplicaSet,
    /// v1 ReplicationController.
    ReplicationController,
    /// apps/v1 StatefulSet.
    StatefulSet,
    /// apps/v1 DaemonSet.
    DaemonSet,
    /// batch/v1 Job.
    Job,
    /// The kubelet: a mirror pod.
    Node,
    /// Anything else, such as an operator's own kind.
    Other,
}

impl ControllerKind {
    /// Reads the kind of an owner reference.
    pub fn of(kind: &str) -> Self {
        match kind {
            "ReplicaSet" => Self::ReplicaSet,
            "ReplicationController" => Self::ReplicationController,
            "StatefulSet" => Self::StatefulSet,
            "DaemonSet" => Self::DaemonSet,
            "Job" => Self::Job,
            "Node" => Self::Node,
            _ => Self::Other,
        }
    }
}

/// What manages a pod.
pub type Controller = Option<ControllerKind>;

/// Annotation by which the kubelet marks the API's copy of a static pod.
const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";
/// Annotation that client-side `kubectl apply` leaves.
const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

impl Metadata<'_> {
    /// The managing controller's kind.
    pub fn controller(&self) -> Controller {
        let owner = self.owner_references.iter().find(|owner| owner.controller == Some(true))?;
        Some(ControllerKind::of(&owner.kind))
    }

    /// Name for people: the name, or `prefix*` where the API server has yet to complete it.
    pub fn display_name(&self) -> String {
        if self.name.is_empty() && !self.generate_name.is_empty() {
            return format!("{}*", self.generate_name.as_str());
        }
        self.name.as_str().to_owned()
    }

    /// The API's copy of a static pod, which nothing done here would reach.
    pub fn is_mirror(&self) -> bool {
        self.annotations.get(MIRROR_ANNOTATION).is_some()
            || self.owner_references.iter().any(|owner| owner.kind == "Node")
    }

    /// Somebody will apply the object again, client-side or server-side.
    pub fn is_applied(&self) -> bool {
        self.annotations.get(LAST_APPLIED_ANNOTATION).is_some()
            || self.managed_fields.iter().any(|entry| entry.operation == "Apply")
    }

    /// Labels by which the pods of a workload are told from others, without per-revision and per-pod ones.
    pub fn stable_labels<'s>(&'s self, ignored: &'s [String]) -> impl Iterator<Item = (&'s str, &'s str)> {
        let of_one_pod = |key: &str| PER_POD_LABELS.contains(&key) || ignored.iter().any(|k| k == key);
        self.labels.iter().filter(move |(key, _)| !of_one_pod(key))
    }
}

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Pod<'a> {
    /// `Pod`, or empty where the sender left it out.
    pub kind: Text<'a>,
    /// Metadata; without it no annotation can be added.
    pub metadata: Option<Metadata<'a>>,
    /// Spec.
    pub spec: Option<PodSpec<'a>>,
}

/// The spec of a pod or of a pod template.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct PodSpec<'a> {
    /// Seconds between SIGTERM and SIGKILL; the API server fills in 30.
    pub termination_grace_period_seconds: Option<i64>,
    /// Priority, resolved from the class at admission.
    pub priority: Option<i32>,
    /// Priority class.
    pub priority_class_name: Text<'a>,
    /// Tolerations, whose order matters.
    pub tolerations: List<Toleration<'a>>,
    /// Node labels that must be there.
    pub node_selector: Labels<'a>,
    /// Affinity.
    #[serde(deserialize_with = "or_default")]
    pub affinity: Affinity<'a>,
    /// Spread constraints.
    pub topology_spread_constraints: List<SpreadConstraint<'a>>,
    /// Volumes.
    pub volumes: List<Volume<'a>>,
    /// Containers.
    pub containers: List<Container<'a>>,
    /// Init containers, sidecars among them.
    pub init_containers: List<Container<'a>>,
}

/// What the API server fills in when nothing was written, in seconds.
/// Source: `DefaultTerminationGracePeriodSeconds` in `k8s.io/api/core/v1`.
pub const DEFAULT_GRACE_SECONDS: i64 = 30;

impl PodSpec<'_> {
    /// Grace in seconds as the API server has it: 30 when absent, 1 when negative.
    pub fn grace_seconds(&self) -> i64 {
        match self.termination_grace_period_seconds {
            None => DEFAULT_GRACE_SECONDS,
            Some(negative) if negative < 0 => 1,
            Some(seconds) => seconds,
        }
    }

    /// Priority, 0 when there is none.
    pub fn priority_or_zero(&self) -> i32 {
        self.priority.unwrap_or(0)
    }

    /// Runs with one of Kubernetes' own critical priorities.
    pub fn is_system_critical(&self) -> bool {
        self.priority_or_zero() >= crate::shutdown::CRITICAL_PRIORITY
            || ["system-cluster-critical", "system-node-critical"]
                .contains(&self.priority_class_name.as_str())
    }

    /// All containers, init containers first.
    pub fn all_containers(&self) -> impl Iterator<Item = (&'static str, usize, &Container<'_>)> {
        let init = self.init_containers.iter().enumerate().map(|(i, c)| ("initContainers", i, c));
        init.chain(self.containers.iter().enumerate().map(|(i, c)| ("containers", i, c)))
    }

    /// Seconds of the longest `lifecycle.*.sleep`, below which the API server refuses a grace period.
    pub fn longest_sleep_seconds(&self) -> i64 {
        let hooks =
            self.all_containers().map(|(_, _, container)| container.lifecycle.longest_sleep_seconds());
        hooks.max().unwrap_or(0)
    }

    /// Whether a volume outlives the pod or is claimed for it.
    pub fn has_claims(&self) -> bool {
        self.volumes.iter().any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.0)
    }
}

/// A spread constraint, as far as rules read it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct SpreadConstraint<'a> {
    /// Node label key whose values are the domains.
    pub topology_key: Text<'a>,
    /// `DoNotSchedule` or `ScheduleAnyway`.
    pub when_unsatisfiable: Text<'a>,
}

/// A container, of which only the lifecycle hooks are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Container<'a> {
    /// Hooks.
    #[serde(deserialize_with = "or_default")]
    pub lifecycle: Lifecycle<'a>,
}

/// Lifecycle hooks of a container.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Lifecycle<'a> {
    /// Runs before SIGTERM, inside the grace period.
    #[serde(deserialize_with = "or_default")]
    pub pre_stop: Hook<'a>,
    /// Runs after the start.
    #[serde(deserialize_with = "or_default")]
    pub post_start: Hook<'a>,
}

impl Lifecycle<'_> {
    fn longest_sleep_seconds(&self) -> i64 {
        self.pre_stop.sleep_seconds().max(self.post_start.sleep_seconds())
    }
}

/// What a hook does.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Hook<'a> {
    /// Sleeps in the kubelet.
    #[serde(deserialize_with = "or_default")]
    sleep: Sleep,
    /// Runs a command in the container.
    #[serde(deserialize_with = "or_default")]
    exec: Exec<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Sleep {
    seconds: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Exec<'a> {
    command: List<Text<'a>>,
}

impl Hook<'_> {
    /// Seconds of a `sleep` action, 0 when it is none.
    pub fn sleep_seconds(&self) -> i64 {
        self.sleep.seconds.unwrap_or(0).max(0)
    }

    /// Seconds the hook surely takes: a `sleep` action, or a command that is nothing but `sleep N`, alone or
    /// first in a shell line.
    pub fn known_seconds(&self) -> i64 {
        let command: Vec<&str> = self.exec.command.iter().map(Text::as_str).collect();
        let slept = match command.as_slice() {
            [program, seconds] if program.rsplit('/').next() == Some("sleep") => whole_seconds(seconds),
            [_shell, flag, line] if flag.starts_with('-') && flag.ends_with('c') => {
                line.trim_start().strip_prefix("sleep ").and_then(|rest| {
                    rest.split(|c: char| c.is_whitespace() || c == ';' || c == '&')
                        .next()
                        .and_then(whole_seconds)
                })
            }
            _ => None,
        };
        self.sleep_seconds().max(slept.unwrap_or(0))
    }
}

fn whole_seconds(text: &str) -> Option<i64> {
    text.strip_suffix('s').unwrap_or(text).parse().ok().filter(|seconds| *seconds >= 0)
}

/// A pod template of a workload.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct PodTemplate<'a> {
    /// Metadata that the pods get.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// Spec that the pods get.
    #[serde(deserialize_with = "or_default")]
    pub spec: PodSpec<'a>,
}

/// A workload: an object with a pod template.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Workload<'a> {
    /// Its kind, or empty where the sender left it out.
    pub kind: Text<'a>,
    /// Metadata of the workload itself.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata<'a>,
    /// Spec.
    #[serde(deserialize_with = "or_default")]
    pub spec: WorkloadSpec<'a>,
}

/// The spec of a workload: the union of what rules read of all kinds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct WorkloadSpec<'a> {
    /// Replicas; the API server fills in 1.
    pub replicas: Option<i64>,
    /// Pod template.
    #[serde(deserialize_with = "or_default")]
    pub template: PodTemplate<'a>,
    /// StatefulSet: claims made for each pod.
    pub volume_claim_templates: List<ClaimTemplate<'a>>,
    /// Deployment: how pods are replaced.
    #[serde(deserialize_with = "or_default")]
    pub strategy: Strategy<'a>,
    /// Job: failures allowed; the API server fills in 6.
    pub backoff_limit: Option<i64>,
    /// Job: what counts as a failure.
    #[serde(deserialize_with = "or_default")]
    pub pod_failure_policy: PodFailurePolicy<'a>,
}

/// Update strategy of a Deployment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Strategy<'a> {
    /// `RollingUpdate` or `Recreate`.
    pub r#type: Text<'a>,
}

/// Pod failure policy of a Job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct PodFailurePolicy<'a> {
    /// Rules, of which the first that matches decides.
    pub rules: List<PodFailureRule<'a>>,
}

/// One rule of a pod failure policy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct PodFailureRule<'a> {
    /// `Ignore`, `Count`, `FailIndex` or `FailJob`.
    pub action: Text<'a>,
    /// Pod conditions it matches.
    pub on_pod_conditions: List<PodCondition<'a>>,
}

/// A pod condition in a failure rule.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct PodCondition<'a> {
    /// Condition type, such as `DisruptionTarget`.
    pub r#type: Text<'a>,
}
