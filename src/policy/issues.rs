//! Errors and warnings of policy files.

use std::fmt;

/// Whether a diagnostic stops the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The policy loads; the user should know.
    Warning,
    /// The policy does not load.
    Error,
}

/// One thing to say of a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it stops the load.
    pub level: Level,
    /// File name, or `preset:NAME`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Field path such as `spec.pool.taint.effect`; empty for the whole document.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.level == Level::Error { "error" } else { "warning" };
        write!(f, "{}:{}:{}: {level}: ", self.file, self.line, self.column)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{}", self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "\n  help: {}", self.help) }
    }
}

/// All there is to say of the files that did not load; at least one is an error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Diagnostics(pub Vec<Diagnostic>);

/// A diagnostic before its place in the file is known: the field is a JSON pointer.
#[derive(Clone, Debug)]
pub(super) struct Issue {
    pub level: Level,
    pub pointer: String,
    pub message: String,
    pub help: String,
}

/// Collects the issues of one document.
#[derive(Default)]
pub(super) struct Issues(pub Vec<Issue>);

impl Issues {
    /// The document cannot load.
    pub(super) fn error(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Error, pointer, message.into(), help.into());
    }

    /// The document loads, but the user should know.
    pub(super) fn warning(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.add(Level::Warning, pointer, message.into(), help.into());
    }

    fn add(&mut self, level: Level, pointer: &str, message: String, help: String) {
        self.0.push(Issue { level, pointer: pointer.to_owned(), message, help });
    }

    /// A number that must not be below `least`; what is wrong is reported, and the value used is in range.
    pub(super) fn at_least(&mut self, pointer: &str, value: i64, least: i64) -> i64 {
        let most = i64::from(i32::MAX);
        if value < least || value > most {
            self.error(
                pointer,
                format!("{value} is out of range"),
                format!("write seconds from {least} to {most}"),
            );
        }
        value.clamp(least, most)
    }
}
