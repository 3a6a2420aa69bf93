//! The two reviewers that are compared.

use std::sync::Arc;

use sundown::review::{Decision, Endpoint, Record, ReviewError, Reviewed, Reviewer};

/// Which reviewer a server runs.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A constant.
    Floor,
    /// The real thing.
    Full,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Floor, Self::Full];

    /// How the parent names it to the child.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Floor => "serve-floor",
            Self::Full => "serve-full",
        }
    }

    pub(crate) fn reviewer(self) -> Arc<dyn Reviewer> {
        match self {
            Self::Floor => Arc::new(Constant),
            Self::Full => full(),
        }
    }
}

struct Constant;

const ANSWER: &str =
    r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}"#;

impl Reviewer for Constant {
    fn review(&self, _: Endpoint, _: &[u8]) -> Result<Reviewed, ReviewError> {
        Ok(Reviewed { body: ANSWER.into(), record: record(Decision::Allowed) })
    }
}

fn record(decision: Decision) -> Record {
    Record {
        decision,
        resource: "pods",
        operation: "CREATE",
        uid: String::new(),
        namespace: String::new(),
        name: String::new(),
        findings: Vec::new(),
        would_be_patch: None,
        exempt: None,
    }
}

/// The reviewer as `serve` runs it.
fn full() -> Arc<dyn Reviewer> {
    Arc::new(Decoding)
}

/// Stands in until the core is wired: decodes a few fields, answers with a patch.
struct Decoding;

#[derive(serde::Deserialize)]
struct Review {
    request: Request,
}

#[derive(serde::Deserialize)]
struct Request {
    uid: String,
    #[serde(default)]
    namespace: String,
    object: Object,
}

#[derive(serde::Deserialize)]
struct Object {
    spec: Spec,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    termination_grace_period_seconds: Option<i64>,
    #[serde(default)]
    tolerations: Vec<serde_json::Value>,
}

impl Reviewer for Decoding {
    fn review(&self, _: Endpoint, body: &[u8]) -> Result<Reviewed, ReviewError> {
        let review: Review = serde_json::from_slice(body).expect("a review");
        let Request { uid, namespace, object: Object { spec } } = review.request;
        let seconds = spec.termination_grace_period_seconds.unwrap_or(30) + spec.tolerations.len() as i64;
        let patch =
            format!(r#"[{{"op":"add","path":"/spec/terminationGracePeriodSeconds","value":{seconds}}}]"#);
        let patch = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, patch);
        let body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{uid}","allowed":true,"patchType":"JSONPatch","patch":"{patch}"}}}}"#
        );
        let record = Record { uid, namespace, ..record(Decision::Patched) };
        Ok(Reviewed { body: body.into_bytes(), record })
    }
}
