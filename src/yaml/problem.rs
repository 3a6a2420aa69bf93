//! Why a document cannot be read, in words that help to mend it.

use std::fmt;

use super::node::Location;

/// A document that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Number of the document in the file, from 1.
    pub document: usize,
    /// Where reading failed.
    pub location: Location,
    /// What is wrong.
    pub message: String,
    /// How to mend it, when that is known.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a place; the reader of the file fills in the document.
    pub(super) fn new(location: Location, message: impl Into<String>) -> Self {
        Self { document: 0, location, message: message.into(), help: None }
    }

    /// The same with a way to mend it.
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, {}: {}", self.document, self.location, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, " ({help})"))
    }
}

impl std::error::Error for Problem {}

/// Says more plainly why a YAML text that begins at `origin` did not parse: tabs and unrendered templates are what
/// most often stands behind a syntax error in a manifest.
pub(super) fn explain(text: &str, origin: Location, found: Problem) -> Problem {
    let line = found.location.line.saturating_sub(origin.line) as usize;
    if let Some(tab) = tab_indentation(text, line) {
        return Problem::new(
            at(origin, tab.0, tab.1),
            "a tab is used as indentation, which YAML does not allow",
        )
        .with_help("indent with spaces");
    }
    match template_action(text) {
        Some((line, column)) => Problem::new(
            at(origin, line, column),
            "this looks like an unrendered template: `{{` stands where YAML cannot have it",
        )
        .with_help(
            "render it first, for example with `helm template` or `kustomize build`, and read the result",
        ),
        None => found,
    }
}

/// A place inside a text that begins at `origin`, from 0-based line and column.
fn at(origin: Location, line: usize, column: usize) -> Location {
    let first = if line == 0 { origin.column - 1 } else { 0 };
    Location { line: origin.line + narrow(line), column: first + narrow(column) + 1 }
}

/// A count as a line or column number; larger ones stay at the largest.
pub(super) fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The tab in the indentation of the failing line or of the next line above it that is not blank.
fn tab_indentation(text: &str, line: usize) -> Option<(usize, usize)> {
    let lines: Vec<&str> = text.lines().take(line + 1).collect();
    let written = lines.iter().enumerate().rev().filter(|(_, line)| !line.trim().is_empty());
    written.take(2).find_map(|(number, line)| {
        let indentation = line.split(|c: char| c != ' ' && c != '\t').next()?;
        indentation.find('\t').map(|column| (number, column))
    })
}

/// The first `{{` outside quotes, comments and block scalars, as 0-based line and column.
fn template_action(text: &str) -> Option<(usize, usize)> {
    let mut block: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let indentation = line.len() - line.trim_start_matches(' ').len();
        if block.is_some_and(|outer| line.trim().is_empty() || indentation > outer) {
            continue;
        }
        let bare = bare_text(line);
        if let Some(column) = bare.find("{{") {
            return Some((number, bare.get(..column).map_or(0, |before| before.chars().count())));
        }
        block = opens_block_scalar(&bare).then_some(indentation);
    }
    None
}

/// A line with the quoted parts blanked out and without its comment.
fn bare_text(line: &str) -> String {
    let (mut bare, mut quote, mut before) = (String::with_capacity(line.len()), None, ' ');
    for c in line.chars() {
        let starts_token = before.is_whitespace() || "[{,:".contains(before);
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') && starts_token => quote = Some(c),
            None if c == '#' && before.is_whitespace() => break,
            None => {
                bare.push(c);
                before = c;
                continue;
            }
        }
        bare.push(' ');
        before = c;
    }
    bare
}

/// Whether a line ends with the header of a block scalar (`|`, `>-`, `|2+`).
fn opens_block_scalar(bare: &str) -> bool {
    let header = bare.trim_end().trim_end_matches(|c: char| c.is_ascii_digit() || "+-".contains(c));
    header.strip_suffix(['|', '>']).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
}
