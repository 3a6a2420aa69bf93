//! Where a pod may run: its placement on a pool.

use super::affinity::{NodeSelector, NodeSelectorTerm, Requirement, Truth, node_selector};
use super::labels::NodeLabels;
use super::object::PodSpec;
use super::tolerations::{Match, Taint, tolerance};

/// Placement of a pod on a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// It cannot run there: it does not tolerate the taint, or hard node rules exclude the pool.
    Never,
    /// It may run there.
    May,
    /// Hard node rules select the pool.
    Must,
}

/// Placement, and by what the pod tolerates the pool's taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Placement.
    pub placement: Placement,
    /// `None` where the pool has no taint that keeps pods away.
    pub tolerance: Option<Match>,
}

impl Reach {
    /// The pod gets there only because a key-less toleration tolerates everything.
    pub fn by_wildcard(self) -> bool {
        self.tolerance == Some(Match::Wildcard)
    }
}

/// Labels of a pool's nodes, as far as a policy tells them.
pub trait PoolLabels: NodeLabels {
    /// Whether only nodes of this pool bear the label with this value.
    fn is_own(&self, key: &str, value: &str) -> bool;
}

/// Places a pod on a pool with this taint and these node labels.
pub fn place(spec: &PodSpec<'_>, taint: Option<&Taint>, pool: &impl PoolLabels) -> Reach {
    let tolerance = taint.filter(|taint| taint.is_hard()).map(|taint| tolerance(&spec.tolerations, taint));
    let placement = if tolerance == Some(Match::No) || hard_rules(spec, pool) == Truth::No {
        Placement::Never
    } else if selects(spec, pool) {
        Placement::Must
    } else {
        Placement::May
    };
    Reach { placement, tolerance }
}

/// Whether nodeSelector and required node affinity let the pod onto a node with these labels.
/// Source: `GetRequiredNodeAffinity` in `k8s.io/component-helpers/scheduling/corev1/nodeaffinity`.
pub(crate) fn hard_rules(spec: &PodSpec<'_>, node: &impl NodeLabels) -> Truth {
    let required = spec.affinity.node_affinity.required.as_ref();
    node_selector(&spec.node_selector, node)
        .and(required.map_or(Truth::Yes, |selector| selector.matches(node)))
}

/// Whether hard node rules leave no other node than those of the pool.
fn selects(spec: &PodSpec<'_>, pool: &impl PoolLabels) -> bool {
    let by_selector = spec.node_selector.iter().any(|(key, value)| pool.is_own(key, value));
    let required = spec.affinity.node_affinity.required.as_ref();
    by_selector || required.is_some_and(|selector| every_term_selects(selector, pool))
}

fn every_term_selects(selector: &NodeSelector<'_>, pool: &impl PoolLabels) -> bool {
    let mut open = selector.node_selector_terms.iter().filter(|term| !excluded(term)).peekable();
    open.peek().is_some() && open.all(|term| term.match_expressions.iter().any(|r| pins(r, pool)))
}

/// A term that matches no node at all, whatever its labels, adds nothing to the others.
fn excluded(term: &NodeSelectorTerm<'_>) -> bool {
    term.match_expressions.is_empty() && term.match_fields.is_empty()
}

fn pins(requirement: &Requirement<'_>, pool: &impl PoolLabels) -> bool {
    requirement.operator == "In"
        && !requirement.values.is_empty()
        && requirement.values.iter().all(|value| pool.is_own(&requirement.key, value))
}
