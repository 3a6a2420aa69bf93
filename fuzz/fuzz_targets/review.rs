//! Whatever the body, a review is decided or refused; a patch applies, and a second review changes nothing.
#![no_main]

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
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
