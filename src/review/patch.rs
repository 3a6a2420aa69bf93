//! Edits to JSON Patch (RFC 6902). Only `add` is used: on a member of an object it also replaces, and it never
//! removes or tests.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::rules::{Edit, Finding, Verdict};
use crate::subject::Pod;

/// Annotation in which every edit is recorded: a JSON list of {rule, path, from, to}.
pub const CHANGES_ANNOTATION: &str = "sundown.dev/changes";

/// What the API server allows for all annotations of an object together, keys and values.
/// Source: `TotalAnnotationSizeLimitB` in `k8s.io/apimachinery/pkg/api/validation`.
const ANNOTATIONS_LIMIT_BYTES: usize = 256 * 1024;

/// One `add`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation<'v> {
    op: &'static str,
    path: Cow<'static, str>,
    value: Added<'v>,
}

/// What is added.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Added<'v> {
    Value(&'v Value),
    List(Vec<&'v Value>),
    Text(String),
    Annotation {
        #[serde(rename = "sundown.dev/changes")]
        changes: String,
    },
}

fn add<'v>(path: impl Into<Cow<'static, str>>, value: Added<'v>) -> Operation<'v> {
    Operation { op: "add", path: path.into(), value }
}

/// The operations that carry out a verdict on this pod, and record it. Empty when there is no change.
/// The flag is false when the record would not fit into the pod's annotations. `pod_pointer` is where the pod is in the
/// object that the verdict is about, so that the record's paths are those of the pod.
pub fn operations<'v>(pod: &Pod<'_>, verdict: &'v Verdict, pod_pointer: &str) -> (Vec<Operation<'v>>, bool) {
    let mut operations = Vec::new();
    let (mut tolerations, mut constraints) = (Vec::new(), Vec::new());
    for (edit, finding) in verdict.changes() {
        let value = Added::Value(&finding.to);
        match edit {
            Edit::SetGrace => operations.push(add("/spec/terminationGracePeriodSeconds", value)),
            Edit::SetTolerationSeconds(index) => {
                operations.push(add(format!("/spec/tolerations/{index}/tolerationSeconds"), value));
            }
            Edit::AppendToleration => tolerations.push(&finding.to),
            Edit::AppendConstraint => constraints.push(&finding.to),
        }
    }
    let spec = pod.spec.as_ref();
    let has_tolerations = spec.is_some_and(|spec| spec.tolerations.is_present());
    let has_constraints = spec.is_some_and(|spec| spec.topology_spread_constraints.is_present());
    append(&mut operations, "/spec/tolerations", "/spec/tolerations/-", has_tolerations, tolerations);
    append(
        &mut operations,
        "/spec/topologySpreadConstraints",
        "/spec/topologySpreadConstraints/-",
        has_constraints,
        constraints,
    );
    if operations.is_empty() {
        return (operations, true);
    }
    let record = record(pod, verdict, pod_pointer);
    let recorded = record.is_some();
    operations.extend(record);
    (operations, recorded)
}

/// Appends to a list, which is made when it is not there.
fn append<'v>(
    operations: &mut Vec<Operation<'v>>,
    list: &'static str,
    end: &'static str,
    is_present: bool,
    values: Vec<&'v Value>,
) {
    if is_present {
        operations.extend(values.into_iter().map(|value| add(end, Added::Value(value))));
    } else if !values.is_empty() {
        operations.push(add(list, Added::List(values)));
    }
}

#[derive(Serialize)]
struct Recorded<'v> {
    rule: &'v str,
    path: &'v str,
    from: &'v Value,
    to: &'v Value,
}

impl<'v> Recorded<'v> {
    fn of(finding: &'v Finding, pod_pointer: &str) -> Self {
        let path = finding.path.strip_prefix(pod_pointer).unwrap_or(&finding.path);
        Self { rule: finding.rule, path, from: &finding.from, to: &finding.to }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'v> {
    Before(Value),
    Now(Recorded<'v>),
}

/// Records the changes on the pod; what was recorded before stays, what is no list is replaced.
fn record<'v>(pod: &Pod<'_>, verdict: &Verdict, pod_pointer: &str) -> Option<Operation<'v>> {
    let annotations = &pod.metadata.as_ref()?.annotations;
    let before = annotations.get(CHANGES_ANNOTATION).unwrap_or_default();
    let before: Vec<Value> = serde_json::from_str(before).unwrap_or_default();
    let now = verdict.changes().map(|(_, finding)| Entry::Now(Recorded::of(finding, pod_pointer)));
    let list: Vec<Entry<'_>> = before.into_iter().map(Entry::Before).chain(now).collect();
    let changes = serde_json::to_string(&list).ok()?;
    let others = annotations.iter().filter(|(key, _)| *key != CHANGES_ANNOTATION);
    let taken: usize = others.map(|(key, value)| key.len() + value.len()).sum();
    if taken + CHANGES_ANNOTATION.len() + changes.len() > ANNOTATIONS_LIMIT_BYTES {
        return None;
    }
    Some(if annotations.is_present() {
        add("/metadata/annotations/sundown.dev~1changes", Added::Text(changes))
    } else {
        add("/metadata/annotations", Added::Annotation { changes })
    })
}
