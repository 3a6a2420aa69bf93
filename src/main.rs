//! The `sundown` binary: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // Usage errors exit with 2, `--help` and `--version` with 0: clap's own codes are those of the contract.
    let cli = sundown::cli::Cli::parse();
    match sundown::cli::run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
