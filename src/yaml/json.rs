//! JSON text to a tree with positions.

use super::build::{Key, Place, Tree};
use super::node::{DuplicateKey, Location, Node, Value};
use super::problem::{Problem, narrow};

/// Reads one JSON value that begins at `origin`; blanks may stand around it and nothing else.
///
/// # Errors
/// The first thing that is not JSON.
pub(super) fn read(text: &str, origin: Location) -> Result<Option<(Node, Vec<DuplicateKey>)>, Problem> {
    let mut reader = Reader { text, at: 0, seen: 0, location: origin, tree: Tree::default() };
    reader.value()?;
    while reader.tree.depth() > 0 {
        reader.step()?;
    }
    match reader.peek() {
        None => Ok(reader.tree.finish()),
        Some(_) => Err(reader.wrong("the end of the JSON value")),
    }
}

/// Where reading stands.
struct Reader<'a> {
    text: &'a str,
    /// Offset of the next byte to read.
    at: usize,
    /// Offset up to which lines and columns are counted: `location` is the place of this byte.
    seen: usize,
    location: Location,
    tree: Tree,
}

impl Reader<'_> {
    /// Reads what follows inside the innermost open collection: a separator and a value, or its end.
    fn step(&mut self) -> Result<(), Problem> {
        let mapping = self.tree.place() == Place::Key;
        match (self.peek(), mapping) {
            (Some(b'}'), true) | (Some(b']'), false) => self.close(),
            (Some(b','), _) => {
                self.at += 1;
                self.member(mapping)
            }
            (_, true) => Err(self.wrong("`,` or `}`")),
            (_, false) => Err(self.wrong("`,` or `]`")),
        }
    }

    /// Reads one element, or one key with its value.
    fn member(&mut self, mapping: bool) -> Result<(), Problem> {
        if mapping {
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes"));
            }
            let location = self.here();
            let name = self.string()?;
            self.tree.key(Key { name, location, merge: false });
            if self.peek() != Some(b':') {
                return Err(self.wrong("`:`"));
            }
            self.at += 1;
        }
        self.value()
    }

    /// Reads a scalar, or opens a collection and reads its first member.
    fn value(&mut self) -> Result<(), Problem> {
        let next = self.peek();
        let location = self.here();
        match next {
            Some(b'{') => {
                self.tree.open_mapping(location)?;
                self.first_member(b'}')
            }
            Some(b'[') => {
                self.tree.open_sequence(location)?;
                self.first_member(b']')
            }
            Some(b'"') => {
                let text = self.string()?;
                self.tree.push(Node::new(location, Value::String(text), ""))
            }
            _ => self.word(location),
        }
    }

    fn first_member(&mut self, end: u8) -> Result<(), Problem> {
        self.at += 1;
        if self.peek() == Some(end) {
            return self.close();
        }
        // The recursion into a first member ends where the tree refuses to open one more collection.
        self.member(end == b'}')
    }

    fn close(&mut self) -> Result<(), Problem> {
        self.at += 1;
        match self.tree.close() {
            Some(node) => self.tree.push(node),
            None => Ok(()),
        }
    }

    /// Reads a number, `true`, `false` or `null`.
    fn word(&mut self, location: Location) -> Result<(), Problem> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let Some(value) = meaning(word) else { return Err(self.wrong("a JSON value")) };
        self.at += end;
        self.tree.push(Node::new(location, value, word))
    }

    /// Reads a string that begins here.
    fn string(&mut self) -> Result<String, Problem> {
        let quoted = self.text.get(self.at..).unwrap_or_default();
        let mut escaped = false;
        let end = quoted.bytes().skip(1).position(|byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        let Some(token) = end.and_then(|end| quoted.get(..end + 2)) else {
            return Err(Problem::new(self.here(), "not valid JSON: this string is not closed"));
        };
        match serde_json::from_str(token) {
            Ok(text) => {
                self.at += token.len();
                Ok(text)
            }
            Err(_) => Err(Problem::new(
                self.here(),
                "not valid JSON: this string holds a line break, a control character or an unknown escape",
            )),
        }
    }

    /// The next byte after blanks.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// The place of the next byte; counting goes on from where it stopped, so that it stays linear.
    fn here(&mut self) -> Location {
        let passed = self.text.get(self.seen..self.at).unwrap_or_default();
        let lines = passed.bytes().filter(|byte| *byte == b'\n').count();
        let last = passed.rsplit('\n').next().unwrap_or_default();
        let column = if lines == 0 { self.location.column } else { 1 };
        self.location = Location {
            line: self.location.line + narrow(lines),
            column: column + narrow(last.chars().count()),
        };
        self.seen = self.at;
        self.location
    }

    fn wrong(&mut self, expected: &str) -> Problem {
        let location = self.here();
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end of the text".to_owned(),
        };
        Problem::new(location, format!("not valid JSON: expected {expected}, found {found}"))
    }
}

/// The value of a bare word. A number with a fraction or an exponent stays a double, as in the cluster's JSON reader.
fn meaning(word: &str) -> Option<Value> {
    match word {
        "null" => return Some(Value::Null),
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "-0" => return Some(Value::Int(0)),
        _ => {}
    }
    let number: serde_json::Number = serde_json::from_str(word).ok()?;
    number
        .as_i64()
        .map(Value::Int)
        .or_else(|| number.as_u64().map(Value::UInt))
        .or_else(|| number.as_f64().filter(|number| number.is_finite()).map(Value::Float))
}
