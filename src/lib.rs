//! sundown: makes workloads on preemptible (spot) Kubernetes nodes end well.

pub mod policy;
pub mod report;
pub mod review;
pub mod rules;
pub mod shutdown;
pub mod subject;
