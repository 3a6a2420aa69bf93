//! sundown: makes workloads on preemptible (spot) Kubernetes nodes end well.

pub mod review;
pub mod rules;
pub mod server;
pub mod telemetry;
pub mod tls;
