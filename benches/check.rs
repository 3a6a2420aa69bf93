//! What `sundown check` costs on 10,000 manifests, against reading them only. `cargo bench --bench check`.
//!
//! Prints seconds and peak memory of the binary for 1,000 and 10,000 files, and for one file of 10,000 documents: the
//! time should grow with the input, the memory with the findings only.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run stops")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/000-reference-policy.yaml");

/// A manifest of ordinary size, in which nothing is to be found: what is kept in memory is then the index alone.
fn manifest(number: usize) -> String {
    let mut text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{number}, namespace: shop}}\nspec:\n  replicas: 3\n  \
         selector: {{matchLabels: {{app: web-{number}}}}}\n  template:\n    metadata: {{labels: {{app: web-{number}}}}}\n    \
         spec:\n      terminationGracePeriodSeconds: 20\n      containers:\n"
    );
    for container in 0..3 {
        writeln!(
            text,
            "      - name: c{container}\n        image: registry.example.com/web:{number}\n        env:"
        )
        .unwrap();
        for variable in 0..20 {
            writeln!(text, "        - {{name: VARIABLE_{variable}, value: \"value of {variable}\"}}")
                .unwrap();
        }
    }
    text
}

/// Runs `check`; seconds and peak resident MiB.
fn check(path: &Path) -> (f64, f64) {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sundown"))
        .args(["check", "--policy", POLICY, "-o", "json", "--fail-on", "never"])
        .arg(path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
        let kib: f64 = line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0.0);
        peak = f64::max(peak, kib / 1024.0);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (start.elapsed().as_secs_f64(), peak)
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let mut one_file = String::new();
    for count in [1_000, 10_000] {
        let files = folder.path().join(count.to_string());
        fs::create_dir(&files).unwrap();
        for number in 0..count {
            let text = manifest(number);
            fs::write(files.join(format!("{number}.yaml")), &text).unwrap();
            if count == 10_000 {
                one_file.push_str("---\n");
                one_file.push_str(&text);
            }
        }
        let (seconds, peak) = check(&files);
        println!("{count:>6} files: {seconds:.2} s, peak {peak:.1} MiB");
    }
    let bundle = folder.path().join("bundle.yaml");
    fs::write(&bundle, &one_file).unwrap();
    let (seconds, peak) = check(&bundle);
    let size = one_file.len() as f64 / f64::from(1 << 20);
    println!("10000 documents in one file of {size:.0} MiB: {seconds:.2} s, peak {peak:.1} MiB");
}
