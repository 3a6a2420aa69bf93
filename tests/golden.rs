//! One manifest for each thing that a rule does or leaves alone: `tests/golden/<rule>/{fires,ignores}-*.yaml`.
//!
//! A file says what it expects of its rule, one line for each finding: `# expect: SEVERITY ACTION PATH`; and
//! `# policy: FILE` names another policy than the reference one.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sundown::policy::{RuleKind, Source, load};
use sundown::rules::{
    Claim, Coverage, Finding, Kind, Pooled, REGISTRY, Scene, Subject, View, catalogue, run,
};
use sundown::subject::{Labels, Workload};

/// Rules that look at a cluster, which `check` has none of: they are tested with a view below.
const NEED_A_CLUSTER: [&str; 1] = ["spread-key-missing"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

struct Golden {
    rule: String,
    path: PathBuf,
    expected: Vec<String>,
    policy: PathBuf,
}

fn golden_files() -> Vec<Golden> {
    let mut files: Vec<Golden> = Vec::new();
    for folder in fs::read_dir(root().join("tests/golden")).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            let rule = folder.file_name().unwrap().to_string_lossy().into_owned();
            files.extend(fs::read_dir(&folder).unwrap().map(|file| golden(&rule, file.unwrap().path())));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn golden(rule: &str, path: PathBuf) -> Golden {
    let text = fs::read_to_string(&path).unwrap();
    let after = |prefix: &str| {
        text.lines().filter_map(|line| line.strip_prefix(prefix).map(str::to_owned)).collect::<Vec<_>>()
    };
    let policy = after("# policy: ").first().map_or_else(
        || root().join("tests/cases/000-reference-policy.yaml"),
        |name| root().join("tests/golden").join(name),
    );
    Golden { rule: rule.to_owned(), expected: after("# expect: "), policy, path }
}

/// The findings of a rule in a file, as the files write them.
fn found(golden: &Golden, policy: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_sundown"))
        .args(["check", "-o", "json", "--policy"])
        .args([policy, &golden.path])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(report["problems"], serde_json::json!([]), "{}", golden.path.display());
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    findings
        .filter(|finding| finding["rule"] == golden.rule.as_str())
        .map(|f| format!("{} {} {}", text(f, "severity"), text(f, "action"), text(f, "path")))
        .collect()
}

#[test]
fn each_file_finds_what_it_expects() {
    for golden in golden_files() {
        let fires = golden.path.file_name().unwrap().to_string_lossy().starts_with("fires-");
        assert_eq!(fires, !golden.expected.is_empty(), "{}", golden.path.display());
        assert_eq!(found(&golden, &golden.policy), golden.expected, "{}", golden.path.display());
    }
}

#[test]
fn nothing_is_found_once_the_rule_is_off() {
    let folder = tempfile::tempdir().unwrap();
    for golden in golden_files().into_iter().filter(|golden| !golden.expected.is_empty()) {
        let text = fs::read_to_string(&golden.policy).unwrap();
        let of_rule = format!("    {}: {{mode: enforce", golden.rule);
        let block = format!("    {}:\n      mode: enforce", golden.rule);
        let off = if text.contains(&of_rule) {
            text.replace(&of_rule, &of_rule.replace("enforce", "off"))
        } else if text.contains(&block) {
            text.replace(&block, &block.replace("enforce", "off"))
        } else {
            text.replace("  rules:\n", &format!("  rules:\n    {}: {{mode: \"off\"}}\n", golden.rule))
        };
        assert_ne!(off, text);
        let policy = folder.path().join("off.yaml");
        fs::write(&policy, off).unwrap();
        assert_eq!(found(&golden, &policy), Vec::<String>::new(), "{}", golden.path.display());
    }
}

#[test]
fn every_rule_fires_somewhere_and_ignores_something() {
    let files = golden_files();
    for rule in REGISTRY.iter().filter(|rule| !NEED_A_CLUSTER.contains(&rule.id)) {
        for kind in ["fires-", "ignores-"] {
            let of_rule = files.iter().filter(|golden| golden.rule == rule.id);
            let names = of_rule.map(|golden| golden.path.file_name().unwrap().to_string_lossy().into_owned());
            let count = names.filter(|name| name.starts_with(kind)).count();
            let wanted = if rule.kind == RuleKind::Core { 4 } else { 1 };
            assert!(count >= wanted, "{} has {count} {kind} files, want {wanted}", rule.id);
        }
    }
    for golden in files {
        assert!(REGISTRY.iter().any(|rule| rule.id == golden.rule), "{} is no rule", golden.rule);
    }
}

/// A cluster of which some nodes lack a label.
struct Nodes(Coverage);

impl View for Nodes {
    fn claim(&self, _: &str, _: &str) -> Option<Claim> {
        None
    }

    fn coverage(&self, _: &str) -> Coverage {
        self.0.clone()
    }

    fn is_local_class(&self, _: &str) -> bool {
        false
    }

    fn disruption_budget(&self, _: &str, _: &Labels<'_>) -> Option<String> {
        None
    }
}

/// What the rules say of a Deployment in such a cluster.
fn in_cluster(coverage: Coverage) -> Vec<Finding> {
    let deployment = serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"tolerations": [{"key": "cloud.example.com/preemptible", "operator": "Exists"}]},
        }},
    });
    let workload: Workload<'_> = serde::Deserialize::deserialize(&deployment).unwrap();
    let subject = Subject {
        kind: Kind::Deployment,
        namespace: "shop",
        metadata: &workload.metadata,
        pod_metadata: &workload.spec.template.metadata,
        pod: &workload.spec.template.spec,
        controller: Kind::Deployment.pod_controller(),
        workload: Some(&workload.spec),
    };
    let text = fs::read(root().join("tests/cases/000-reference-policy.yaml")).unwrap();
    let (policies, _) = load(&[Source { name: "rc".into(), text }], &catalogue()).unwrap();
    let policies = policies.policies();
    let pooled = Pooled::of(subject.pod, policies);
    let view = Nodes(coverage);
    run(&Scene { subject: &subject, old: None, policies, pooled: &pooled, view: &view }).findings
}

#[test]
fn a_key_that_some_node_lacks_is_warned_about_and_never_used() {
    let of =
        |findings: &[Finding], rule: &str| findings.iter().filter(|finding| finding.rule == rule).count();
    let missing = in_cluster(Coverage::Missing(vec!["node-a".into()]));
    let warning = missing.iter().find(|finding| finding.rule == "spread-key-missing").unwrap();
    assert!(warning.message.contains("node-a"), "{}", warning.message);
    assert_eq!(of(&missing, "topology-spread"), 0);
    let pending = in_cluster(Coverage::Pending);
    assert_eq!((of(&pending, "spread-key-missing"), of(&pending, "topology-spread")), (0, 0));
    let everywhere = in_cluster(Coverage::Everywhere);
    assert_eq!((of(&everywhere, "spread-key-missing"), of(&everywhere, "topology-spread")), (0, 1));
}
