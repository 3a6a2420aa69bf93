//! The certificate that is served, and where it comes from.
//!
//! [`ServedCertificate`] is what the handshake reads; a source puts pairs into it: [`CertificateFiles`] (a mounted
//! Secret), [`Ephemeral`] (a laptop), or a cluster-managed one. A pair that cannot be served never displaces one
//! that can.

mod config;
mod ephemeral;
mod files;
mod pair;
mod served;

pub use config::server_config;
pub use ephemeral::{Ephemeral, EphemeralError};
pub use files::{CertificateFileError, CertificateFiles, POLL_INTERVAL};
pub use pair::{Pair, PairError, Validity};
pub use served::ServedCertificate;
