//! Labels and annotations, and the selectors over them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::scalar::{List, Text, or_default};

/// Label of a ReplicaSet's pods that differs with every revision.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Labels that Kubernetes' controllers put on pods and that differ per revision or per pod, so that a
/// selector with one of them would select one pod, or one run, only.
pub const PER_POD_LABELS: [&str; 10] = [
    POD_TEMPLATE_HASH,
    "controller-revision-hash",
    "pod-template-generation",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "batch.kubernetes.io/job-completion-index",
];

/// A map of strings in the order of the object; absent and null are not present.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels<'a>(Option<Vec<(Text<'a>, Text<'a>)>>);

impl<'a> Labels<'a> {
    /// The map is a JSON object, if only an empty one.
    pub fn is_present(&self) -> bool {
        self.0.is_some()
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flatten().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Labels<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        Self(Some(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Labels<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LabelsVisitor;
        impl<'de> Visitor<'de> for LabelsVisitor {
            type Value = Option<Vec<(Text<'de>, Text<'de>)>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of strings")
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs: Vec<(Text<'de>, Text<'de>)> = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                if let Some(key) = repeated(&pairs) {
                    return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
                }
                Ok(Some(pairs))
            }
        }
        deserializer.deserialize_any(LabelsVisitor).map(Labels)
    }
}

/// A key that is there twice: which of the two the API server means cannot be told.
fn repeated<'p>(pairs: &'p [(Text<'_>, Text<'_>)]) -> Option<&'p str> {
    let mut keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| {
        if let [a, b] = pair
            && a == b
        {
            Some(*a)
        } else {
            None
        }
    })
}

/// What is known of the labels of a node: a label's value, that it is absent, or nothing.
pub trait NodeLabels {
    /// `Some(Some(v))`: the label has this value; `Some(None)`: the node lacks it; `None`: unknown.
    fn label(&self, key: &str) -> Option<Option<&str>>;
}

/// A label selector of the API (`matchLabels` and `matchExpressions`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct LabelSelector<'a> {
    /// Labels that must be there with this value.
    pub match_labels: Labels<'a>,
    /// Requirements on single keys, all of which must hold.
    pub match_expressions: List<SelectorRequirement<'a>>,
}

/// One requirement of a [`LabelSelector`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct SelectorRequirement<'a> {
    key: Text<'a>,
    operator: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    values: List<Text<'a>>,
}

impl LabelSelector<'_> {
    /// Whether the selector matches these labels; an operator that Kubernetes refuses matches nothing.
    /// An empty selector matches everything, as in the API.
    pub fn matches(&self, labels: &Labels<'_>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.matches(labels))
    }
}

impl SelectorRequirement<'_> {
    fn matches(&self, labels: &Labels<'_>) -> bool {
        let found = labels.get(&self.key);
        let among = |value: &str| self.values.iter().any(|wanted| *wanted == value);
        match (self.operator.as_str(), self.values.is_empty()) {
            ("In", false) => found.is_some_and(among),
            ("NotIn", false) => !found.is_some_and(among),
            ("Exists", true) => found.is_some(),
            ("DoesNotExist", true) => found.is_none(),
            _ => false,
        }
    }
}
