//! A field of a document that does not read as its type.

use std::fmt;

use super::node::Location;

/// A field that does not read as its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Path such as `spec.rules.grace-period.mode` or `spec.list[0]`; empty for the document itself.
    pub path: String,
    /// Where it stands.
    pub location: Location,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// Keys and indexes that lead to the node, and whether the node itself does not belong there.
    pub(super) steps: Vec<Step>,
    pub(super) unknown: bool,
    /// Whether path and place are known already: the innermost one is told.
    pub(super) placed: bool,
}

/// One step on the way to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl FieldError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            location: Location::START,
            message: message.into(),
            help: String::new(),
            steps: Vec::new(),
            unknown: false,
            placed: false,
        }
    }

    /// Says where it is, unless something deeper has said so.
    pub(super) fn at(mut self, steps: &[Step], location: Location) -> Self {
        if !self.placed {
            self.placed = true;
            self.steps = steps.to_vec();
            self.location = location;
            self.path = dotted(steps);
        }
        self
    }
}

fn dotted(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Index(index) => path.push_str(&format!("[{index}]")),
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => {
                path.push('.');
                path.push_str(key);
            }
        }
    }
    path
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.location, self.path, self.message)
    }
}

impl std::error::Error for FieldError {}

impl serde::de::Error for FieldError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let help = match nearest(field, expected) {
            Some(known) => format!("did you mean {known}?"),
            None => format!("the fields here are {}", expected.join(", ")),
        };
        Self { help, unknown: true, ..Self::new(format!("unknown field {field:?}")) }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let help = format!("write one of {}", expected.join(", "));
        Self { help, ..Self::new(format!("unknown value {variant:?}")) }
    }
}

/// The known name that is at most two letters off.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let close = known.iter().map(|candidate| (distance(name, candidate), *candidate));
    close.filter(|(distance, _)| *distance <= 2).min().map(|(_, candidate)| candidate)
}

/// Edit distance (Levenshtein), without regard to case.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.to_lowercase().chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let at = |list: &[usize], index: usize| list.get(index).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&row, j) + usize::from(a != *b);
            next.push(replaced.min(at(&row, j + 1) + 1).min(at(&next, j) + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
