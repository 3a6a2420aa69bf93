//! The rules: one file each, and one ordered registry.

mod finding;

pub use finding::{Action, Finding, Mode, Severity};
