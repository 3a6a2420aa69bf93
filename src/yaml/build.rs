//! Puts the tree of a document together from what a parser finds, in the order of the text.

use std::collections::BTreeMap;

use super::node::{DuplicateKey, Entry, Location, Node, Value, escaped};
use super::problem::Problem;

/// Deepest nesting of lists and mappings; nothing a cluster accepts comes near it.
pub(super) const DEEPEST: usize = 200;

/// Most repeated keys kept for one document.
const MOST_DUPLICATES: usize = 1_000;

/// What the value of a `<<` entry must be, in the words of go-yaml.
const MERGE_WANTS: &str = "`<<` merges a mapping or a list of mappings, nothing else";

/// A document under construction.
#[derive(Default)]
pub(super) struct Tree {
    open: Vec<Frame>,
    root: Option<Node>,
    duplicates: Vec<DuplicateKey>,
}

/// A key that waits for its value.
pub(super) struct Key {
    /// The key.
    pub name: String,
    /// Where it stands.
    pub location: Location,
    /// Whether it is the merge key `<<`.
    pub merge: bool,
}

/// A list or mapping that is not closed yet.
enum Frame {
    Sequence { location: Location, elements: Vec<Node> },
    Mapping { location: Location, entries: Vec<Written>, key: Option<Key> },
}

/// An entry and whether it stands in the mapping itself or came in by `<<`.
struct Written {
    entry: Entry,
    merged: bool,
}

/// What the next thing in the innermost open collection is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The value of the whole document.
    Root,
    /// An element of a list.
    Element,
    /// A key of a mapping.
    Key,
    /// The value of a key.
    Value,
}

impl Tree {
    /// What comes next.
    pub(super) fn place(&self) -> Place {
        match self.open.last() {
            None => Place::Root,
            Some(Frame::Sequence { .. }) => Place::Element,
            Some(Frame::Mapping { key: None, .. }) => Place::Key,
            Some(Frame::Mapping { key: Some(_), .. }) => Place::Value,
        }
    }

    /// How many collections are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Where the key stands whose value comes next.
    pub(super) fn key_location(&self) -> Option<Location> {
        match self.open.last() {
            Some(Frame::Mapping { key: Some(key), .. }) => Some(key.location),
            _ => None,
        }
    }

    /// Opens a list.
    ///
    /// # Errors
    /// The document is nested too deeply, or a list stands where a key must.
    pub(super) fn open_sequence(&mut self, location: Location) -> Result<(), Problem> {
        self.admit_collection(location)?;
        self.open.push(Frame::Sequence { location, elements: Vec::new() });
        Ok(())
    }

    /// Opens a mapping.
    ///
    /// # Errors
    /// The document is nested too deeply, or a mapping stands where a key must.
    pub(super) fn open_mapping(&mut self, location: Location) -> Result<(), Problem> {
        self.admit_collection(location)?;
        self.open.push(Frame::Mapping { location, entries: Vec::new(), key: None });
        Ok(())
    }

    fn admit_collection(&self, location: Location) -> Result<(), Problem> {
        if self.place() == Place::Key {
            return Err(Problem::new(location, "a list or mapping cannot be the key of a mapping"));
        }
        admit_depth(self.open.len() + 1, location)
    }

    /// Takes a key.
    pub(super) fn key(&mut self, found: Key) {
        if let Some(Frame::Mapping { key, .. }) = self.open.last_mut() {
            *key = Some(found);
        }
    }

    /// Takes a complete value.
    ///
    /// # Errors
    /// The value of a merge key is no mapping.
    pub(super) fn push(&mut self, node: Node) -> Result<(), Problem> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Frame::Sequence { elements, .. }) => elements.push(node),
            Some(Frame::Mapping { entries, key, .. }) => match key.take() {
                Some(key) if key.merge => merge(entries, node)?,
                Some(key) => {
                    let entry = Entry { key: key.name, key_location: key.location, value: node };
                    entries.push(Written { entry, merged: false });
                }
                None => return Err(Problem::new(node.location, "a value stands where a key must")),
            },
        }
        Ok(())
    }

    /// Closes the innermost collection and gives it, to be pushed into the one around it.
    pub(super) fn close(&mut self) -> Option<Node> {
        let (location, value) = match self.open.pop()? {
            Frame::Sequence { location, elements } => (location, Value::Sequence(elements)),
            Frame::Mapping { location, entries, .. } => (location, Value::Mapping(self.settle(entries))),
        };
        Some(Node::new(location, value, ""))
    }

    /// Of equal keys keeps the last, and notes those that were written twice.
    fn settle(&mut self, entries: Vec<Written>) -> Vec<Entry> {
        let repeated = repeated_keys(&entries);
        if repeated.is_empty() {
            return entries.into_iter().map(|written| written.entry).collect();
        }
        for (key, repeat) in &repeated {
            if let (Some(first), true) = (repeat.first, self.duplicates.len() < MOST_DUPLICATES) {
                let path = format!("{}/{}", self.pointer(), escaped(key));
                self.duplicates.push(DuplicateKey { path, first, last: repeat.last.unwrap_or(first) });
            }
        }
        let kept: Vec<bool> = entries
            .iter()
            .enumerate()
            .map(|(index, written)| {
                repeated.get(&written.entry.key).is_none_or(|repeat| repeat.kept == index)
            })
            .collect();
        entries.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(written, _)| written.entry).collect()
    }

    /// JSON Pointer of the collection that was just popped.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for frame in &self.open {
            pointer.push('/');
            match frame {
                Frame::Sequence { elements, .. } => pointer.push_str(&elements.len().to_string()),
                Frame::Mapping { key, .. } => {
                    pointer.push_str(&key.as_ref().map(|key| escaped(&key.name)).unwrap_or_default());
                }
            }
        }
        pointer
    }

    /// The finished document; `None` when it is empty.
    pub(super) fn finish(mut self) -> Option<(Node, Vec<DuplicateKey>)> {
        self.duplicates.sort_by_key(|duplicate| duplicate.last);
        self.root.map(|root| (root, self.duplicates))
    }
}

/// Refuses nesting beyond [`DEEPEST`].
pub(super) fn admit_depth(depth: usize, location: Location) -> Result<(), Problem> {
    if depth > DEEPEST {
        let message = format!("lists and mappings are nested more than {DEEPEST} deep");
        return Err(Problem::new(location, message));
    }
    Ok(())
}

/// Appends what `<<` brings in: later entries win, and of a list the earlier mapping.
fn merge(entries: &mut Vec<Written>, node: Node) -> Result<(), Problem> {
    let location = node.location;
    let mappings = match node.value {
        Value::Sequence(elements) => elements,
        _ => vec![node],
    };
    for mapping in mappings.into_iter().rev() {
        let Value::Mapping(found) = mapping.value else { return Err(Problem::new(location, MERGE_WANTS)) };
        entries.extend(found.into_iter().map(|entry| Written { entry, merged: true }));
    }
    Ok(())
}

/// The occurrences of one key in a mapping.
struct Repeat {
    /// Where the mapping itself wrote the key first and last, if it did so more than once.
    first: Option<Location>,
    last: Option<Location>,
    /// The index of the entry that counts.
    kept: usize,
}

/// The keys that occur more than once.
fn repeated_keys(entries: &[Written]) -> BTreeMap<String, Repeat> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    let key = |index: &usize| entries.get(*index).map(|written| written.entry.key.as_str());
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    order
        .chunk_by(|a, b| key(a) == key(b))
        .filter(|group| group.len() > 1)
        .filter_map(|group| repeat(entries, group))
        .collect()
}

/// What is known about one repeated key, from the indexes of its entries in order.
fn repeat(entries: &[Written], group: &[usize]) -> Option<(String, Repeat)> {
    let written: Vec<Location> = group
        .iter()
        .filter_map(|index| entries.get(*index))
        .filter(|written| !written.merged)
        .map(|written| written.entry.key_location)
        .collect();
    let twice = written.len() > 1;
    let kept = *group.last()?;
    let first = written.first().copied().filter(|_| twice);
    let last = written.last().copied().filter(|_| twice);
    Some((entries.get(kept)?.entry.key.clone(), Repeat { first, last, kept }))
}
