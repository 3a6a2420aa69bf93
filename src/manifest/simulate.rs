//! What the API server and the controllers make of a manifest before the webhook sees the pod.

use serde_json::{Map, Value, json};

use super::index::Index;
use crate::rules::Kind;
use crate::subject::{DEFAULT_GRACE_SECONDS, NOT_READY, UNREACHABLE};

/// A pod as it would reach the webhook.
pub(super) struct SimulatedPod {
    /// The pod.
    pub pod: Value,
    /// The priority class that is not in the input, so that the priority was taken as 0.
    pub unknown_class: Option<String>,
}

/// Stands for a value that the cluster would make up, such as a hash.
const MADE_UP: &str = "0123456789";

/// The pod that this object is or makes. `object` has the right types (see `shape`);
/// `default_seconds` is what DefaultTolerationSeconds fills in on this cluster.
pub(super) fn pod(object: &Value, kind: Kind, index: &Index, default_seconds: i64) -> SimulatedPod {
    let template = object.pointer(kind.pod_pointer()).unwrap_or(&Value::Null);
    let mut metadata = members(template.get("metadata"));
    let mut spec = members(template.get("spec"));
    for of_stored_objects in ["managedFields", "creationTimestamp", "uid", "resourceVersion"] {
        metadata.remove(of_stored_objects);
    }
    if kind == Kind::Pod {
        let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
        annotations.map(|map| map.remove("kubectl.kubernetes.io/last-applied-configuration"));
    } else {
        made_by_controller(object, kind, &mut metadata);
        if kind == Kind::DaemonSet {
            daemon_tolerations(&mut spec);
        }
    }
    if let Some(namespace) = object.pointer("/metadata/namespace") {
        metadata.insert("namespace".to_owned(), namespace.clone());
    }
    let unknown_class = defaults(&mut spec, index, default_seconds);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    SimulatedPod { pod, unknown_class }
}

fn members(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Name, owner and labels that the controllers give to a pod.
fn made_by_controller(object: &Value, kind: Kind, metadata: &mut Map<String, Value>) {
    let own_name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let (owner_kind, version, owner, labels): (_, _, String, Vec<(&str, String)>) = match kind {
        Kind::Deployment => (
            "ReplicaSet",
            "apps/v1",
            format!("{own_name}-{MADE_UP}"),
            vec![("pod-template-hash", MADE_UP.to_owned())],
        ),
        Kind::StatefulSet => (
            "StatefulSet",
            "apps/v1",
            own_name.to_owned(),
            vec![
                ("apps.kubernetes.io/pod-index", "0".to_owned()),
                ("controller-revision-hash", format!("{own_name}-{MADE_UP}")),
                ("statefulset.kubernetes.io/pod-name", format!("{own_name}-0")),
            ],
        ),
        Kind::DaemonSet => (
            "DaemonSet",
            "apps/v1",
            own_name.to_owned(),
            vec![
                ("controller-revision-hash", MADE_UP.to_owned()),
                ("pod-template-generation", "1".to_owned()),
            ],
        ),
        Kind::Job => ("Job", "batch/v1", own_name.to_owned(), job_labels(own_name)),
        Kind::CronJob => {
            let job = format!("{own_name}-{MADE_UP}");
            ("Job", "batch/v1", job.clone(), job_labels(&job))
        }
        Kind::ReplicationController => ("ReplicationController", "v1", own_name.to_owned(), Vec::new()),
        Kind::ReplicaSet | Kind::Pod => ("ReplicaSet", "apps/v1", own_name.to_owned(), Vec::new()),
    };
    metadata.remove("name");
    if kind == Kind::StatefulSet {
        metadata.insert("name".to_owned(), json!(format!("{own_name}-0")));
    }
    metadata.insert("generateName".to_owned(), json!(format!("{owner}-")));
    let reference = json!({"apiVersion": version, "kind": owner_kind, "name": owner, "controller": true});
    metadata.insert("ownerReferences".to_owned(), json!([reference]));
    if labels.is_empty() {
        return;
    }
    let mut all = members(metadata.get("labels"));
    all.extend(labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))));
    metadata.insert("labels".to_owned(), Value::Object(all));
}

fn job_labels(job: &str) -> Vec<(&'static str, String)> {
    let uid = "00000000-0000-0000-0000-000000000000".to_owned();
    vec![
        ("batch.kubernetes.io/controller-uid", uid.clone()),
        ("batch.kubernetes.io/job-name", job.to_owned()),
        ("controller-uid", uid),
        ("job-name", job.to_owned()),
    ]
}

/// Source: `AddOrUpdateDaemonPodTolerations` in Kubernetes' `pkg/controller/daemon/util`.
fn daemon_tolerations(spec: &mut Map<String, Value>) {
    let no_execute = [NOT_READY, UNREACHABLE].map(|key| (key, "NoExecute"));
    let pressure = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"];
    let no_schedule = pressure.map(|name| (format!("node.kubernetes.io/{name}"), "NoSchedule"));
    let list = list_of(spec, "tolerations");
    for (key, effect) in no_execute {
        list.push(json!({"key": key, "operator": "Exists", "effect": effect}));
    }
    for (key, effect) in no_schedule {
        list.push(json!({"key": key, "operator": "Exists", "effect": effect}));
    }
}

fn list_of<'m>(spec: &'m mut Map<String, Value>, name: &str) -> &'m mut Vec<Value> {
    let slot = spec.entry(name).or_insert(Value::Null);
    if !slot.is_array() {
        *slot = json!([]);
    }
    match slot {
        Value::Array(list) => list,
        _ => unreachable!("made an array above"),
    }
}

/// API defaulting, DefaultTolerationSeconds and Priority. Answers the class that is not known.
fn defaults(spec: &mut Map<String, Value>, index: &Index, default_seconds: i64) -> Option<String> {
    let grace = match spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64) {
        None => DEFAULT_GRACE_SECONDS,
        Some(negative) if negative < 0 => 1,
        Some(seconds) => seconds,
    };
    spec.insert("terminationGracePeriodSeconds".to_owned(), json!(grace));
    for key in [NOT_READY, UNREACHABLE] {
        let list = list_of(spec, "tolerations");
        if !list.iter().any(|toleration| may_tolerate(toleration, key)) {
            list.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": default_seconds,
            }));
        }
    }
    let class = spec.get("priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
    if spec.get("priority").and_then(Value::as_i64).is_some() {
        return None;
    }
    let known = index.priority(&class);
    spec.insert("priority".to_owned(), json!(known.unwrap_or(0)));
    known.is_none().then_some(class)
}

/// The rule by which DefaultTolerationSeconds adds nothing: key and effect alone decide.
/// Source: Kubernetes' `plugin/pkg/admission/defaulttolerationseconds`.
fn may_tolerate(toleration: &Value, key: &str) -> bool {
    let text = |name: &str| toleration.get(name).and_then(Value::as_str).unwrap_or_default();
    ["", key].contains(&text("key")) && ["", "NoExecute"].contains(&text("effect"))
}
