//! Objects of the cases, as an API server sends them to the webhook.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sundown::policy::{Source, load};
use sundown::review::{Core, Endpoint};
use sundown::rules::{Claim, Coverage, NoView, View, catalogue};
use sundown::subject::{AccessModes, Labels};
use sundown::yaml::Documents;

use crate::support::{Answer, patched};

/// The objects of a case, Lists unpacked.
pub(crate) fn objects(case: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(case);
    let text = fs::read(path).unwrap();
    let documents = Documents::new(text.as_slice()).map(|document| document.unwrap().root.to_json());
    documents.flat_map(|object| object["items"].as_array().cloned().unwrap_or_else(|| vec![object])).collect()
}

/// The object of a case by its name.
pub(crate) fn object(case: &str, name: &str) -> Value {
    let named = objects(case).into_iter().find(|object| object["metadata"]["name"] == name);
    named.unwrap_or_else(|| panic!("no {name} in {case}"))
}

/// A core by a policy.
pub(crate) fn webhook(policy: &str) -> Core {
    webhook_with(policy, Arc::new(NoView))
}

/// A core by a policy, in a cluster.
pub(crate) fn webhook_with(policy: &str, view: Arc<dyn View>) -> Core {
    let source = Source { name: "policy.yaml".into(), text: policy.as_bytes().to_vec() };
    let (policies, _) = load(&[source], &catalogue()).unwrap();
    Core::new(policies, view)
}

/// The pod that a workload's controller makes, with what the API server fills in.
pub(crate) fn pod_of(workload: &Value) -> Value {
    let owner =
        if workload["kind"] == "Deployment" { "ReplicaSet" } else { workload["kind"].as_str().unwrap() };
    let mut pod = workload["spec"]["template"].clone();
    pod["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": owner, "name": workload["metadata"]["name"], "uid": "o", "controller": true
    }]);
    defaulted(pod)
}

/// The pod with the grace and the two tolerations that the API server fills in.
pub(crate) fn defaulted(mut pod: Value) -> Value {
    let spec = &mut pod["spec"];
    if spec["terminationGracePeriodSeconds"].is_null() {
        spec["terminationGracePeriodSeconds"] = json!(30);
    }
    let mut tolerations = spec["tolerations"].as_array().cloned().unwrap_or_default();
    for taint in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = |one: &Value| {
            (one["key"] == taint || one["key"].is_null())
                && (one["effect"] == "NoExecute" || one["effect"].is_null())
        };
        if !tolerations.iter().any(tolerated) {
            let filled_in =
                json!({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
            tolerations.push(filled_in);
        }
    }
    spec["tolerations"] = json!(tolerations);
    pod
}

fn review(kind: &str, operation: &str, object: &Value, old: &Value) -> Vec<u8> {
    let group = if kind == "Pod" { "" } else { "apps" };
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": group, "version": "v1", "kind": kind}, "namespace": "shop",
        "operation": operation, "object": object, "oldObject": old,
    }});
    review.to_string().into_bytes()
}

/// What an enforcing namespace answers to the creation of a pod.
pub(crate) fn create_pod(core: &Core, pod: &Value) -> Answer {
    Answer::of(core, Endpoint::PodsEnforce, &review("Pod", "CREATE", pod, &Value::Null))
}

/// What both endpoints for pods answer to the update of a pod.
pub(crate) fn update_pod(core: &Core, old: &Value, new: &Value) -> [Answer; 2] {
    let body = review("Pod", "UPDATE", new, old);
    [Endpoint::PodsEnforce, Endpoint::PodsAudit].map(|endpoint| Answer::of(core, endpoint, &body))
}

/// What an enforcing namespace answers to the creation of a workload.
pub(crate) fn create(core: &Core, workload: &Value) -> Answer {
    let kind = workload["kind"].as_str().unwrap();
    Answer::of(core, Endpoint::WorkloadsEnforce, &review(kind, "CREATE", workload, &Value::Null))
}

/// What an enforcing namespace answers to the update of a workload.
pub(crate) fn update(core: &Core, old: &Value, new: &Value) -> Answer {
    let kind = new["kind"].as_str().unwrap();
    Answer::of(core, Endpoint::WorkloadsEnforce, &review(kind, "UPDATE", new, old))
}

/// The pod as it is stored after the answer.
pub(crate) fn stored(answer: &Answer, pod: &Value) -> Value {
    answer.patch().map_or_else(|| pod.clone(), |patch| patched(pod, &patch))
}

/// A cluster that knows the claims of a case.
pub(crate) struct Claims(pub(crate) Vec<Value>);

impl View for Claims {
    fn claim(&self, namespace: &str, name: &str) -> Option<Claim> {
        let mut claims = self.0.iter().filter(|object| object["kind"] == "PersistentVolumeClaim");
        let of_name =
            |claim: &&Value| claim["metadata"]["name"] == name && claim["metadata"]["namespace"] == namespace;
        let modes = claims.find(of_name)?["spec"]["accessModes"].as_array()?;
        let modes = AccessModes::of(modes.iter().map(|mode| mode.as_str().unwrap()));
        Some(Claim { modes, storage_class: String::new() })
    }

    fn coverage(&self, _: &str) -> Coverage {
        Coverage::Everywhere
    }

    fn is_local_class(&self, _: &str) -> bool {
        false
    }

    fn disruption_budget(&self, _: &str, _: &Labels<'_>) -> Option<String> {
        None
    }
}
