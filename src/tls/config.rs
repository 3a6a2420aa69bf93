//! How TLS is spoken.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::server::{NoServerSessionStorage, ResolvesServerCert};
use rustls::{Error, ServerConfig};

/// TLS 1.2 and 1.3, HTTP/2 or HTTP/1.1, no client certificates, no resumption: API servers keep no sessions, so
/// tickets would be work for nothing.
///
/// # Errors
/// When the crypto provider supports neither version.
pub fn server_config(certificate: Arc<dyn ResolvesServerCert>) -> Result<Arc<ServerConfig>, Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Arc::new(config))
}
