//! What /proc says of a process, and which core it runs on.

use std::fs;
use std::process::{Command, Stdio};

/// Pins all threads of a process to a core, where that can be done.
pub(crate) fn pin(pid: u32, core: usize) {
    let pinned = Command::new("taskset")
        .args(["-a", "-p", "-c", &core.to_string(), &pid.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !pinned.is_ok_and(|status| status.success()) {
        println!("process {pid} could not be pinned to core {core}; expect noise");
    }
}

/// User and system time so far, in seconds.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the server lives");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).expect("times").parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

/// Resident memory, in MiB.
pub(crate) fn rss_mib(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the server lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}
