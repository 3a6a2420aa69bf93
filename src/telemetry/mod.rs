//! What operators see: metrics, logs and health checks.
//!
//! Labels come from closed sets only (endpoint mode, resource, operation, decision, rule id, reason), never from an
//! object's name, so that the number of series is bounded. The request path pays atomics, not locks, and an
//! append to a buffer, not a system call.

mod buffer;
mod counters;
mod decision;
mod families;
mod health;
mod labels;
mod log;
mod metrics;
mod process;
mod throttle;

pub use decision::log_decision;
pub use health::{Check, Health, Report, State};
pub use labels::{HandshakeFailure, Refused};
pub use log::{LogError, LogFormat, LogGuard, LogOptions, init};
pub use metrics::{Metrics, OPENMETRICS};
pub use throttle::Throttle;
