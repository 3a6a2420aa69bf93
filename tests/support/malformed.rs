//! Bodies that are no proper reviews: the right error or decision, never a panic.

use serde_json::{Value, json};
use sundown::review::{Core, Endpoint, ErrorReason, Reviewer};

use crate::support::{core, recorded, recording};

pub(crate) const POD: &str = "pod-create-of-replicaset-storefront.json";
pub(crate) const STATEFUL_SET: &str = "statefulset-create-cache.json";

/// The answer as JSON, or why there is none.
pub(crate) fn outcome(core: &Core, endpoint: Endpoint, body: &[u8]) -> Result<Value, ErrorReason> {
    let reviewed = core.review(endpoint, body).map_err(|error| {
        assert!(error.message.len() > 5 && !error.message.contains('\n'), "{:?}", error.message);
        error.reason
    })?;
    Ok(serde_json::from_slice(&reviewed.body).unwrap())
}

/// Every endpoint answers the body with this error.
fn refused(what: &str, body: &[u8], reason: ErrorReason) {
    for endpoint in Endpoint::ALL {
        let got = outcome(&core(), endpoint, body);
        assert_eq!(got, Err(reason), "{what} at {}", endpoint.path());
    }
}

/// The recorded pod and StatefulSet, each with its changes, are refused where such an object is judged, as an
/// object that does not parse.
#[derive(Default)]
struct Unreadable(Vec<String>);

impl Unreadable {
    fn with(&mut self, what: &str, change: impl Fn(&mut Value)) {
        for (name, endpoint) in [(POD, Endpoint::PodsEnforce), (STATEFUL_SET, Endpoint::WorkloadsEnforce)] {
            let mut review = recording(name);
            change(&mut review["request"]);
            let got = outcome(&core(), endpoint, &serde_json::to_vec(&review).unwrap());
            if got != Err(ErrorReason::Object) {
                let got = got.map(|answer| answer["response"]["allowed"].clone());
                self.0.push(format!("{name} with {what}: {got:?}"));
            }
        }
    }
}

impl Drop for Unreadable {
    fn drop(&mut self) {
        assert!(self.0.is_empty(), "decided all the same, or another error:\n{}", self.0.join("\n"));
    }
}

/// The pod specification of a request for a pod or a workload.
fn pod_spec(request: &mut Value) -> &mut Value {
    let spec = &mut request["object"]["spec"];
    if spec.get("template").is_some() { &mut spec["template"]["spec"] } else { spec }
}

#[test]
fn what_is_no_json_is_refused() {
    for body in ["", " ", "hello", "{", "{} {}", "{\"kind\": \"AdmissionReview\",}", "<AdmissionReview/>"] {
        refused(body, body.as_bytes(), ErrorReason::Json);
    }
    let open = format!("{{\"x\": {}", "[".repeat(100_000));
    refused("100 000 open brackets", open.as_bytes(), ErrorReason::Json);
    refused("no UTF-8", b"{\"kind\": \"\xff\xfe\"}", ErrorReason::Json);
}

#[test]
fn what_is_cut_short_is_refused() {
    let core = core();
    let mut cuts = 0;
    for (name, body) in recorded() {
        let body = body.trim_ascii_end();
        let step = if body.len() > 50_000 { 97 * 97 } else { 97 };
        for length in (0..body.len()).step_by(step) {
            for endpoint in [Endpoint::PodsEnforce, Endpoint::WorkloadsEnforce] {
                let got = outcome(&core, endpoint, &body[..length]);
                assert_eq!(got, Err(ErrorReason::Json), "{name} cut at {length} at {}", endpoint.path());
            }
            cuts += 1;
        }
    }
    assert!(cuts > 1000, "only {cuts} cuts");
}

/// What is done to a review.
type Change = fn(&mut Value);

#[test]
fn what_is_no_review_is_refused() {
    for body in ["[]", "\"AdmissionReview\"", "3", "null", "true", "{}"] {
        refused(body, body.as_bytes(), ErrorReason::NotAReview);
    }
    for name in [POD, STATEFUL_SET] {
        let other = |change: Change| {
            let mut review = recording(name);
            change(&mut review);
            serde_json::to_vec(&review).unwrap()
        };
        refused(
            "v1beta1",
            &other(|r| r["apiVersion"] = json!("admission.k8s.io/v1beta1")),
            ErrorReason::Version,
        );
        refused("v2", &other(|r| r["apiVersion"] = json!("admission.k8s.io/v2")), ErrorReason::Version);
        let no_reviews: [(&str, Change); 7] = [
            ("kind", |r| r["kind"] = json!("Pod")),
            ("kind null", |r| r["kind"] = Value::Null),
            ("no request", |r| drop(r.as_object_mut().unwrap().remove("request"))),
            ("request null", |r| r["request"] = Value::Null),
            ("request a list", |r| r["request"] = json!([])),
            ("no uid", |r| drop(r["request"].as_object_mut().unwrap().remove("uid"))),
            ("uid empty", |r| r["request"]["uid"] = json!("")),
        ];
        for (what, change) in no_reviews {
            refused(&format!("{name}: {what}"), &other(change), ErrorReason::NotAReview);
        }
    }
}

#[test]
fn an_object_that_is_not_what_it_claims_is_refused() {
    let mut unreadable = Unreadable::default();
    unreadable.with("object null", |request| request["object"] = Value::Null);
    unreadable.with("no object", |request| drop(request.as_object_mut().unwrap().remove("object")));
    unreadable.with("object a text", |request| request["object"] = json!("pod"));
    unreadable.with("object a list", |request| request["object"] = json!([{}]));
    unreadable.with("a PodList", |request| {
        request["object"] = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []});
    });
    for member in ["metadata", "spec"] {
        for wrong in [json!("x"), json!(1), json!(true)] {
            unreadable
                .with(&format!("{member} {wrong}"), |request| request["object"][member] = wrong.clone());
        }
    }
}

#[test]
fn a_list_in_place_of_an_object_is_refused() {
    let mut unreadable = Unreadable::default();
    for member in ["metadata", "spec"] {
        for list in [json!([]), json!(["shop"])] {
            unreadable.with(&format!("{member} {list}"), |request| request["object"][member] = list.clone());
        }
    }
    for (field, list) in [
        ("topologySpreadConstraints", json!([[]])),
        ("tolerations", json!([[]])),
        ("tolerations", json!([["cloud.example.com/preemptible", "Equal", "true", "NoSchedule", 5]])),
        ("affinity", json!([])),
        ("volumes", json!([["data"]])),
        ("containers", json!([[]])),
    ] {
        unreadable.with(&format!("{field} {list}"), |request| pod_spec(request)[field] = list.clone());
    }
}

/// A pod without them is none that a patch could be made for; a workload is read as Kubernetes reads it, with
/// everything empty that is left out.
#[test]
fn an_object_without_metadata_or_spec() {
    for member in ["metadata", "spec"] {
        let without = |name: &str| {
            let mut review = recording(name);
            drop(review["request"]["object"].as_object_mut().unwrap().remove(member));
            serde_json::to_vec(&review).unwrap()
        };
        for endpoint in [Endpoint::PodsEnforce, Endpoint::PodsAudit] {
            assert_eq!(outcome(&core(), endpoint, &without(POD)), Err(ErrorReason::Object), "{member}");
        }
        let answer = outcome(&core(), Endpoint::WorkloadsEnforce, &without(STATEFUL_SET)).unwrap();
        // The specification alone is what violates.
        assert_eq!(answer["response"]["allowed"], json!(member == "spec"), "{member}");
    }
}

#[test]
fn fields_of_another_type_are_refused() {
    let mut unreadable = Unreadable::default();
    for (field, wrong) in [
        ("terminationGracePeriodSeconds", json!("30")),
        ("terminationGracePeriodSeconds", json!(30.5)),
        ("terminationGracePeriodSeconds", json!([30])),
        ("tolerations", json!({"key": "a"})),
        ("tolerations", json!("all")),
        ("tolerations", json!(["all"])),
        ("tolerations", json!([{"key": 1}])),
        ("tolerations", json!([{"operator": "Exists", "tolerationSeconds": "300"}])),
        ("topologySpreadConstraints", json!({})),
        ("topologySpreadConstraints", json!([1])),
        ("nodeSelector", json!(["a"])),
        ("nodeSelector", json!({"a": 1})),
        ("affinity", json!("none")),
        ("volumes", json!({})),
        ("priority", json!("0")),
        ("containers", json!("none")),
    ] {
        unreadable.with(&format!("{field}: {wrong}"), |request| pod_spec(request)[field] = wrong.clone());
    }
    for labels in [json!([]), json!("a=b"), json!({"a": 1}), json!({"a": {}})] {
        unreadable.with(&format!("labels: {labels}"), |request| {
            request["object"]["metadata"]["labels"] = labels.clone();
        });
    }
}
