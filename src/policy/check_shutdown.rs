//! Checks `spec.shutdown`.

use super::file::{RawBucket, RawNotice, RawShutdown};
use super::issues::Issues;
use crate::shutdown::{Bucket, Notice, Windows, parse_duration};

const AT: &str = "/spec/shutdown";
const NANOS: i64 = 1_000_000_000;

/// The shutdown budget; meaningful only if there is no error.
pub(super) fn windows(raw: Option<RawShutdown>, issues: &mut Issues) -> Windows {
    let Some(raw) = raw else {
        issues.error("/spec", "shutdown is missing", "add shutdown with shutdownGracePeriod or notice");
        return Windows::default();
    };
    let errors_before = issues.0.len();
    let notice = raw.notice.map(|raw| notice(&raw, issues));
    let form = form(&raw.shutdown_grace_period, &raw.shutdown_grace_period_critical_pods, issues);
    let buckets = raw.shutdown_grace_period_by_pod_priority.filter(|list| !list.is_empty());
    let asked = match (buckets, form) {
        (Some(list), None | Some((0, 0))) => by_priority(&list, issues),
        (Some(_), Some(_)) => {
            issues.error(
                &format!("{AT}/shutdownGracePeriodByPodPriority"),
                "both shutdown forms are set, which the kubelet refuses",
                "keep shutdownGracePeriod and shutdownGracePeriodCriticalPods, or the form by pod priority",
            );
            Windows::default()
        }
        (None, Some((total, critical))) => Windows::two_flags(total, critical),
        (None, None) => {
            let is_written =
                raw.shutdown_grace_period.is_some() || raw.shutdown_grace_period_critical_pods.is_some();
            if notice.is_none() && !is_written {
                issues.error(
                    AT,
                    "neither a window form nor a notice",
                    "add shutdownGracePeriod (0s when graceful node shutdown is off), shutdownGracePeriodByPodPriority, or notice",
                );
            }
            Windows::default()
        }
    };
    let delay = raw.logind.unwrap_or_default().inhibit_delay_max_sec;
    let reserve = raw.reserve_seconds.map_or(0, |s| issues.at_least(&format!("{AT}/reserveSeconds"), s, 0));
    let mut windows = asked.with_notice(notice).with_reserve(reserve);
    if let Some(seconds) = raw.deadline_seconds {
        windows = windows.with_deadline(issues.at_least(&format!("{AT}/deadlineSeconds"), seconds, 1));
    }
    inhibit_delay(delay, &windows, issues);
    if issues.0.len() == errors_before && windows.seconds(0) == 0 {
        issues.warning(
            AT,
            "the window of ordinary pods is 0 s: no grace period helps on this pool",
            "turn graceful node shutdown on for its nodes and write the numbers here",
        );
    }
    windows
}

/// The two-flag form in whole seconds, `None` where neither flag is set.
fn form(total: &Option<String>, critical: &Option<String>, issues: &mut Issues) -> Option<(i64, i64)> {
    if total.is_none() && critical.is_none() {
        return None;
    }
    let total = total.as_deref().map_or(Some(0), |text| duration("shutdownGracePeriod", text, issues));
    let field = "shutdownGracePeriodCriticalPods";
    let critical = critical.as_deref().map_or(Some(0), |text| duration(field, text, issues));
    let (total, critical) = (total?, critical?);
    if critical > total {
        issues.error(
            &format!("{AT}/{field}"),
            format!("{} s for critical pods is more than the whole {} s", critical / NANOS, total / NANOS),
            "the part for critical pods is taken from shutdownGracePeriod: make it smaller",
        );
        return None;
    }
    // The kubelet truncates the regular part and the critical part to whole seconds each.
    let (regular, critical) = ((total - critical) / NANOS, critical / NANOS);
    Some((regular + critical, critical))
}

fn duration(field: &str, text: &str, issues: &mut Issues) -> Option<i64> {
    let pointer = format!("{AT}/{field}");
    let nanos = match parse_duration(text) {
        Ok(nanos) => nanos,
        Err(error) => {
            issues.error(
                &pointer,
                format!("{text:?} {error}"),
                "the kubelet takes Go's durations: 150s, 2m30s, 1h",
            );
            return None;
        }
    };
    if nanos < 0 || (nanos != 0 && nanos < NANOS) || nanos / NANOS > i64::from(i32::MAX) {
        issues.error(
            &pointer,
            format!("{text:?} is neither 0 nor at least 1 s"),
            "the kubelet refuses it: write 0s, or 1s and more",
        );
        return None;
    }
    Some(nanos)
}

fn by_priority(list: &[RawBucket], issues: &mut Issues) -> Windows {
    let mut buckets: Vec<Bucket> = Vec::new();
    for (index, raw) in list.iter().enumerate() {
        let pointer = format!("{AT}/shutdownGracePeriodByPodPriority/{index}");
        let (Some(priority), Some(seconds)) = (raw.priority, raw.shutdown_grace_period_seconds) else {
            issues.error(
                &pointer,
                "an entry needs both its fields",
                "write {priority: 0, shutdownGracePeriodSeconds: 60}",
            );
            continue;
        };
        let seconds = issues.at_least(&format!("{pointer}/shutdownGracePeriodSeconds"), seconds, 0);
        if buckets.iter().any(|known| known.priority == priority) {
            issues.error(
                &format!("{pointer}/priority"),
                format!("priority {priority} is there twice"),
                "keep one entry for each priority",
            );
        }
        buckets.push(Bucket { priority, seconds });
    }
    Windows::by_priority(buckets)
}

fn notice(raw: &RawNotice, issues: &mut Issues) -> Notice {
    let at = format!("{AT}/notice");
    let Some(seconds) = raw.seconds else {
        issues.error(&at, "notice has no seconds", "add seconds: how long before its end the node is warned");
        return Notice { seconds: 0, reaction_seconds: 0 };
    };
    let seconds = issues.at_least(&format!("{at}/seconds"), seconds, 1);
    let reaction = raw.reaction_seconds.unwrap_or(0);
    let reaction_seconds = issues.at_least(&format!("{at}/reactionSeconds"), reaction, 0);
    if reaction_seconds >= seconds {
        issues.error(
            &format!("{at}/reactionSeconds"),
            format!("the reaction of {reaction_seconds} s uses up the notice of {seconds} s"),
            "write the seconds until the drain begins, fewer than the notice",
        );
    }
    Notice { seconds, reaction_seconds }
}

fn inhibit_delay(delay: Option<i64>, windows: &Windows, issues: &mut Issues) {
    let Some(delay) = delay else { return };
    let pointer = format!("{AT}/logind/inhibitDelayMaxSec");
    let delay = issues.at_least(&pointer, delay, 0);
    let sum = windows.inhibit_seconds();
    if delay < sum {
        issues.error(
            &pointer,
            format!("{delay} s is below the {sum} s that the kubelet asks logind to wait"),
            format!("write {sum} or more, else the kubelet does not start its shutdown manager"),
        );
    }
}
