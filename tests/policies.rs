//! Policy files: the presets, all errors at once with their places, and the schema.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use sundown::policy::{Level, Source, load, preset, presets};
use sundown::rules::catalogue;
use sundown::shutdown::CRITICAL_PRIORITY;

fn source(name: &str, text: &str) -> Source {
    Source { name: name.into(), text: text.as_bytes().to_vec() }
}

/// `line:column field: message` of every diagnostic of one file.
fn said(text: &str) -> Vec<String> {
    let diagnostics = match load(&[source("p.yaml", text)], &catalogue()) {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors.0,
    };
    diagnostics.iter().map(|d| format!("{}:{} {}: {}", d.line, d.column, d.field, d.message)).collect()
}

const GOOD: &str = "\
apiVersion: sundown.dev/v1alpha1
kind: PreemptionPolicy
metadata: {name: p}
spec:
  pool:
    taint: {key: preemptible, value: \"true\", effect: NoSchedule}
    nodeTypeKey: type
    nodeTypeValue: preemptible
  shutdown:
    shutdownGracePeriod: 150s
    shutdownGracePeriodCriticalPods: 30s
";

#[test]
fn every_preset_gives_the_windows_its_comment_promises() {
    let windows = [
        ("selectel-mks", 120, 30),
        ("eks", 80, 30),
        ("eks-karpenter", 89, 30),
        ("gke-spot", 15, 15),
        ("gke-spot-extended", 90, 30),
        ("aks-spot", 0, 0),
        ("yandex", 20, 5),
        ("oke", 90, 0),
        ("generic", 20, 10),
    ];
    assert_eq!(windows.len(), presets().len());
    for (name, regular, critical) in windows {
        let (policies, warnings) = load(&[source(name, preset(name).unwrap().text)], &catalogue()).unwrap();
        let [policy] = policies.policies() else { panic!("{name} holds several policies") };
        assert_eq!(policy.name, name);
        let found = (policy.windows.seconds(0), policy.windows.seconds(CRITICAL_PRIORITY));
        assert_eq!(found, (regular, critical), "{name}");
        let loud = warnings.iter().any(|warning| warning.message.contains("window of ordinary pods is 0 s"));
        assert_eq!(loud, regular == 0, "{name}: {warnings:?}");
    }
}

#[test]
fn a_good_policy_loads_without_a_word() {
    assert_eq!(said(GOOD), Vec::<String>::new());
}

#[test]
fn all_errors_are_told_at_once_each_where_it_stands() {
    let text = "\
apiVersion: sundown.dev/v1
kind: PreemptionPolicy
metadata: {name: Upper}
spec:
  pool:
    taint: {key: preemptible, value: true, efect: NoSchedule}
  byWildcard: maybe
  shutdown:
    shutdownGracePeriod: 1d
    reserveSeconds: -1
    logind: {inhibitDelayMaxSec: \"180\"}
  rules:
    grace-period: {mode: enforce, default: 10}
    single-replica: {mode: enforce}
    no-such-rule: {}
    topology-spread:
      constraints:
      - {topologyKey: type, labelSelector: {}}
      - {maxSkew: 0, topologyKey: zone, minDomains: 2}
    not-ready-toleration: {overlapSeconds: many}
  extra: 1
";
    let found = said(text);
    for wanted in [
        "1:13 apiVersion: unknown version",
        "3:18 metadata.name: \"Upper\" is no valid name",
        "6:38 spec.pool.taint.value: expected a string, got boolean `true`",
        "6:44 spec.pool.taint.efect: unknown field \"efect\"",
        "7:15 spec.byWildcard: unknown value \"maybe\"",
        "9:26 spec.shutdown.shutdownGracePeriod: \"1d\" has an unknown unit",
        "10:21 spec.shutdown.reserveSeconds: -1 is out of range",
        "11:34 spec.shutdown.logind.inhibitDelayMaxSec: expected a whole number, got string `180`",
        "13:44 spec.rules.grace-period.default: 10 is below the 30 s of the API server",
        "14:28 spec.rules.single-replica.mode: an advice rule has nothing to enforce",
        "15:5 spec.rules.no-such-rule: there is no rule \"no-such-rule\"",
        "18:29 spec.rules.topology-spread.constraints[0].labelSelector: unknown field",
        "19:19 spec.rules.topology-spread.constraints[1].maxSkew: 0 is out of range",
        "19:53 spec.rules.topology-spread.constraints[1].minDomains: minDomains works with DoNotSchedule only",
        "20:44 spec.rules.not-ready-toleration.overlapSeconds: expected a whole number, got string `many`",
        "21:3 spec.extra: unknown field \"extra\"",
    ] {
        assert!(found.iter().any(|said| said.starts_with(wanted)), "{wanted:?} is missing in {found:#?}");
    }
}

#[test]
fn what_is_missing_is_told_once() {
    assert_eq!(
        said("apiVersion: sundown.dev/v1alpha1\nkind: PreemptionPolicy\nmetadata: {name: p}\nspec: {}\n"),
        [
            "4:1 spec: pool is missing",
            "4:1 spec: shutdown is missing",
            "4:1 spec.pool: topology-spread is off: there is neither pool.nodeTypeKey nor a constraint",
        ]
    );
    assert_eq!(said("# nothing\n"), ["1:1 : there is no policy in this file"]);
}

#[test]
fn an_unquoted_off_is_off() {
    for word in ["off", "\"off\"", "false"] {
        let text = format!("{GOOD}  rules:\n    topology-spread: {{mode: {word}}}\n");
        let (policies, _) = load(&[source("p", &text)], &catalogue()).unwrap();
        assert_eq!(policies.policies()[0].rules.mode(1).as_str(), "off", "{word}");
    }
}

#[test]
fn warnings_do_not_keep_a_policy_from_loading() {
    let text = GOOD.replace("150s", "30s")
        + "  rules:\n    topology-spread:\n      constraints: [{topologyKey: type, whenUnsatisfiable: DoNotSchedule}]\n    \
           not-ready-toleration: {overlapSeconds: 5}\n";
    let (_, warnings) = load(&[source("p", &text)], &catalogue()).unwrap();
    let fields: Vec<&str> = warnings.iter().map(|warning| warning.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "spec.shutdown",
            "spec.rules.topology-spread.constraints[0].whenUnsatisfiable",
            "spec.rules.not-ready-toleration.overlapSeconds",
        ]
    );
    assert!(warnings.iter().all(|warning| warning.level == Level::Warning && !warning.help.is_empty()));
}

#[test]
fn several_policies_must_agree_on_the_cluster() {
    let other = GOOD.replace("name: p", "name: q")
        + "  rules: {not-ready-toleration: {clusterDefaultSeconds: 120}}\n";
    let errors = load(&[source("a.yaml", GOOD), source("b.yaml", &other)], &catalogue()).unwrap_err();
    assert_eq!(errors.0.len(), 1);
    assert_eq!(errors.0[0].field, "spec.rules.not-ready-toleration.clusterDefaultSeconds");
    let twice = load(&[source("a.yaml", GOOD), source("b.yaml", GOOD)], &catalogue()).unwrap_err();
    assert!(twice.0[0].message.contains("a.yaml"), "{twice}");
    let both = format!("{GOOD}---\n{}", GOOD.replace("name: p", "name: q"));
    assert_eq!(load(&[source("a.yaml", &both)], &catalogue()).unwrap().0.policies().len(), 2);
}
