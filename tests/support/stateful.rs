//! Cases of StatefulSets with volumes, before the validating webhook.

use std::sync::Arc;

use serde_json::{Value, json};
use sundown::review::Core;

use crate::REFERENCE;
use crate::support::Answer;
use crate::webhook::{Claims, create, object, objects, update, webhook, webhook_with};

const CLAIMS: &str = "122-existing-claim-reference.yaml";
const SHARED: &str = "124-rwx-and-nfs-ok.yaml";
const EPHEMERAL: &str = "126-ephemeral-only.yaml";
const MALFORMED: &str = "130-claim-template-not-validated.yaml";

fn is_denied(answer: &Answer) -> bool {
    let response = answer.response();
    let denied = response["allowed"] == false;
    assert_eq!(denied, response["status"]["code"] == 403, "{response}");
    denied
}

/// Whether the request is allowed with a warning of the rule.
fn is_warned(answer: &Answer) -> bool {
    !is_denied(answer) && answer.warnings().iter().any(|warning| warning.starts_with("rwo-statefulset: "))
}

/// Whether the request is allowed and nothing is said of volumes.
fn passes(answer: &Answer) -> bool {
    !is_denied(answer) && !is_warned(answer)
}

/// A StatefulSet that tolerates the taint by name, with a claim of these access modes.
fn with_modes(modes: Value) -> Value {
    let mut set = object(SHARED, "nfs-rwo");
    set["spec"]["volumeClaimTemplates"][0]["spec"]["accessModes"] = modes;
    set
}

fn with_tolerations(tolerations: Value) -> Value {
    let mut set = object(SHARED, "nfs-rwo");
    set["spec"]["template"]["spec"]["tolerations"] = tolerations;
    set
}

#[test]
fn c070_the_denial_names_what_happens_and_no_false_cure() {
    let answer = create(&webhook(REFERENCE), &object(EPHEMERAL, "mixed"));
    let message = answer.response()["status"]["message"].as_str().unwrap();
    for said in ["data", "detach", "6-minute"] {
        assert!(message.contains(said), "{said}: {message}");
    }
    assert!(!message.to_lowercase().contains("graceful"), "{message}");
}

#[test]
fn c122_an_existing_claim_is_looked_up() {
    let known = webhook_with(REFERENCE, Arc::new(Claims(objects(CLAIMS))));
    let answer = |core: &Core, name| create(core, &object(CLAIMS, name));
    assert!(is_denied(&answer(&known, "uses-rwo")));
    assert!(passes(&answer(&known, "uses-rwx")));
    assert!(is_warned(&answer(&known, "uses-unknown")));
    let unknown = webhook(REFERENCE);
    for name in ["uses-rwo", "uses-rwx", "uses-unknown"] {
        assert!(is_warned(&answer(&unknown, name)), "{name}");
    }
}

#[test]
fn c122_mounting_read_only_and_another_namespace() {
    let known = webhook_with(REFERENCE, Arc::new(Claims(objects(CLAIMS))));
    for read_only in [json!(true), json!(false), json!(null)] {
        let mut set = object(CLAIMS, "uses-rwo");
        set["spec"]["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["readOnly"] =
            read_only.clone();
        assert!(is_denied(&create(&known, &set)), "{read_only}");
    }
    let mut elsewhere = objects(CLAIMS);
    elsewhere.iter_mut().for_each(|claim| claim["metadata"]["namespace"] = json!("other"));
    let elsewhere = webhook_with(REFERENCE, Arc::new(Claims(elsewhere)));
    assert!(is_warned(&create(&elsewhere, &object(CLAIMS, "uses-rwo"))));
}

#[test]
fn c124_access_modes_decide_and_listed_classes_pass() {
    let core = webhook(REFERENCE);
    for name in ["rwx", "rox", "both"] {
        assert!(passes(&create(&core, &object(SHARED, name))), "{name}");
    }
    assert!(is_denied(&create(&core, &object(SHARED, "nfs-rwo"))));
    let listed = |classes: &str| {
        webhook(&REFERENCE.replace("allowedStorageClasses: []", &format!("allowedStorageClasses: {classes}")))
    };
    assert!(passes(&create(&listed("[nfs]"), &object(SHARED, "nfs-rwo"))));
    assert!(passes(&create(&listed("[block, nfs]"), &object(SHARED, "nfs-rwo"))));
    assert!(is_denied(&create(&listed("[NFS, nf, nfs2]"), &object(SHARED, "nfs-rwo"))));
}

#[test]
fn c124_every_order_of_access_modes() {
    let core = webhook(REFERENCE);
    for modes in [
        json!(["ReadWriteOnce"]),
        json!(["ReadWriteOncePod"]),
        json!(["ReadWriteOnce", "ReadWriteOncePod"]),
        json!(["ReadWriteOncePod", "ReadWriteOnce"]),
    ] {
        assert!(is_denied(&create(&core, &with_modes(modes.clone()))), "{modes}");
    }
    for modes in [
        json!(["ReadWriteMany", "ReadWriteOnce"]),
        json!(["ReadWriteOnce", "ReadOnlyMany"]),
        json!(["ReadOnlyMany", "ReadWriteOncePod", "ReadWriteMany"]),
    ] {
        assert!(passes(&create(&core, &with_modes(modes.clone()))), "{modes}");
    }
    for modes in [json!(null), json!([]), json!(["ReadWriteTwice"])] {
        assert!(is_warned(&create(&core, &with_modes(modes.clone()))), "{modes}");
    }
}

#[test]
fn c124_one_claim_of_several_is_enough() {
    let core = webhook(REFERENCE);
    let claim = |name: &str, mode: &str| json!({"metadata": {"name": name}, "spec": {"accessModes": [mode]}});
    let (shared, single) = (claim("media", "ReadWriteMany"), claim("wal", "ReadWriteOnce"));
    for templates in [json!([shared, single]), json!([single, shared])] {
        let mut set = with_modes(json!(null));
        set["spec"]["volumeClaimTemplates"] = templates;
        let answer = create(&core, &set);
        assert!(is_denied(&answer));
        let message = answer.response()["status"]["message"].as_str().unwrap();
        assert!(message.contains("wal") && !message.contains("media"), "{message}");
    }
}

#[test]
fn c126_volumes_that_die_with_the_pod_pass() {
    let core = webhook(REFERENCE);
    for name in ["cache", "scratch"] {
        assert!(passes(&create(&core, &object(EPHEMERAL, name))), "{name}");
    }
    assert!(is_denied(&create(&core, &object(EPHEMERAL, "mixed"))));
}

#[test]
fn c130_claim_templates_of_any_shape_are_decided() {
    let core = webhook(REFERENCE);
    assert!(passes(&create(&core, &object(MALFORMED, "nullvct"))));
    for name in ["nomodes", "emptyspec"] {
        let set = object(MALFORMED, name);
        assert!(is_warned(&create(&core, &set)), "{name}");
        assert!(is_warned(&update(&core, &set, &set)), "{name}");
    }
    let mut set = object(MALFORMED, "nullvct");
    for templates in [json!([]), json!([null])] {
        set["spec"]["volumeClaimTemplates"] = templates.clone();
        assert!(!is_denied(&create(&core, &set)), "{templates}");
    }
}

#[test]
fn only_an_explicit_toleration_or_a_hard_node_rule_denies() {
    let core = webhook(REFERENCE);
    let named = json!({"key": "cloud.example.com/preemptible", "operator": "Exists"});
    let wild = json!({"operator": "Exists"});
    let answer = |tolerations: Value| create(&core, &with_tolerations(tolerations));
    assert!(passes(&answer(json!(null))));
    assert!(is_warned(&answer(json!([wild]))));
    for tolerations in [json!([named]), json!([wild, named]), json!([named, wild])] {
        assert!(is_denied(&answer(tolerations.clone())), "{tolerations}");
    }
    let strict = webhook(&REFERENCE.replace("spec:\n  pool:", "spec:\n  byWildcard: enforce\n  pool:"));
    let mut bound = with_tolerations(json!([wild]));
    bound["spec"]["template"]["spec"]["nodeSelector"] = json!({"cloud.example.com/node-type": "preemptible"});
    assert!(is_denied(&create(&strict, &bound)));
    bound["spec"]["template"]["spec"]["tolerations"] = json!([named]);
    assert!(is_denied(&create(&core, &bound)));
}

#[test]
fn an_update_may_do_all_but_make_it_worse() {
    let core = webhook(REFERENCE);
    let (harmless, violating) = (with_tolerations(json!(null)), object(SHARED, "nfs-rwo"));
    assert!(is_denied(&update(&core, &harmless, &violating)));
    assert!(passes(&update(&core, &violating, &harmless)));
    let mut scaled = violating.clone();
    scaled["spec"]["replicas"] = json!(9);
    scaled["metadata"]["labels"] = json!({"rev": "2"});
    assert!(is_warned(&update(&core, &violating, &scaled)));

    // By wildcard it was a warning; by name it is a violation that was not there before.
    let wild = with_tolerations(json!([{"operator": "Exists"}]));
    assert!(is_denied(&update(&core, &wild, &violating)));

    let mut more = violating.clone();
    let second = json!({"metadata": {"name": "wal"}, "spec": {"accessModes": ["ReadWriteOnce"]}});
    more["spec"]["volumeClaimTemplates"].as_array_mut().unwrap().push(second);
    assert!(is_denied(&update(&core, &violating, &more)));
    assert!(is_warned(&update(&core, &more, &violating)));
}

#[test]
fn one_that_is_being_deleted_passes_without_a_word() {
    let core = webhook(REFERENCE);
    let (harmless, mut deleted) = (with_tolerations(json!(null)), object(SHARED, "nfs-rwo"));
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    for old in [&harmless, &deleted] {
        let answer = update(&core, old, &deleted);
        assert!(passes(&answer) && answer.warnings().is_empty(), "{:?}", answer.warnings());
    }
}

#[test]
fn a_reason_exempts_and_is_put_on_record() {
    let core = webhook(REFERENCE);
    let answer = |reason: &str| {
        let mut set = object(SHARED, "nfs-rwo");
        set["metadata"]["annotations"] = json!({"sundown.dev/allow-rwo": reason});
        create(&core, &set)
    };
    let exempt = answer("replicated by the database itself");
    assert!(!is_denied(&exempt));
    let recorded = exempt.response()["auditAnnotations"]["exempt"].as_str().unwrap();
    assert!(recorded.contains("replicated by the database itself"), "{recorded}");
    for no_reason in ["", " "] {
        assert!(is_denied(&answer(no_reason)), "{no_reason:?} is no reason");
    }
    let strict = webhook(&REFERENCE.replace("exemptions: true", "exemptions: false"));
    let mut set = object(SHARED, "nfs-rwo");
    set["metadata"]["annotations"] = json!({"sundown.dev/allow-rwo": "please"});
    assert!(is_denied(&create(&strict, &set)));
}
