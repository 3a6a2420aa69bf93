//! A file as a stream of documents, split as kubectl splits it.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::lines::{BOM, Lines, Peeked, peek};
use super::node::{Document, Location, Value};
use super::problem::{Problem, explain, narrow};
use super::{json, pull};

/// The documents of a file: YAML documents between `---` lines, and JSON values one after another.
///
/// What stands between two separators is in memory at a time. A document that cannot be read gives a [`Problem`],
/// and the next one is read. Documents that hold nothing, or only null or comments, are passed over and not
/// counted, so a file that begins with `---` begins with document 1.
pub struct Documents<R> {
    input: Option<R>,
    lines: Option<Lines<Peeked<R>>>,
    /// Line number of the last line that was read.
    line: u32,
    /// Content of a separator line that belongs to the document behind it.
    held: Option<Vec<u8>>,
    number: usize,
    ready: VecDeque<Result<Document, Problem>>,
}

/// What a line says about documents.
enum Marker {
    /// It is content.
    None,
    /// `---` or `...`: ends a document.
    Separator,
    /// `---` with content behind it, which begins the next document.
    SeparatorWith(Vec<u8>),
}

/// The text between two separators.
#[derive(Default)]
struct Chunk {
    text: Vec<u8>,
    /// Number of its first line.
    line: u32,
}

impl<R: BufRead> Documents<R> {
    /// The documents of an input.
    pub fn new(input: R) -> Self {
        Self { input: Some(input), lines: None, line: 0, held: None, number: 0, ready: VecDeque::new() }
    }

    /// Reads on until there is a document, a problem, or the end.
    fn advance(&mut self) -> io::Result<()> {
        if let Some(input) = self.input.take() {
            let (encoding, input) = peek(input)?;
            if let Some(encoding) = encoding {
                let problem = Problem::new(Location::START, format!("the file is in {encoding}, not UTF-8"));
                self.give(Err(problem.with_help("save it as UTF-8, for example with `iconv -t UTF-8`")));
                return Ok(());
            }
            self.lines = Some(Lines::new(input));
        }
        while self.ready.is_empty() {
            let Some(chunk) = self.chunk()? else { return Ok(()) };
            self.read(&chunk);
        }
        Ok(())
    }

    /// The text up to the next separator; `None` at the end of the input.
    fn chunk(&mut self) -> io::Result<Option<Chunk>> {
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let mut chunk = Chunk { text: self.held.take().unwrap_or_default(), line: self.line.max(1) };
        let mut begun = !chunk.text.is_empty();
        if begun {
            chunk.text.push(b'\n');
        } else {
            chunk.line = self.line + 1;
        }
        while let Some(mut line) = lines.next()? {
            self.line += 1;
            if !begun && line.starts_with(BOM) {
                line.drain(..BOM.len());
            }
            match marker(&line) {
                Marker::None => {}
                Marker::Separator => return Ok(Some(chunk)),
                Marker::SeparatorWith(content) => {
                    self.held = Some(content);
                    return Ok(Some(chunk));
                }
            }
            begun = true;
            chunk.text.append(&mut line);
            chunk.text.push(b'\n');
        }
        self.lines = None;
        Ok(Some(chunk))
    }

    fn read(&mut self, chunk: &Chunk) {
        let text = match std::str::from_utf8(&chunk.text) {
            Ok(text) => text,
            Err(error) => return self.give(Err(not_utf8(chunk, error.valid_up_to()))),
        };
        if text.lines().all(is_blank) {
            return;
        }
        let origin = Location { line: chunk.line, column: 1 };
        if let Some(at) = text.find('\0') {
            let problem = Problem::new(locate(text, at, origin), "a NUL byte: this is no text");
            return self.give(Err(problem.with_help("look for a binary file among the manifests")));
        }
        if let Some(at) = leading_tab(text) {
            let location = Location { line: chunk.line + narrow(at), column: 1 };
            let problem = Problem::new(location, "a tab is used as indentation, which YAML does not allow");
            return self.give(Err(problem.with_help("indent with spaces")));
        }
        match json_values(text) {
            Some(values) => {
                for (start, value) in values {
                    self.read_one(value, locate(text, start, origin));
                }
            }
            None => self.read_one(text, origin),
        }
    }

    fn read_one(&mut self, text: &str, origin: Location) {
        let is_json = text.trim_start().starts_with(['{', '[']);
        let found = match if is_json { json::read(text, origin).ok() } else { None } {
            Some(found) => Ok(found),
            None => pull::read(text, origin).map_err(|problem| explain(text, origin, problem)),
        };
        match found {
            Ok(Some((root, duplicates))) if root.value != Value::Null => {
                self.give(Ok(Document { number: 0, root, duplicates }));
            }
            Ok(_) => {}
            Err(problem) => self.give(Err(problem)),
        }
    }

    fn give(&mut self, item: Result<Document, Problem>) {
        self.number += 1;
        let number = self.number;
        self.ready.push_back(match item {
            Ok(document) => Ok(Document { number, ..document }),
            Err(problem) => {
                // A text that ends too early may be noticed on the line after the last.
                let line = problem.location.line.min(self.line.max(1));
                Err(Problem { document: number, location: Location { line, ..problem.location }, ..problem })
            }
        });
    }
}

impl<R: BufRead> Iterator for Documents<R> {
    type Item = Result<Document, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty()
            && let Err(error) = self.advance()
        {
            self.lines = None;
            let location = Location { line: self.line.max(1), column: 1 };
            self.give(Err(Problem::new(location, format!("the file cannot be read: {error}"))));
        }
        self.ready.pop_front()
    }
}

fn marker(line: &[u8]) -> Marker {
    if line.starts_with(b"...") && is_comment_or_blank(line.get(3..).unwrap_or_default()) {
        return Marker::Separator;
    }
    let Some(rest) = line.strip_prefix(b"---") else { return Marker::None };
    if is_comment_or_blank(rest) {
        return Marker::Separator;
    }
    if rest.starts_with(b" ") || rest.starts_with(b"\t") {
        return Marker::SeparatorWith([b"   ", rest].concat());
    }
    Marker::None
}

/// Blank, or a comment that is set off by a blank.
fn is_comment_or_blank(rest: &[u8]) -> bool {
    let trimmed = rest.trim_ascii();
    trimmed.is_empty() || (trimmed.starts_with(b"#") && rest.first().is_some_and(u8::is_ascii_whitespace))
}

/// A line that adds nothing to a document: blank, a comment, or a directive.
fn is_blank(line: &str) -> bool {
    let trimmed = line.trim_start();
    let is_directive = ["%YAML ", "%TAG "].iter().any(|directive| line.starts_with(directive));
    trimmed.is_empty() || trimmed.starts_with('#') || is_directive
}

/// The line, from 0, of a first line with content that is indented with a tab, unless JSON begins there.
fn leading_tab(text: &str) -> Option<usize> {
    let (number, first) = text.lines().enumerate().find(|(_, line)| !is_blank(line))?;
    (first.starts_with('\t') && !first.trim_start().starts_with(['{', '['])).then_some(number)
}

fn not_utf8(chunk: &Chunk, valid: usize) -> Problem {
    let before = String::from_utf8_lossy(chunk.text.get(..valid).unwrap_or_default());
    let location = locate(&before, before.len(), Location { line: chunk.line, column: 1 });
    Problem::new(location, "a byte that is not UTF-8").with_help("save the file as UTF-8")
}

/// The place of a byte of a text that begins at `origin`.
fn locate(text: &str, at: usize, origin: Location) -> Location {
    let before = text.get(..at).unwrap_or(text);
    let lines = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    let first = if lines == 0 { origin.column - 1 } else { 0 };
    Location { line: origin.line + narrow(lines), column: first + narrow(column) + 1 }
}

/// The values of a text that is nothing but JSON objects and lists one after another; `None` for anything else,
/// YAML in flow style among it.
fn json_values(text: &str) -> Option<Vec<(usize, &str)>> {
    let mut values = Vec::new();
    let (mut depth, mut start, mut in_string, mut escaped) = (0usize, 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' if depth > 0 => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    values.push((start, text.get(start..=at)?));
                }
            }
            _ if depth > 0 || byte.is_ascii_whitespace() => {}
            _ => return None,
        }
    }
    (depth == 0 && !values.is_empty()).then_some(values)
}
