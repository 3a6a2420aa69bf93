//! Taints and tolerations, matched as Kubernetes matches them.

use serde::Deserialize;

use super::scalar::Text;

/// Taint of a node whose kubelet says it is not ready.
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// Taint of a node whose kubelet says nothing any more.
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Taint that an administrator puts on a dead node to free its pods and volumes.
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// A taint of a pool's nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Taint key.
    pub key: String,
    /// Taint value; `None` is unknown, and any value matches.
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

impl Taint {
    /// The taint that the node lifecycle controller puts on a dead node, which evicts.
    pub fn no_execute(key: &str) -> Self {
        Self { key: key.to_owned(), value: Some(String::new()), effect: "NoExecute".to_owned() }
    }

    /// Whether it keeps pods away, rather than only making a node unattractive.
    pub fn is_hard(&self) -> bool {
        self.effect != "PreferNoSchedule"
    }

    /// `key=value:effect` as kubectl writes it.
    pub fn display(&self) -> String {
        match self.value.as_deref() {
            Some("") | None => format!("{}:{}", self.key, self.effect),
            Some(value) => format!("{}={value}:{}", self.key, self.effect),
        }
    }
}

/// A toleration of a pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Toleration<'a> {
    /// Taint key; empty matches every key.
    pub key: Text<'a>,
    /// `Exists`, `Equal` (also when empty), `Gt` or `Lt`.
    pub operator: Text<'a>,
    /// Value to compare with.
    pub value: Text<'a>,
    /// Taint effect; empty matches every effect.
    pub effect: Text<'a>,
    /// Seconds a NoExecute taint is tolerated; `None` is forever.
    pub toleration_seconds: Option<i64>,
}

/// How a pod tolerates a taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Not at all.
    No,
    /// Only by a toleration without a key.
    Wildcard,
    /// By a toleration that names the key.
    Explicit,
}

impl Toleration<'_> {
    /// Whether it tolerates the taint. `Gt` and `Lt` compare as Kubernetes does with
    /// TaintTolerationComparisonOperators on; an unknown operator matches nothing.
    /// Source: `Toleration.ToleratesTaint` in `k8s.io/api/core/v1`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if !self.effect.is_empty() && self.effect != taint.effect.as_str() {
            return false;
        }
        if !self.key.is_empty() && self.key != taint.key.as_str() {
            return false;
        }
        match (self.operator.as_str(), taint.value.as_deref()) {
            ("Exists", _) => true,
            ("" | "Equal", value) => value.is_none_or(|value| self.value == value),
            ("Gt", Some(value)) => self.compares(value, |taint, toleration| taint > toleration),
            ("Lt", Some(value)) => self.compares(value, |taint, toleration| taint < toleration),
            ("Gt" | "Lt", None) => canonical_integer(&self.value).is_some(),
            _ => false,
        }
    }

    fn compares(&self, taint: &str, holds: impl Fn(i64, i64) -> bool) -> bool {
        match (canonical_integer(taint), canonical_integer(&self.value)) {
            (Some(taint), Some(toleration)) => holds(taint, toleration),
            _ => false,
        }
    }
}

/// A decimal integer in the one form Kubernetes accepts for `Gt` and `Lt`: no sign but `-`, no leading zero.
pub(crate) fn canonical_integer(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// How a list of tolerations as a whole tolerates a taint.
pub(super) fn tolerance(tolerations: &[Toleration<'_>], taint: &Taint) -> Match {
    let matches = tolerations.iter().filter(|toleration| toleration.tolerates(taint));
    let kinds = matches.map(|found| if found.key.is_empty() { Match::Wildcard } else { Match::Explicit });
    kinds.max().unwrap_or(Match::No)
}

/// The first toleration in list order that matches, which is the one the taint manager goes by.
/// Source: `GetMatchingTolerations` in Kubernetes' `pkg/apis/core/v1/helper`.
pub fn first_match<'p, 'a>(
    tolerations: &'p [Toleration<'a>],
    taint: &Taint,
) -> Option<(usize, &'p Toleration<'a>)> {
    tolerations.iter().enumerate().find(|(_, toleration)| toleration.tolerates(taint))
}
