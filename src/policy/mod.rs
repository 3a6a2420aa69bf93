//! What the user wrote: policy files, checked into [`Policy`], which holds valid states only.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod check;
mod check_rules;
mod check_shutdown;
mod file;
mod issues;
mod load;
mod mode;
mod pool;
mod presets;
mod rules;
mod schema;

pub(crate) use check_rules::CLUSTER_DEFAULTS;
pub use issues::{Diagnostic, Diagnostics, Level};
pub use load::{Source, load};
pub use mode::{Mode, RuleInfo, RuleKind};
pub use pool::Pool;
pub use presets::{DEFAULT_PRESET, Preset, preset, presets};
pub use rules::{Constraint, GraceDefault, GracePeriod, NotReady, Rules, RwoStatefulSet, TopologySpread};
pub use schema::schema;

use crate::shutdown::Windows;

/// `apiVersion` of policy files and of reports.
pub const API_VERSION: &str = "sundown.dev/v1alpha1";

/// One pool and what is done for the pods that may land on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// `metadata.name`, unique among the loaded policies.
    pub name: String,
    /// The nodes.
    pub pool: Pool,
    /// What happens to pods that tolerate the taint by a key-less toleration only: warn or enforce.
    pub by_wildcard: Mode,
    /// Shutdown budget of the nodes.
    pub windows: Windows,
    /// What the rules do.
    pub rules: Rules,
    /// Whether workload annotations may exempt.
    pub exemptions: bool,
}

/// All loaded policies: at least one, with unique names and one `clusterDefaultSeconds`.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySet(Vec<Policy>);

impl PolicySet {
    /// The policies in the order they were loaded.
    pub fn policies(&self) -> &[Policy] {
        &self.0
    }
}
