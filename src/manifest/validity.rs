//! What the API server would refuse, among the fields that sundown reads.

use serde_json::{Map, Value};

use crate::rules::Kind;
use crate::subject::{canonical_integer, is_label_value, is_qualified_name};
use crate::yaml::escaped;

/// A field the API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// JSON pointer, relative to the object.
    pub path: String,
    /// What is wrong, and how to mend it.
    pub message: String,
}

#[derive(Default)]
struct Found(Vec<Invalid>);

impl Found {
    fn add(&mut self, path: String, message: impl Into<String>) {
        self.0.push(Invalid { path, message: message.into() });
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn map<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    value.get(name).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// What the API server would refuse in this object, or in the pods it makes. `object` has the right types
/// (see `shape`). Source: `ValidatePodSpec` and its callees in Kubernetes' `pkg/apis/core/validation`.
pub(super) fn invalid(object: &Value, kind: Kind) -> Vec<Invalid> {
    let at = kind.pod_pointer();
    let pod = object.pointer(at).unwrap_or(&Value::Null);
    let metadata = pod.get("metadata").unwrap_or(&Value::Null);
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let mut found = Found::default();
    labels(&mut found, &format!("{at}/metadata/labels"), map(metadata, "labels"));
    labels(&mut found, &format!("{at}/spec/nodeSelector"), map(spec, "nodeSelector"));
    for (index, toleration) in list(spec, "tolerations").iter().enumerate() {
        self::toleration(&mut found, &format!("{at}/spec/tolerations/{index}"), toleration);
    }
    constraints(&mut found, &format!("{at}/spec/topologySpreadConstraints"), spec);
    sleeps(&mut found, &format!("{at}/spec"), spec);
    if kind == Kind::StatefulSet {
        claim_templates(&mut found, object);
    }
    found.0
}

fn labels<'v>(found: &mut Found, at: &str, pairs: impl Iterator<Item = (&'v String, &'v Value)>) {
    for (key, value) in pairs {
        let path = format!("{at}/{}", escaped(key));
        let value = value.as_str().unwrap_or_default();
        if !is_qualified_name(key) {
            found.add(path.clone(), format!("{key:?} is no valid label key"));
        }
        if !is_label_value(value) {
            found.add(path, format!("{value:?} is no valid label value"));
        }
    }
}

fn toleration(found: &mut Found, at: &str, toleration: &Value) {
    let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
    let (value, effect) = (text(toleration, "value"), text(toleration, "effect"));
    if !key.is_empty() && !is_qualified_name(key) {
        found.add(format!("{at}/key"), format!("{key:?} is no valid taint key"));
    }
    if key.is_empty() && operator != "Exists" {
        found.add(format!("{at}/operator"), "a toleration without a key needs operator: Exists");
    }
    if toleration.get("tolerationSeconds").is_some_and(|seconds| !seconds.is_null()) && effect != "NoExecute"
    {
        found.add(format!("{at}/effect"), "tolerationSeconds needs effect: NoExecute");
    }
    match operator {
        "" | "Equal" if !is_label_value(value) => {
            found.add(
                format!("{at}/value"),
                format!("{value:?} is no valid value: compare the taint's own value"),
            );
        }
        "Exists" if !value.is_empty() => {
            found.add(format!("{at}/value"), "value must be empty when operator is Exists: remove it");
        }
        "Gt" | "Lt" if canonical_integer(value).is_none() => {
            found.add(
                format!("{at}/value"),
                format!("{value:?} is no whole number, which {operator} compares"),
            );
        }
        "" | "Equal" | "Exists" | "Gt" | "Lt" => {}
        _ => found.add(format!("{at}/operator"), format!("{operator:?} is no operator: Exists or Equal")),
    }
    if !["", "NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
        found.add(
            format!("{at}/effect"),
            format!("{effect:?} is no effect: NoSchedule, PreferNoSchedule or NoExecute"),
        );
    }
}

fn constraints(found: &mut Found, at: &str, spec: &Value) {
    let all = list(spec, "topologySpreadConstraints");
    for (index, one) in all.iter().enumerate() {
        let at = format!("{at}/{index}");
        constraint(found, &at, one);
        let pair = |value: &Value| {
            (text(value, "topologyKey").to_owned(), text(value, "whenUnsatisfiable").to_owned())
        };
        if all.iter().take(index).any(|earlier| pair(earlier) == pair(one)) {
            found.add(at, "a constraint with this topologyKey and whenUnsatisfiable is there already");
        }
    }
}

fn constraint(found: &mut Found, at: &str, one: &Value) {
    let number = |name: &str| one.get(name).and_then(Value::as_i64);
    let hard = text(one, "whenUnsatisfiable") == "DoNotSchedule";
    if number("maxSkew").unwrap_or(0) <= 0 {
        found.add(format!("{at}/maxSkew"), "maxSkew must be 1 or more");
    }
    if text(one, "topologyKey").is_empty() {
        found.add(format!("{at}/topologyKey"), "topologyKey is missing");
    }
    if !hard && text(one, "whenUnsatisfiable") != "ScheduleAnyway" {
        found.add(format!("{at}/whenUnsatisfiable"), "write DoNotSchedule or ScheduleAnyway");
    }
    if number("minDomains").is_some_and(|least| least <= 0) {
        found.add(format!("{at}/minDomains"), "minDomains must be 1 or more");
    }
    if number("minDomains").is_some() && !hard {
        found.add(format!("{at}/minDomains"), "minDomains needs whenUnsatisfiable: DoNotSchedule");
    }
    for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        if one.get(policy).is_some_and(|p| !p.is_null() && p != "Honor" && p != "Ignore") {
            found.add(format!("{at}/{policy}"), format!("{policy} is Honor or Ignore"));
        }
    }
    match_label_keys(found, at, one);
}

fn match_label_keys(found: &mut Found, at: &str, one: &Value) {
    let keys = list(one, "matchLabelKeys");
    let selector = one.get("labelSelector").filter(|selector| !selector.is_null());
    if !keys.is_empty() && selector.is_none() {
        found.add(format!("{at}/matchLabelKeys"), "matchLabelKeys needs a labelSelector");
    }
    let Some(selector) = selector else { return };
    let expressions = list(selector, "matchExpressions");
    for (index, key) in keys.iter().filter_map(Value::as_str).enumerate() {
        let merged = |e: &Value| text(e, "operator") == "In" && list(e, "values").len() == 1;
        let in_labels = map(selector, "matchLabels").any(|(known, _)| known == key);
        let in_expressions = expressions.iter().any(|e| text(e, "key") == key && !merged(e));
        if in_labels || in_expressions {
            found.add(
                format!("{at}/matchLabelKeys/{index}"),
                format!("{key:?} is in labelSelector too: keep one"),
            );
        }
    }
}

fn sleeps(found: &mut Found, at: &str, spec: &Value) {
    let grace = spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64);
    let grace = grace.unwrap_or(crate::subject::DEFAULT_GRACE_SECONDS);
    for containers in ["initContainers", "containers"] {
        for (index, container) in list(spec, containers).iter().enumerate() {
            for hook in ["preStop", "postStart"] {
                let path = format!("{at}/{containers}/{index}/lifecycle/{hook}/sleep/seconds");
                let seconds = container.pointer(&format!("/lifecycle/{hook}/sleep/seconds"));
                let seconds = seconds.and_then(Value::as_i64);
                if seconds.is_some_and(|seconds| seconds < 0 || seconds > grace.max(0)) {
                    found.add(path, format!("a sleep must be from 0 to the grace period of {grace} s"));
                }
            }
        }
    }
}

fn claim_templates(found: &mut Found, object: &Value) {
    let templates =
        object.pointer("/spec").map(|spec| list(spec, "volumeClaimTemplates")).unwrap_or_default();
    for (index, template) in templates.iter().enumerate() {
        let modes = template.pointer("/spec/accessModes").and_then(Value::as_array);
        let path = format!("/spec/volumeClaimTemplates/{index}/spec/accessModes");
        if modes.is_none_or(Vec::is_empty) {
            found.add(path, "a claim needs an access mode: there is no default");
            continue;
        }
        let known = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];
        for mode in modes.into_iter().flatten().filter_map(Value::as_str) {
            if !known.contains(&mode) {
                found.add(path.clone(), format!("{mode:?} is no access mode: {}", known.join(", ")));
            }
        }
    }
}
