//! Reads a document into a type, and finds every mistake in it.

use serde::de::DeserializeOwned;

use super::de::NodeDeserializer;
use super::field_error::{FieldError, Step};
use super::node::{Node, Value};

/// Most mistakes told of one document.
const MOST_ERRORS: usize = 100;

/// Reads a document into a type. serde stops at the first mistake: it is noted and taken out of the document,
/// and the rest is read again. The value, which is there unless the document as a whole is of another type, then
/// lacks what was wrong.
pub fn collect<T: DeserializeOwned>(mut root: Node) -> (Option<T>, Vec<FieldError>) {
    let mut errors: Vec<FieldError> = Vec::new();
    loop {
        let found = T::deserialize(NodeDeserializer { node: &root, steps: &mut Vec::new() });
        match found {
            Ok(value) => return (Some(value), errors),
            Err(error) => {
                let pruned = errors.len() < MOST_ERRORS && prune(&mut root, &error.steps, error.unknown);
                errors.push(error);
                if !pruned {
                    return (None, errors);
                }
            }
        }
    }
}

/// Takes a node out: an unknown entry is removed, anything else becomes null, and a null that is wrong itself
/// takes what is around it along. Answers whether something changed.
fn prune(root: &mut Node, steps: &[Step], unknown: bool) -> bool {
    let Some((last, above)) = steps.split_last() else { return false };
    let Some(parent) = above.iter().try_fold(&mut *root, step) else { return false };
    if unknown && let (Step::Key(key), Value::Mapping(entries)) = (last, &mut parent.value) {
        let before = entries.len();
        entries.retain(|entry| entry.key != *key);
        return entries.len() < before;
    }
    match step(parent, last) {
        Some(node) if node.value != Value::Null => {
            node.value = Value::Null;
            true
        }
        _ => prune(root, above, false),
    }
}

fn step<'n>(node: &'n mut Node, step: &Step) -> Option<&'n mut Node> {
    match (step, &mut node.value) {
        (Step::Key(key), Value::Mapping(entries)) => {
            entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.value)
        }
        (Step::Index(index), Value::Sequence(elements)) => elements.get_mut(*index),
        _ => None,
    }
}
