//! What a review costs over real TLS, against the floor of the same stack with a constant answer.
//!
//! `cargo bench` alternates floor and full in rounds and prints medians; only ratios of one run compare.
//! `cargo bench -- memory` decides a million reviews and prints the resident memory along the way.
//! `SUNDOWN_BENCH_SECONDS` (default 3) is the length of one measurement, `SUNDOWN_BENCH_CONNECTIONS` (default 16)
//! how many keep-alive connections send.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that cannot run stops"
)]

mod child;
mod load;
mod process;
mod reviewers;

use std::env;
use std::time::Duration;

use child::Child;
use load::{Load, Measured};
use reviewers::Kind;

const ROUNDS: usize = 7;
const MEMORY_STEPS: usize = 10;
const MEMORY_STEP_REVIEWS: usize = 100_000;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    match Kind::ALL.into_iter().find(|kind| named(kind.argument())) {
        Some(kind) => child::serve(kind),
        None if named("memory") => client_runtime().block_on(memory()),
        None => client_runtime().block_on(compare()),
    }
}

/// The load generator has a core of its own, so that it does not take from the server's.
fn client_runtime() -> tokio::runtime::Runtime {
    process::pin(std::process::id(), 1);
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn number(name: &str, default: usize) -> usize {
    env::var(name)
        .map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

async fn compare() {
    let seconds = Duration::from_secs(number("SUNDOWN_BENCH_SECONDS", 3) as u64);
    let connections = number("SUNDOWN_BENCH_CONNECTIONS", 16);
    let (floor, full) = (Child::start(Kind::Floor), Child::start(Kind::Full));
    println!("start to listening: floor {:?}, full {:?}", floor.started_in, full.started_in);
    let mut rounds: Vec<(Measured, Measured)> = Vec::new();
    let (mut to_floor, mut to_full) =
        (Load::connect(&floor, connections).await, Load::connect(&full, connections).await);
    for _ in 0..ROUNDS {
        let low = to_floor.run_for(seconds).await;
        let high = to_full.run_for(seconds).await;
        println!("floor {low}\nfull  {high}");
        rounds.push((low, high));
    }
    let ratio = |of: fn(&Measured) -> f64| median(rounds.iter().map(|(low, high)| of(high) / of(low)));
    println!("\nmedians of {ROUNDS} rounds of {seconds:?}, {connections} connections");
    println!("floor {}", Measured::median(&rounds.iter().map(|(low, _)| low)));
    println!("full  {}", Measured::median(&rounds.iter().map(|(_, high)| high)));
    println!(
        "full/floor: requests/s {:.2}, CPU per request {:.2}, p50 {:.2}, p99 {:.2}",
        ratio(|one| one.per_second),
        ratio(|one| one.cpu_us),
        ratio(|one| one.p50_us),
        ratio(|one| one.p99_us)
    );
}

async fn memory() {
    let full = Child::start(Kind::Full);
    let mut load = Load::connect(&full, number("SUNDOWN_BENCH_CONNECTIONS", 16)).await;
    println!("{:>9} reviews: {:.1} MiB", 0, full.rss_mib());
    for step in 1..=MEMORY_STEPS {
        load.run_count(MEMORY_STEP_REVIEWS).await;
        println!("{:>9} reviews: {:.1} MiB", step * MEMORY_STEP_REVIEWS, full.rss_mib());
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
