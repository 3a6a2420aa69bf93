//! TLS handshakes: bounded in time, and what their failures mean.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{InvalidMessage, ServerConfig};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{debug, warn};

use crate::telemetry::{HandshakeFailure, Metrics, Throttle};

/// Clients that refuse the certificate do so at every call.
const REFUSED_INTERVAL: Duration = Duration::from_secs(60);

/// Turns TCP connections into TLS ones.
pub(super) struct Handshaker {
    acceptor: TlsAcceptor,
    timeout: Duration,
    metrics: Arc<Metrics>,
    refused: Throttle,
}

impl Handshaker {
    /// Handshakes by `tls`, each within `timeout`.
    pub(super) fn new(tls: Arc<ServerConfig>, timeout: Duration, metrics: Arc<Metrics>) -> Self {
        let refused = Throttle::new(REFUSED_INTERVAL);
        Self { acceptor: TlsAcceptor::from(tls), timeout, metrics, refused }
    }

    /// The connection after its handshake; `None` when that failed, which is counted and logged here.
    pub(super) async fn accept(&self, tcp: TcpStream) -> Option<TlsStream<TcpStream>> {
        let peer = tcp.peer_addr().map(|peer| peer.to_string()).unwrap_or_default();
        match timeout(self.timeout, self.acceptor.accept(tcp)).await {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => self.failed(classify(&error), &peer, &error.to_string()),
            Err(_) => self.failed(HandshakeFailure::Timeout, &peer, "not finished in time"),
        }
        None
    }

    fn failed(&self, failure: HandshakeFailure, peer: &str, why: &str) {
        self.metrics.handshake_failed(failure);
        let reason = failure.as_str();
        let may_warn = failure == HandshakeFailure::CertificateRefused;
        match may_warn.then(|| self.refused.pass(Instant::now())).flatten() {
            Some(left_out) => warn!(
                peer,
                why,
                left_out,
                "a client refuses our certificate; compare caBundle in the webhook configurations with the authority \
                 that signed it, and the service's name with its names"
            ),
            None => debug!(peer, reason, why, "TLS handshake failed"),
        }
    }
}

fn classify(error: &io::Error) -> HandshakeFailure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::AlertReceived(_)) => HandshakeFailure::CertificateRefused,
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => HandshakeFailure::NotTls,
        Some(_) => HandshakeFailure::Protocol,
        None => match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => HandshakeFailure::Closed,
            _ => HandshakeFailure::Io,
        },
    }
}
