//! The two reviewers that are compared.

use std::sync::Arc;

use sundown::policy::{Source, load};
use sundown::review::{Core, Decision, Endpoint, Record, ReviewError, Reviewed, Reviewer};
use sundown::rules::{NoView, catalogue};

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
        let record = Record {
            decision: Decision::Allowed,
            resource: "pods",
            operation: "CREATE",
            uid: String::new(),
            namespace: String::new(),
            name: String::new(),
            findings: Vec::new(),
            would_be_patch: None,
            exempt: None,
        };
        Ok(Reviewed { body: ANSWER.into(), record })
    }
}

/// The reviewer as `serve` runs it: all rules, by the policy that the reviewed pod is made for.
fn full() -> Arc<dyn Reviewer> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/000-reference-policy.yaml");
    let source = Source { name: path.into(), text: std::fs::read(path).expect("the reference policy") };
    let (policies, _) = load(&[source], &catalogue()).expect("the reference policy loads");
    Arc::new(Core::new(policies, Arc::new(NoView)))
}
