//! Whatever the body, a review is decided or refused; a patch applies, and a second review changes nothing.
#![no_main]

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;
use sundown::policy::{Source, load};
use sundown::review::{Core, Endpoint, Reviewer};
use sundown::rules::{NoView, catalogue};

static CORE: LazyLock<Core> = LazyLock::new(|| {
    let text = include_bytes!("../../tests/cases/000-reference-policy.yaml").to_vec();
    let (policies, _) = load(&[Source { name: "rc".into(), text }], &catalogue()).unwrap();
    Core::new(policies, Arc::new(NoView))
});

fn patch_of(endpoint: Endpoint, body: &[u8]) -> Option<json_patch::Patch> {
    let reviewed = CORE.review(endpoint, body).ok()?;
    let answer: Value = serde_json::from_slice(&reviewed.body).unwrap();
    let patch = STANDARD.decode(answer["response"]["patch"].as_str()?).unwrap();
    Some(serde_json::from_slice(&patch).unwrap())
}

fuzz_target!(|body: &[u8]| {
    for endpoint in Endpoint::ALL {
        let Some(patch) = patch_of(endpoint, body) else { continue };
        // What was skipped need not be JSON; then there is nothing to apply to.
        let Ok(mut review) = serde_json::from_slice::<Value>(body) else { continue };
        json_patch::patch(&mut review["request"]["object"], &patch).unwrap();
        let again = patch_of(endpoint, review.to_string().as_bytes());
        assert!(again.is_none(), "{again:?}");
    }
});

/// What is put in the place of a random value.
const ODD: [&str; 10] = ["null", "[]", "{}", "[null]", "\"\"", "\"Exists\"", "0", "-1", "9223372036854775807", "true"];

// Half of the time by bytes, as libFuzzer does; else one value of the review becomes another one.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let review = if seed % 2 == 0 { serde_json::from_slice::<Value>(&data[..size]).ok() } else { None };
    let Some(mut review) = review else { return fuzzer_mutate(data, size, max_size) };
    let odd = ODD[seed as usize / 2 % ODD.len()];
    replace(&mut review, seed / 32, &serde_json::from_str(odd).unwrap());
    let text = review.to_string();
    if text.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    data[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
});

/// Walks down by the digits of a random number, and replaces where they end.
fn replace(value: &mut Value, walk: u32, with: &Value) {
    let children: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let count = children.len() as u32;
    // Of four walks that come by, one ends here.
    let (ends, walk) = (walk % 4 == 0, walk / 4);
    if count == 0 || ends {
        *value = with.clone();
        return;
    }
    if let Some(child) = children.into_iter().nth((walk % count) as usize) {
        replace(child, walk / count, with);
    }
}
