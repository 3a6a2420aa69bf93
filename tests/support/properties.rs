//! What holds of every answer, whatever the request.

use serde_json::{Value, json};
use sundown::review::Endpoint;

use crate::support::{self, Answer, CHANGES, patched, recording, untouchable, with_object};
use crate::{everywhere, holds, object_of, same};

#[test]
fn every_answer_is_a_review_of_the_request() {
    everywhere(|core, endpoint, _, body| {
        let answer = Answer::of(core, endpoint, body);
        let request: Value = serde_json::from_slice(body).unwrap();
        same("apiVersion", &json!("admission.k8s.io/v1"), &answer.json["apiVersion"])?;
        same("kind", &json!("AdmissionReview"), &answer.json["kind"])?;
        same("uid", &request["request"]["uid"], &answer.response()["uid"])?;
        same("record.uid", request["request"]["uid"].as_str(), Some(answer.record.uid.as_str()))?;
        let response = answer.response();
        let patch_type = response.get("patch").map(|_| "JSONPatch");
        same("patchType", patch_type, response.get("patchType").map(|text| text.as_str().unwrap()))?;
        for warning in answer.warnings() {
            holds(&format!("longer than 120: {warning:?}"), warning.chars().count() <= 120)?;
            holds(&format!("control character: {warning:?}"), !warning.chars().any(char::is_control))?;
        }
        for (key, text) in response["auditAnnotations"].as_object().into_iter().flatten() {
            holds(
                &format!("audit annotation {key}"),
                ["patch", "findings", "exempt"].contains(&key.as_str()),
            )?;
            holds(&format!("audit annotation {key} is no text"), text.is_string())?;
        }
        same(
            "the bytes of a second core",
            &answer.bytes,
            &Answer::of(&support::core(), endpoint, body).bytes,
        )?;
        same("the bytes of a second time", &answer.bytes, &Answer::of(core, endpoint, body).bytes)
    });
}

#[test]
fn a_patch_only_adds_and_touches_what_it_may() {
    everywhere(|core, endpoint, _, body| {
        let answer = Answer::of(core, endpoint, body);
        let Some(patch) = answer.patch() else {
            return same("decision", false, answer.decision() == "patched");
        };
        let before = object_of(body);
        for operation in patch.as_array().unwrap() {
            same("op", &json!("add"), &operation["op"])?;
            let path = operation["path"].as_str().unwrap();
            let whole = matches!(
                path,
                "/metadata/annotations"
                    | "/metadata/labels"
                    | "/spec/tolerations"
                    | "/spec/topologySpreadConstraints"
            );
            holds(&format!("{path} is there already"), !whole || before.pointer(path).is_none())?;
        }
        only_the_permitted_differs(&before, &patched(&before, &patch))
    });
}

/// Lists keep their elements in order, and of a toleration only the seconds may differ.
fn only_the_permitted_differs(before: &Value, after: &Value) -> Result<(), String> {
    same("the rest of the pod", untouchable(before), untouchable(after))?;
    let list = |pod: &Value, name: &str| pod["spec"][name].as_array().cloned().unwrap_or_default();
    let constraints = list(before, "topologySpreadConstraints");
    holds("constraints", list(after, "topologySpreadConstraints").starts_with(&constraints))?;
    let tolerations = |pod: &Value| -> Vec<Value> {
        let mut all = list(pod, "tolerations");
        all.iter_mut().for_each(|one| drop(one.as_object_mut().unwrap().remove("tolerationSeconds")));
        all
    };
    holds("tolerations", tolerations(after).starts_with(&tolerations(before)))
}

#[test]
fn every_edit_is_recorded_on_the_pod() {
    everywhere(|core, endpoint, _, body| {
        let Some(patch) = Answer::of(core, endpoint, body).patch() else { return Ok(()) };
        let before = object_of(body);
        let after = patched(&before, &patch);
        let text = after["metadata"]["annotations"][CHANGES].as_str().unwrap_or("null");
        let changes: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let recorded = changes.as_array().ok_or("no list of changes")?;
        same("changes", patch.as_array().unwrap().len() - 1, recorded.len())?;
        for change in recorded {
            let path = change["path"].as_str().unwrap();
            holds("rule", change["rule"].is_string())?;
            let (was, is) = (before.pointer(path).unwrap_or(&Value::Null), after.pointer(path).unwrap());
            match is.as_array() {
                // An appended element is recorded under its list.
                Some(list) => holds(path, change["from"].is_null() && list.contains(&change["to"]))?,
                None => same(path, (was, is), (&change["from"], &change["to"]))?,
            }
        }
        Ok(())
    });
}

#[test]
fn a_second_review_changes_nothing() {
    everywhere(|core, endpoint, name, body| {
        let Some(patch) = Answer::of(core, endpoint, body).patch() else { return Ok(()) };
        let second = with_object(&recording(name), patched(&object_of(body), &patch));
        for endpoint in [Endpoint::PodsEnforce, Endpoint::PodsAudit] {
            let answer = Answer::of(core, endpoint, &second);
            same("decision", "allowed", answer.decision())?;
            same("patch", None, answer.patch())?;
            same("auditAnnotations", None, answer.response().get("auditAnnotations"))?;
        }
        Ok(())
    });
}

#[test]
fn audit_shows_nothing_and_notes_what_enforce_does() {
    everywhere(|core, endpoint, _, body| {
        let (enforcing, auditing) = match endpoint {
            Endpoint::PodsAudit => (Endpoint::PodsEnforce, endpoint),
            Endpoint::WorkloadsAudit => (Endpoint::WorkloadsEnforce, endpoint),
            _ => return Ok(()),
        };
        let (enforced, audited) = (Answer::of(core, enforcing, body), Answer::of(core, auditing, body));
        same("allowed", &json!(true), &audited.response()["allowed"])?;
        for member in ["patch", "patchType", "warnings", "status"] {
            same(member, None, audited.response().get(member))?;
        }
        let sent = enforced.patch();
        same("the annotation of audit", &sent, &audited.annotated_patch())?;
        same("the annotation of enforce", &sent, &enforced.annotated_patch())?;
        let held_back = audited.record.would_be_patch.as_deref();
        same("the record of audit", sent, held_back.map(|text| serde_json::from_str(text).unwrap()))?;
        same("the record of enforce", None, enforced.record.would_be_patch)
    });
}

#[test]
fn audit_counts_the_findings_that_enforce_has() {
    everywhere(|core, endpoint, _, body| {
        let auditing = match endpoint {
            Endpoint::PodsEnforce => Endpoint::PodsAudit,
            Endpoint::WorkloadsEnforce => Endpoint::WorkloadsAudit,
            _ => return Ok(()),
        };
        let rules = |endpoint| -> Vec<&'static str> {
            Answer::of(core, endpoint, body).record.findings.iter().map(|one| one.rule).collect()
        };
        same("the rules with findings", rules(endpoint), rules(auditing))
    });
}

/// Puts a member that no version of Kubernetes knows into every object that is not a map of strings.
fn with_unknown_members(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(with_unknown_members),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if !["labels", "annotations", "nodeSelector", "matchLabels"].contains(&name.as_str()) {
                    with_unknown_members(member);
                }
            }
            members.insert("xUnknown".to_owned(), json!({"deep": [1, null, "é\n\"/~"], "": 1e30}));
        }
        _ => {}
    }
}

#[test]
fn unknown_members_survive_and_change_nothing() {
    everywhere(|core, endpoint, name, body| {
        let mut object = object_of(body);
        if object.is_null() {
            return Ok(());
        }
        with_unknown_members(&mut object);
        let plain = Answer::of(core, endpoint, body);
        let strange = Answer::of(core, endpoint, &with_object(&recording(name), object.clone()));
        same("answer", &plain.json, &strange.json)?;
        let Some(patch) = strange.patch() else { return Ok(()) };
        only_the_permitted_differs(&object, &patched(&object, &patch))
    });
}

#[test]
fn warnings_that_quote_the_user_are_one_short_line() {
    let hostile = format!("\u{1b}[31m\r\n\t\u{85}{}", "é".repeat(300));
    let mut quoted = 0;
    for (name, endpoint) in [
        ("pod-create-of-replicaset-storefront.json", Endpoint::PodsEnforce),
        ("deployment-create-storefront.json", Endpoint::WorkloadsEnforce),
        ("statefulset-update-cache.json", Endpoint::WorkloadsEnforce),
    ] {
        let mut object = recording(name)["request"]["object"].clone();
        let pod =
            if endpoint == Endpoint::PodsEnforce { &mut object } else { &mut object["spec"]["template"] };
        // A claim that cannot be looked up is named in a warning.
        pod["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": hostile}}]);
        pod["metadata"]["annotations"]["sundown.dev/grace-period"] = json!(hostile);
        pod["metadata"]["annotations"]["sundown.dev/replacement"] = json!(hostile);
        let answer = Answer::of(&support::core(), endpoint, &with_object(&recording(name), object));
        for warning in answer.warnings() {
            assert!(warning.chars().count() <= 120, "{name}: {warning:?}");
            assert!(!warning.chars().any(char::is_control), "{name}: {warning:?}");
            quoted += usize::from(warning.contains('é'));
        }
    }
    assert!(quoted > 1, "{quoted} warnings quote the user");
}
