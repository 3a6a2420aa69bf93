//! Manifests and policy files read as the cluster reads them, with positions.
//!
//! The reading follows `sigs.k8s.io/yaml` (go-yaml v2, then JSON), which is what kubectl and the API server use:
//! `yes`, `on` and `y` are booleans, `0644` is octal, `60.0` is the whole number 60, the last of two equal keys
//! wins. What the cluster cannot tell, this reader can: where each value stands in the file, how it was written,
//! and which keys were written twice.
//!
//! [`Documents`] streams the documents of a file; [`Node`] is one value of a document; [`collect`] turns a document
//! into a type and lists every mistake in it; [`to_string`] prints an object as YAML.

mod build;
mod collect;
mod de;
mod documents;
mod emit;
mod field_error;
mod json;
mod lines;
mod node;
mod problem;
mod pull;
mod scalar;

pub use collect::collect;
pub use documents::Documents;
pub use emit::to_string;
pub use field_error::FieldError;
pub use node::{Document, DuplicateKey, Entry, Location, Node, Value, escaped};
pub use problem::Problem;
