//! Hard and soft node rules (nodeSelector and node affinity) against what is known of a node.

use serde::Deserialize;

use super::labels::{Labels, NodeLabels};
use super::scalar::{List, Presence, Text, or_default};

/// The affinity of a pod, as far as rules read it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Affinity<'a> {
    /// Node affinity.
    #[serde(deserialize_with = "or_default")]
    pub node_affinity: NodeAffinity<'a>,
    /// Pod anti-affinity.
    #[serde(deserialize_with = "or_default")]
    pub pod_anti_affinity: PodAntiAffinity,
}

/// Node affinity, required and preferred.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct NodeAffinity<'a> {
    /// Required terms, ORed; `None` requires nothing.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector<'a>>,
    /// Preferred terms with their weights.
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    pub preferred: List<PreferredTerm<'a>>,
}

/// A list of terms, ORed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct NodeSelector<'a> {
    /// The terms; none at all matches no node.
    pub node_selector_terms: List<NodeSelectorTerm<'a>>,
}

/// A preferred term.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct PreferredTerm<'a> {
    /// 1 to 100.
    pub weight: Option<i64>,
    /// The term.
    #[serde(deserialize_with = "or_default")]
    pub preference: NodeSelectorTerm<'a>,
}

/// Requirements that must all hold; none at all matches no node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct NodeSelectorTerm<'a> {
    /// On the node's labels.
    pub match_expressions: List<Requirement<'a>>,
    /// On the node's fields, of which there is only `metadata.name`.
    pub match_fields: List<Requirement<'a>>,
}

/// One requirement on a label or field.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Requirement<'a> {
    /// Label key, or `metadata.name`.
    pub key: Text<'a>,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    pub operator: Text<'a>,
    /// Values to compare with.
    pub values: List<Text<'a>>,
}

/// Pod anti-affinity: only whether some is required.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PodAntiAffinity {
    /// There is a required term.
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: RequiredTerms,
}

impl PodAntiAffinity {
    /// Whether a replica may be kept Pending by another pod.
    pub fn is_required(self) -> bool {
        self.required.0 > 0
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct RequiredTerms(usize);

impl<'de> Deserialize<'de> for RequiredTerms {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        List::<Presence>::deserialize(deserializer).map(|terms| Self(terms.len()))
    }
}

/// Whether something holds on the nodes of a pool, of whose labels only some are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does not hold on any node of the pool.
    No,
    /// It cannot be told, or depends on the node.
    Unknown,
    /// It holds on every node of the pool.
    Yes,
}

impl Truth {
    fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }

    /// One must hold.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::No, Self::No) => Self::No,
            _ => Self::Unknown,
        }
    }
}

impl NodeSelector<'_> {
    /// Whether some term holds on the node.
    pub fn matches(&self, node: &impl NodeLabels) -> Truth {
        self.node_selector_terms.iter().map(|term| term.matches(node)).fold(Truth::No, Truth::or)
    }
}

impl NodeSelectorTerm<'_> {
    /// Whether all requirements hold on the node; a requirement that Kubernetes refuses makes the term false.
    pub fn matches(&self, node: &impl NodeLabels) -> Truth {
        if self.match_expressions.is_empty() && self.match_fields.is_empty() {
            return Truth::No;
        }
        let labels = self.match_expressions.iter().map(|requirement| requirement.matches(node));
        let fields = self.match_fields.iter().map(|requirement| requirement.matches_field(node));
        labels.chain(fields).fold(Truth::Yes, Truth::and)
    }
}

/// The pseudo label under which [`NodeLabels`] may answer for the node's name.
const NODE_NAME_FIELD: &str = "metadata.name";

impl Requirement<'_> {
    /// Whether it holds on the node's labels.
    /// Source: `Requirement.Matches` in `k8s.io/apimachinery/pkg/labels`.
    pub fn matches(&self, node: &impl NodeLabels) -> Truth {
        if !self.is_valid() {
            return Truth::No;
        }
        let Some(found) = node.label(&self.key) else { return Truth::Unknown };
        Truth::of(match self.operator.as_str() {
            "In" => found.is_some_and(|value| self.lists(value)),
            "NotIn" => !found.is_some_and(|value| self.lists(value)),
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            "Gt" => self.compares(found, |label, bound| label > bound),
            _ => self.compares(found, |label, bound| label < bound),
        })
    }

    /// Whether a field requirement holds: `In` or `NotIn` with one value. Of the fields there is only the name;
    /// any other is empty.
    fn matches_field(&self, node: &impl NodeLabels) -> Truth {
        let wants_in = match self.operator.as_str() {
            "In" => true,
            "NotIn" => false,
            _ => return Truth::No,
        };
        if self.values.len() != 1 {
            return Truth::No;
        }
        let field = if self.key == NODE_NAME_FIELD { node.label(NODE_NAME_FIELD) } else { Some(None) };
        match field {
            Some(name) => Truth::of(self.lists(name.unwrap_or_default()) == wants_in),
            None => Truth::Unknown,
        }
    }

    /// What the API accepts as values for the operator.
    fn is_valid(&self) -> bool {
        match self.operator.as_str() {
            "In" | "NotIn" => !self.values.is_empty(),
            "Exists" | "DoesNotExist" => self.values.is_empty(),
            "Gt" | "Lt" => matches!(&*self.values, [bound] if go_integer(bound).is_some()),
            _ => false,
        }
    }

    fn lists(&self, value: &str) -> bool {
        self.values.iter().any(|wanted| *wanted == value)
    }

    fn compares(&self, found: Option<&str>, holds: impl Fn(i64, i64) -> bool) -> bool {
        let bound = self.values.first().and_then(|value| go_integer(value));
        match (found.and_then(go_integer), bound) {
            (Some(label), Some(bound)) => holds(label, bound),
            _ => false,
        }
    }
}

/// An integer as Go's `strconv.ParseInt(_, 10, 64)` reads it.
fn go_integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Whether every pair of a nodeSelector is on the node.
pub(super) fn node_selector(selector: &Labels<'_>, node: &impl NodeLabels) -> Truth {
    let pairs = selector.iter().map(|(key, value)| match node.label(key) {
        Some(found) => Truth::of(found == Some(value)),
        None => Truth::Unknown,
    });
    pairs.fold(Truth::Yes, Truth::and)
}
