//! Members that are there twice: Go takes the last, so an answer by any other would be of another object.

use serde_json::{Value, json};
use sundown::review::{Endpoint, ErrorReason};

use crate::malformed::{POD, STATEFUL_SET, outcome};
use crate::support::{core, recording};
use crate::variants::{members, replaced, with_text};

#[test]
fn a_second_spec_is_refused() {
    for (name, endpoint) in [(POD, Endpoint::PodsEnforce), (STATEFUL_SET, Endpoint::WorkloadsEnforce)] {
        let mut review = recording(name);
        let spec = review["request"]["object"]["spec"].to_string();
        review["request"]["object"]["spec"] = json!("SPEC");
        let twice = with_text(&review, "SPEC", &format!("{spec},\"spec\":{spec}"));
        assert_eq!(outcome(&core(), endpoint, &twice), Err(ErrorReason::Object), "{name}");
    }
}

/// Go takes the last value; an error is as good, but a selector of the first value would match nothing.
#[test]
fn of_a_label_that_is_there_twice_the_last_counts_or_none() {
    let mut review = recording(POD);
    review["request"]["object"]["metadata"]["labels"] = json!("LABELS");
    let twice = with_text(&review, "LABELS", r#"{"app": "first", "app": "last"}"#);
    let once = with_text(&review, "LABELS", r#"{"app": "last"}"#);
    for endpoint in [Endpoint::PodsEnforce, Endpoint::PodsAudit] {
        let got = outcome(&core(), endpoint, &twice);
        let last = outcome(&core(), endpoint, &once);
        assert!(last.is_ok(), "{last:?}");
        assert!(got == Err(ErrorReason::Object) || got == last, "{got:?}");
    }
}

/// Another value of the same type, and null.
fn others(value: &Value) -> [Value; 2] {
    let other = match value {
        Value::Null | Value::String(_) => json!("other"),
        Value::Bool(yes) => json!(!yes),
        Value::Number(_) => json!(7),
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
    };
    [other, Value::Null]
}

#[test]
fn of_any_member_that_is_there_twice_the_last_counts_or_none() {
    let core = core();
    let (mut failures, mut refused, mut decided) = (Vec::new(), 0, 0);
    for (name, endpoint) in [(POD, Endpoint::PodsEnforce), (STATEFUL_SET, Endpoint::WorkloadsEnforce)] {
        let review = recording(name);
        let plain = outcome(&core, endpoint, &serde_json::to_vec(&review).unwrap());
        let mut paths = Vec::new();
        members(&review, "", &mut paths);
        paths.retain(|path| !path.contains("managedFields/"));
        for path in paths {
            let last = review.pointer(&path).unwrap();
            let key = json!(path.rsplit('/').next().unwrap().replace("~1", "/").replace("~0", "~"));
            let marked = replaced(&review, &path, json!("TWICE"));
            for first in others(last) {
                let body = with_text(&marked, "TWICE", &format!("{first},{key}:{last}"));
                match outcome(&core, endpoint, &body) {
                    Err(_) => refused += 1,
                    got if got == plain => decided += 1,
                    got => failures.push(format!("{name} {path}: first {first}: {got:?}")),
                }
            }
        }
    }
    assert!(refused > 10 && decided > 100, "{refused} refused, {decided} decided");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}
