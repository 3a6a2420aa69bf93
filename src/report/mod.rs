//! Reports of `check`: one set of findings, many formats.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::Finding;

/// The object a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// API group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; `None` where the manifest names none.
    pub namespace: Option<String>,
    /// Name, or `prefix*` where only generateName is given.
    pub name: String,
}

/// A finding with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedFinding {
    /// What is found.
    pub finding: Finding,
    /// Path of the file as given or found; `-` is standard input.
    pub file: String,
    /// Number of the document in the file, from 1.
    pub document: usize,
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in the line, from 1.
    pub column: usize,
    /// The object.
    pub object: ObjectRef,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadProblem {
    /// Path of the file; `-` is standard input.
    pub file: String,
    /// Number of the document in the file, from 1; 0 where the file as a whole could not be read.
    pub document: usize,
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in the line, from 1.
    pub column: usize,
    /// What is wrong, and how to mend it.
    pub message: String,
}

/// How an object would be admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Path of the file.
    pub file: String,
    /// The object.
    pub object: ObjectRef,
    /// Its pod as it reaches the webhook, as YAML.
    pub before: String,
    /// Its pod as it is admitted, as YAML.
    pub after: String,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Files read.
    pub files: usize,
    /// Everything with a kind, List wrappers aside.
    pub objects: usize,
    /// Workloads that may or must run on a pool.
    pub targeted: usize,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity info.
    pub infos: usize,
    /// What could not be read.
    pub problems: usize,
}

/// Everything a run has to say.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Counts.
    pub summary: Summary,
    /// Findings in the order of files, documents and rules.
    pub findings: Vec<LocatedFinding>,
    /// What could not be read.
    pub problems: Vec<ReadProblem>,
    /// How the objects would be admitted, when asked for.
    pub previews: Vec<Preview>,
    /// Objects without pods, and custom kinds: how many of each kind were skipped.
    pub skipped: BTreeMap<String, usize>,
    /// Objects that another object of the input owns and that say the same.
    pub owned: usize,
    /// Names of the policies that were used.
    pub policies: Vec<String>,
    /// What the reader should know of the run, such as what could not be looked up.
    pub notes: Vec<String>,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text.
    Text,
    /// JSON.
    Json,
}

/// How to render.
#[derive(Clone, Copy, Debug)]
pub struct RenderOptions {
    /// Colour.
    pub color: bool,
    /// Previews.
    pub fix_preview: bool,
}

/// Placeholder until the formats land.
pub fn render(report: &Report, _: Format, _: &RenderOptions) -> String {
    let mut text = String::new();
    for f in &report.findings {
        text += &format!("{}:{}:{}: {:?}[{}] {} {}\n", f.file, f.line, f.column, f.finding.severity, f.finding.rule, f.finding.path, f.finding.message);
    }
    for p in &report.problems { text += &format!("{p:?}\n"); }
    text + &format!("{:?} {:?} {:?}\n", report.summary, report.skipped, report.notes)
}
