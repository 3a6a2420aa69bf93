//! YAML text to a tree, by the events of the parser.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag, options};

use super::build::{DEEPEST, Key, Place, Tree, admit_depth};
use super::node::{DuplicateKey, Location, Node, Value};
use super::problem::{Problem, narrow};
use super::scalar::{self, Scalar};

/// Most nodes that anchors and aliases may add to one document; 64 bytes of text count as a node.
const ALIAS_BUDGET: usize = 500_000;

/// Reads one YAML document that begins at `origin`; `None` when it holds nothing.
///
/// # Errors
/// The first thing that cannot be read.
pub(super) fn read(text: &str, origin: Location) -> Result<Option<(Node, Vec<DuplicateKey>)>, Problem> {
    let options = options! {
        emit_comments: false,
        bom_inside_document_as_content: true,
    };
    let mut pull =
        Pull { origin, tree: Tree::default(), anchors: HashMap::new(), open: Vec::new(), spent: 0 };
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str_with_options(text, options);
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| pull.scan_error(&error))?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        pull.event(event, span)?;
    }
    Ok(pull.tree.finish())
}

/// The state between two events.
struct Pull {
    origin: Location,
    tree: Tree,
    anchors: HashMap<usize, Anchored>,
    /// The anchors of the open collections; 0 for none.
    open: Vec<usize>,
    /// How much of [`ALIAS_BUDGET`] is used.
    spent: usize,
}

/// A node to copy for each alias.
struct Anchored {
    node: Node,
    size: Size,
}

/// How large a node is.
#[derive(Clone, Copy)]
struct Size {
    weight: usize,
    height: usize,
}

impl Pull {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let location = self.location(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag, location),
            Event::SequenceStart(_, anchor, _) => {
                self.open.push(anchor);
                self.tree.open_sequence(location)
            }
            Event::MappingStart(_, anchor, _) => {
                self.open.push(anchor);
                self.tree.open_mapping(location)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, location),
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        location: Location,
    ) -> Result<(), Problem> {
        let plain = style == ScalarStyle::Plain && tag.is_none();
        let meaning = match tag {
            Some(tag) => scalar::tagged(known_tag(&tag), text),
            None if plain => Ok(scalar::plain(text)),
            None => Ok(Scalar::String(text.to_owned())),
        };
        let meaning = meaning.map_err(|message| Problem::new(location, message))?;
        if anchor != 0
            && let Ok(value) = meaning.clone().into_value()
        {
            self.remember(anchor, &Node::new(location, value, text))?;
        }
        if self.tree.place() == Place::Key {
            let name = meaning.into_key().map_err(|message| Problem::new(location, message))?;
            self.tree.key(Key { merge: plain && name == "<<", name, location });
            return Ok(());
        }
        let value = meaning.into_value().map_err(|message| Problem::new(location, message))?;
        let absent = plain && text.is_empty();
        let location = self.tree.key_location().filter(|_| absent).unwrap_or(location);
        let written = if matches!(value, Value::String(_)) { "" } else { text };
        self.tree.push(Node::new(location, value, written))
    }

    fn end(&mut self) -> Result<(), Problem> {
        let anchor = self.open.pop().unwrap_or(0);
        let Some(node) = self.tree.close() else { return Ok(()) };
        if anchor != 0 {
            self.remember(anchor, &node)?;
        }
        self.tree.push(node)
    }

    /// Keeps a copy of an anchored node.
    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), Problem> {
        let size = size(node);
        self.spend(size.weight, node.location)?;
        self.anchors.insert(anchor, Anchored { node: node.clone(), size });
        Ok(())
    }

    fn alias(&mut self, anchor: usize, location: Location) -> Result<(), Problem> {
        let Some(Anchored { node, size }) = self.anchors.get(&anchor) else {
            return Err(Problem::new(
                location,
                "the alias stands inside the node that it names, which has no end",
            ));
        };
        let (node, size) =
            if self.spent + size.weight > ALIAS_BUDGET { (None, *size) } else { (Some(node.clone()), *size) };
        self.spend(size.weight, location)?;
        admit_depth(self.tree.depth() + size.height, location)?;
        let Some(node) = node else { return Ok(()) };
        if self.tree.place() != Place::Key {
            return self.tree.push(node);
        }
        let name = key_of(node.value).map_err(|message| Problem::new(location, message))?;
        self.tree.key(Key { name, location, merge: false });
        Ok(())
    }

    fn spend(&mut self, weight: usize, location: Location) -> Result<(), Problem> {
        self.spent = self.spent.saturating_add(weight);
        if self.spent > ALIAS_BUDGET {
            let message = format!("aliases make this document larger than {ALIAS_BUDGET} nodes");
            return Err(
                Problem::new(location, message).with_help("write the values out instead of using aliases")
            );
        }
        Ok(())
    }

    fn location(&self, marker: &Marker) -> Location {
        let line = narrow(marker.line().saturating_sub(1));
        let first = if line == 0 { self.origin.column - 1 } else { 0 };
        Location { line: self.origin.line + line, column: first + narrow(marker.col()) + 1 }
    }

    fn scan_error(&self, error: &ScanError) -> Problem {
        let location = self.location(error.marker());
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => {
                Problem::new(location, format!("lists and mappings are nested more than {DEEPEST} deep"))
            }
            kind => Problem::new(location, format!("not valid YAML: {kind}")),
        }
    }
}

/// The name of a tag that YAML itself knows: those of the core schema, and `binary`.
fn known_tag(tag: &Tag) -> Option<&str> {
    let is_binary = tag.handle() == "tag:yaml.org,2002:" && tag.suffix() == "binary";
    if is_binary { Some("binary") } else { tag.core_suffix() }
}

/// The key that an aliased scalar makes.
fn key_of(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Scalar::String(text),
        Value::Bool(value) => Scalar::Bool(value),
        Value::Int(value) => Scalar::Int(value),
        Value::UInt(value) => Scalar::UInt(value),
        Value::Float(value) => Scalar::Float(value),
        Value::Null => Scalar::Null,
        Value::Sequence(_) | Value::Mapping(_) => {
            return Err("a list or mapping cannot be the key of a mapping".to_owned());
        }
    }
    .into_key()
}

/// Weight and height of a node; recursion is bounded because the tree is.
fn size(node: &Node) -> Size {
    let own = 1 + node.text().len() / 64;
    let keys: usize = node.entries().iter().map(|entry| entry.key.len() / 64).sum();
    let children = node.elements().iter().chain(node.entries().iter().map(|entry| &entry.value));
    let none = Size { weight: own + keys, height: 0 };
    children.map(size).fold(none, |sum, child| Size {
        weight: sum.weight.saturating_add(child.weight),
        height: sum.height.max(child.height + 1),
    })
}
