//! The accept loop: takes connections until told to stop, then sees them out.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use prometheus_client::metrics::gauge::Gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::handshake::Handshaker;
use super::http::Http;

/// Waiting after an accept error, such as no free descriptors; doubled up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How connections are served.
pub(super) struct Service {
    /// `None` for plain HTTP.
    pub(super) tls: Option<Handshaker>,
    /// What is spoken inside.
    pub(super) http: Http,
    /// Connections that are open.
    pub(super) open: Gauge,
}

/// Serves `listener` until `stop`, then lets requests in flight finish within `deadline`. Returns how many
/// connections had to be cut off.
pub(super) async fn run(
    listener: TcpListener,
    service: Service,
    concurrent_handshakes: usize,
    stop: impl Future<Output = ()>,
    deadline: Duration,
) -> usize {
    let service = Arc::new(service);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut door =
        Door { listener, handshakes: Arc::new(Semaphore::new(concurrent_handshakes)), pause: SHORTEST_PAUSE };
    tokio::pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            (stream, permit) = door.next() => {
                connections.spawn(Arc::clone(&service).connection(stream, permit, graceful.watcher()));
            }
        }
    }
    drop(door);
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(deadline, async { tokio::join!(graceful.shutdown(), ended) }).await;
    let cut = connections.len();
    connections.shutdown().await;
    cut
}

struct Door {
    listener: TcpListener,
    handshakes: Arc<Semaphore>,
    pause: Duration,
}

impl Door {
    /// The next connection, once there is room for its handshake. May be dropped at any time: nothing is lost.
    async fn next(&mut self) -> (TcpStream, Option<OwnedSemaphorePermit>) {
        let permit = Arc::clone(&self.handshakes).acquire_owned().await.ok();
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    self.pause = SHORTEST_PAUSE;
                    return (stream, permit);
                }
                Err(error) => {
                    warn!(%error, pause_ms = self.pause.as_millis(), "cannot accept a connection");
                    let pause = self.pause;
                    self.pause = (pause * 2).min(LONGEST_PAUSE);
                    sleep(pause).await;
                }
            }
        }
    }
}

impl Service {
    async fn connection(
        self: Arc<Self>,
        tcp: TcpStream,
        permit: Option<OwnedSemaphorePermit>,
        watcher: Watcher,
    ) {
        let _open = Open::new(&self.open);
        // Answers are small and wait for nobody; without this the kernel might.
        let _ = tcp.set_nodelay(true);
        let served = match &self.tls {
            Some(handshaker) => {
                let Some(tls) = handshaker.accept(tcp).await else { return };
                drop(permit);
                let is_h2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
                self.http.serve(tls, is_h2, watcher).await
            }
            None => {
                drop(permit);
                self.http.serve(tcp, false, watcher).await
            }
        };
        if let Err(error) = served {
            debug!(%error, "connection ended badly");
        }
    }
}

/// Counts a connection for as long as it lives, however it ends.
struct Open(Gauge);

impl Open {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}
