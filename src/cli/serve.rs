//! `sundown serve`: the webhook.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info, warn};

use super::Global;
use super::policies::{PolicyArgs, load_all};
use crate::policy::Source;
use crate::review::Core;
use crate::rules::{NoView, REGISTRY};
use crate::server::{Ended, Options, Server, Shutdown};
use crate::telemetry::{Check, Health, LogOptions, Metrics, State, init};
use crate::tls::{CertificateFiles, Ephemeral, POLL_INTERVAL, ServedCertificate, server_config};

/// How often policy files are read; they are compared by content.
const POLICY_INTERVAL: Duration = Duration::from_secs(5);

const EXIT_CODES: &str = "\
Exit codes:
  0  ended by SIGTERM or SIGINT, everything in flight answered
  1  ended by a signal, but requests in flight were cut off
  2  usage, a policy that does not load, a certificate that cannot be served, a port that is taken";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct ServeArgs {
    /// Address of the webhook. Port 0 takes a free one, which is logged.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8443", env = "SUNDOWN_LISTEN")]
    listen: SocketAddr,
    /// Address of health checks and metrics (plain HTTP).
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080", env = "SUNDOWN_ADMIN_LISTEN")]
    admin_listen: SocketAddr,
    /// Seconds to keep serving after SIGTERM, until no API server sends new connections.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    drain_seconds: u64,
    #[command(flatten)]
    tls: TlsArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct TlsArgs {
    /// PEM file of the certificate chain; read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "tls_ephemeral")]
    tls_cert: Option<PathBuf>,
    /// PEM file of the private key.
    #[arg(long, value_name = "FILE", requires = "tls_cert", conflicts_with = "tls_ephemeral")]
    tls_key: Option<PathBuf>,
    /// Make a throw-away certificate for localhost, 127.0.0.1, ::1 and each --tls-san.
    #[arg(long)]
    tls_ephemeral: bool,
    /// One more DNS name or IP address of the throw-away certificate. May be repeated.
    #[arg(long, value_name = "NAME", requires = "tls_ephemeral")]
    tls_san: Vec<String>,
    /// Write the throw-away CA to this file, for clients to trust.
    #[arg(long, value_name = "FILE", requires = "tls_ephemeral")]
    tls_ca_out: Option<PathBuf>,
}

pub(super) fn run(args: &ServeArgs, global: &Global) -> anyhow::Result<ExitCode> {
    let guard = init(&LogOptions::from_env(global.log_format, global.verbose))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(serve(args, PolicyArgs::new(&global.policy)));
    runtime.shutdown_background();
    drop(guard);
    Ok(match ended? {
        Ended::Drained => ExitCode::SUCCESS,
        Ended::Cut(_) | Ended::Aborted => ExitCode::from(1),
    })
}

async fn serve(args: &ServeArgs, policies: PolicyArgs) -> anyhow::Result<Ended> {
    let shutdown = Shutdown::on_signals().context("cannot listen for signals")?;
    let health = Health::new();
    let metrics = Arc::new(Metrics::new(&REGISTRY.iter().map(|rule| rule.id).collect::<Vec<_>>()));
    let follower = PolicyFollower::start(policies, &health, Arc::clone(&metrics))?;
    let certificate = ServedCertificate::new(&health, Arc::clone(&metrics));
    start_certificate(&args.tls, &certificate)?;
    let mut options = Options::new(args.listen, args.admin_listen);
    options.drain_delay = Duration::from_secs(args.drain_seconds);
    let tls = server_config(certificate)?;
    let reviewer = Arc::clone(&follower.core) as Arc<_>;
    let bound = Server { options, reviewer, tls, health, metrics }.bind().await?;
    tokio::spawn(follower.follow());
    Ok(bound.serve(shutdown).await)
}

fn start_certificate(args: &TlsArgs, served: &Arc<ServedCertificate>) -> anyhow::Result<()> {
    if let (Some(cert), Some(key)) = (args.tls_cert.clone(), args.tls_key.clone()) {
        let follower = CertificateFiles { cert, key }.start(Arc::clone(served))?;
        tokio::spawn(follower.follow(POLL_INTERVAL));
        return Ok(());
    }
    let ephemeral = Ephemeral::issue(&args.tls_san)?;
    served.replace(ephemeral.pair);
    match &args.tls_ca_out {
        Some(path) => {
            fs::write(path, &ephemeral.ca_pem).with_context(|| format!("cannot write {}", path.display()))?;
            info!(file = %path.display(), "the throw-away CA is written; trust it with: curl --cacert FILE");
        }
        None => {
            info!(
                "the throw-away CA follows; to trust it, save it and give it to curl --cacert, or use --tls-ca-out"
            );
            eprint!("{}", ephemeral.ca_pem);
        }
    }
    Ok(())
}

/// Keeps the policies up to date: reads the files again, and puts what loads in place.
struct PolicyFollower {
    args: PolicyArgs,
    core: Arc<Core>,
    check: Check,
    metrics: Arc<Metrics>,
    /// What was read last, good or bad, so that each content is tried and reported once.
    seen: Result<Vec<Source>, String>,
}

impl PolicyFollower {
    fn start(args: PolicyArgs, health: &Health, metrics: Arc<Metrics>) -> anyhow::Result<Self> {
        let check = health.register("policy", "not loaded yet");
        let sources = args.read()?;
        let (policies, warnings) = load_all(&sources)
            .map_err(|diagnostics| anyhow::anyhow!("the policy does not load\n{diagnostics}"))?;
        for warning in warnings {
            warn!("{warning}");
        }
        let names: Vec<&str> = policies.policies().iter().map(|policy| policy.name.as_str()).collect();
        info!(policies = names.join(","), "policies loaded");
        metrics.policies_loaded(names.len());
        check.set(State::Ok);
        let core = Arc::new(Core::new(policies, Arc::new(NoView)));
        Ok(Self { args, core, check, metrics, seen: Ok(sources) })
    }

    async fn follow(mut self) {
        let mut ticks = interval(POLICY_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.reload_if_changed();
        }
    }

    fn reload_if_changed(&mut self) {
        let read = self.args.read().map_err(|error| format!("{error:#}"));
        if read == self.seen {
            return;
        }
        let loaded = match &read {
            Ok(sources) => load_all(sources).map_err(|diagnostics| diagnostics.to_string()),
            Err(error) => Err(error.clone()),
        };
        match loaded {
            Ok((policies, warnings)) => {
                for warning in warnings {
                    warn!("{warning}");
                }
                let count = policies.policies().len();
                self.core.replace(policies);
                self.check.set(State::Ok);
                self.metrics.policies_reloaded(Some(count));
                info!(policies = count, "policies reloaded");
            }
            Err(reason) => {
                error!("the policy does not load, the last good one stays: {reason}");
                let first = reason.lines().next().unwrap_or_default();
                self.check.set(State::Degraded(format!("the last good policy serves: {first}")));
                self.metrics.policies_reloaded(None);
            }
        }
        self.seen = read;
    }
}
