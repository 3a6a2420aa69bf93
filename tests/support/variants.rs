//! Objects spelt in an unusual way: order of members, null, odd values, deep nesting.

use serde_json::{Value, json};
use sundown::review::{Core, Endpoint, ErrorReason, Reviewer};

use crate::malformed::{POD, STATEFUL_SET, outcome};
use crate::support::{Answer, core, patched, recorded, recording, with_object};
use crate::{everywhere, object_of, same};

/// What a client sees of an answer, the patch applied; or why there is none.
fn seen(core: &Core, endpoint: Endpoint, body: &[u8]) -> Result<Value, ErrorReason> {
    let reviewed = core.review(endpoint, body).map_err(|error| error.reason)?;
    let answer = Answer::from(reviewed);
    let object = object_of(body);
    let after =
        answer.patch().or(answer.annotated_patch()).map(|patch| patched(&object, &patch)["spec"].clone());
    let response = answer.response();
    Ok(json!([
        answer.decision(),
        response["allowed"],
        response["status"],
        answer.warnings(),
        without_nulls(after.unwrap_or_default())
    ]))
}

fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(|member| *member = without_nulls(member.take()));
        }
        Value::Array(list) => list.iter_mut().for_each(|one| *one = without_nulls(one.take())),
        _ => {}
    }
    value
}

/// JSON with the members of every object down to this depth in descending order, where the rest ascends.
fn descending(value: &Value, depth: usize) -> String {
    match value {
        Value::Object(members) if depth > 0 => {
            let member = |(name, member)| format!("{}:{}", json!(name), descending(member, depth - 1));
            format!("{{{}}}", members.iter().rev().map(member).collect::<Vec<_>>().join(","))
        }
        Value::Array(list) if depth > 0 => {
            format!("[{}]", list.iter().map(|one| descending(one, depth - 1)).collect::<Vec<_>>().join(","))
        }
        _ => value.to_string(),
    }
}

#[test]
fn the_order_of_members_changes_nothing() {
    everywhere(|core, endpoint, name, body| {
        let review = recording(name);
        // Descending, `request` comes before `kind`, and in it `object` before `kind`.
        for depth in [1, 2, 100] {
            let turned = descending(&review, depth);
            same(
                &format!("to depth {depth}"),
                seen(core, endpoint, body),
                seen(core, endpoint, turned.as_bytes()),
            )?;
        }
        Ok(())
    });
}

/// The pointers of all members in it.
pub(crate) fn members(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, member) in object {
                let path = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                members(member, &path, found);
                found.push(path);
            }
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, one)| members(one, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

fn removed(object: &Value, path: &str) -> Value {
    let mut object = object.clone();
    let (parent, name) = path.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/").replace("~0", "~");
    drop(object.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(&name));
    object
}

pub(crate) fn replaced(object: &Value, path: &str, with: Value) -> Value {
    let mut object = object.clone();
    *object.pointer_mut(path).unwrap() = with;
    object
}

/// Whether the member is one of a map of strings: there Kubernetes reads null as the empty string.
fn in_a_map_of_strings(path: &str) -> bool {
    let parent = path.rsplit('/').nth(1).unwrap_or_default();
    ["labels", "annotations", "nodeSelector", "matchLabels"].contains(&parent)
}

#[test]
fn null_is_as_good_as_nothing() {
    let core = core();
    let mut compared = 0;
    let mut failures = Vec::new();
    for (name, body) in recorded().into_iter().filter(|(_, body)| body.len() < 4_500) {
        let (review, object) = (recording(&name), object_of(&body));
        let mut paths = Vec::new();
        members(&object, "", &mut paths);
        for path in paths.iter().filter(|path| !path.contains("managedFields/") && !in_a_map_of_strings(path))
        {
            let null = with_object(&review, replaced(&object, path, Value::Null));
            let nothing = with_object(&review, removed(&object, path));
            for endpoint in [Endpoint::PodsEnforce, Endpoint::WorkloadsEnforce] {
                let (null, nothing) = (seen(&core, endpoint, &null), seen(&core, endpoint, &nothing));
                compared += 1;
                if null != nothing {
                    failures.push(format!("{name} {path}: null {null:?}, nothing {nothing:?}"));
                }
            }
        }
    }
    assert!(compared > 1000, "only {compared}");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Whatever stands in a place: an error, or an answer whose patch applies; nothing panics.
#[test]
fn no_value_in_any_place_makes_a_patch_that_does_not_apply() {
    let core = core();
    let odd = [
        "null",
        "\"\"",
        "\"\\u0000\\n\"",
        "-1",
        "1.5",
        "9223372036854775808",
        "true",
        "{}",
        "[]",
        "[null]",
        "[{}]",
    ];
    let (mut failures, mut applied) = (Vec::new(), 0);
    for name in ["pod-create-of-replicaset-storefront.json", "pod-create-of-statefulset-cache-0.json"] {
        let review = recording(name);
        let object = review["request"]["object"].clone();
        let mut paths = Vec::new();
        members(&object, "", &mut paths);
        paths.retain(|path| !path.contains("managedFields/") && !path.contains("ontainers/0/"));
        for (path, text) in paths.iter().flat_map(|path| odd.iter().map(move |text| (path, text))) {
            let object = replaced(&object, path, serde_json::from_str(text).unwrap());
            let Ok(reviewed) = core.review(Endpoint::PodsEnforce, &with_object(&review, object.clone()))
            else {
                continue;
            };
            let Some(patch) = Answer::from(reviewed).patch() else { continue };
            let operations: json_patch::Patch = serde_json::from_value(patch).unwrap();
            match json_patch::patch(&mut object.clone(), &operations) {
                Ok(()) => applied += 1,
                Err(error) => failures.push(format!("{name} {path} = {text}: {error}")),
            }
        }
    }
    assert!(applied > 100, "only {applied}");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// The text of a review in which a string stands in for what no [`Value`] can hold.
pub(crate) fn with_text(review: &Value, mark: &str, text: &str) -> Vec<u8> {
    let whole = serde_json::to_string(review).unwrap();
    let mark = format!("\"{mark}\"");
    assert_eq!(whole.matches(&mark).count(), 1, "{mark} stands in once");
    whole.replace(&mark, text).into_bytes()
}

#[test]
fn deep_nesting_is_passed_over_or_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (name, endpoint) in [(POD, Endpoint::PodsEnforce), (STATEFUL_SET, Endpoint::WorkloadsEnforce)] {
        let review = recording(name);
        let plain = outcome(&core(), endpoint, &serde_json::to_vec(&review).unwrap());
        let in_place = |path: &str| {
            let mut review = review.clone();
            let (parent, last) = path.rsplit_once('/').unwrap();
            review.pointer_mut(parent).unwrap()[last] = json!("DEEP");
            outcome(&core(), endpoint, &with_text(&review, "DEEP", &deep))
        };
        assert_eq!(in_place("/request/object/metadata/managedFields/0/fieldsV1"), plain, "{name}");
        assert_eq!(in_place("/request/object/status"), plain, "{name}");
        // The entries of managedFields are read, what each of them holds is not.
        assert_eq!(in_place("/request/object/metadata/managedFields"), Err(ErrorReason::Object), "{name}");
        assert_eq!(in_place("/request/object/metadata/labels"), Err(ErrorReason::Object), "{name}");
        assert_eq!(in_place("/request/object"), Err(ErrorReason::Object), "{name}");
    }
}
