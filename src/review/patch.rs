//! Edits to JSON Patch (RFC 6902). Only `add` is used: on a member of an object it also replaces, and it never
//! removes or tests.

use serde::Serialize;
use serde_json::{Value, json};

use crate::rules::{Change, Edit};
use crate::subject::Pod;

/// Annotation in which every edit is recorded: a JSON list of {rule, path, from, to}.
pub const CHANGES_ANNOTATION: &str = "sundown.dev/changes";

/// What the API server allows for all annotations of an object together, keys and values.
/// Source: `TotalAnnotationSizeLimitB` in `k8s.io/apimachinery/pkg/api/validation`.
const ANNOTATIONS_LIMIT_BYTES: usize = 256 * 1024;

/// One `add`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    op: &'static str,
    path: String,
    value: Value,
}

fn add(path: impl Into<String>, value: Value) -> Operation {
    Operation { op: "add", path: path.into(), value }
}

/// The operations that carry out the changes on this pod, and record them. Empty when there is no change.
/// The flag is false when the record would not fit into the pod's annotations.
pub fn operations(pod: &Pod<'_>, changes: &[Change]) -> (Vec<Operation>, bool) {
    if changes.is_empty() {
        return (Vec::new(), true);
    }
    let spec = pod.spec.as_ref();
    let mut tolerations = Appended::new("/spec/tolerations", spec.is_some_and(|s| s.tolerations.is_present()));
    let mut constraints = Appended::new(
        "/spec/topologySpreadConstraints",
        spec.is_some_and(|s| s.topology_spread_constraints.is_present()),
    );
    let mut operations = Vec::new();
    for change in changes {
        match &change.edit {
            Edit::SetGrace(seconds) => {
                operations.push(add("/spec/terminationGracePeriodSeconds", json!(seconds)));
            }
            Edit::SetTolerationSeconds { index, seconds } => {
                operations.push(add(format!("/spec/tolerations/{index}/tolerationSeconds"), json!(seconds)));
            }
            Edit::AppendToleration { .. } => tolerations.values.push(change.to.clone()),
            Edit::AppendConstraint { .. } => constraints.values.push(change.to.clone()),
        }
    }
    operations.extend(tolerations.into_operations());
    operations.extend(constraints.into_operations());
    let record = record(pod, changes);
    let recorded = record.is_some();
    operations.extend(record);
    (operations, recorded)
}

/// Values appended to a list, which is made when it is not there.
struct Appended {
    path: &'static str,
    is_present: bool,
    values: Vec<Value>,
}

impl Appended {
    fn new(path: &'static str, is_present: bool) -> Self {
        Self { path, is_present, values: Vec::new() }
    }

    fn into_operations(self) -> Vec<Operation> {
        if self.values.is_empty() {
            return Vec::new();
        }
        if self.is_present {
            return self.values.into_iter().map(|value| add(format!("{}/-", self.path), value)).collect();
        }
        vec![add(self.path, Value::Array(self.values))]
    }
}

/// Records the changes on the pod; what was recorded before stays, what is no list is replaced.
fn record(pod: &Pod<'_>, changes: &[Change]) -> Option<Operation> {
    let annotations = &pod.metadata.as_ref()?.annotations;
    let before = annotations.get(CHANGES_ANNOTATION).unwrap_or_default();
    let mut list: Vec<Value> = serde_json::from_str(before).unwrap_or_default();
    list.extend(changes.iter().map(|change| {
        json!({"rule": change.rule, "path": change.path, "from": change.from, "to": change.to})
    }));
    let text = Value::Array(list).to_string();
    let others: usize = annotations
        .iter()
        .filter(|(key, _)| *key != CHANGES_ANNOTATION)
        .map(|(key, value)| key.len() + value.len())
        .sum();
    if others + CHANGES_ANNOTATION.len() + text.len() > ANNOTATIONS_LIMIT_BYTES {
        return None;
    }
    Some(if annotations.is_present() {
        add("/metadata/annotations/sundown.dev~1changes", json!(text))
    } else {
        add("/metadata/annotations", json!({ CHANGES_ANNOTATION: text }))
    })
}
