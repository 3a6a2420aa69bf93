//! Patched pods before Kubernetes' own code: the API server's JSON Patch library makes of them what ours makes, and its
//! validation finds nothing in them that it did not find before. `SUNDOWN_ORACLE` names the built `tests/oracle`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sundown::policy::{Source, load};
use sundown::review::{Core, Endpoint, Reviewer};
use sundown::rules::{NoView, catalogue};

/// Answers of the oracle, one for each input.
fn ask(command: &str, inputs: &[Value]) -> Vec<Value> {
    let oracle = std::env::var("SUNDOWN_ORACLE").unwrap();
    let mut process =
        Command::new(oracle).arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = process.stdin.take().unwrap();
    let text: String = inputs.iter().map(|input| input.to_string() + "\n").collect();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let output = process.wait_with_output().unwrap();
    writer.join().unwrap();
    let answers: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(answers.len(), inputs.len());
    answers
}

/// Pods with odd but valid fields, as the API server would send them.
fn generated() -> Vec<Value> {
    let mut reviews = Vec::new();
    let template: Value =
        serde_json::from_str(include_str!("reviews/pod-create-of-replicaset-storefront.json")).unwrap();
    for grace in [0, 1, 19, 20, 21, 30, 31, 45, 600] {
        for sleep in [0, 1, 19, 20, 25, 31] {
            for tolerations in
                [json!(null), json!([]), json!([{"operator": "Exists", "effect": "NoExecute"}])]
            {
                let mut review = template.clone();
                let spec = &mut review["request"]["object"]["spec"];
                spec["terminationGracePeriodSeconds"] = json!(grace);
                spec["containers"][0]["lifecycle"] = json!({"preStop": {"sleep": {"seconds": sleep}}});
                let mut list = tolerations.as_array().cloned().unwrap_or_default();
                list.push(json!({"key": "cloud.example.com/preemptible", "operator": "Exists"}));
                spec["tolerations"] = json!(list);
                reviews.push(review);
            }
        }
    }
    reviews
}

/// Pods before, patches, pods after by our library.
fn patched() -> Vec<(Value, Value, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read(root.join("tests/cases/000-reference-policy.yaml")).unwrap();
    let (policies, _) = load(&[Source { name: "rc".into(), text }], &catalogue()).unwrap();
    let core = Core::new(policies, Arc::new(NoView));
    let recorded = fs::read_dir(root.join("tests/reviews")).unwrap();
    let recorded =
        recorded.map(|file| serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap());
    let mut found = Vec::new();
    for review in recorded.chain(generated()) {
        let answer = core.review(Endpoint::PodsEnforce, review.to_string().as_bytes()).unwrap();
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let Some(patch) = answer["response"]["patch"].as_str() else { continue };
        let patch: Value = serde_json::from_slice(&STANDARD.decode(patch).unwrap()).unwrap();
        let before = review["request"]["object"].clone();
        let mut after = before.clone();
        json_patch::patch(&mut after, &serde_json::from_value::<json_patch::Patch>(patch.clone()).unwrap())
            .unwrap();
        found.push((before, patch, after));
    }
    assert!(found.len() > 100, "only {} pods were patched", found.len());
    found
}

/// A pod with a name, which the API server makes up after admission.
fn named(pod: &Value) -> Value {
    let mut pod = pod.clone();
    pod["metadata"]["name"] = json!("p");
    pod
}

#[test]
#[ignore = "needs the oracle: tests/run.sh builds it"]
fn the_api_server_makes_of_the_patch_what_we_mean() {
    let patched = patched();
    let inputs: Vec<Value> =
        patched.iter().map(|(before, patch, _)| json!({"doc": before, "patch": patch})).collect();
    for ((_, patch, after), answer) in patched.iter().zip(ask("apply", &inputs)) {
        assert_eq!(answer["result"], *after, "{patch}: {}", answer["error"]);
    }
}

#[test]
#[ignore = "needs the oracle: tests/run.sh builds it"]
fn no_pod_is_refused_that_was_accepted_before() {
    let patched = patched();
    let pods = |which: fn(&(Value, Value, Value)) -> &Value| -> Vec<Value> {
        patched.iter().map(|one| json!({"pod": named(which(one))})).collect()
    };
    let (before, after) = (ask("validate", &pods(|one| &one.0)), ask("validate", &pods(|one| &one.2)));
    let mut accepted = 0;
    for (((_, patch, _), before), after) in patched.iter().zip(before).zip(after) {
        if before["errors"] == json!([]) {
            assert_eq!(after["errors"], json!([]), "{patch}");
            accepted += 1;
        }
    }
    assert!(accepted > 50, "only {accepted} pods were valid before");
}
