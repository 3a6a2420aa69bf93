//! The rules: one file each, and one ordered registry.
//!
//! A rule is a pure function from a [`Scene`] and a [`Group`] of policies to proposals; the modes of policy
//! and namespace decide what becomes of them.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod deployment_rwo;
mod eviction_overlap;
mod finding;
mod forever_toleration;
mod grace_period;
mod job_no_retry;
mod local_volume;
mod near_miss_toleration;
mod not_ready_toleration;
mod out_of_service_toleration;
mod pdb_not_honoured;
mod pre_stop_too_long;
mod proposal;
mod registry;
mod required_anti_affinity;
mod run;
mod rwo_statefulset;
mod scene;
mod single_replica;
mod spread_key_missing;
mod spread_outweighed;
mod statefulset_replacement;
mod topology_spread;
mod window_is_zero;

pub use finding::{Action, Finding, Intent, Mode, Severity};
pub use proposal::Edit;
pub use registry::{REGISTRY, Rule, catalogue};
pub use run::{Verdict, run};
pub use scene::{Case, Claim, Coverage, Kind, NoView, Pooled, Scene, Subject, View};
