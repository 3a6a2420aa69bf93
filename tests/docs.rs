//! Documentation that follows from the code: `docs/rules.md` and the rules table of the README. The tests fail
//! when they are stale; `SUNDOWN_UPDATE=1 cargo test --test docs` writes them anew.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use sundown::policy::RuleKind;
use sundown::rules::{REGISTRY, Rule};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn kind(rule: &Rule) -> &'static str {
    match rule.kind {
        RuleKind::Core => "core",
        RuleKind::Advice => "advice",
    }
}

fn table() -> String {
    let mut text = String::from("| rule | kind | what it does |\n|---|---|---|\n");
    for rule in REGISTRY {
        writeln!(text, "| [{0}](docs/rules.md#{0}) | {1} | {2} |", rule.id, kind(rule), rule.summary)
            .unwrap();
    }
    text
}

fn rules() -> String {
    let mut text = String::from(
        "# Rules\n\n\
         This page is made from the registry of rules (`src/rules/`). Core rules change or refuse and default to\n\
         `enforce`; advice rules warn and default to `warn`. What happens is the weaker of the rule's mode and the\n\
         namespace's.\n",
    );
    for rule in REGISTRY {
        write!(
            text,
            "\n## {}\n\n{} ({})\n\n**Why.** {}\n\n**What it leaves alone.** {}\n\n**How to opt out.** {}\n\n\
             Before:\n```yaml\n{}\n```\nAfter:\n```yaml\n{}\n```\n",
            rule.id,
            rule.summary,
            kind(rule),
            rule.why,
            rule.leaves,
            rule.opt_out,
            rule.before,
            rule.after
        )
        .unwrap();
    }
    text
}

/// Compares a file with what it should be, or writes it when asked to.
fn is_current(name: &str, wanted: &str) {
    if std::env::var_os("SUNDOWN_UPDATE").is_some() {
        fs::write(path(name), wanted).unwrap();
    }
    let found = fs::read_to_string(path(name)).unwrap_or_default();
    assert!(found == wanted, "{name} is stale: run SUNDOWN_UPDATE=1 cargo test --test docs");
}

#[test]
fn the_rules_page_is_current() {
    is_current("docs/rules.md", &rules());
}

#[test]
fn the_rules_table_of_the_readme_is_current() {
    let readme = fs::read_to_string(path("README.md")).unwrap();
    let (begin, end) = ("<!-- rules: made from the registry -->\n", "<!-- end of rules -->");
    let (before, rest) = readme.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    is_current("README.md", &format!("{before}{begin}{}{end}{after}", table()));
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    for name in ["README.md", "CONTRIBUTING.md", "certs/README.md", "docs/rules.md"] {
        let text = fs::read_to_string(path(name)).unwrap();
        let folder = path(name).parent().unwrap().to_owned();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            let outside = link.starts_with("http") || file.is_empty();
            assert!(outside || folder.join(file).exists(), "{name} links to {link}, which is not there");
        }
    }
}
