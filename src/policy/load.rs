//! Loads policy files: all errors of all files at once, each with its place.

use super::check::{KIND, check};
use super::file::RawPolicy;
use super::issues::{Diagnostic, Diagnostics, Issue, Issues, Level};
use super::mode::RuleInfo;
use super::{Policy, PolicySet};
use crate::yaml::{self, Document, Documents};

/// One policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name for messages: a path, or `preset:NAME`.
    pub name: String,
    /// Its content.
    pub text: Vec<u8>,
}

/// A policy with the place of its document, for what only shows when several are loaded.
struct Placed {
    policy: Policy,
    file: String,
    document: Document,
}

/// Loads one or more files, each of which may hold several documents. The warnings come with the policies.
///
/// # Errors
/// All errors and warnings of all files, if there is an error, or no policy in them.
pub fn load(sources: &[Source], catalogue: &[RuleInfo]) -> Result<(PolicySet, Vec<Diagnostic>), Diagnostics> {
    let mut diagnostics = Vec::new();
    let mut placed = Vec::new();
    for source in sources {
        let before = placed.len() + diagnostics.len();
        for document in Documents::new(source.text.as_slice()) {
            match document {
                Ok(document) => one_document(document, source, catalogue, &mut placed, &mut diagnostics),
                Err(problem) => diagnostics.push(Diagnostic {
                    level: Level::Error,
                    file: source.name.clone(),
                    line: problem.location.line,
                    column: problem.location.column,
                    field: String::new(),
                    message: problem.message,
                    help: problem.help.unwrap_or_default(),
                }),
            }
        }
        if placed.len() + diagnostics.len() == before {
            diagnostics.push(no_policy(source));
        }
    }
    between_policies(&placed, &mut diagnostics);
    // In the order of the files, and of the lines in each.
    let place = |name: &str| sources.iter().position(|source| source.name == name);
    diagnostics.sort_by_key(|diagnostic| (place(&diagnostic.file), diagnostic.line, diagnostic.column));
    if diagnostics.iter().any(|diagnostic| diagnostic.level == Level::Error) || placed.is_empty() {
        return Err(Diagnostics(diagnostics));
    }
    Ok((PolicySet(placed.into_iter().map(|placed| placed.policy).collect()), diagnostics))
}

fn no_policy(source: &Source) -> Diagnostic {
    Diagnostic {
        level: Level::Error,
        file: source.name.clone(),
        line: 1,
        column: 1,
        field: String::new(),
        message: "there is no policy in this file".to_owned(),
        help: format!("write a document of kind {KIND}"),
    }
}

fn one_document(
    document: Document,
    source: &Source,
    catalogue: &[RuleInfo],
    placed: &mut Vec<Placed>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for duplicate in &document.duplicates {
        diagnostics.push(Diagnostic {
            level: Level::Error,
            file: source.name.clone(),
            line: duplicate.last.line,
            column: duplicate.last.column,
            field: dotted(&duplicate.path),
            message: format!("this key is there already, on line {}", duplicate.first.line),
            help: "keep one of the two".to_owned(),
        });
    }
    let (raw, errors) = yaml::collect::<RawPolicy>(document.root.clone());
    let mut issues = Issues::default();
    let policy = check(raw.unwrap_or_default(), catalogue, &mut issues);
    // What could not be read counts as missing in the check: it is said once, where it was written.
    let unread = |issue: &Issue| errors.iter().any(|error| error.path.starts_with(&dotted(&issue.pointer)));
    let checked = issues.0.into_iter().filter(|issue| !unread(issue));
    diagnostics.extend(checked.map(|issue| place(issue, &source.name, &document)));
    diagnostics.extend(errors.into_iter().map(|error| Diagnostic {
        level: Level::Error,
        file: source.name.clone(),
        line: error.location.line,
        column: error.location.column,
        field: error.path,
        message: error.message,
        help: error.help,
    }));
    placed.push(Placed { policy, file: source.name.clone(), document });
}

fn place(issue: Issue, file: &str, document: &Document) -> Diagnostic {
    let location = document.root.nearest(&issue.pointer);
    Diagnostic {
        level: issue.level,
        file: file.to_owned(),
        line: location.line,
        column: location.column,
        field: dotted(&issue.pointer),
        message: issue.message,
        help: issue.help,
    }
}

/// `/spec/rules/0` as people write it: `spec.rules[0]`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(&part),
            Err(_) => path.push_str(&format!(".{part}")),
        }
    }
    path
}

/// What must agree among all loaded policies.
fn between_policies(placed: &[Placed], diagnostics: &mut Vec<Diagnostic>) {
    for (index, one) in placed.iter().enumerate() {
        for earlier in placed.iter().take(index) {
            let mut issues = Issues::default();
            if !one.policy.name.is_empty() && one.policy.name == earlier.policy.name {
                issues.error(
                    "/metadata/name",
                    format!("{:?} is the name of a policy in {} too", one.policy.name, earlier.file),
                    "give each policy a name of its own",
                );
            }
            let of = |policy: &Policy| policy.rules.not_ready.cluster_default_seconds;
            if of(&one.policy) != of(&earlier.policy) {
                issues.error(
                    "/spec/rules/not-ready-toleration/clusterDefaultSeconds",
                    format!(
                        "{} here, {} in policy {:?}",
                        of(&one.policy),
                        of(&earlier.policy),
                        earlier.policy.name
                    ),
                    "a cluster has one default: write the same number in all policies",
                );
            }
            diagnostics.extend(issues.0.into_iter().map(|issue| place(issue, &one.file, &one.document)));
        }
    }
}
