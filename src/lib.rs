//! sundown: makes workloads on preemptible (spot) Kubernetes nodes end well.
//!
//! A pure core in a thin shell; arrows point inwards only.
//!
//! | module | what is in it |
//! |---|---|
//! | [`shutdown`] | windows: buckets, budgets, Go durations |
//! | [`subject`] | what a rule may look at: a borrowed view of a pod or workload, and its placement on a pool |
//! | [`policy`] | what the user wrote: policy files, presets, schema |
//! | [`rules`] | one file for each rule, and the registry |
//! | [`review`] | AdmissionReview bytes in, decision, AdmissionReview bytes out |
//! | [`json`] | JSON that is read only where a rule looks |
//! | [`yaml`] | manifests and policy files with positions, read as the cluster reads them |
//! | [`manifest`] | objects of manifests, what the cluster would make of them, and the rules over the result |
//! | [`report`] | one set of findings, many formats |
//! | [`server`], [`tls`], [`telemetry`] | the HTTP shell, certificates, logs and metrics |
//! | [`cli`] | one file for each subcommand |

pub mod cli;
pub mod json;
pub mod manifest;
pub mod policy;
pub mod report;
pub mod review;
pub mod rules;
pub mod server;
pub mod shutdown;
pub mod subject;
pub mod telemetry;
pub mod tls;
pub mod yaml;

#[cfg(test)]
mod oracle;
