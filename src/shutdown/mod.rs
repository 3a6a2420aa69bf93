//! Window arithmetic: how many seconds a pod really has when its node shuts down.
//!
//! Pure and in integer seconds, by the kubelet's own rules.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod duration;
mod windows;

pub use duration::{DurationError, parse_duration};
pub use windows::{Bucket, CRITICAL_PRIORITY, Notice, Windows};
