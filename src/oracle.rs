//! What is written again here, against what Kubernetes' own code answered: `tests/oracle` asks it, and
//! `tests/vectors` holds answers. `SUNDOWN_VECTORS` names a folder with fresh ones.
//!
//! Where the two differ on purpose, the difference is a named function here: the list is closed.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::manifest::oracle::{defaulted_pod, is_refused};
use crate::policy::{Source, load};
use crate::rules::{Kind, catalogue};
use crate::shutdown::parse_duration;
use crate::subject::{
    LabelSelector, Labels, NodeLabels, PodSpec, PoolLabels, Taint, Toleration, Truth, first_match, hard_rules,
};
use crate::yaml::Documents;

#[expect(clippy::disallowed_methods, reason = "the tests read their vectors")]
fn vectors(kind: &str) -> Vec<(Value, Value)> {
    let folder = std::env::var("SUNDOWN_VECTORS")
        .map_or_else(|_| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from);
    let text = fs::read_to_string(folder.join(format!("{kind}.jsonl"))).unwrap();
    let vectors: Vec<(Value, Value)> = text
        .lines()
        .map(|line| {
            let mut vector: Value = serde_json::from_str(line).unwrap();
            (vector["input"].take(), vector["want"].take())
        })
        .collect();
    assert!(vectors.len() > 50, "only {} vectors of {kind}", vectors.len());
    vectors
}

/// Holds our answer against that of Kubernetes, for all inputs but those on which the two differ on purpose.
fn compare(
    kind: &str,
    differs: fn(&Value) -> bool,
    ours: impl Fn(&Value) -> Value,
    theirs: impl Fn(&Value) -> Value,
) {
    let mut compared = 0;
    for (input, want) in vectors(kind) {
        if !differs(&input) {
            assert_eq!(ours(&input), theirs(&want), "{kind}: {input}");
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} vectors of {kind} were compared");
}

fn never(_: &Value) -> bool {
    false
}

fn same(want: &Value) -> Value {
    want.clone()
}

#[test]
fn durations() {
    let ours = |input: &Value| match parse_duration(input.as_str().unwrap()) {
        Ok(nanos) => json!({"ns": nanos}),
        Err(_) => json!({"error": true}),
    };
    compare("duration", never, ours, same);
}

#[test]
fn tolerations() {
    let ours = |input: &Value| {
        let toleration = Toleration::deserialize(&input["toleration"]).unwrap();
        let text = |name: &str| input["taint"][name].as_str().unwrap().to_owned();
        let taint = Taint { key: text("key"), value: Some(text("value")), effect: text("effect") };
        json!({"tolerates": toleration.tolerates(&taint)})
    };
    compare("toleration", never, ours, same);
}

/// A node of which every label is known.
struct KnownNode<'v>(&'v Value);

impl NodeLabels for KnownNode<'_> {
    fn label(&self, key: &str) -> Option<Option<&str>> {
        Some(if key == "metadata.name" { self.0["name"].as_str() } else { self.0["labels"][key].as_str() })
    }
}

impl PoolLabels for KnownNode<'_> {
    fn is_own(&self, _: &str, _: &str) -> bool {
        false
    }
}

#[test]
fn node_rules() {
    let ours = |input: &Value| {
        let spec = json!({"nodeSelector": input["nodeSelector"], "affinity": input["affinity"]});
        let spec = PodSpec::deserialize(&spec).unwrap();
        let node = KnownNode(&input["node"]);
        let preferred = spec.affinity.node_affinity.preferred.iter();
        let matching = preferred.filter(|term| term.preference.matches(&node) == Truth::Yes);
        let score: i64 = matching.filter_map(|term| term.weight).sum();
        json!({"required": hard_rules(&spec, &node) == Truth::Yes, "score": score})
    };
    for (input, want) in vectors("node-affinity") {
        let ours = ours(&input);
        assert_eq!(ours["required"], want["required"], "{input}");
        // Null: a preferred term is invalid, and the API server refuses the pod.
        if !want["preferredScore"].is_null() {
            assert_eq!(ours["score"], want["preferredScore"], "{input}");
        }
    }
}

/// The policy whose shutdown budget is this kubelet configuration.
fn policy(input: &Value) -> Source {
    let mut shutdown = json!({
        "shutdownGracePeriod": input["shutdownGracePeriod"],
        "shutdownGracePeriodCriticalPods": input["shutdownGracePeriodCriticalPods"],
    });
    if let Some(buckets) = input.get("byPodPriority").or_else(|| input.get("ByPodPriority")) {
        shutdown["shutdownGracePeriodByPodPriority"] = buckets.clone();
    }
    let policy = json!({
        "apiVersion": "sundown.dev/v1alpha1",
        "kind": "PreemptionPolicy",
        "metadata": {"name": "p"},
        "spec": {"pool": {"nodeLabels": {"a": "b"}}, "shutdown": shutdown},
    });
    Source { name: "p".into(), text: policy.to_string().into_bytes() }
}

#[test]
fn kubelet_configurations_are_refused_as_the_kubelet_refuses_them() {
    let ours = |input: &Value| json!(load(&[policy(input)], &catalogue()).is_ok());
    compare("kubelet-config", never, ours, |want| want["valid"].clone());
}

#[test]
fn buckets() {
    let mut compared = 0;
    for (input, want) in vectors("buckets") {
        // What the kubelet refuses never gets buckets.
        let Ok((policies, _)) = load(&[policy(&input)], &catalogue()) else { continue };
        let windows = &policies.policies()[0].windows;
        let used: Vec<Value> =
            windows.buckets().iter().map(|b| json!({"priority": b.priority, "seconds": b.seconds})).collect();
        assert_eq!(json!(used), want["buckets"], "{input}");
        assert_eq!(json!(windows.inhibit_seconds()), want["sum"], "{input}");
        for (priority, seconds) in
            input["priorities"].as_array().unwrap().iter().zip(want["seconds"].as_array().unwrap())
        {
            let priority = i32::try_from(priority.as_i64().unwrap()).unwrap();
            let seconds = seconds.as_i64().unwrap_or(0);
            assert_eq!(windows.seconds(priority), seconds, "{input} at {priority}");
        }
        compared += 1;
    }
    assert!(compared > 50);
}

#[test]
fn defaulting() {
    for (input, want) in vectors("defaults") {
        let kind = Kind::of(input["apiVersion"].as_str().unwrap(), input["kind"].as_str().unwrap()).unwrap();
        let pod = defaulted_pod(&input, kind);
        // A negative grace stays in a template, and becomes 1 in the pods that are made of it.
        let grace = want["grace"].as_i64().unwrap();
        let in_pod = if grace < 0 { 1 } else { grace };
        assert_eq!(pod["spec"]["terminationGracePeriodSeconds"], in_pod, "{input}");
        if kind == Kind::Pod {
            assert_eq!(
                without_empty(&pod["spec"]["tolerations"]),
                without_empty(&want["tolerations"]),
                "{input}"
            );
        }
        if let Some(replicas) = want["replicas"].as_i64() {
            assert_eq!(input["spec"]["replicas"].as_i64().unwrap_or(1), replicas, "{input}");
        }
    }
}

/// Empty strings are left out when Kubernetes writes JSON.
fn without_empty(tolerations: &Value) -> Value {
    let mut list = tolerations.clone();
    for toleration in list.as_array_mut().into_iter().flatten() {
        toleration.as_object_mut().unwrap().retain(|_, value| value != "");
    }
    list
}

/// On purpose: Gt and Lt are read as with TaintTolerationComparisonOperators on, which is off by default.
fn compares_numbers(pod: &Value) -> bool {
    let tolerations = pod["spec"]["tolerations"].as_array();
    tolerations
        .into_iter()
        .flatten()
        .any(|toleration| ["Gt", "Lt"].contains(&toleration["operator"].as_str().unwrap_or("")))
}

#[test]
fn pods_are_refused_as_the_api_server_refuses_them() {
    let ours = |input: &Value| json!(!is_refused(input, Kind::Pod));
    compare("pod-validity", compares_numbers, ours, |want| want["valid"].clone());
}

#[test]
fn the_taint_manager_goes_by_the_first_match() {
    let ours = |input: &Value| {
        let tolerations: Vec<Toleration<'_>> = Vec::deserialize(&input["tolerations"]).unwrap();
        match first_match(&tolerations, &Taint::no_execute(input["taint"].as_str().unwrap())) {
            None => json!({"tolerated": false, "seconds": 0}),
            Some((_, first)) => {
                json!({"tolerated": true, "seconds": first.toleration_seconds.map(|s| s.max(0))})
            }
        }
    };
    compare("eviction", never, ours, same);
}

#[test]
fn label_selectors() {
    let ours = |input: &Value| {
        let selector = LabelSelector::deserialize(&input["selector"]).unwrap();
        json!(selector.matches(&Labels::deserialize(&input["labels"]).unwrap()))
    };
    // What the API server refuses selects nothing here.
    compare("label-selector", never, ours, |want| json!(want["matches"] == true));
}

/// On purpose: a null document holds no object, and is passed over.
fn is_null_document(want: &Value) -> bool {
    want["json"].is_null() && want["error"].is_null()
}

/// On purpose: an escaped surrogate pair is read in YAML as it is in JSON; and in a flow list, `a:` before a comma is a
/// key without a value, `:a` is a string, and a lone `-` is an error, as YAML 1.2 has it.
fn reads_by_yaml_1_2(text: &str) -> bool {
    let parts = ["\\ud83d", "[a:,", ", a:]", "[:a", ", :a]", "[-,", ", -]"];
    parts.iter().any(|part| text.contains(part))
}

#[test]
fn yaml_reads_as_kubectl_reads_it() {
    let mut wrong = Vec::new();
    for (input, want) in vectors("yaml") {
        let text = input.as_str().unwrap();
        if reads_by_yaml_1_2(text) {
            continue;
        }
        let agree = match Documents::new(text.as_bytes()).next() {
            None => is_null_document(&want),
            Some(Ok(document)) => document.root.to_json() == want["json"],
            Some(Err(_)) => want["error"] == true,
        };
        if !agree {
            let ours = Documents::new(text.as_bytes()).next().map(|read| read.map(|d| d.root.to_json()));
            wrong.push(format!("{text:?}\n  ours {ours:?}\n  want {want}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
