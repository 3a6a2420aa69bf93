//! Reports of `check`: one set of findings, many formats.

mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::Finding;
use crate::yaml;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// For people, on a terminal.
    Text,
    /// The contract for programs.
    Json,
    /// The same as YAML.
    Yaml,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for CI test reports.
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
    /// For a comment on a pull request.
    Markdown,
}

/// How to render.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderOptions {
    /// Colours, in text.
    pub color: bool,
    /// Show how objects would be admitted, in text, markdown, JSON and YAML.
    pub fix_preview: bool,
}

/// Renders a report; the same report gives the same text.
pub fn render(report: &Report, format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Text => text::render(report, options),
        Format::Json => json::render(report, options),
        Format::Yaml => yaml::to_string(&json::value(report, options)),
        Format::Sarif => sarif::render(report),
        Format::Junit => junit::render(report),
        Format::Github => github::render(report),
        Format::Markdown => markdown::render(report, options),
    }
}

impl ObjectRef {
    /// `namespace/Kind/name`, without the namespace where there is none.
    pub fn path(&self) -> String {
        let namespace = self.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
        format!("{namespace}{}/{}", self.kind, self.name)
    }
}

impl Preview {
    /// The change as a unified diff.
    pub fn diff(&self) -> String {
        let name = self.object.path();
        similar::TextDiff::from_lines(&self.before, &self.after)
            .unified_diff()
            .header(&format!("{name} as it reaches the webhook"), &format!("{name} as it is admitted"))
            .to_string()
    }
}

impl Summary {
    /// `3 files, 5 objects, 2 targeted: 1 error, 2 warnings, 0 infos, 1 problem`.
    fn line(&self) -> String {
        format!(
            "{}, {}, {} targeted: {}, {}, {}, {}",
            count(self.files, "file"),
            count(self.objects, "object"),
            self.targeted,
            count(self.errors, "error"),
            count(self.warnings, "warning"),
            count(self.infos, "info"),
            count(self.problems, "problem")
        )
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

impl Report {
    /// Everything that is said once for the whole run, line by line.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if !self.skipped.is_empty() {
            let kinds: Vec<String> = self.skipped.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
            remarks.push(format!(
                "skipped, as there are no pods in them that sundown knows: {}",
                kinds.join(", ")
            ));
        }
        if self.owned > 0 {
            let verb = if self.owned == 1 { "is" } else { "are" };
            let objects = count(self.owned, "object");
            remarks.push(format!("{objects} {verb} owned by another in the input, which speaks for it"));
        }
        if self.summary.targeted == 0 && self.summary.objects > 0 {
            remarks.push(format!(
                "no workload may run on the pool of policy {}: is this the right policy?",
                self.policies.join(", ")
            ));
        }
        remarks.extend(self.notes.iter().cloned());
        remarks
    }
}

/// Text without control characters, so that no manifest writes to the terminal what it likes.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}
