//! `sundown check`: manifests of CI and of the editor.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::Global;
use super::policies::{PolicyArgs, load_or_explain};
use super::walk::{Input, inputs};
use crate::manifest::{Examiner, INVALID_OBJECT, Index, ManifestObject, objects};
use crate::policy::PolicySet;
use crate::report::{Format, LocatedFinding, ObjectRef, Preview, ReadProblem, RenderOptions, Report, render};
use crate::rules::{Action, Finding, Intent, Kind, Mode, Severity};
use crate::yaml::{self, Document, Documents};

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing at or above --fail-on
  1  findings at or above --fail-on
  2  usage, or something that could not be read (whatever else was found)";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct CheckArgs {
    /// Files, directories (recursively .yaml, .yml, .json), or - for standard input.
    #[arg(required = true, value_name = "PATH|-")]
    paths: Vec<String>,
    /// Output format, optionally with a file: -o sarif=report.sarif. May be repeated.
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = parse_output)]
    output: Vec<Output>,
    /// Fail from this severity on.
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
    /// Show how each pod would be admitted.
    #[arg(long)]
    fix_preview: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Findings of severity error.
    Error,
    /// Findings of severity warning or error.
    Warning,
    /// No finding fails.
    Never,
}

#[derive(Clone, Debug)]
struct Output {
    format: Format,
    file: Option<String>,
}

fn parse_output(text: &str) -> Result<Output, String> {
    let (format, file) = match text.split_once('=') {
        Some((_, "")) => return Err("there is no file name after =".to_owned()),
        Some((format, file)) => (format, Some(file.to_owned())),
        None => (text, None),
    };
    let format = Format::from_str(format, false).map_err(|_| {
        let known: Vec<String> = Format::value_variants()
            .iter()
            .filter_map(|format| format.to_possible_value().map(|value| value.get_name().to_owned()))
            .collect();
        format!("unknown format {format:?}: {}", known.join(", "))
    })?;
    Ok(Output { format, file })
}

pub(super) fn run(args: &CheckArgs, global: &Global) -> anyhow::Result<ExitCode> {
    let outputs = outputs(&args.output)?;
    let policies = load_or_explain(&PolicyArgs::new(&global.policy))?;
    let (inputs, unreadable) = inputs(&args.paths);
    let mut run = Run::new(&policies, args.fix_preview);
    for (path, message) in unreadable {
        run.problem(&path, 0, 1, 1, message);
    }
    run.read(&inputs);
    let report = run.finish();
    for output in &outputs {
        write(&report, output, args.fix_preview)?;
    }
    Ok(exit_code(&report, args.fail_on))
}

/// At most one output goes to standard output; text does when nothing else is asked for.
fn outputs(given: &[Output]) -> anyhow::Result<Vec<Output>> {
    if given.is_empty() {
        return Ok(vec![Output { format: Format::Text, file: None }]);
    }
    if given.iter().filter(|output| output.file.is_none()).count() > 1 {
        bail!(
            "only one output can go to standard output: give the others a file, such as -o sarif=report.sarif"
        );
    }
    Ok(given.to_vec())
}

fn write(report: &Report, output: &Output, fix_preview: bool) -> anyhow::Result<()> {
    let to_terminal = output.file.is_none() && io::stdout().is_terminal();
    let color = to_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let text = render(report, output.format, &RenderOptions { color, fix_preview });
    match &output.file {
        Some(path) => {
            let mut file = File::create(path).with_context(|| format!("cannot write {path}"))?;
            file.write_all(text.as_bytes()).with_context(|| format!("cannot write {path}"))
        }
        None => match io::stdout().write_all(text.as_bytes()) {
            // The reader has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.context("cannot write to standard output"),
        },
    }
}

fn exit_code(report: &Report, fail_on: FailOn) -> ExitCode {
    let summary = &report.summary;
    let failing = match fail_on {
        FailOn::Error => summary.errors,
        FailOn::Warning => summary.errors + summary.warnings,
        FailOn::Never => 0,
    };
    ExitCode::from(if summary.problems > 0 { 2 } else { u8::from(failing > 0) })
}

/// One run over all inputs: first what objects say of each other, then the objects themselves.
struct Run<'p> {
    examiner: Examiner<'p>,
    report: Report,
    index: Index,
    unknown_classes: BTreeSet<String>,
}

impl<'p> Run<'p> {
    fn new(policies: &'p PolicySet, fix_preview: bool) -> Self {
        let names = policies.policies().iter().map(|policy| policy.name.clone()).collect();
        Self {
            examiner: Examiner::new(policies, fix_preview),
            report: Report { policies: names, ..Report::default() },
            index: Index::default(),
            unknown_classes: BTreeSet::new(),
        }
    }

    fn read(&mut self, inputs: &[Input]) {
        let bar = progress_bar(inputs.len());
        for input in inputs {
            self.index_input(input);
            bar.inc(1);
        }
        for input in inputs {
            self.examine_input(input);
            bar.inc(1);
        }
        bar.finish_and_clear();
    }

    /// What cannot be read is told by the second pass.
    fn index_input(&mut self, input: &Input) {
        let Ok(reader) = input.open() else { return };
        for document in Documents::new(reader).flatten() {
            for object in objects(&document).iter().flatten() {
                self.index.add(object);
            }
        }
    }

    fn examine_input(&mut self, input: &Input) {
        let name = input.name();
        let reader = match input.open() {
            Ok(reader) => reader,
            Err(error) => return self.problem(&name, 0, 1, 1, format!("cannot read: {error}")),
        };
        self.report.summary.files += 1;
        for document in Documents::new(reader) {
            match document {
                Ok(document) => self.examine_document(&name, &document),
                Err(problem) => {
                    let help = problem.help.map(|help| format!(": {help}")).unwrap_or_default();
                    let location = problem.location;
                    let message = format!("{}{help}", problem.message);
                    self.problem(&name, problem.document, location.line, location.column, message);
                }
            }
        }
    }

    fn examine_document(&mut self, file: &str, document: &Document) {
        for object in objects(document) {
            match object {
                Ok(object) => self.examine_object(file, document, &object),
                Err(problem) => {
                    let location = problem.location;
                    self.problem(file, document.number, location.line, location.column, problem.message);
                }
            }
        }
    }

    fn examine_object(&mut self, file: &str, document: &Document, object: &ManifestObject<'_>) {
        self.report.summary.objects += 1;
        let mut findings = duplicate_keys(document, object);
        match Kind::of(object.api_version, object.kind) {
            None => *self.report.skipped.entry(object.kind.to_owned()).or_default() += 1,
            Some(_) if self.index.owns(object) => self.report.owned += 1,
            Some(kind) => {
                let examined = self.examiner.examine(object, kind, &self.index);
                self.report.summary.targeted += usize::from(examined.targeted);
                self.unknown_classes.extend(examined.unknown_class);
                findings.extend(examined.findings);
                if let Some(preview) = examined.preview {
                    self.report.previews.push(preview_of(file, object, &preview));
                }
            }
        }
        for finding in findings {
            self.finding(file, document.number, object, finding);
        }
    }

    fn finding(&mut self, file: &str, document: usize, object: &ManifestObject<'_>, finding: Finding) {
        let summary = &mut self.report.summary;
        match finding.severity {
            Severity::Error => summary.errors += 1,
            Severity::Warning => summary.warnings += 1,
            Severity::Info => summary.infos += 1,
        }
        let location = object.node.nearest(&finding.path);
        self.report.findings.push(LocatedFinding {
            finding,
            file: file.to_owned(),
            document,
            line: location.line as usize,
            column: location.column as usize,
            object: object_ref(object),
        });
    }

    fn problem(&mut self, file: &str, document: usize, line: u32, column: u32, message: String) {
        self.report.summary.problems += 1;
        self.report.problems.push(ReadProblem {
            file: file.to_owned(),
            document,
            line: line as usize,
            column: column as usize,
            message,
        });
    }

    fn finish(mut self) -> Report {
        for class in &self.unknown_classes {
            self.report.notes.push(format!(
                "PriorityClass {class} is not in the input: its pods are taken to have priority 0"
            ));
        }
        if self.report.summary.targeted > 0 {
            let note = "no cluster is looked at: that all nodes bear the labels of spread constraints is taken from \
                        the policy";
            self.report.notes.push(note.to_owned());
        }
        self.report
    }
}

fn progress_bar(files: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(2 * files as u64);
    match ProgressStyle::with_template("{wide_bar} {percent}% {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn object_ref(object: &ManifestObject<'_>) -> ObjectRef {
    let namespace = object.namespace();
    ObjectRef {
        api_version: object.api_version.to_owned(),
        kind: object.kind.to_owned(),
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        name: object.display_name(),
    }
}

fn preview_of(file: &str, object: &ManifestObject<'_>, (before, after): &(Value, Value)) -> Preview {
    Preview {
        file: file.to_owned(),
        object: object_ref(object),
        before: yaml::to_string(before),
        after: yaml::to_string(after),
    }
}

/// Keys that are written twice inside an object: the cluster takes the last.
fn duplicate_keys(document: &Document, object: &ManifestObject<'_>) -> Vec<Finding> {
    let inside = document.duplicates.iter().filter_map(|duplicate| {
        let found = document.root.pointer(&duplicate.path)?;
        let path = path_inside(document, object, &duplicate.path)?;
        Some((path, duplicate, found))
    });
    let finding = |(path, duplicate, _): (String, &yaml::DuplicateKey, &yaml::Node)| Finding {
        rule: INVALID_OBJECT,
        severity: Severity::Warning,
        mode: Mode::Warn,
        intent: Intent::Inform,
        policy: String::new(),
        message: format!(
            "this key is written twice, on lines {} and {}: the cluster takes the last",
            duplicate.first.line, duplicate.last.line
        ),
        path,
        action: Action::Advise,
        help: "keep one of the two".to_owned(),
        from: Value::Null,
        to: Value::Null,
    };
    inside.map(finding).collect()
}

/// A pointer of the document as a pointer of the object, if it leads into it.
fn path_inside(document: &Document, object: &ManifestObject<'_>, pointer: &str) -> Option<String> {
    let ends = pointer.char_indices().filter(|(_, c)| *c == '/').map(|(at, _)| at);
    for end in ends.chain([pointer.len()]) {
        let (above, below) = pointer.split_at_checked(end)?;
        if std::ptr::eq(document.root.pointer(above)?, object.node) {
            return Some(below.to_owned());
        }
    }
    None
}
