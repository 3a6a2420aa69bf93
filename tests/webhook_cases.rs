//! Real reports as inputs (`tests/cases`) that concern what the webhook makes of a pod: each is wrapped into an
//! AdmissionReview, with the defaults that the API server fills in, and as a pod of a ReplicaSet unless it has an owner.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sundown::policy::{Source, load};
use sundown::review::{Core, Endpoint, Reviewer};
use sundown::rules::{NoView, catalogue};
use sundown::yaml::Documents;

const REFERENCE: &str = include_str!("cases/000-reference-policy.yaml");

/// The pods of a case, Lists unpacked.
fn pods(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let documents = Documents::new(fs::read(path).unwrap().as_slice())
        .map(|d| d.unwrap().root.to_json())
        .collect::<Vec<_>>();
    documents
        .into_iter()
        .flat_map(|object| object["items"].as_array().cloned().unwrap_or_else(|| vec![object]))
        .collect()
}

fn pod(name: &str) -> Value {
    pods(name).remove(0)
}

/// The pod as the API server sends it.
fn defaulted(mut pod: Value) -> Value {
    if pod["metadata"]["ownerReferences"].is_null() {
        let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": true}]);
        pod["metadata"]["ownerReferences"] = owner;
    }
    if pod["spec"]["terminationGracePeriodSeconds"].is_null() {
        pod["spec"]["terminationGracePeriodSeconds"] = json!(30);
    }
    pod
}

struct Answer {
    operations: Vec<Value>,
    warnings: Vec<String>,
    after: Value,
}

/// What the webhook answers in an enforcing namespace; the patch applies.
fn admit(policy: &str, pod: &Value) -> Answer {
    let source = Source { name: "rc".into(), text: policy.as_bytes().to_vec() };
    let (policies, _) = load(&[source], &catalogue()).unwrap();
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "namespace": "shop", "operation": "CREATE",
        "object": pod,
    }});
    let reviewed = Core::new(policies, Arc::new(NoView))
        .review(Endpoint::PodsEnforce, review.to_string().as_bytes())
        .unwrap();
    let answer: Value = serde_json::from_slice(&reviewed.body).unwrap();
    assert_eq!(answer["response"]["allowed"], true);
    let patch =
        answer["response"]["patch"].as_str().map_or("[]".into(), |patch| STANDARD.decode(patch).unwrap());
    let operations: Vec<Value> = serde_json::from_slice(&patch).unwrap_or_default();
    let mut after = pod.clone();
    json_patch::patch(&mut after, &serde_json::from_value::<json_patch::Patch>(json!(operations)).unwrap())
        .unwrap();
    let warnings = answer["response"]["warnings"].as_array().cloned().unwrap_or_default();
    Answer { operations, warnings: warnings.iter().map(|w| w.as_str().unwrap().to_owned()).collect(), after }
}

fn seconds(pod: &Value) -> Vec<Value> {
    pod["spec"]["tolerations"].as_array().unwrap().iter().map(|t| t["tolerationSeconds"].clone()).collect()
}

#[test]
fn c002_annotations_that_are_not_there_are_added_as_a_map() {
    let answer = admit(REFERENCE, &defaulted(pod("002-annotations-nil.json")));
    let of_annotations: Vec<&Value> = answer
        .operations
        .iter()
        .filter(|op| op["path"].as_str().unwrap().starts_with("/metadata/annotations"))
        .collect();
    assert_eq!(of_annotations.len(), 1);
    assert!(of_annotations[0]["value"]["sundown.dev/changes"].is_string(), "{:?}", of_annotations[0]);
}

#[test]
fn c004_annotations_that_are_there_stay() {
    let before = defaulted(pod("004-whole-map-overwrite.yaml"));
    let answer = admit(REFERENCE, &before);
    assert!(answer.operations.iter().all(|op| op["path"] != "/metadata/annotations"));
    for (key, value) in before["metadata"]["annotations"].as_object().unwrap() {
        assert_eq!(answer.after["metadata"]["annotations"][key], *value);
    }
    assert_eq!(answer.after["spec"]["terminationGracePeriodSeconds"], 20);
}

#[test]
fn c006_every_order_of_the_list_is_kept() {
    let before = defaulted(pod("006-array-diff-order.yaml"));
    let list = before["spec"]["tolerations"].as_array().unwrap().clone();
    for turn in 0..list.len() {
        for swap in 0..list.len() - 1 {
            let mut turned = list.clone();
            turned.rotate_left(turn);
            turned.swap(swap, swap + 1);
            let mut pod = before.clone();
            pod["spec"]["tolerations"] = json!(turned);
            let wanted: Vec<Value> = turned
                .iter()
                .map(|toleration| {
                    let mut toleration = toleration.clone();
                    if !toleration["tolerationSeconds"].is_null() {
                        toleration["tolerationSeconds"] = json!(30);
                    }
                    toleration.as_object_mut().unwrap().retain(|_, value| !value.is_null());
                    toleration
                })
                .collect();
            assert_eq!(admit(REFERENCE, &pod).after["spec"]["tolerations"], json!(wanted));
        }
    }
}

#[test]
fn c008_null_members_are_absent() {
    let answer = admit(REFERENCE, &pod("008-null-members.json"));
    assert_eq!(answer.after["spec"]["terminationGracePeriodSeconds"], 20);
    assert!(answer.after["metadata"]["annotations"]["sundown.dev/changes"].is_string());
    let mut owned = defaulted(pod("008-null-members.json"));
    owned["spec"]["terminationGracePeriodSeconds"] = json!(null);
    let answer = admit(REFERENCE, &owned);
    assert!(answer.after["spec"]["topologySpreadConstraints"].is_null());
    assert!(answer.warnings.iter().any(|warning| warning.contains("no label")), "{:?}", answer.warnings);
}

#[test]
fn c010_what_is_done_is_not_done_again() {
    let done = defaulted(pod("010-reinvocation-idempotent.yaml"));
    assert_eq!(admit(REFERENCE, &done).operations, Vec::<Value>::new());
    let mut stripped = done;
    stripped["metadata"]["annotations"] = json!(null);
    assert_eq!(admit(REFERENCE, &stripped).operations, Vec::<Value>::new());
}

#[test]
fn c024_and_c086_invalid_or_keyless_tolerations_are_left_as_they_are() {
    let before = defaulted(pod("086-keyless-with-seconds.yaml"));
    let answer = admit(REFERENCE, &before);
    assert_eq!(answer.after["spec"]["tolerations"], before["spec"]["tolerations"]);
    assert!(
        answer.warnings.iter().any(|warning| warning.starts_with("not-ready-toleration: ")),
        "{:?}",
        answer.warnings
    );
    let template = pod("024-exists-with-value.yaml")["spec"]["template"].clone();
    let answer = admit(REFERENCE, &defaulted(template));
    assert_eq!(answer.after["spec"]["tolerations"][0]["value"], "true");
    assert_eq!(answer.after["spec"]["terminationGracePeriodSeconds"], 20);
}

#[test]
fn c046_a_mirror_pod_is_left_alone() {
    let answer = admit(REFERENCE, &pod("046-static-mirror-pod.yaml"));
    assert_eq!((answer.operations.len(), answer.warnings.len()), (0, 0));
}

#[test]
fn c082_a_broad_toleration_that_comes_first_decides() {
    let [broad_first, broad_last] = &pods("082-first-match-wins.yaml")[..] else { panic!("want two pods") };
    let answer = admit(REFERENCE, &defaulted(broad_first.clone()));
    assert_eq!(seconds(&answer.after), [Value::Null, Value::Null]);
    let forever = answer.warnings.iter().find(|warning| warning.starts_with("forever-toleration: ")).unwrap();
    assert!(forever.contains("toleration 0"), "{forever}");
    let answer = admit(REFERENCE, &defaulted(broad_last.clone()));
    assert_eq!(seconds(&answer.after), [json!(30), json!(30), Value::Null, Value::Null]);
}

#[test]
fn c102_and_c106_and_c108_constraints_are_added_once_and_with_the_defaults_of_the_cluster() {
    let keys = |policy: &str, pod: Value| -> Vec<Value> {
        let after = admit(policy, &defaulted(pod)).after;
        after["spec"]["topologySpreadConstraints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["topologyKey"].clone())
            .collect()
    };
    let of_type = json!("cloud.example.com/node-type");
    let [same, other_action, other_key, _] = &pods("102-duplicate-pair.yaml")[..] else {
        panic!("want four pods")
    };
    assert_eq!(keys(REFERENCE, same.clone()), std::slice::from_ref(&of_type));
    assert_eq!(keys(REFERENCE, other_action.clone()), std::slice::from_ref(&of_type));
    assert_eq!(keys(REFERENCE, other_key.clone()), [json!("kubernetes.io/hostname"), of_type.clone()]);
    assert_eq!(keys(REFERENCE, pod("106-matchlabelkeys-overlap.yaml")), std::slice::from_ref(&of_type));
    let both = "keepClusterDefaults: true\n      clusterDefaultKeys: [kubernetes.io/hostname, topology.kubernetes.io/zone]";
    let kept = REFERENCE.replace("keepClusterDefaults: false", both);
    let three = [of_type.clone(), json!("kubernetes.io/hostname"), json!("topology.kubernetes.io/zone")];
    assert_eq!(keys(&kept, pod("108-cluster-defaults-dropped.yaml")), three);
    assert_eq!(keys(REFERENCE, pod("108-cluster-defaults-dropped.yaml")), [of_type]);
}
