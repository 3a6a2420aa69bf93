//! not-ready-toleration: how long a pod stays bound to a node that is gone.

use serde_json::{Value, json};

use super::finding::Severity;
use super::grace_period::grace_after;
use super::proposal::{Edit, Proposal, Want};
use super::registry::{Objects, Pools, Rule};
use super::scene::{Group, Scene};
use crate::policy::RuleKind;
use crate::subject::{ControllerKind, NOT_READY, Taint, Toleration, UNREACHABLE, first_match};

pub(super) const RULE: Rule = Rule {
    id: "not-ready-toleration",
    kind: RuleKind::Core,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Sets the tolerationSeconds of not-ready and unreachable, so that the replacement comes in time.",
    why: "A pod on a node that is gone is replaced only after these seconds, 300 by default. Pods that may overlap \
          with their replacement get overlapSeconds; all others are never lowered, and raised only where they would \
          be evicted before their grace is over. The taint manager goes by the first matching toleration in the list.",
    leaves: "Seconds that differ from the cluster's default, key-less tolerations and those without seconds, pods of \
             DaemonSets, and pods without a controller (nothing replaces them).",
    opt_out: "Write the tolerations yourself with other seconds, or annotate the pod (template) with \
              sundown.dev/replacement: overlap or exclusive.",
    before: "spec:\n  tolerations:\n  - key: node.kubernetes.io/not-ready\n    operator: Exists\n    effect: NoExecute\n    \
             tolerationSeconds: 300",
    after: "spec:\n  tolerations:\n  - key: node.kubernetes.io/not-ready\n    operator: Exists\n    effect: NoExecute\n    \
            tolerationSeconds: 30",
    decide,
};

/// Annotation on the pod: `overlap` or `exclusive`.
const ANNOTATION: &str = "sundown.dev/replacement";

/// Whether a pod and its replacement may run at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacement {
    Overlap,
    Exclusive,
}

/// How the pod is replaced; `Err` holds a malformed annotation. `None` where nothing replaces it, or where it
/// is a DaemonSet's.
pub(super) fn replacement(scene: &Scene<'_>) -> Option<Result<Replacement, (Replacement, String)>> {
    let subject = scene.subject;
    let overlaps = match subject.controller? {
        ControllerKind::DaemonSet | ControllerKind::Node => return None,
        ControllerKind::ReplicaSet | ControllerKind::ReplicationController => !subject.pod.has_claims(),
        _ => false,
    };
    let by_kind = if overlaps { Replacement::Overlap } else { Replacement::Exclusive };
    Some(match subject.pod_metadata.annotations.get(ANNOTATION) {
        None => Ok(by_kind),
        Some("overlap") => Ok(Replacement::Overlap),
        Some("exclusive") => Ok(Replacement::Exclusive),
        Some(other) => Err((by_kind, other.chars().take(30).collect())),
    })
}

/// The seconds wanted for one taint.
struct Wanted<'a> {
    replacement: Replacement,
    seconds: i64,
    cluster_default: i64,
    policy: &'a str,
}

impl Wanted<'_> {
    /// Seconds to set where the pod has `current`; `None` leaves them.
    fn instead_of(&self, current: i64) -> Option<i64> {
        let raises = current < self.seconds;
        let changes = if self.replacement == Replacement::Overlap { current != self.seconds } else { raises };
        changes.then_some(self.seconds)
    }
}

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    if scene.subject.pod.is_system_critical() {
        return Vec::new();
    }
    let Some(answer) = replacement(scene) else { return Vec::new() };
    let mut proposals = Vec::new();
    let replacement = answer.unwrap_or_else(|(by_kind, text)| {
        proposals.push(Proposal::say(
            group.policy(),
            Severity::Warning,
            scene.subject.pod_path("/metadata/annotations/sundown.dev~1replacement"),
            format!("annotation {ANNOTATION} is {text:?}: ignored"),
            "write overlap or exclusive",
        ));
        by_kind
    });
    let Some(wanted) = wanted(scene, group, replacement) else { return proposals };
    proposals.extend([NOT_READY, UNREACHABLE].into_iter().filter_map(|key| one_taint(scene, &wanted, key)));
    proposals
}

fn wanted<'a>(scene: &Scene<'_>, group: &Group<'a>, replacement: Replacement) -> Option<Wanted<'a>> {
    let tightest = group.cases.iter().min_by_key(|case| case.policy.rules.not_ready.overlap_seconds)?;
    let (window, window_policy) = group.tightest(scene.subject.pod)?;
    let (seconds, policy) = match replacement {
        Replacement::Overlap => {
            (tightest.policy.rules.not_ready.overlap_seconds, tightest.policy.name.as_str())
        }
        Replacement::Exclusive => (grace_after(scene, group.mode).min(window), window_policy),
    };
    let cluster_default = tightest.policy.rules.not_ready.cluster_default_seconds;
    Some(Wanted { replacement, seconds, cluster_default, policy })
}

fn one_taint(scene: &Scene<'_>, wanted: &Wanted<'_>, key: &'static str) -> Option<Proposal> {
    let list = scene.subject.pod_path("/spec/tolerations");
    match first_match(&scene.subject.pod.tolerations, &Taint::no_execute(key)) {
        None => (wanted.seconds > 0).then(|| append(wanted, key, list)),
        Some((index, toleration)) => {
            let path = format!("{list}/{index}/tolerationSeconds");
            let is_default = toleration.key == key
                && toleration.effect == "NoExecute"
                && toleration.toleration_seconds == Some(wanted.cluster_default);
            if is_default {
                let seconds = wanted.instead_of(wanted.cluster_default)?;
                return Some(set(wanted, key, index, path, seconds));
            }
            kept(wanted, key, toleration, path)
        }
    }
}

fn append(wanted: &Wanted<'_>, key: &'static str, path: String) -> Proposal {
    Proposal {
        policy: wanted.policy.to_owned(),
        severity: Severity::Warning,
        path,
        message: format!("{key} is not tolerated, which evicts at once: {} s added", wanted.seconds),
        help: "write the toleration yourself if you want other seconds".to_owned(),
        from: Value::Null,
        to: json!({
            "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": wanted.seconds,
        }),
        want: Want::Change(Edit::AppendToleration),
    }
}

fn set(wanted: &Wanted<'_>, key: &str, index: usize, path: String, seconds: i64) -> Proposal {
    let message = match wanted.replacement {
        Replacement::Overlap => {
            format!("{key}: replaced after {seconds} s instead of the cluster's {} s", wanted.cluster_default)
        }
        Replacement::Exclusive => format!(
            "{key}: not evicted before its grace of {seconds} s is over (the cluster's default is {} s)",
            wanted.cluster_default
        ),
    };
    Proposal {
        policy: wanted.policy.to_owned(),
        severity: Severity::Warning,
        path,
        want: Want::Change(Edit::SetTolerationSeconds(index)),
        message,
        help: "write other seconds than the cluster's default if you want them kept".to_owned(),
        from: json!(wanted.cluster_default),
        to: json!(seconds),
    }
}

/// What a toleration means that is left as it is; nothing where it says what would be set anyway.
fn kept(wanted: &Wanted<'_>, key: &str, toleration: &Toleration<'_>, path: String) -> Option<Proposal> {
    // Without seconds it is forever, of which forever-toleration speaks.
    let seconds = toleration.toleration_seconds?;
    let keyless = toleration.key.is_empty();
    if !keyless && wanted.instead_of(seconds).is_none() {
        return None;
    }
    let (severity, message) = if keyless {
        let every = "a key-less toleration with seconds evicts at every NoExecute taint";
        (Severity::Warning, format!("{every}, {key} too, after {seconds} s"))
    } else {
        (
            Severity::Info,
            format!("{key}: evicted after {seconds} s as written, instead of {} s", wanted.seconds),
        )
    };
    let help = if keyless {
        "put seconds on tolerations that name their key"
    } else {
        "write the cluster's default if you have no opinion"
    };
    Some(Proposal::say(wanted.policy, severity, path, message, help))
}
