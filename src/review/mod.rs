//! AdmissionReview bytes in, decision, AdmissionReview bytes out.

mod outcome;

pub use outcome::{Decision, Endpoint, ErrorReason, Record, ReviewError, Reviewed, Reviewer};
