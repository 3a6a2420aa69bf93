//! Objects out of documents: a document holds one, or a List of them.

use crate::yaml::{Document, Location, Node, Value};

/// An object of a document.
#[derive(Clone, Copy, Debug)]
pub struct ManifestObject<'d> {
    /// `apiVersion`.
    pub api_version: &'d str,
    /// `kind`.
    pub kind: &'d str,
    /// The object itself.
    pub node: &'d Node,
}

/// Something in a document that is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnObject {
    /// Where it stands.
    pub location: Location,
    /// What is wrong, and how to mend it.
    pub message: String,
}

/// The objects of a document in order; the items of a List, of any kind whose name ends in `List`, one by one.
pub fn objects(document: &Document) -> Vec<Result<ManifestObject<'_>, NotAnObject>> {
    let mut found = Vec::new();
    collect(&document.root, None, &mut found);
    found
}

fn collect<'d>(
    node: &'d Node,
    list: Option<(&'d str, &'d str)>,
    found: &mut Vec<Result<ManifestObject<'d>, NotAnObject>>,
) {
    let text = |key: &str| node.get(key).and_then(as_text);
    let (of_list_version, of_list_kind) = list.unzip();
    let api_version = text("apiVersion").or(of_list_version);
    let kind = text("kind").or(of_list_kind);
    let (Some(api_version), Some(kind)) = (api_version, kind) else {
        found.push(Err(not_an_object(node, kind.is_some())));
        return;
    };
    let items = node.get("items");
    let Some((prefix, items)) = kind.strip_suffix("List").zip(items) else {
        found.push(Ok(ManifestObject { api_version, kind, node }));
        return;
    };
    if let Value::Null | Value::Sequence(_) = items.value {
        // The items of a typed list, such as PodList, need not say their kind.
        let inherited = (!prefix.is_empty()).then_some((api_version, prefix));
        for item in items.elements() {
            collect(item, inherited, found);
        }
    } else {
        let message = format!("items of {kind} is {}: want a list", items.describe());
        found.push(Err(NotAnObject { location: items.location, message }));
    }
}

fn as_text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn not_an_object(node: &Node, has_kind: bool) -> NotAnObject {
    let message = match (&node.value, has_kind) {
        (Value::Mapping(_), true) => "there is no apiVersion: add it, as every object needs one".to_owned(),
        (Value::Mapping(_), false) => {
            "there is no kind: this is no Kubernetes object, or its kind is misspelt".to_owned()
        }
        _ => format!("this is {}: no Kubernetes object", node.describe()),
    };
    NotAnObject { location: node.location, message }
}

impl ManifestObject<'_> {
    /// Text at a path of keys, empty where there is none.
    pub fn text(&self, path: &[&str]) -> &str {
        let node = path.iter().try_fold(self.node, |node, key| node.get(key));
        node.and_then(as_text).unwrap_or_default()
    }

    /// Name, or `prefix*` where only generateName is given.
    pub fn display_name(&self) -> String {
        match (self.text(&["metadata", "name"]), self.text(&["metadata", "generateName"])) {
            ("", "") => String::new(),
            ("", prefix) => format!("{prefix}*"),
            (name, _) => name.to_owned(),
        }
    }

    /// Namespace; empty where the manifest names none.
    pub fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"])
    }

    /// Kind and name of the managing owner.
    pub fn owner(&self) -> Option<(&str, &str)> {
        let owners = self.node.get("metadata")?.get("ownerReferences")?.elements();
        let controls = |owner: &&Node| owner.get("controller").is_some_and(|c| c.value == Value::Bool(true));
        let owner = owners.iter().find(controls)?;
        Some((owner.get("kind").and_then(as_text)?, owner.get("name").and_then(as_text)?))
    }
}
