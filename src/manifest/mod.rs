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
