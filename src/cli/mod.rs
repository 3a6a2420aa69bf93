//! The command line: one file for each subcommand.

mod check;
mod policies;
mod policy;
mod serve;
mod walk;

use std::io;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::telemetry::LogFormat;

/// Makes workloads on preemptible (spot) Kubernetes nodes end well.
#[derive(Debug, Parser)]
#[command(name = "sundown", bin_name = "sundown", version, propagate_version = true, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every subcommand takes.
#[derive(Debug, Args)]
struct Global {
    /// Policy: a file, a directory of files, or preset:NAME (see `sundown policy presets`). May be repeated.
    #[arg(long, global = true, value_name = "FILE|DIR|preset:NAME")]
    policy: Vec<String>,
    /// Format of the log on standard error.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// More of the log; twice for even more. The variable RUST_LOG says it in detail.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the admission webhook.
    Serve(serve::ServeArgs),
    /// Check manifests: what sundown would change, refuse or advise.
    Check(check::CheckArgs),
    /// Check, list and describe policies.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Print a completion script for a shell.
    #[command(after_help = "Exit codes: 0 printed, 2 usage.")]
    Completions {
        /// Shell.
        shell: clap_complete::Shell,
    },
}

/// Runs the command; the exit code is that of the contract.
///
/// # Errors
/// What makes the command impossible: exit code 2.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Serve(args) => serve::run(&args, &cli.global),
        Command::Check(args) => check::run(&args, &cli.global),
        Command::Policy(command) => policy::run(&command, &cli.global),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "sundown", &mut io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    }
}
