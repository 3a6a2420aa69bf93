//! Buckets of the kubelet's graceful node shutdown, and the window a pod gets of them.

/// From this priority on a pod is critical (`system-cluster-critical`; `system-node-critical` is 1000 more).
/// Source: `SystemCriticalPriority` in Kubernetes' `pkg/apis/scheduling/types.go`.
pub const CRITICAL_PRIORITY: i32 = 2_000_000_000;

/// One phase of the kubelet's shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest pod priority that falls into it.
    pub priority: i32,
    /// Seconds the phase may last.
    pub seconds: i64,
}

/// Where the cloud warns ahead and something drains the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Seconds between the warning and the end of the node.
    pub seconds: i64,
    /// Seconds until the drain begins.
    pub reaction_seconds: i64,
}

/// The shutdown budget of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Sorted by priority, lowest first; already cut to the deadline. Empty: graceful shutdown is off.
    buckets: Vec<Bucket>,
    notice: Option<Notice>,
    reserve_seconds: i64,
}

impl Windows {
    /// The two-flag form, in whole seconds: `total` is shutdownGracePeriod, `critical` is
    /// shutdownGracePeriodCriticalPods. A total of 0 turns graceful shutdown off.
    /// Source: `migrateConfig` in the kubelet's `nodeshutdown_manager.go`.
    pub fn two_flags(total: i64, critical: i64) -> Self {
        if total == 0 {
            return Self::default();
        }
        Self::by_priority(vec![
            Bucket { priority: 0, seconds: total - critical },
            Bucket { priority: CRITICAL_PRIORITY, seconds: critical },
        ])
    }

    /// The form by pod priority; the order does not matter.
    pub fn by_priority(mut buckets: Vec<Bucket>) -> Self {
        buckets.sort_by_key(|bucket| bucket.priority);
        Self { buckets, ..Self::default() }
    }

    /// Adds the cloud's notice.
    #[must_use]
    pub fn with_notice(self, notice: Option<Notice>) -> Self {
        Self { notice, ..self }
    }

    /// Keeps this many seconds free in every window.
    #[must_use]
    pub fn with_reserve(self, reserve_seconds: i64) -> Self {
        Self { reserve_seconds, ..self }
    }

    /// Cuts the budget to a hard deadline in seconds: the regular buckets shrink first, from the top, the
    /// critical ones last. A notice longer than the deadline is cut to it.
    #[must_use]
    pub fn with_deadline(mut self, deadline_seconds: i64) -> Self {
        let mut excess = self.inhibit_seconds().saturating_sub(deadline_seconds).max(0);
        let regular_first = |bucket: &&mut Bucket| bucket.priority < CRITICAL_PRIORITY;
        let (regular, critical): (Vec<_>, Vec<_>) = self.buckets.iter_mut().partition(regular_first);
        for bucket in regular.into_iter().rev().chain(critical.into_iter().rev()) {
            let cut = excess.min(bucket.seconds);
            bucket.seconds -= cut;
            excess -= cut;
        }
        if let Some(notice) = &mut self.notice {
            notice.seconds = notice.seconds.min(deadline_seconds);
        }
        self
    }

    /// The phases as the kubelet runs them, lowest priority first.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Seconds the kubelet asks logind to delay the shutdown: the sum of all phases, empty ones too.
    pub fn inhibit_seconds(&self) -> i64 {
        self.buckets.iter().map(|bucket| bucket.seconds).fold(0, i64::saturating_add)
    }

    /// Seconds of the phases from [`CRITICAL_PRIORITY`] up.
    pub fn critical_seconds(&self) -> i64 {
        let critical = self.buckets.iter().filter(|bucket| bucket.priority >= CRITICAL_PRIORITY);
        critical.map(|bucket| bucket.seconds).fold(0, i64::saturating_add)
    }

    /// The bucket of a priority: the greatest entry that is not above it, or the lowest one.
    /// Source: `groupByPriority` in the kubelet's `nodeshutdown_manager.go`.
    pub fn bucket(&self, priority: i32) -> Option<&Bucket> {
        let at_or_below = self.buckets.iter().rev().find(|bucket| bucket.priority <= priority);
        at_or_below.or_else(|| self.buckets.first())
    }

    /// The window in seconds of a pod of this priority; 0 when nothing waits for it.
    pub fn seconds(&self, priority: i32) -> i64 {
        let granted = match self.notice {
            // The drain begins after the reaction, and the kubelet still needs its critical phases.
            Some(notice) if priority < CRITICAL_PRIORITY => {
                notice.seconds - notice.reaction_seconds - self.critical_seconds()
            }
            Some(_) => self
                .bucket(priority)
                .filter(|bucket| bucket.priority >= CRITICAL_PRIORITY)
                .map_or(0, |bucket| bucket.seconds),
            None => self.bucket(priority).map_or(0, |bucket| bucket.seconds),
        };
        granted.saturating_sub(self.reserve_seconds).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(list: &[(i32, i64)]) -> Windows {
        Windows::by_priority(list.iter().map(|&(priority, seconds)| Bucket { priority, seconds }).collect())
    }

    #[test]
    fn two_flags_as_measured_in_the_field() {
        assert_eq!(Windows::two_flags(30, 10).seconds(0), 20);
        assert_eq!(Windows::two_flags(300, 20).seconds(0).min(600), 280);
        let final_setting = Windows::two_flags(150, 30);
        assert_eq!(final_setting.seconds(0).min(300), 120);
        assert_eq!(final_setting.seconds(CRITICAL_PRIORITY), 30);
        assert_eq!(final_setting.inhibit_seconds(), 150);
    }

    #[test]
    fn a_pod_falls_into_the_greatest_bucket_not_above_it() {
        let windows = buckets(&[(10_000, 180), (0, 60), (100_000, 10), (1000, 120)]);
        for (priority, want) in [
            (i32::MIN, 60),
            (-1, 60),
            (0, 60),
            (999, 60),
            (1000, 120),
            (9999, 120),
            (10_000, 180),
            (100_000, 10),
            (2_000_001_000, 10),
        ] {
            assert_eq!(windows.seconds(priority), want, "priority {priority}");
        }
        assert_eq!(buckets(&[(0, 60), (10_000, 1)]).seconds(5000), 60, "not bucket 10000");
        assert_eq!(buckets(&[(1000, 7), (2000, 8)]).seconds(-5), 7, "below the lowest: the lowest");
    }

    #[test]
    fn the_inhibit_time_is_the_sum() {
        let windows = buckets(&[(0, 60), (10_000, 60), (2_000_000_000, 30), (2_000_001_000, 10)]);
        assert_eq!(windows.inhibit_seconds(), 160);
        assert_eq!(windows.critical_seconds(), 40);
    }

    #[test]
    fn a_notice_replaces_the_regular_buckets() {
        let aws = Some(Notice { seconds: 120, reaction_seconds: 1 });
        let windows = Windows::two_flags(150, 30).with_notice(aws);
        assert_eq!((windows.seconds(0), windows.seconds(CRITICAL_PRIORITY)), (89, 30));
        let off = Windows::two_flags(0, 0).with_notice(aws);
        assert_eq!((off.seconds(0), off.seconds(CRITICAL_PRIORITY)), (119, 0));
        assert_eq!(windows.with_reserve(9).seconds(0), 80);
    }

    #[test]
    fn graceful_shutdown_off_gives_nothing() {
        assert_eq!(Windows::two_flags(0, 0).seconds(0), 0);
        assert_eq!(Windows::two_flags(30, 30).seconds(0), 0);
        assert_eq!(Windows::two_flags(30, 10).with_reserve(25).seconds(0), 0, "never negative");
    }

    #[test]
    fn a_deadline_cuts_regular_buckets_from_the_top_and_critical_ones_last() {
        let windows = buckets(&[(0, 60), (1000, 60), (CRITICAL_PRIORITY, 30)]);
        let at = |deadline: i64| {
            let cut = windows.clone().with_deadline(deadline);
            (cut.seconds(0), cut.seconds(1000), cut.seconds(CRITICAL_PRIORITY))
        };
        assert_eq!(at(150), (60, 60, 30));
        assert_eq!(at(120), (60, 30, 30));
        assert_eq!(at(70), (40, 0, 30));
        assert_eq!(at(20), (0, 0, 20));
        let noticed = Windows::two_flags(150, 30)
            .with_notice(Some(Notice { seconds: 120, reaction_seconds: 0 }))
            .with_deadline(100);
        assert_eq!(noticed.seconds(0), 70);
    }
}
