//! HTTP over one connection, in the version that TLS agreed on.

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};

use super::options::Limits;

/// Requests at once on one HTTP/2 connection; each may hold a body.
const H2_STREAMS: u32 = 64;

/// Serves a router over connections.
pub(super) struct Http {
    router: Router,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
}

impl Http {
    /// `router` within `limits`.
    pub(super) fn new(router: Router, limits: &Limits) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_timeout)
            .max_header_size(limits.header_bytes)
            .max_buf_size(limits.header_bytes);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(H2_STREAMS)
            .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(limits.header_timeout / 2);
        Self { router, http1, http2 }
    }

    /// Serves until the client or `watcher` ends the connection.
    ///
    /// # Errors
    /// When it breaks or is not HTTP.
    pub(super) async fn serve<I>(&self, io: I, is_h2: bool, watcher: Watcher) -> Result<(), hyper::Error>
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = TowerToHyperService::new(self.router.clone());
        let io = TokioIo::new(io);
        if is_h2 {
            watcher.watch(self.http2.serve_connection(io, service)).await
        } else {
            watcher.watch(self.http1.serve_connection(io, service)).await
        }
    }
}
