//! The webhook's shell over real TLS on free ports: status codes, limits, certificates, drain, health, metrics.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

#[path = "server/support.rs"]
mod support;

#[path = "server/admin.rs"]
mod admin;
#[path = "server/certificates.rs"]
mod certificates;
#[path = "server/drain.rs"]
mod drain;
#[path = "server/handshake.rs"]
mod handshake;
#[path = "server/http.rs"]
mod http;
