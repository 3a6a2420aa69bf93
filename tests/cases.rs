//! Real reports as inputs (`tests/cases`), with what `sundown` must make of them.
//!
//! Here is what `sundown check` and the policy loader say; the modules hold what the webhook does with the same
//! objects, and other spellings. More of pods before the webhook is in `tests/webhook_cases.rs`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod support;

#[path = "support/placements.rs"]
mod placements;
#[path = "support/spellings.rs"]
mod spellings;
#[path = "support/stateful.rs"]
mod stateful;
#[path = "support/webhook.rs"]
mod webhook;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sundown::policy::{Diagnostics, Level, PolicySet, Source, load};
use sundown::rules::catalogue;
use sundown::shutdown::CRITICAL_PRIORITY;

/// Cases that no test here holds, and why.
const NOT_HERE: [(&str, &str); 17] = [
    ("000", "the policy that the cases assume"),
    ("042", "chart: namespaceSelector"),
    ("044", "chart: matchConditions; a live cluster"),
    ("048", "chart: rules and timeout; the latency is measured by benches/webhook"),
    ("052", "chart: order of installation; a live cluster"),
    ("062", "node: drop-ins of logind"),
    ("064", "node: the default of logind"),
    ("066", "node: no logind"),
    ("104", "a live cluster; its rule, spread-key-missing, is held in tests/golden.rs"),
    ("142", "certificates in a cluster: caBundle is repaired"),
    ("144", "certificates in a cluster: rotation with replicas"),
    ("146", "certificates in a cluster: one CA for all replicas"),
    ("148", "certificates in a cluster: renewal by the clock"),
    ("150", "server: handshakes that fail, held in tests/server"),
    ("152", "certificates in a cluster: audit of the own installation"),
    ("188", "node: JSON and configz"),
    ("190", "node: order of units"),
];

const REFERENCE: &str = include_str!("cases/000-reference-policy.yaml");

/// What `check` says of a case.
struct Checked {
    report: Value,
    exit: i32,
}

fn case(name: &str) -> String {
    format!("{}/tests/cases/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

fn check_with(policy: &str, path: &str) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    fs::write(&file, policy).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sundown"));
    let output = command.args(["check", "-o", "json", "--policy"]).arg(&file).arg(path).output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    Checked { report, exit: output.status.code().unwrap() }
}

fn check(name: &str) -> Checked {
    check_with(REFERENCE, &case(name))
}

impl Checked {
    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.report["findings"].as_array().unwrap().iter()
    }

    /// `rule path` of the errors of one object.
    fn errors_of(&self, object: &str) -> Vec<String> {
        self.of(object, "error")
    }

    fn warnings_of(&self, object: &str) -> Vec<String> {
        self.of(object, "warning")
    }

    fn of(&self, object: &str, severity: &str) -> Vec<String> {
        let of_object =
            self.findings().filter(|f| f["object"]["name"] == object && f["severity"] == severity);
        of_object
            .map(|f| format!("{} {}", f["rule"].as_str().unwrap(), f["path"].as_str().unwrap()))
            .collect()
    }

    fn says_nothing_of(&self, object: &str) -> bool {
        self.findings().all(|finding| finding["object"]["name"] != object)
    }

    fn finding(&self, object: &str, rule: &str) -> &Value {
        let mut found = self.findings().filter(|f| f["object"]["name"] == object && f["rule"] == rule);
        found.next().unwrap_or_else(|| panic!("no {rule} for {object} in {:#}", self.report))
    }

    fn summary(&self, name: &str) -> i64 {
        self.report["summary"][name].as_i64().unwrap()
    }
}

const GRACE: &str = "grace-period /spec/template/spec/terminationGracePeriodSeconds";

fn load_spec(pool: &str, shutdown: &str) -> Result<PolicySet, Diagnostics> {
    let text = format!(
        "apiVersion: sundown.dev/v1alpha1\nkind: PreemptionPolicy\nmetadata: {{name: p}}\nspec:\n  pool: {pool}\n  shutdown:\n{shutdown}"
    );
    load(&[Source { name: "p.yaml".into(), text: text.into_bytes() }], &catalogue())
        .map(|(policies, _)| policies)
}

fn windows(shutdown: &str) -> Result<PolicySet, Diagnostics> {
    load_spec("{nodeLabels: {preemptible: \"true\"}}", shutdown)
}

#[test]
fn c022_a_keyless_toleration_of_another_effect_does_not_target() {
    let checked = check("022-keyless-one-effect");
    assert!(checked.says_nothing_of("noexec"));
    assert_eq!(checked.errors_of("nosched"), Vec::<String>::new());
    assert_eq!(checked.finding("nosched", "grace-period")["action"], "advise");
    assert_eq!(checked.summary("targeted"), 1);
}

#[test]
fn c024_exists_with_a_value_is_targeted_and_refused() {
    let checked = check("024-exists-with-value");
    assert_eq!(
        checked.errors_of("existsval"),
        ["invalid-object /spec/template/spec/tolerations/0/value", GRACE]
    );
    assert_eq!(checked.exit, 1);
}

#[test]
fn c026_numeric_operators_compare_integers() {
    let sla = REFERENCE.replace(
        "{key: cloud.example.com/preemptible, value: \"true\"",
        "{key: cloud.example.com/sla, value: \"900\"",
    );
    let checked = check_with(&sla, &case("026-gt-lt-operators"));
    assert_eq!(checked.errors_of("gt"), [GRACE]);
    assert_eq!(checked.errors_of("lt"), Vec::<String>::new());
    assert_eq!(checked.errors_of("text"), ["invalid-object /spec/template/spec/tolerations/0/value"]);
    assert_eq!(checked.summary("targeted"), 1);
    assert_eq!(check("026-gt-lt-operators").summary("targeted"), 0);
}

#[test]
fn c028_hard_rules_exclude_and_preferences_do_not() {
    let checked = check("028-toleration-is-not-attraction");
    assert_eq!(checked.errors_of("pref"), [GRACE]);
    assert!(checked.says_nothing_of("never") && checked.says_nothing_of("ondemand-sel"));
    assert_eq!(checked.errors_of("two-terms"), [GRACE]);
    assert_eq!(checked.summary("targeted"), 2);
}

#[test]
fn c030_quotes_inside_a_value_are_another_value() {
    let checked = check("030-quotes-inside-value");
    assert_eq!(checked.errors_of("quoted"), ["invalid-object /spec/template/spec/tolerations/0/value"]);
    assert_eq!(checked.warnings_of("quoted"), ["near-miss-toleration /spec/template/spec/tolerations/0"]);
    assert_eq!(checked.summary("targeted"), 0);
}

#[test]
fn c068_graces_of_bare_pods_by_the_default_of_the_policy() {
    let given = |policy: &str, name: &str| {
        let checked = check_with(policy, &case("068-grace-missing-uses-whole-window"));
        let grace = checked.findings().find(|f| f["object"]["name"] == name && f["rule"] == "grace-period");
        grace.and_then(|finding| finding["to"].as_i64())
    };
    let names = ["none", "five", "zero", "huge"];
    assert_eq!(names.map(|name| given(REFERENCE, name)), [Some(20), None, None, Some(20)]);
    let wide = REFERENCE
        .replace("shutdownGracePeriod: 30s", "shutdownGracePeriod: 1810s")
        .replace("inhibitDelayMaxSec: 30", "inhibitDelayMaxSec: 1810")
        .replace("default: window", "default: keep");
    assert_eq!(names.map(|name| given(&wide, name)), [None, None, None, Some(1800)]);
}

#[test]
fn c072_a_cron_job_without_retries() {
    let checked = check("072-job-long-grace");
    let path = "/spec/jobTemplate/spec/template/spec/terminationGracePeriodSeconds";
    let grace = checked.finding("report", "grace-period");
    assert_eq!(
        (grace["path"].as_str(), grace["from"].as_i64(), grace["to"].as_i64()),
        (Some(path), Some(300), Some(20))
    );
    assert_eq!(checked.finding("report", "job-no-retry")["path"], "/spec/jobTemplate/spec/backoffLimit");
}

#[test]
fn a_preview_records_the_paths_of_the_pod() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sundown"));
    let output = command.args(["check", "--fix-preview", "-o", "json", manifest]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let diff = report["previews"][0]["diff"].as_str().unwrap();
    assert!(diff.contains(r#"\"path\":\"/spec/terminationGracePeriodSeconds\""#), "{diff}");
    assert!(
        diff.contains("-  terminationGracePeriodSeconds: 600\n+  terminationGracePeriodSeconds: 120\n"),
        "{diff}"
    );
}

#[test]
fn c074_windows_of_providers() {
    let seconds =
        |shutdown: &str, priority| windows(shutdown).unwrap().policies()[0].windows.seconds(priority);
    let a = "    shutdownGracePeriod: 2m30s\n    shutdownGracePeriodCriticalPods: 30s\n    logind: {inhibitDelayMaxSec: 150}\n";
    assert_eq!((seconds(a, 0), seconds(a, CRITICAL_PRIORITY)), (120, 30));
    assert_eq!(seconds("    shutdownGracePeriod: 0s\n    shutdownGracePeriodCriticalPods: 0s\n", 0), 0);
    let short = windows(&a.replace("150}", "149}"));
    assert_eq!(fields(short), [("spec.shutdown.logind.inhibitDelayMaxSec".into(), 9)]);
}

#[test]
fn c082_the_first_match_decides() {
    let checked = check("082-first-match-wins");
    assert_eq!(
        checked.findings().filter(|f| f["rule"] == "not-ready-toleration").count(),
        0,
        "bare pods are left alone"
    );
}

#[test]
fn c084_a_statefulset_without_volumes_keeps_its_seconds() {
    let checked = check("084-sts-stuck-terminating");
    assert_eq!(checked.finding("web", "statefulset-replacement")["severity"], "info");
    assert_eq!(checked.errors_of("web"), Vec::<String>::new());
    assert!(checked.findings().all(|finding| finding["rule"] != "not-ready-toleration"));
    assert_eq!(checked.exit, 0);
}

#[test]
fn c102_a_pair_that_is_there_twice_is_refused() {
    let checked = check("102-duplicate-pair");
    assert_eq!(checked.errors_of("dup"), ["invalid-object /spec/topologySpreadConstraints/1"]);
    let spreads =
        |name| checked.findings().any(|f| f["object"]["name"] == name && f["rule"] == "topology-spread");
    assert_eq!(["same", "other-action", "other-key"].map(spreads), [false, false, true]);
}

#[test]
fn c106_keys_in_selector_and_match_label_keys() {
    let checked = check("106-matchlabelkeys-overlap");
    assert_eq!(checked.errors_of("merged"), Vec::<String>::new());
    assert_eq!(
        checked.errors_of("overlap"),
        ["invalid-object /spec/topologySpreadConstraints/0/matchLabelKeys/0"]
    );
    assert_eq!(
        checked.errors_of("nokeysel"),
        ["invalid-object /spec/topologySpreadConstraints/0/matchLabelKeys"]
    );
}

#[test]
fn c110_selectors_hold_no_label_of_one_pod() {
    let jobs = REFERENCE.replace("jobs: false", "jobs: true\n      ignoreLabels: [db.example.com/instance]");
    let checked = check_with(&jobs, &case("110-job-pods-selector"));
    let added = &checked.finding("sweep-2-x", "topology-spread")["to"];
    assert_eq!(added["labelSelector"], serde_json::json!({"matchLabels": {"app": "f"}}));
    assert!(added.get("matchLabelKeys").is_none());
    assert!(checked.findings().all(|f| f["object"]["name"] != "db-4" || f["rule"] != "topology-spread"));
}

#[test]
fn c122_claims_of_the_same_input_are_looked_up() {
    let checked = check("122-existing-claim-reference");
    let path = "/spec/template/spec/volumes/0/persistentVolumeClaim/claimName";
    assert_eq!(checked.errors_of("uses-rwo"), [format!("rwo-statefulset {path}")]);
    assert_eq!(checked.finding("uses-rwo", "rwo-statefulset")["line"], 23);
    assert_eq!(checked.errors_of("uses-rwx"), Vec::<String>::new());
    assert_eq!(checked.finding("uses-unknown", "rwo-statefulset")["severity"], "warning");
    assert_eq!(checked.errors_of("uses-unknown"), Vec::<String>::new());
}

#[test]
fn c124_shared_volumes_and_allowed_classes_pass() {
    let denied = ["rwo-statefulset /spec/volumeClaimTemplates/0/spec/accessModes"];
    let checked = check("124-rwx-and-nfs-ok");
    for name in ["rwx", "rox", "both"] {
        assert_eq!(checked.errors_of(name), Vec::<String>::new(), "{name}");
    }
    assert_eq!(checked.errors_of("nfs-rwo"), denied);
    let allowed = REFERENCE.replace("allowedStorageClasses: []", "allowedStorageClasses: [nfs]");
    assert_eq!(check_with(&allowed, &case("124-rwx-and-nfs-ok")).errors_of("nfs-rwo"), Vec::<String>::new());
}

#[test]
fn c126_what_dies_with_the_pod_passes() {
    let checked = check("126-ephemeral-only");
    assert_eq!(checked.errors_of("cache"), Vec::<String>::new());
    assert_eq!(checked.errors_of("scratch"), Vec::<String>::new());
    assert_eq!(checked.finding("scratch", "rwo-statefulset")["severity"], "info");
    assert_eq!(checked.finding("mixed", "rwo-statefulset")["action"], "deny");
}

#[test]
fn c128_a_custom_kind_is_skipped_and_counted() {
    let checked = check("128-custom-podset-kind");
    assert_eq!((checked.exit, checked.summary("objects"), checked.findings().count()), (0, 1, 0));
    let text = Command::new(env!("CARGO_BIN_EXE_sundown"))
        .args(["check", &case("128-custom-podset-kind")])
        .output()
        .unwrap();
    assert!(String::from_utf8(text.stdout).unwrap().contains("1 PodSet"));
}

#[test]
fn c130_claim_templates_of_any_shape() {
    let checked = check("130-claim-template-not-validated");
    for name in ["nomodes", "emptyspec"] {
        assert_eq!(checked.errors_of(name), ["invalid-object /spec/volumeClaimTemplates/0/spec/accessModes"]);
        assert_eq!(checked.finding(name, "rwo-statefulset")["severity"], "warning");
    }
    assert_eq!(checked.errors_of("nullvct"), Vec::<String>::new());
}

#[test]
fn c162_a_leading_separator_is_no_document_and_null_no_list() {
    let checked = check("162-leading-separator-null-args");
    assert_eq!(checked.errors_of("board"), [GRACE]);
    let grace = checked.finding("board", "grace-period");
    assert_eq!((grace["document"].as_i64(), grace["line"].as_i64()), (Some(1), Some(12)));
}

#[test]
fn c164_owned_objects_do_not_speak_twice() {
    let checked = check("164-list-mixed-with-objects");
    assert_eq!(checked.errors_of("dump"), [GRACE]);
    assert!(checked.says_nothing_of("dump-1") && checked.says_nothing_of("dump-1-x"));
    assert_eq!((checked.summary("objects"), checked.summary("targeted")), (4, 1));
}

#[test]
fn c166_braces_in_data_are_data() {
    let checked = check("166-braces-in-data");
    assert_eq!((checked.summary("objects"), checked.summary("problems"), checked.exit), (2, 0, 1));
    assert_eq!(checked.errors_of("tmpl"), [GRACE]);
}

#[test]
fn c168_a_wrong_type_is_reported_and_read_as_meant() {
    let checked = check("168-toleration-value-bool");
    assert_eq!(checked.errors_of("bool"), ["invalid-object /spec/template/spec/tolerations/0/value", GRACE]);
    let wrong = checked.finding("bool", "invalid-object");
    assert_eq!((wrong["line"].as_i64(), wrong["column"].as_i64()), (Some(13), Some(18)));
    assert!(wrong["message"].as_str().unwrap().contains("expected a string, got boolean"));
    assert_eq!(
        checked.errors_of("int"),
        ["invalid-object /metadata/labels/tier", "invalid-object /spec/tolerations/0/value"]
    );
    assert_eq!(
        checked.errors_of("float"),
        ["invalid-object /spec/terminationGracePeriodSeconds", "invalid-object /spec/tolerations/0/value"]
    );
}

#[test]
fn c170_of_equal_keys_the_last_counts() {
    let checked = check("170-duplicate-keys");
    assert_eq!(checked.errors_of("dupkey"), ["grace-period /spec/terminationGracePeriodSeconds"]);
    let twice = checked.findings().find(|f| f["path"] == "/spec/tolerations").unwrap();
    assert_eq!(
        (twice["rule"].as_str(), twice["severity"].as_str()),
        (Some("invalid-object"), Some("warning"))
    );
    assert!(twice["message"].as_str().unwrap().contains("lines 11 and 13"));
}

#[test]
fn c172_byte_order_marks_are_no_part_of_a_key() {
    let checked = check("172-utf8-bom");
    assert_eq!(checked.summary("objects"), 2);
    assert_eq!(
        (checked.errors_of("bom-one"), checked.errors_of("bom-two")),
        (vec![GRACE.into()], vec![GRACE.into()])
    );
}

#[test]
fn c174_one_bad_document_does_not_hide_the_others() {
    let checked = check("174-one-bad-document");
    assert_eq!(checked.errors_of("good"), [GRACE]);
    let problems = checked.report["problems"].as_array().unwrap();
    let places: Vec<_> =
        problems.iter().map(|p| (p["document"].as_i64().unwrap(), p["line"].as_i64().unwrap())).collect();
    assert_eq!(places, [(2, 16), (3, 18)]);
    assert!(problems[0]["message"].as_str().unwrap().contains("tab"));
    assert!(problems[1]["message"].as_str().unwrap().contains("no kind"));
    assert_eq!(checked.exit, 2);
}

fn fields(result: Result<PolicySet, Diagnostics>) -> Vec<(String, u32)> {
    let errors = result.unwrap_err().0.into_iter().filter(|diagnostic| diagnostic.level == Level::Error);
    errors.map(|diagnostic| (diagnostic.field, diagnostic.line)).collect()
}

#[test]
fn c182_c184_c186_what_a_kubelet_refuses_or_a_policy_does() {
    let critical = windows("    shutdownGracePeriod: 30s\n    shutdownGracePeriodCriticalPods: 60s\n");
    assert_eq!(fields(critical), [("spec.shutdown.shutdownGracePeriodCriticalPods".into(), 8)]);
    let both = "    shutdownGracePeriod: 60s\n    shutdownGracePeriodByPodPriority: [{priority: 0, shutdownGracePeriodSeconds: 5}]\n";
    assert_eq!(fields(windows(both)), [("spec.shutdown.shutdownGracePeriodByPodPriority".into(), 8)]);
    assert!(
        windows(&both.replace("60s", "0s")).is_ok(),
        "0s beside the form by priority is what the kubelet takes"
    );
    let bucket = |priority: i64, seconds: i64| {
        format!("    - {{priority: {priority}, shutdownGracePeriodSeconds: {seconds}}}\n")
    };
    let list = |buckets: &[(i64, i64)]| {
        let lines: String = buckets.iter().map(|(priority, seconds)| bucket(*priority, *seconds)).collect();
        windows(&format!("    shutdownGracePeriodByPodPriority:\n{lines}"))
    };
    let twice = list(&[(2_000_001_000, 10), (2_000_000_000, 10), (0, 60), (0, 30)]);
    assert_eq!(fields(twice), [("spec.shutdown.shutdownGracePeriodByPodPriority[3].priority".into(), 11)]);
    let unsorted = list(&[(2_000_001_000, 10), (2_000_000_000, 10), (0, 60)]).unwrap();
    let sorted: Vec<_> =
        unsorted.policies()[0].windows.buckets().iter().map(|b| (b.priority, b.seconds)).collect();
    assert_eq!(sorted, [(0, 60), (2_000_000_000, 10), (2_000_001_000, 10)]);
    assert_eq!(unsorted.policies()[0].windows.inhibit_seconds(), 80);
    assert!(Path::new(&case("186-unsorted-and-duplicate-priorities")).exists());
}

#[test]
fn every_case_is_held_by_a_test_or_said_not_to_be() {
    let sources = [
        include_str!("cases.rs"),
        include_str!("support/placements.rs"),
        include_str!("support/spellings.rs"),
        include_str!("support/stateful.rs"),
        include_str!("webhook_cases.rs"),
    ];
    let tests: Vec<&str> =
        sources.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("fn ")).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut numbers: Vec<String> = files.map(|name| name.split('-').next().unwrap().to_owned()).collect();
    numbers.sort();
    numbers.dedup();
    for number in &numbers {
        let held = tests.iter().any(|name| name.contains(&format!("c{number}_")));
        let not_here = NOT_HERE.iter().any(|(other, _)| other == number);
        assert!(held != not_here, "case {number}: held {held}, listed as not here {not_here}");
    }
    for (number, _) in NOT_HERE {
        assert!(numbers.iter().any(|other| other == number), "there is no case {number}");
    }
}
