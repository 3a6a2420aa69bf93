//! What a rule may look at: a borrowed view of a pod or workload, of which only the fields that rules read
//! are decoded.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod affinity;
mod labels;
mod names;
mod object;
mod placement;
mod scalar;
mod tolerations;
mod volumes;

pub use affinity::{Affinity, NodeSelectorTerm, PreferredTerm, Requirement, Truth};
pub use labels::{LabelSelector, Labels, NodeLabels, PER_POD_LABELS, POD_TEMPLATE_HASH};
pub use names::{is_label_value, is_qualified_name};
pub use object::{
    Container, Controller, ControllerKind, DEFAULT_GRACE_SECONDS, Lifecycle, Metadata, Pod, PodSpec,
    PodTemplate, SpreadConstraint, Workload, WorkloadSpec,
};
#[cfg(test)]
pub(crate) use placement::hard_rules;
pub use placement::{Placement, PoolLabels, Reach, place};
pub use scalar::{List, Text};
pub(crate) use tolerations::canonical_integer;
pub use tolerations::{Match, NOT_READY, OUT_OF_SERVICE, Taint, Toleration, UNREACHABLE, first_match};
pub use volumes::{AccessModes, ClaimTemplate, Volume};
