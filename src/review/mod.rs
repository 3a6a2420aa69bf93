//! AdmissionReview bytes in, decision, AdmissionReview bytes out. Nothing here knows of HTTP.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod core;
mod decode;
mod encode;
mod outcome;
mod patch;

pub use self::core::Core;
pub use outcome::{Decision, Endpoint, ErrorReason, Record, ReviewError, Reviewed, Reviewer};
pub use patch::{CHANGES_ANNOTATION, operations};
