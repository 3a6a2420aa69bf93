//! What documents tell about each other: priority classes, claims, budgets, storage classes, and who owns whom.
//! It is all that is kept of the input.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::objects::ManifestObject;
use crate::rules::{Claim, Coverage, Kind, View};
use crate::subject::{AccessModes, LabelSelector, Labels};
use crate::yaml::{Node, Value};

/// Namespace and name.
type Key = (String, String);

/// The index of an input.
#[derive(Debug, Default)]
pub struct Index {
    priority_classes: BTreeMap<String, i32>,
    global_default: Option<i32>,
    claims: BTreeMap<Key, Claim>,
    local_classes: BTreeSet<String>,
    /// By namespace: name and selector (as JSON).
    budgets: BTreeMap<String, Vec<(String, String)>>,
    /// Kind, namespace and name of everything that may own pods.
    owners: BTreeSet<(String, String, String)>,
}

/// Storage class provisioner of volumes that somebody made by hand on one node.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

impl Index {
    /// Takes from an object what others need of it.
    pub fn add(&mut self, object: &ManifestObject<'_>) {
        let name = object.text(&["metadata", "name"]).to_owned();
        let namespace = object.namespace().to_owned();
        match (object.api_version, object.kind) {
            ("scheduling.k8s.io/v1", "PriorityClass") => self.add_priority_class(object, name),
            ("v1", "PersistentVolumeClaim") => {
                let claim = claim(object);
                self.claims.insert((namespace, name), claim);
            }
            ("storage.k8s.io/v1", "StorageClass") if object.text(&["provisioner"]) == NO_PROVISIONER => {
                self.local_classes.insert(name);
            }
            ("policy/v1", "PodDisruptionBudget") => {
                let selector = object.node.get("spec").and_then(|spec| spec.get("selector"));
                if let Some(selector) = selector.filter(|selector| !selector.entries().is_empty()) {
                    let selector = selector.to_json().to_string();
                    self.budgets.entry(namespace).or_default().push((name, selector));
                }
            }
            (version, kind) if Kind::of(version, kind).is_some() && !name.is_empty() => {
                self.owners.insert((kind.to_owned(), namespace, name));
            }
            _ => {}
        }
    }

    fn add_priority_class(&mut self, object: &ManifestObject<'_>, name: String) {
        let value = match object.node.get("value").map(|value| &value.value) {
            Some(Value::Int(value)) => i32::try_from(*value).unwrap_or(0),
            _ => 0,
        };
        if object.node.get("globalDefault").is_some_and(|is| is.value == Value::Bool(true)) {
            self.global_default = Some(value);
        }
        self.priority_classes.insert(name, value);
    }

    /// Priority of a class: Kubernetes' own two, and those of the input.
    pub fn priority(&self, class: &str) -> Option<i32> {
        match class {
            "" => Some(self.global_default.unwrap_or(0)),
            "system-cluster-critical" => Some(2_000_000_000),
            "system-node-critical" => Some(2_000_001_000),
            class => self.priority_classes.get(class).copied(),
        }
    }

    /// Whether the managing owner of an object is in the input, and so speaks for it.
    pub fn owns(&self, object: &ManifestObject<'_>) -> bool {
        object.owner().is_some_and(|(kind, name)| {
            self.owners.contains(&(kind.to_owned(), object.namespace().to_owned(), name.to_owned()))
        })
    }
}

fn claim(object: &ManifestObject<'_>) -> Claim {
    let modes = object.node.get("spec").and_then(|spec| spec.get("accessModes"));
    let modes = modes.map(Node::elements).unwrap_or_default().iter().map(Node::text);
    Claim {
        modes: AccessModes::of(modes),
        storage_class: object.text(&["spec", "storageClassName"]).to_owned(),
    }
}

impl View for Index {
    fn claim(&self, namespace: &str, name: &str) -> Option<Claim> {
        self.claims.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    fn coverage(&self, _: &str) -> Coverage {
        Coverage::NotWatched
    }

    fn is_local_class(&self, storage_class: &str) -> bool {
        self.local_classes.contains(storage_class)
    }

    fn disruption_budget(&self, namespace: &str, labels: &Labels<'_>) -> Option<String> {
        let budgets = self.budgets.get(namespace)?;
        let selects = |selector: &str| {
            let mut deserializer = serde_json::Deserializer::from_str(selector);
            LabelSelector::deserialize(&mut deserializer).is_ok_and(|selector| selector.matches(labels))
        };
        budgets.iter().find(|(_, selector)| selects(selector)).map(|(name, _)| name.clone())
    }
}
