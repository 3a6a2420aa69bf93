//! `sundown policy`: check, presets, schema.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Subcommand;

use super::Global;
use super::policies::{PolicyArgs, load_all};
use crate::policy::{DEFAULT_PRESET, PolicySet, preset, presets, schema};
use crate::rules::{REGISTRY, catalogue};
use crate::shutdown::CRITICAL_PRIORITY;

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Load policies and say everything that is wrong with them, and what windows they give.
    #[command(
        after_help = "Exit codes: 0 the policies load, 1 they do not, 2 usage or a file that cannot be read."
    )]
    Check {
        /// Policy files or directories, or preset:NAME; as with --policy.
        #[arg(value_name = "FILE|DIR|preset:NAME")]
        paths: Vec<String>,
    },
    /// List the presets that ship with sundown, or print one.
    #[command(after_help = "Exit codes: 0 printed, 2 usage or an unknown preset.")]
    Presets {
        /// Print this preset, as a file to start from.
        name: Option<String>,
    },
    /// Print the JSON Schema of policy files, for editors and validators.
    #[command(after_help = "Exit codes: 0 printed, 2 usage.")]
    Schema,
}

pub(super) fn run(command: &PolicyCommand, global: &Global) -> anyhow::Result<ExitCode> {
    match command {
        PolicyCommand::Check { paths } => {
            let given: Vec<String> = global.policy.iter().chain(paths).cloned().collect();
            check(&PolicyArgs::new(&given))
        }
        PolicyCommand::Presets { name: None } => print(&list()),
        PolicyCommand::Presets { name: Some(name) } => {
            let known: Vec<_> = presets().iter().map(|preset| preset.name).collect();
            let preset = preset(name.strip_prefix("preset:").unwrap_or(name)).ok_or_else(|| {
                anyhow::anyhow!("there is no preset {name:?}: the presets are {}", known.join(", "))
            })?;
            print(preset.text)
        }
        PolicyCommand::Schema => print(&(serde_json::to_string_pretty(&schema(&catalogue()))? + "\n")),
    }
}

fn print(text: &str) -> anyhow::Result<ExitCode> {
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    let mut text = String::new();
    for preset in presets() {
        let default = if preset.name == DEFAULT_PRESET { " (the default)" } else { "" };
        let _ = writeln!(text, "{:<18} {}{default}", preset.name, preset.title());
    }
    text
}

fn check(args: &PolicyArgs) -> anyhow::Result<ExitCode> {
    match load_all(&args.read()?) {
        Ok((policies, warnings)) => {
            for warning in warnings {
                println!("{warning}");
            }
            print(&describe(&policies))
        }
        Err(diagnostics) => {
            println!("{diagnostics}");
            Ok(ExitCode::from(1))
        }
    }
}

/// The windows and modes of loaded policies.
fn describe(policies: &PolicySet) -> String {
    let mut text = String::new();
    for policy in policies.policies() {
        let taint =
            policy.pool.taint.as_ref().map_or_else(|| "no taint".to_owned(), crate::subject::Taint::display);
        let _ = writeln!(text, "policy {}: {taint}", policy.name);
        let mut priorities: Vec<i32> =
            policy.windows.buckets().iter().map(|bucket| bucket.priority).collect();
        priorities.extend([0, CRITICAL_PRIORITY]);
        priorities.sort_unstable();
        priorities.dedup();
        for priority in priorities {
            let _ =
                writeln!(text, "  window from priority {priority}: {} s", policy.windows.seconds(priority));
        }
        for (index, rule) in REGISTRY.iter().enumerate() {
            let _ = writeln!(text, "  {:<26} {}", rule.id, policy.rules.mode(index).as_str());
        }
    }
    text
}
