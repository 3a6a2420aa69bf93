//! The recorded requests, the core by the reference policy, and answers taken apart.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sundown::policy::{Source, load};
use sundown::review::{Core, Endpoint, Record, Reviewed, Reviewer};
use sundown::rules::{NoView, catalogue};

/// The one annotation that a patch may write.
pub(crate) const CHANGES: &str = "sundown.dev/changes";

fn tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

/// The core by the reference policy: a window of 20 s for regular pods, no view of a cluster.
pub(crate) fn core() -> Core {
    let path = tests().join("cases/000-reference-policy.yaml");
    let source = Source { name: path.display().to_string(), text: std::fs::read(&path).unwrap() };
    let (policies, _) = load(&[source], &catalogue()).unwrap();
    Core::new(policies, Arc::new(NoView))
}

/// All recorded requests by file name, in the order of the names.
pub(crate) fn recorded() -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(tests().join("reviews")).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() >= 47, "only {} recorded requests", files.len());
    files
}

/// One recorded request.
pub(crate) fn recording(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(tests().join("reviews").join(name)).unwrap()).unwrap()
}

/// What the contract asks of every recorded request; keyed by file name, then `pods` or `workloads`.
pub(crate) fn expected() -> Value {
    serde_json::from_slice(&std::fs::read(tests().join("expected/reviews.json")).unwrap()).unwrap()
}

/// Whether the endpoint is one of the two that enforce.
pub(crate) fn enforces(endpoint: Endpoint) -> bool {
    matches!(endpoint, Endpoint::PodsEnforce | Endpoint::WorkloadsEnforce)
}

/// Whether the endpoint is one of the two for pods.
pub(crate) fn for_pods(endpoint: Endpoint) -> bool {
    matches!(endpoint, Endpoint::PodsEnforce | Endpoint::PodsAudit)
}

/// A decided review: the bytes, the same as JSON, and the record.
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) json: Value,
    pub(crate) record: Record,
}

impl From<Reviewed> for Answer {
    fn from(reviewed: Reviewed) -> Self {
        let json = serde_json::from_slice(&reviewed.body).unwrap();
        Self { bytes: reviewed.body, json, record: reviewed.record }
    }
}

impl Answer {
    pub(crate) fn of(core: &Core, endpoint: Endpoint, body: &[u8]) -> Self {
        let reviewed =
            core.review(endpoint, body).unwrap_or_else(|error| panic!("{}: {error}", endpoint.path()));
        reviewed.into()
    }

    pub(crate) fn response(&self) -> &Value {
        &self.json["response"]
    }

    pub(crate) fn decision(&self) -> &'static str {
        self.record.decision.as_str()
    }

    pub(crate) fn warnings(&self) -> Vec<&str> {
        let warnings = self.response()["warnings"].as_array();
        warnings.into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
    }

    /// The patch that is sent, decoded.
    pub(crate) fn patch(&self) -> Option<Value> {
        let text = self.response()["patch"].as_str()?;
        Some(serde_json::from_slice(&STANDARD.decode(text).unwrap()).unwrap())
    }

    /// The patch of the audit annotation.
    pub(crate) fn annotated_patch(&self) -> Option<Value> {
        self.response()["auditAnnotations"]["patch"].as_str().map(|text| serde_json::from_str(text).unwrap())
    }
}

/// The object with the patch applied, by the library of the RFC, not by our own code.
pub(crate) fn patched(object: &Value, patch: &Value) -> Value {
    let operations: json_patch::Patch = serde_json::from_value(patch.clone()).unwrap();
    let mut object = object.clone();
    json_patch::patch(&mut object, &operations).unwrap();
    object
}

/// The review with this object in it, as a second round would send it.
pub(crate) fn with_object(review: &Value, object: Value) -> Vec<u8> {
    let mut review = review.clone();
    review["request"]["object"] = object;
    serde_json::to_vec(&review).unwrap()
}

/// The pod without what a patch may touch: grace, tolerations, constraints and the one annotation.
pub(crate) fn untouchable(pod: &Value) -> Value {
    let mut rest = pod.clone();
    for field in ["terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints"] {
        rest["spec"].as_object_mut().unwrap().remove(field);
    }
    let metadata = rest["metadata"].as_object_mut().unwrap();
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(CHANGES);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    rest
}
