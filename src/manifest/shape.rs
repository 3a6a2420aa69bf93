//! Types of the fields that sundown reads: what has another type is reported, and read as what was meant.

use serde_json::Value as Json;

use crate::rules::Kind;
use crate::yaml::{Node, Value, escaped};

/// The type a field must have.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Text,
    Integer,
    Boolean,
    /// Text values under any keys.
    TextMap,
    List(&'static Shape),
    Object(&'static [(&'static str, Shape)]),
}

use Shape::{Boolean, Integer, List, Object, Text, TextMap};

const METADATA: Shape = Object(&[
    ("name", Text),
    ("generateName", Text),
    ("namespace", Text),
    ("labels", TextMap),
    ("annotations", TextMap),
    ("ownerReferences", List(&Object(&[("kind", Text), ("name", Text), ("controller", Boolean)]))),
    ("managedFields", List(&Object(&[("operation", Text)]))),
]);
const TOLERATION: Shape = Object(&[
    ("key", Text),
    ("operator", Text),
    ("value", Text),
    ("effect", Text),
    ("tolerationSeconds", Integer),
]);
const REQUIREMENTS: Shape = List(&Object(&[("key", Text), ("operator", Text), ("values", List(&Text))]));
const TERM: Shape = Object(&[("matchExpressions", REQUIREMENTS), ("matchFields", REQUIREMENTS)]);
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const AFFINITY: Shape = Object(&[
    (
        "nodeAffinity",
        Object(&[
            (REQUIRED, Object(&[("nodeSelectorTerms", List(&TERM))])),
            (PREFERRED, List(&Object(&[("weight", Integer), ("preference", TERM)]))),
        ]),
    ),
    ("podAntiAffinity", Object(&[(REQUIRED, List(&Object(&[])))])),
]);
const SELECTOR: Shape = Object(&[("matchLabels", TextMap), ("matchExpressions", REQUIREMENTS)]);
const CONSTRAINT: Shape = Object(&[
    ("topologyKey", Text),
    ("whenUnsatisfiable", Text),
    ("maxSkew", Integer),
    ("minDomains", Integer),
    ("nodeAffinityPolicy", Text),
    ("nodeTaintsPolicy", Text),
    ("labelSelector", SELECTOR),
    ("matchLabelKeys", List(&Text)),
]);
const HOOK: Shape =
    Object(&[("sleep", Object(&[("seconds", Integer)])), ("exec", Object(&[("command", List(&Text))]))]);
const CONTAINER: Shape =
    Object(&[("name", Text), ("lifecycle", Object(&[("preStop", HOOK), ("postStart", HOOK)]))]);
const VOLUME: Shape = Object(&[
    ("name", Text),
    ("persistentVolumeClaim", Object(&[("claimName", Text)])),
    ("ephemeral", Object(&[])),
    ("hostPath", Object(&[])),
]);
const POD_SPEC: Shape = Object(&[
    ("terminationGracePeriodSeconds", Integer),
    ("priority", Integer),
    ("priorityClassName", Text),
    ("tolerations", List(&TOLERATION)),
    ("nodeSelector", TextMap),
    ("affinity", AFFINITY),
    ("topologySpreadConstraints", List(&CONSTRAINT)),
    ("volumes", List(&VOLUME)),
    ("containers", List(&CONTAINER)),
    ("initContainers", List(&CONTAINER)),
]);
const TEMPLATE: Shape = Object(&[("metadata", METADATA), ("spec", POD_SPEC)]);
const CLAIM_SPEC: Shape = Object(&[("accessModes", List(&Text)), ("storageClassName", Text)]);
const FAILURE_RULES: Shape =
    List(&Object(&[("action", Text), ("onPodConditions", List(&Object(&[("type", Text)])))]));
const WORKLOAD_SPEC: Shape = Object(&[
    ("replicas", Integer),
    ("template", TEMPLATE),
    ("volumeClaimTemplates", List(&Object(&[("metadata", METADATA), ("spec", CLAIM_SPEC)]))),
    ("strategy", Object(&[("type", Text)])),
    ("backoffLimit", Integer),
    ("podFailurePolicy", Object(&[("rules", FAILURE_RULES)])),
]);
const POD: Shape = Object(&[("metadata", METADATA), ("spec", POD_SPEC)]);
const WORKLOAD: Shape = Object(&[("metadata", METADATA), ("spec", WORKLOAD_SPEC)]);
const CRON_JOB: Shape = Object(&[
    ("metadata", METADATA),
    ("spec", Object(&[("jobTemplate", Object(&[("spec", WORKLOAD_SPEC)]))])),
]);

/// A field of another type than the API wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrongType {
    /// JSON pointer, relative to the object.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

/// The object as JSON with every field that is read in its right type, and what had another one. A scalar is
/// read as what it says; a list or mapping in the wrong place as absent.
pub(super) fn coerce(node: &Node, kind: Kind) -> (Json, Vec<WrongType>) {
    let shape = match kind {
        Kind::Pod => POD,
        Kind::CronJob => CRON_JOB,
        _ => WORKLOAD,
    };
    let mut json = node.to_json();
    let mut wrong = Vec::new();
    fit(node, &mut json, shape, String::new(), &mut wrong);
    (json, wrong)
}

fn fit(node: &Node, json: &mut Json, shape: Shape, path: String, wrong: &mut Vec<WrongType>) {
    match (shape, &node.value, &mut *json) {
        (_, Value::Null, _)
        | (Text, Value::String(_), _)
        | (Integer, Value::Int(_), _)
        | (Boolean, Value::Bool(_), _) => {}
        (List(item), Value::Sequence(nodes), Json::Array(values)) => {
            for (index, (node, value)) in nodes.iter().zip(values).enumerate() {
                fit(node, value, *item, format!("{path}/{index}"), wrong);
            }
        }
        (Object(fields), Value::Mapping(_), Json::Object(members)) => {
            for (name, field) in fields {
                if let (Some(node), Some(value)) = (node.get(name), members.get_mut(*name)) {
                    fit(node, value, *field, format!("{path}/{name}"), wrong);
                }
            }
        }
        (TextMap, Value::Mapping(entries), Json::Object(members)) => {
            for entry in entries {
                if let Some(value) = members.get_mut(&entry.key) {
                    let path = format!("{path}/{}", escaped(&entry.key));
                    fit(&entry.value, value, Text, path, wrong);
                }
            }
        }
        _ => {
            wrong.push(mismatch(node, shape, path));
            *json = meant(node, shape);
        }
    }
}

/// What a scalar of the wrong type was meant to be.
fn meant(node: &Node, shape: Shape) -> Json {
    let is_scalar = !matches!(node.value, Value::Sequence(_) | Value::Mapping(_));
    match shape {
        Text if is_scalar => Json::from(node.text()),
        Integer if is_scalar => node.text().parse::<i64>().map_or(Json::Null, Json::from),
        Boolean if is_scalar => node.text().parse::<bool>().map_or(Json::Null, Json::from),
        _ => Json::Null,
    }
}

fn mismatch(node: &Node, shape: Shape, path: String) -> WrongType {
    let (wanted, help) = match shape {
        Text => ("a string", format!("write \"{}\" in quotes", node.text())),
        Integer => ("a whole number", "write it without quotes, point or exponent".to_owned()),
        Boolean => ("true or false", "write true or false without quotes".to_owned()),
        TextMap => ("a map of strings", "write key: value pairs".to_owned()),
        List(_) => ("a list", "begin each item with a dash".to_owned()),
        Object(_) => ("a mapping", "write its fields below it, indented".to_owned()),
    };
    WrongType { path, message: format!("expected {wanted}, got {}", node.describe()), help }
}
