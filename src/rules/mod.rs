//! The rules: one file each, and one ordered registry.
//!
//! A rule is a pure function from a [`Scene`] and a group of policies to proposals; the modes of policy
//! and namespace decide what becomes of them.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod finding;
mod proposal;
mod registry;
mod run;
mod scene;

pub use finding::{Action, Finding, Intent, Mode, Severity};
pub use proposal::Edit;
pub use registry::{Rule, catalogue};
pub use run::{Verdict, run};
pub use scene::{Case, Claim, Coverage, Kind, NoView, Pooled, Scene, Subject, View};

/// Declares the module of each rule, and the registry of them all.
macro_rules! registry {
    ($($rule:ident,)+) => {
        $(mod $rule;)+

        /// All rules. The order is the order of application and of the documentation: core rules first, and
        /// grace-period before not-ready-toleration, whose seconds depend on the grace that the pod ends up with.
        pub static REGISTRY: &[Rule] = &[$($rule::RULE),+];
    };
}

registry! {
    grace_period,
    topology_spread,
    not_ready_toleration,
    rwo_statefulset,
    single_replica,
    required_anti_affinity,
    forever_toleration,
    pre_stop_too_long,
    pdb_not_honoured,
    out_of_service_toleration,
    near_miss_toleration,
    deployment_rwo,
    local_volume,
    spread_key_missing,
    spread_outweighed,
    window_is_zero,
    eviction_overlap,
    job_no_retry,
    statefulset_replacement,
}
