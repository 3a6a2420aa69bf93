//! Requests that a real API server sent, against what the contract asks of each, and what holds of all of them.
//!
//! The expectations (`expected/reviews.json`) are written by hand. In them `warnsOf` names the rule of each
//! warning, and no other may be sent; members that are left out are not looked at.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

mod support;

#[path = "support/malformed.rs"]
mod malformed;
#[path = "support/properties.rs"]
mod properties;
#[path = "support/twice.rs"]
mod twice;
#[path = "support/variants.rs"]
mod variants;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sundown::review::{Core, Endpoint};

use support::{Answer, core, enforces, expected, for_pods, patched, recorded};

/// Runs the check for every recorded request at every endpoint, and fails with all that failed.
fn everywhere(check: impl Fn(&Core, Endpoint, &str, &[u8]) -> Result<(), String>) {
    let core = core();
    let mut failures = Vec::new();
    for (name, body) in recorded() {
        for endpoint in Endpoint::ALL {
            if let Err(why) = check(&core, endpoint, &name, &body) {
                failures.push(format!("{name} at {}: {why}", endpoint.path()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[expect(clippy::needless_pass_by_value, reason = "most values are made in the call")]
fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, got: T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

fn holds(what: &str, condition: bool) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

fn object_of(body: &[u8]) -> Value {
    let review: Value = serde_json::from_slice(body).unwrap();
    review["request"]["object"].clone()
}

#[test]
fn every_recorded_request_is_expected() {
    let expected = expected();
    let names: Vec<&str> = expected.as_object().unwrap().keys().map(String::as_str).collect();
    let recorded = recorded();
    assert_eq!(names, recorded.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
}

#[test]
fn every_recorded_request_is_decided_as_the_contract_says() {
    let all = expected();
    everywhere(|core, endpoint, name, body| {
        let asked = &all[name][if for_pods(endpoint) { "pods" } else { "workloads" }];
        let answer = Answer::of(core, endpoint, body);
        let decision = match (asked["decision"].as_str().unwrap(), enforces(endpoint)) {
            ("patched", false) => "would-patch",
            ("denied", false) => "would-deny",
            (decision, _) => decision,
        };
        same("decision", decision, answer.decision())?;
        same("allowed", decision != "denied", answer.response()["allowed"].as_bool().unwrap())?;
        if decision == "denied" {
            denial_is_explained(&answer)?;
        }
        if enforces(endpoint) {
            warnings_are_those(&answer, asked)?;
            pod_becomes(&answer, asked, &object_of(body))?;
        }
        Ok(())
    });
}

fn denial_is_explained(answer: &Answer) -> Result<(), String> {
    let status = &answer.response()["status"];
    same("status.code", &json!(403), &status["code"])?;
    let message = status["message"].as_str().unwrap_or_default();
    holds("the denial tells of the volume's detach", message.contains("detach"))
}

fn warnings_are_those(answer: &Answer, asked: &Value) -> Result<(), String> {
    let Some(rules) = asked["warnsOf"].as_array() else { return Ok(()) };
    let mut rules: Vec<&str> = rules.iter().map(|rule| rule.as_str().unwrap()).collect();
    let warnings = answer.warnings();
    let mut warned: Vec<&str> =
        warnings.iter().map(|warning| warning.split(": ").next().unwrap_or_default()).collect();
    rules.sort_unstable();
    warned.sort_unstable();
    same("the rules that warn", rules, warned)
}

fn pod_becomes(answer: &Answer, asked: &Value, before: &Value) -> Result<(), String> {
    let Some(patch) = answer.patch() else { return Ok(()) };
    let (after, before) = (&patched(before, &patch)["spec"], &before["spec"]);
    same("grace", &asked["grace"], &after["terminationGracePeriodSeconds"])?;
    let seconds = |spec: &Value| -> BTreeMap<String, Value> {
        let list = spec["tolerations"].as_array().unwrap().iter().enumerate();
        list.map(|(at, one)| (at.to_string(), one["tolerationSeconds"].clone())).collect()
    };
    let mut wanted = seconds(before);
    for (at, value) in asked["tolerationSeconds"].as_object().unwrap() {
        wanted.insert(at.clone(), value.clone());
    }
    same("tolerationSeconds", wanted, seconds(after))?;
    same("constraints", asked["constraints"].as_array().unwrap().clone(), appended(before, after))
}

/// The constraints that came in.
fn appended(before: &Value, after: &Value) -> Vec<Value> {
    let had = before["topologySpreadConstraints"].as_array().map_or(0, Vec::len);
    let now = after["topologySpreadConstraints"].as_array().into_iter().flatten();
    now.skip(had).cloned().collect()
}
