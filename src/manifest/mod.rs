//! Manifests as `check` sees them: objects out of documents, what the API server and the controllers would make
//! of them, and the rules over the result.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod examine;
mod index;
mod objects;
mod shape;
mod simulate;
mod validity;

pub use examine::{Examined, Examiner};
pub use index::Index;
pub use objects::{ManifestObject, NotAnObject, objects};

/// Id under which `check` reports what the API server would refuse, and keys that are written twice.
pub const INVALID_OBJECT: &str = "invalid-object";

/// What the tests against Kubernetes' own answers ask.
#[cfg(test)]
pub(crate) mod oracle {
    use serde_json::Value;

    use super::Index;
    use crate::rules::Kind;

    pub(crate) fn defaulted_pod(object: &Value, kind: Kind) -> Value {
        super::simulate::pod(object, kind, &Index::default(), 300).pod
    }

    pub(crate) fn is_refused(object: &Value, kind: Kind) -> bool {
        !super::validity::invalid(object, kind).is_empty()
    }
}
