//! `process_*` metrics by Prometheus' conventions, read from /proc when scraped.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Ticks per second in /proc/<pid>/stat: USER_HZ, 100 on every Linux that Rust supports.
const TICKS_PER_SECOND: f64 = 100.0;

/// Reads /proc at each scrape; what cannot be read is left out.
#[derive(Debug)]
pub(super) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        if let Some(stat) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Stat::parse) {
            let cpu = ConstCounter::new(stat.cpu_seconds);
            put(
                &mut encoder,
                "process_cpu_seconds",
                "Total user and system CPU time spent in seconds",
                &cpu,
            )?;
            if let Some(boot) = fs::read_to_string("/proc/stat").ok().as_deref().and_then(boot_time) {
                let start = ConstGauge::new(boot + stat.start_seconds);
                let help = "Start time of the process since unix epoch in seconds";
                put(&mut encoder, "process_start_time_seconds", help, &start)?;
            }
        }
        if let Some(status) = fs::read_to_string("/proc/self/status").ok().as_deref().and_then(resident_bytes)
        {
            let resident = ConstGauge::new(status);
            put(&mut encoder, "process_resident_memory_bytes", "Resident memory size in bytes", &resident)?;
        }
        if let Ok(descriptors) = fs::read_dir("/proc/self/fd") {
            // The listing itself holds one descriptor open.
            let open = ConstGauge::new(descriptors.count().saturating_sub(1));
            put(&mut encoder, "process_open_fds", "Number of open file descriptors", &open)?;
        }
        Ok(())
    }
}

fn put(
    encoder: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    metric: &impl EncodeMetric,
) -> Result<(), fmt::Error> {
    metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
}

#[derive(Debug, PartialEq)]
struct Stat {
    cpu_seconds: f64,
    start_seconds: f64,
}

impl Stat {
    /// proc(5): utime, stime and starttime are fields 14, 15 and 22; the name in field 2 may hold blanks and `)`.
    fn parse(stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
        Some(Self {
            cpu_seconds: (ticks(14)? + ticks(15)?) / TICKS_PER_SECOND,
            start_seconds: ticks(22)? / TICKS_PER_SECOND,
        })
    }
}

/// Seconds since the epoch at which the machine started.
fn boot_time(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_three_fields_behind_an_awkward_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 90 0 0 0 150 50 0 0 20 0 3 0 12345 9 9";
        assert_eq!(Stat::parse(stat), Some(Stat { cpu_seconds: 2.0, start_seconds: 123.45 }));
        assert_eq!(Stat::parse("7 (a) S 1"), None);
    }

    #[test]
    fn reads_boot_time_and_resident_memory() {
        assert_eq!(boot_time("cpu 1 2\nbtime 1700000000\nprocs 3\n"), Some(1_700_000_000.0));
        assert_eq!(resident_bytes("Name:\tx\nVmRSS:\t    8192 kB\n"), Some(8_388_608));
        assert_eq!(resident_bytes("Name:\tx\n"), None);
    }
}
