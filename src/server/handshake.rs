//! TLS handshakes: bounded in time, and what their failures mean.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{AlertDescription, InvalidMessage, ServerConfig};
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
        Some(rustls::Error::AlertReceived(alert)) if refuses_certificate(*alert) => {
            HandshakeFailure::CertificateRefused
        }
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

/// RFC 8446, section 6.2: the alerts that are about the peer's certificate. A decrypt error is a signature that does not
/// verify: an authority of the same name with another key, as after a renewal that did not reach caBundle.
fn refuses_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::DecryptError
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use rustls::server::ResolvesServerCertUsingSni;

    use super::*;
    use crate::tls::server_config;

    fn handshaker() -> Handshaker {
        let tls = server_config(Arc::new(ResolvesServerCertUsingSni::new())).unwrap();
        Handshaker::new(tls, Duration::ZERO, Arc::new(Metrics::new(&[])))
    }

    /// What is logged while `act` runs.
    fn logged(act: impl FnOnce()) -> String {
        #[derive(Clone, Default)]
        struct Memory(Arc<Mutex<Vec<u8>>>);
        impl Write for Memory {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let memory = Memory::default();
        let writer = memory.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, act);
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_a_refused_certificate_is_a_warning_and_only_once_a_minute() {
        let handshaker = handshaker();
        let log = logged(|| {
            for failure in HandshakeFailure::ALL.into_iter().chain(HandshakeFailure::ALL) {
                handshaker.failed(failure, "192.0.2.1:5", "why");
            }
        });
        let (warnings, rest): (Vec<&str>, Vec<&str>) = log.lines().partition(|line| line.contains(" WARN "));
        assert_eq!((warnings.len(), rest.len()), (1, 11), "{log}");
        assert!(warnings[0].contains("refuses our certificate"), "{log}");
        assert!(rest.iter().all(|line| line.contains("DEBUG")), "{log}");
    }

    #[test]
    fn alerts_about_other_things_are_not_about_the_certificate() {
        let received = |alert| classify(&io::Error::other(rustls::Error::AlertReceived(alert)));
        assert_eq!(received(AlertDescription::UnknownCA), HandshakeFailure::CertificateRefused);
        assert_eq!(received(AlertDescription::BadCertificate), HandshakeFailure::CertificateRefused);
        assert_eq!(received(AlertDescription::ProtocolVersion), HandshakeFailure::Protocol);
    }
}
