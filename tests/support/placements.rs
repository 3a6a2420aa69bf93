//! Cases that turn on whether a pod can land on the pool, and what the webhook then does with it.

use serde_json::{Value, json};
use sundown::review::Core;

use crate::REFERENCE;
use crate::support::Answer;
use crate::webhook::{create_pod, defaulted, object, objects, pod_of, stored, update_pod, webhook};

/// A pod of a ReplicaSet that asks for 90 s, with these members of its specification.
fn pod_with(members: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": "p", "labels": {"app": "p"}, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "p", "uid": "o", "controller": true}
        ]},
        "spec": {"terminationGracePeriodSeconds": 90, "containers": [{"name": "m", "image": "r.example.com/p:1"}]},
    });
    let spec = pod["spec"].as_object_mut().unwrap();
    spec.extend(members.as_object().unwrap().clone());
    defaulted(pod)
}

/// Whether the pod's grace of 90 s is capped to the window: it is taken to land on the pool.
fn is_capped(core: &Core, pod: &Value) -> bool {
    let after = stored(&create_pod(core, pod), pod);
    match after["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap() {
        20 => true,
        90 => false,
        other => panic!("a grace of {other} s"),
    }
}

fn is_left_alone(answer: &Answer) -> bool {
    answer.patch().is_none() && answer.warnings().is_empty()
}

#[test]
fn c022_a_keyless_toleration_matches_by_its_effect() {
    let core = webhook(REFERENCE);
    let named = |name| create_pod(&core, &pod_of(&object("022-keyless-one-effect.yaml", name)));
    assert!(is_left_alone(&named("noexec")));
    let nosched = named("nosched");
    assert_eq!(nosched.patch(), None);
    assert!(nosched.warnings().iter().any(|warning| warning.starts_with("grace-period: ")));

    let by_effect = |effect: Value| {
        let answer =
            create_pod(&core, &pod_with(&json!({"tolerations": [{"operator": "Exists", "effect": effect}]})));
        (
            answer.patch().is_none(),
            answer.warnings().iter().any(|warning| warning.starts_with("grace-period: ")),
        )
    };
    for effect in [json!(null), json!(""), json!("NoSchedule")] {
        assert_eq!(by_effect(effect.clone()), (true, true), "{effect}");
    }
    for effect in [json!("NoExecute"), json!("PreferNoSchedule"), json!("noschedule")] {
        assert_eq!(by_effect(effect.clone()), (true, false), "{effect}");
    }
}

#[test]
fn c026_numeric_operators_compare_the_value_of_the_taint() {
    for (operator, value, taint, matches) in [
        ("Gt", "800", "900", true),
        ("Gt", "900", "900", false),
        ("Gt", "1000", "900", false),
        ("Lt", "800", "900", false),
        ("Lt", "900", "900", false),
        ("Lt", "1000", "900", true),
        ("Gt", "-1", "0", true),
        ("Gt", "9", "10", true),
        ("Gt", "high", "900", false),
        ("Lt", "", "900", false),
        ("Gt", "800", "true", false),
        ("Lt", "9223372036854775808", "900", false),
        ("Near", "900", "900", false),
        ("gt", "800", "900", false),
    ] {
        let policy = REFERENCE.replace(
            "{key: cloud.example.com/preemptible, value: \"true\"",
            &format!("{{key: cloud.example.com/sla, value: \"{taint}\""),
        );
        let toleration = json!({"key": "cloud.example.com/sla", "operator": operator, "value": value, "effect": "NoSchedule"});
        let pod = pod_with(&json!({"tolerations": [toleration]}));
        assert_eq!(is_capped(&webhook(&policy), &pod), matches, "taint {taint}, {operator} {value:?}");
    }
}

#[test]
fn c028_only_hard_rules_keep_a_pod_from_the_pool() {
    let core = webhook(REFERENCE);
    for (name, lands) in [("pref", true), ("never", false), ("ondemand-sel", false), ("two-terms", true)] {
        let pod = pod_of(&object("028-toleration-is-not-attraction.yaml", name));
        assert_eq!(is_capped(&core, &pod), lands, "{name}");
        assert!(lands || is_left_alone(&create_pod(&core, &pod)), "{name}");
    }
}

#[test]
fn c028_required_terms_are_alternatives_and_their_expressions_are_not() {
    let core = webhook(REFERENCE);
    let key = "cloud.example.com/node-type";
    let one = |operator: &str, values: &[&str]| {
        let values = if values.is_empty() { Value::Null } else { json!(values) };
        json!({"key": key, "operator": operator, "values": values})
    };
    let arm = json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]});
    let (away, to) = (one("In", &["ondemand"]), one("In", &["preemptible"]));
    for (terms, lands) in [
        (json!([[to]]), true),
        (json!([[away]]), false),
        (json!([[one("In", &["ondemand", "preemptible"])]]), true),
        (json!([[one("NotIn", &["ondemand"])]]), true),
        (json!([[one("Exists", &[])]]), true),
        (json!([[one("DoesNotExist", &[])]]), false),
        (json!([[away], [arm]]), true),
        (json!([[arm], [away]]), true),
        (json!([[away, arm]]), false),
        (json!([[arm, away]]), false),
        (json!([[to, away], [away, to]]), false),
        // No term, or an empty one, matches no node at all.
        (json!([]), false),
        (json!([[], [away]]), false),
        (json!([[], [to]]), true),
    ] {
        let listed = terms.as_array().unwrap().iter().map(|term| json!({"matchExpressions": term}));
        let required = json!({"nodeSelectorTerms": listed.collect::<Vec<_>>()});
        let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
        let toleration = json!({"key": "cloud.example.com/preemptible", "operator": "Exists"});
        let pod = pod_with(&json!({"tolerations": [toleration], "affinity": affinity}));
        assert_eq!(is_capped(&core, &pod), lands, "{terms}");
    }
}

#[test]
fn c050_a_stored_pod_is_never_patched() {
    let core = webhook(REFERENCE);
    let old = object("050-tolerations-immutable.yaml", "nightly-x1");
    let mut released = old.clone();
    released["metadata"]["finalizers"] = json!([]);
    let mut deleted = old.clone();
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut tolerant = old.clone();
    tolerant["spec"]["tolerations"].as_array_mut().unwrap().push(json!({"operator": "Exists"}));
    for new in [&old, &released, &deleted, &tolerant] {
        for answer in update_pod(&core, &old, new) {
            assert_eq!((answer.decision(), &answer.response()["allowed"]), ("not-ours", &json!(true)));
            assert!(is_left_alone(&answer));
        }
    }
}

#[test]
fn c068_a_grace_is_capped_and_never_raised() {
    let graces = |policy: &str| -> Vec<i64> {
        let core = webhook(policy);
        let pods = objects("068-grace-missing-uses-whole-window.yaml").into_iter().map(|mut pod| {
            pod["metadata"]["ownerReferences"] = pod_with(&json!({}))["metadata"]["ownerReferences"].clone();
            defaulted(pod)
        });
        pods.map(|pod| stored(&create_pod(&core, &pod), &pod))
            .map(|pod| pod["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap())
            .collect()
    };
    assert_eq!(graces(REFERENCE), [20, 5, 0, 20]);
    let half_an_hour = REFERENCE
        .replace("shutdownGracePeriod: 30s", "shutdownGracePeriod: 30m10s")
        .replace("inhibitDelayMaxSec: 30", "inhibitDelayMaxSec: 1810");
    assert_eq!(graces(&half_an_hour), [1800, 5, 0, 1800]);
    assert_eq!(graces(&half_an_hour.replace("default: window", "default: keep")), [30, 5, 0, 1800]);
    assert_eq!(graces(&half_an_hour.replace("default: window", "default: 45")), [45, 5, 0, 1800]);
}

#[test]
fn c084_the_pod_of_a_statefulset_keeps_the_default_seconds() {
    let pod = pod_of(&object("084-sts-stuck-terminating.yaml", "web"));
    let after = stored(&create_pod(&webhook(REFERENCE), &pod), &pod);
    assert_eq!(after["spec"]["tolerations"], pod["spec"]["tolerations"]);
    assert_eq!(after["spec"]["terminationGracePeriodSeconds"], 20);
}

#[test]
fn c084_exclusive_pods_are_raised_to_their_grace_and_never_lowered() {
    let policy = REFERENCE
        .replace("shutdownGracePeriod: 30s", "shutdownGracePeriod: 610s")
        .replace("inhibitDelayMaxSec: 30", "inhibitDelayMaxSec: 610")
        .replace("default: window", "default: keep")
        .replace("clusterDefaultSeconds: 300", "clusterDefaultSeconds: 120");
    let core = webhook(&policy);
    let seconds = |grace: i64, written: Value| {
        let mut pod = pod_of(&object("084-sts-stuck-terminating.yaml", "web"));
        pod["spec"]["terminationGracePeriodSeconds"] = json!(grace);
        let list = pod["spec"]["tolerations"].as_array_mut().unwrap();
        list.retain(|one| one["effect"] != "NoExecute");
        for taint in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
            if !written.is_null() {
                list.push(json!({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": written}));
            }
        }
        let after = stored(&create_pod(&core, &pod), &pod);
        let of_dead_nodes = after["spec"]["tolerations"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["effect"] == "NoExecute");
        of_dead_nodes.map(|one| one["tolerationSeconds"].clone()).collect::<Vec<_>>()
    };
    for (grace, raised) in [(30, 120), (100, 120), (120, 120), (121, 121), (400, 400), (600, 600), (900, 600)]
    {
        assert_eq!(seconds(grace, json!(120)), [json!(raised), json!(raised)], "grace {grace}");
    }
    // Other seconds than the default are the user's own; where there are none, the pod would be evicted at once.
    for written in [60, 300, 599] {
        assert_eq!(seconds(400, json!(written)), [json!(written), json!(written)]);
    }
    assert_eq!(seconds(400, json!(null)), [json!(400), json!(400)]);
    assert_eq!(seconds(900, json!(null)), [json!(600), json!(600)]);
}

#[test]
fn c110_the_selector_holds_no_label_of_one_pod() {
    let jobs = REFERENCE.replace("jobs: false", "jobs: true\n      ignoreLabels: [db.example.com/instance]");
    let constraints = |policy: &str, pod: Value| {
        let pod = defaulted(pod);
        stored(&create_pod(&webhook(policy), &pod), &pod)["spec"]["topologySpreadConstraints"].clone()
    };
    let of_type = json!([{
        "topologyKey": "cloud.example.com/node-type", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "f"}},
    }]);
    let case = "110-job-pods-selector.yaml";
    assert_eq!(constraints(&jobs, object(case, "sweep-2-x")), of_type);
    assert_eq!(constraints(REFERENCE, object(case, "sweep-2-x")), Value::Null);
    assert_eq!(constraints(&jobs, object(case, "db-4")), Value::Null);
    let mut of_replicas = object(case, "db-4");
    of_replicas["metadata"]["ownerReferences"][0]["kind"] = json!("ReplicaSet");
    assert_eq!(constraints(&jobs, of_replicas), of_type);
}
