//! From what to serve, to bound, to served and drained.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use prometheus_client::metrics::gauge::Gauge;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::{info, warn};

use super::accept::{self, Service};
use super::admin::admin;
use super::app::{AppState, app};
use super::handshake::Handshaker;
use super::http::Http;
use super::options::{Limits, Options};
use super::shutdown::Shutdown;
use crate::review::Reviewer;
use crate::telemetry::{Check, Health, Metrics, State};

/// What to serve; nothing is bound yet.
pub struct Server {
    /// Addresses, limits and times.
    pub options: Options,
    /// Decides.
    pub reviewer: Arc<dyn Reviewer>,
    /// How TLS is spoken; see [`crate::tls::server_config`].
    pub tls: Arc<ServerConfig>,
    /// Readiness; a check `shutdown` is added.
    pub health: Health,
    /// Metrics.
    pub metrics: Arc<Metrics>,
}

/// A port cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {cause}; choose another address with {flag}")]
pub struct BindError {
    address: SocketAddr,
    flag: &'static str,
    cause: io::Error,
}

/// Both ports are held, and connections wait in them; nothing is answered yet.
pub struct Bound {
    server: Server,
    webhook: TcpListener,
    admin: TcpListener,
    address: SocketAddr,
    admin_address: SocketAddr,
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything in flight was answered.
    Drained,
    /// This many connections were still busy at the deadline.
    Cut(usize),
    /// A second signal came.
    Aborted,
}

impl Server {
    /// Takes both ports and logs their addresses.
    ///
    /// # Errors
    /// When one is taken or not permitted.
    pub async fn bind(self) -> Result<Bound, BindError> {
        let (webhook, address) = listen(self.options.listen, "--listen").await?;
        let (admin, admin_address) = listen(self.options.admin_listen, "--admin-listen").await?;
        info!(address = address.to_string(), admin_address = admin_address.to_string(), "listening");
        Ok(Bound { server: self, webhook, admin, address, admin_address })
    }
}

async fn listen(address: SocketAddr, flag: &'static str) -> Result<(TcpListener, SocketAddr), BindError> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bound.await.map_err(|cause| BindError { address, flag, cause })
}

impl Bound {
    /// Where the webhook listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where health and metrics are.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin_address
    }

    /// Serves until `shutdown`, then: unready, `drain_delay` of serving on, no new connections, `drain_deadline` for
    /// what is in flight.
    pub async fn serve(self, mut shutdown: Shutdown) -> Ended {
        let Self {
            server: Server { options, reviewer, tls, health, metrics },
            webhook,
            admin: admin_port,
            ..
        } = self;
        let state = AppState::new(reviewer, Arc::clone(&metrics), options.limits.clone());
        let handshaker = Handshaker::new(tls, options.limits.handshake_timeout, Arc::clone(&metrics));
        let open = metrics.open_connections().clone();
        let check = health.register("shutdown", "not serving yet");
        let service =
            Service { tls: Some(handshaker), http: Http::new(app(state.clone()), &options.limits), open };
        let main = Task::spawn(webhook, service, &options);
        let side = Http::new(admin(health, metrics), &options.limits);
        let side =
            Task::spawn(admin_port, Service { tls: None, http: side, open: Gauge::default() }, &options);
        check.set(State::Ok);
        shutdown.draining().await;
        let ended = tokio::select! {
            ended = drain(&state, &check, main, &options) => ended,
            () = shutdown.aborting() => Ended::Aborted,
        };
        drop(side);
        info!(ended = ?ended, "stopped");
        ended
    }
}

async fn drain(state: &AppState, check: &Check, webhook: Task, options: &Options) -> Ended {
    check.set(State::Failed("shutting down".to_owned()));
    state.drain();
    info!(
        delay_ms = options.drain_delay.as_millis(),
        "not ready any more; serving on until traffic has moved"
    );
    sleep(options.drain_delay).await;
    match webhook.stop().await {
        0 => Ended::Drained,
        cut => {
            warn!(connections = cut, "cut off at the deadline");
            Ended::Cut(cut)
        }
    }
}

/// One accept loop in the background, which ends when this is dropped.
struct Task {
    stop: watch::Sender<bool>,
    handle: JoinHandle<usize>,
}

impl Task {
    fn spawn(listener: TcpListener, service: Service, options: &Options) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let stop_requested = async move {
            // A sender that is gone means the same.
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        let Limits { concurrent_handshakes, .. } = options.limits;
        let serving =
            accept::run(listener, service, concurrent_handshakes, stop_requested, options.drain_deadline);
        Self { stop, handle: tokio::spawn(serving) }
    }

    /// Stops accepting, waits for what is in flight; how many connections were cut off.
    async fn stop(mut self) -> usize {
        self.stop.send_replace(true);
        (&mut self.handle).await.unwrap_or(0)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}
