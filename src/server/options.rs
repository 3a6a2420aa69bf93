//! Addresses, limits and times.

use std::net::SocketAddr;
use std::time::Duration;

/// What one client may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For a whole TLS handshake.
    pub handshake_timeout: Duration,
    /// Handshakes at once; more wait in the kernel's backlog.
    pub concurrent_handshakes: usize,
    /// For a whole request header, and so also for an idle keep-alive connection. Above the 90 s after which an API
    /// server drops an idle connection: whoever closes first must not be us, or a request races with the close.
    pub header_timeout: Duration,
    /// Bytes of a request header.
    pub header_bytes: usize,
    /// For a whole body; API servers wait at most 30 s for an answer.
    pub body_timeout: Duration,
    /// Bytes of a body. An UPDATE carries two objects of up to 3 MiB each.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake_timeout: Duration::from_secs(10),
            concurrent_handshakes: 256,
            header_timeout: Duration::from_secs(120),
            header_bytes: 64 * 1024,
            body_timeout: Duration::from_secs(30),
            body_bytes: 8 * 1024 * 1024,
        }
    }
}

/// Where to listen and how to end.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--listen`; port 0 takes any free one.
    pub listen: SocketAddr,
    /// `--admin-listen`; port 0 takes any free one.
    pub admin_listen: SocketAddr,
    /// How long to keep serving after SIGTERM. The default of 5 s covers what it takes until no node sends new
    /// connections here (endpoint slices are batched for up to 1 s, then watched and programmed), and lets
    /// keep-alive connections learn of the end with an answer instead of a reset.
    pub drain_delay: Duration,
    /// How long requests in flight may take after that. With `drain_delay` well inside the 30 s a pod has by default.
    pub drain_deadline: Duration,
    /// What one client may take.
    pub limits: Limits,
}

impl Options {
    /// The defaults, on these addresses.
    pub fn new(listen: SocketAddr, admin_listen: SocketAddr) -> Self {
        Self {
            listen,
            admin_listen,
            drain_delay: Duration::from_secs(5),
            drain_deadline: Duration::from_secs(15),
            limits: Limits::default(),
        }
    }
}
