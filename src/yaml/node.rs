//! The values of a document and where they stand.

use std::fmt;

use serde_json::{Map, Number};

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Line of the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Location {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl Default for Location {
    fn default() -> Self {
        Self::START
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// One document of a file.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its number in the file, from 1, counting only documents that hold something.
    pub number: usize,
    /// The whole document.
    pub root: Node,
    /// Keys written more than once in one mapping, in the order of the file; at most 1,000 are kept.
    pub duplicates: Vec<DuplicateKey>,
}

/// A key written more than once in one mapping; the cluster silently keeps the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// JSON Pointer (RFC 6901) of the entry.
    pub path: String,
    /// Where the key was written first.
    pub first: Location,
    /// Where the key was written last: the entry that counts.
    pub last: Location,
}

/// One value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value begins; for an alias, where the anchored value begins; for an absent value (`key:`), its key.
    pub location: Location,
    /// The value as the cluster understands it.
    pub value: Value,
    /// How a null, boolean or number was written; see [`Node::text`].
    pub(super) written: Box<str>,
}

/// A value as the cluster understands it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null, or nothing written.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits 64 bits with a sign. A YAML `60.0` is one too, as it is for the cluster.
    Int(i64),
    /// A larger whole number.
    UInt(u64),
    /// Another number; always finite.
    Float(f64),
    /// A string.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, each key once, in the order of the file.
    Mapping(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key; keys that are not strings become strings as the cluster does it (`1: a` is `"1": a`).
    pub key: String,
    /// Where the key stands.
    pub key_location: Location,
    /// The value.
    pub value: Node,
}

impl Node {
    /// A node as written at a place.
    pub(super) fn new(location: Location, value: Value, written: &str) -> Self {
        Self { location, value, written: written.into() }
    }

    /// The text of a scalar: the string itself, or a null, boolean or number as it was written (`yes`, `0644`).
    /// Empty for lists and mappings.
    pub fn text(&self) -> &str {
        match &self.value {
            Value::String(text) => text,
            _ => &self.written,
        }
    }

    /// What the node is, for a message: "boolean \`yes\`", "number \`1.0\`", "a list".
    pub fn describe(&self) -> String {
        let kind = match self.value {
            Value::Null => return "null".to_owned(),
            Value::Sequence(_) => return "a list".to_owned(),
            Value::Mapping(_) => return "a mapping".to_owned(),
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => "number",
            Value::String(_) => "string",
        };
        format!("{kind} `{}`", shortened(self.text()))
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none for anything else.
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            Value::Sequence(elements) => elements,
            _ => &[],
        }
    }

    /// The value under a key of this mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The node at a JSON Pointer (RFC 6901); the empty pointer is this node.
    pub fn pointer(&self, pointer: &str) -> Option<&Node> {
        steps(pointer)?.try_fold(self, |node, step| node.step(&step).map(|(node, _)| node))
    }

    /// Where to point a reader to for a JSON Pointer: the deepest node of that path that exists.
    ///
    /// For an entry of a mapping that is the place of its value when the value is a scalar on the line of its key,
    /// else the place of the key: a finding about `tolerations` belongs to the line that says `tolerations:`.
    pub fn nearest(&self, pointer: &str) -> Location {
        let mut here = (self, self.location);
        for step in steps(pointer).into_iter().flatten() {
            match here.0.step(&step) {
                Some(next) => here = next,
                None => break,
            }
        }
        here.1
    }

    /// One step of a pointer: the child and where to point a reader to.
    fn step(&self, step: &str) -> Option<(&Node, Location)> {
        match &self.value {
            Value::Mapping(entries) => {
                let entry = entries.iter().find(|entry| entry.key == step)?;
                Some((&entry.value, entry.shown()))
            }
            Value::Sequence(elements) => {
                let plain = step == "0" || !step.starts_with(['0', '+']);
                let node = elements.get(step.parse::<usize>().ok().filter(|_| plain)?)?;
                Some((node, node.location))
            }
            _ => None,
        }
    }

    /// The node as JSON, as the cluster receives it.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::UInt(value) => Json::from(*value),
            Value::Float(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
            Value::String(text) => Json::String(text.clone()),
            Value::Sequence(elements) => Json::Array(elements.iter().map(Self::to_json).collect()),
            Value::Mapping(entries) => Json::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}

impl Entry {
    /// Where to point a reader to for this entry; see [`Node::nearest`].
    fn shown(&self) -> Location {
        let nested = matches!(self.value.value, Value::Sequence(_) | Value::Mapping(_));
        let same_line = self.value.location.line == self.key_location.line;
        if same_line && !nested { self.value.location } else { self.key_location }
    }
}

/// The unescaped steps of a JSON Pointer; `None` when it neither is empty nor begins with a slash.
fn steps(pointer: &str) -> Option<impl Iterator<Item = String>> {
    let rest = if pointer.is_empty() { None } else { Some(pointer.strip_prefix('/')?) };
    Some(
        rest.into_iter()
            .flat_map(|rest| rest.split('/'))
            .map(|step| step.replace("~1", "/").replace("~0", "~")),
    )
}

/// One step escaped for a JSON Pointer.
pub fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// At most 40 characters of a text on one line, for a message.
pub(super) fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let kept: String = line.chars().take(40).collect();
    if kept.len() < text.len() { format!("{kept}…") } else { kept }
}
