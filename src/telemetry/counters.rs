//! Counters over closed label sets: every row exists from the start, counting is one atomic add.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// One counter family with `N` labels whose combinations are all known beforehand.
#[derive(Debug)]
pub(super) struct CounterTable<const N: usize> {
    name: &'static str,
    help: &'static str,
    rows: Vec<Row<N>>,
}

#[derive(Debug)]
struct Row<const N: usize> {
    labels: Labels<N>,
    /// Shown at 0 too, so that `rate()` sees the first event; the rest shows up when it happens.
    expected: bool,
    count: AtomicU64,
}

impl<const N: usize> CounterTable<N> {
    /// An empty table; `name` without the `_total` that the exposition adds.
    pub(super) fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help, rows: Vec::new() }
    }

    /// Adds the row for `labels` behind all others.
    pub(super) fn push(&mut self, labels: Labels<N>, expected: bool) {
        self.rows.push(Row { labels, expected, count: AtomicU64::new(0) });
    }

    /// Counts one event in the row that was pushed as number `row`.
    pub(super) fn inc(&self, row: usize) {
        if let Some(row) = self.rows.get(row) {
            row.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<const N: usize> Collector for CounterTable<N> {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let mut family = encoder.encode_descriptor(self.name, self.help, None, MetricType::Counter)?;
        for row in &self.rows {
            let count = row.count.load(Ordering::Relaxed);
            if row.expected || count > 0 {
                ConstCounter::new(count).encode(family.encode_family(&row.labels)?)?;
            }
        }
        Ok(())
    }
}

/// The place of `value` in `axis`, or the last one, which is the catch-all of every axis used here.
pub(super) fn place<T: PartialEq>(axis: &[T], value: &T) -> usize {
    axis.iter().position(|one| one == value).unwrap_or(axis.len().saturating_sub(1))
}
