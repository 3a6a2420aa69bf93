//! grace-period: terminationGracePeriodSeconds within the window.

use serde_json::json;

use super::finding::{Mode, Severity};
use super::proposal::{Edit, Proposal, Want};
use super::registry::{Objects, Pools, Rule, index_of};
use super::scene::{Group, Kind, Scene, Subject};
use crate::policy::{GraceDefault, RuleKind};
use crate::subject::{ControllerKind, DEFAULT_GRACE_SECONDS};

pub(super) const RULE: Rule = Rule {
    id: "grace-period",
    kind: RuleKind::Core,
    pools: Pools::Reached,
    objects: Objects::Pods,
    summary: "Keeps terminationGracePeriodSeconds within the window, and fills in a default where none was written.",
    why: "The node gives a pod no more than its window: a longer grace is a promise that is broken with SIGKILL. \
          Exactly 30 is what the API server fills in when nothing was written, so only 30 takes the policy's default.",
    leaves: "Graces within the window, mirror and system-critical pods, any pod where the window is 0, and pods \
             without a controller that were applied (their grace is immutable, the next apply would fail: they are \
             warned about). Pods of DaemonSets are capped only. Never set below the longest lifecycle sleep, which \
             the API server would refuse.",
    opt_out: "Annotate the pod (template) with sundown.dev/grace-period: keep, or with whole seconds; both are still \
              capped.",
    before: "spec:\n  terminationGracePeriodSeconds: 600",
    after: "spec:\n  terminationGracePeriodSeconds: 120   # the window of the pool",
    decide,
};

/// Annotation on the pod: `keep`, or seconds.
const ANNOTATION: &str = "sundown.dev/grace-period";
const FIELD: &str = "/spec/terminationGracePeriodSeconds";

/// What the user wrote for this one workload.
enum Wish {
    None,
    Keep,
    Seconds(i64),
    Malformed(String),
    NotAllowed,
}

fn wish(subject: &Subject<'_>, group: &Group<'_>) -> Wish {
    let Some(text) = subject.pod_metadata.annotations.get(ANNOTATION) else { return Wish::None };
    if !group.cases.iter().all(|case| case.policy.exemptions) {
        return Wish::NotAllowed;
    }
    match (text, text.parse::<i64>()) {
        ("keep", _) => Wish::Keep,
        (_, Ok(seconds)) if seconds >= 0 => Wish::Seconds(seconds),
        _ => Wish::Malformed(text.to_owned()),
    }
}

/// The grace that one group of policies gives, and where it comes from.
struct Given<'a> {
    seconds: i64,
    window: i64,
    policy: &'a str,
    /// The longest sleep holds it above the window or the wish.
    held_by_sleep: bool,
}

fn given<'a>(subject: &Subject<'_>, group: &Group<'a>, wish: &Wish) -> Option<Given<'a>> {
    let pod = subject.pod;
    let (window, policy) = group.tightest(pod)?;
    if pod.is_system_critical() || window == 0 {
        return None;
    }
    let asked = pod.grace_seconds();
    let written = asked != DEFAULT_GRACE_SECONDS || subject.controller == Some(ControllerKind::DaemonSet);
    let wished = match wish {
        Wish::Seconds(seconds) => *seconds,
        Wish::None | Wish::Malformed(_) | Wish::NotAllowed if !written => {
            default_seconds(group, window, asked)
        }
        _ => asked,
    };
    let capped = wished.min(window);
    // A sleep longer than what was asked is the user's mistake, and the API server's to refuse.
    let sleep = pod.longest_sleep_seconds();
    let floor = if sleep <= asked { sleep } else { 0 };
    Some(Given { seconds: capped.max(floor), window, policy, held_by_sleep: floor > capped })
}

/// The smallest default among the policies that have one.
fn default_seconds(group: &Group<'_>, window: i64, asked: i64) -> i64 {
    let defaults = group.cases.iter().filter_map(|case| match case.policy.rules.grace_period.default {
        GraceDefault::Keep => None,
        GraceDefault::Window => Some(window),
        GraceDefault::Seconds(seconds) => Some(seconds),
    });
    defaults.min().unwrap_or(asked)
}

/// The grace in seconds that the pod has once policies of at least this mode have had their say.
pub(super) fn grace_after(scene: &Scene<'_>, mode: Mode) -> i64 {
    let strongest = Group::by_mode(&scene.pooled.reached, index_of(RULE.id)).into_iter().next();
    strongest
        .filter(|group| group.mode >= mode)
        .and_then(|group| given(scene.subject, &group, &wish(scene.subject, &group)))
        .map_or(scene.subject.pod.grace_seconds(), |given| given.seconds)
}

fn decide(scene: &Scene<'_>, group: &Group<'_>) -> Vec<Proposal> {
    let subject = scene.subject;
    let wish = wish(subject, group);
    let mut proposals: Vec<_> = about_annotation(subject, group, &wish).into_iter().collect();
    let Some(given) = given(subject, group, &wish) else { return proposals };
    let asked = subject.pod.grace_seconds();
    if asked == 0 {
        proposals.push(Proposal::say(
            given.policy,
            Severity::Info,
            subject.pod_path(FIELD),
            "a grace of 0 s kills at once, and is kept",
            "write a grace period if the containers have anything to finish",
        ));
    }
    if given.seconds != asked {
        proposals.push(change(subject, &given, asked, &wish));
    }
    if given.held_by_sleep {
        proposals.push(Proposal::say(
            given.policy,
            Severity::Warning,
            subject.pod_path(FIELD),
            format!(
                "a lifecycle sleep of {} s holds the grace above the window of {} s: SIGKILL comes during the sleep",
                given.seconds, given.window
            ),
            "shorten the sleep",
        ));
    }
    proposals
}

fn change(subject: &Subject<'_>, given: &Given<'_>, asked: i64, wish: &Wish) -> Proposal {
    let unwritten = match wish {
        // An annotation is written too: only what it asks for and gets goes against nothing.
        Wish::Seconds(wished) => *wished == given.seconds,
        _ => asked == DEFAULT_GRACE_SECONDS,
    };
    let applied = subject.kind == Kind::Pod && subject.controller.is_none() && subject.metadata.is_applied();
    let of_pool = format!("the window of pool {} is {} s", given.policy, given.window);
    let message = match wish {
        _ if applied => {
            format!("{asked} s asked, but {of_pool}: kept, since an applied pod's grace is immutable")
        }
        Wish::Seconds(wished) => {
            format!("{wished} s asked by annotation, {} s given: {of_pool}", given.seconds)
        }
        _ if unwritten => format!("no grace is written, {} s given: {of_pool}", given.seconds),
        _ => format!("{asked} s asked, {} s given: {of_pool}", given.seconds),
    };
    Proposal {
        policy: given.policy.to_owned(),
        severity: if unwritten || applied { Severity::Warning } else { Severity::Error },
        path: subject.pod_path(FIELD),
        want: if applied { Want::Say } else { Want::Change(Edit::SetGrace) },
        message,
        help: format!("write terminationGracePeriodSeconds: {}", given.seconds),
        from: json!(asked),
        to: json!(given.seconds),
    }
}

fn about_annotation(subject: &Subject<'_>, group: &Group<'_>, wish: &Wish) -> Option<Proposal> {
    let message = match wish {
        Wish::Malformed(text) => {
            let shown: String = text.chars().take(30).collect();
            format!("annotation {ANNOTATION} is {shown:?}: ignored")
        }
        Wish::NotAllowed => format!("annotation {ANNOTATION} is ignored: the policy allows no exemptions"),
        _ => return None,
    };
    Some(Proposal::say(
        group.policy(),
        Severity::Warning,
        subject.pod_path("/metadata/annotations/sundown.dev~1grace-period"),
        message,
        "write keep, or whole seconds",
    ))
}
