//! Clients that do not get as far as a request.

use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::version::TLS12;
use sundown::tls::Ephemeral;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{PATIENCE, World};

/// The record header of a ClientHello of 512 bytes, and its first byte.
const PARTIAL_HELLO: [u8; 6] = [22, 3, 1, 2, 0, 1];

fn failed(reason: &str) -> String {
    format!("sundown_tls_handshake_failures_total{{reason=\"{reason}\"}} 1")
}

#[tokio::test]
async fn a_connection_that_is_closed_at_once_or_within_is_counted_as_closed() {
    let world = World::start(|_| {}).await;
    drop(TcpStream::connect(world.address).await.unwrap());
    world.until_metric(&failed("closed")).await;
    let mut tcp = TcpStream::connect(world.address).await.unwrap();
    tcp.write_all(&PARTIAL_HELLO).await.unwrap();
    drop(tcp);
    world.until_metric("sundown_tls_handshake_failures_total{reason=\"closed\"} 2").await;
}

#[tokio::test]
async fn plain_http_is_counted_and_ended() {
    let world = World::start(|_| {}).await;
    let mut tcp = TcpStream::connect(world.address).await.unwrap();
    tcp.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    world.until_metric(&failed("not-tls")).await;
    let _ = timeout(PATIENCE, tcp.read_to_end(&mut Vec::new())).await.expect("the server closes");
}

#[tokio::test]
async fn a_client_that_does_not_trust_us_is_counted_as_such() {
    let world = World::start(|_| {}).await;
    let stranger = Ephemeral::issue(&[]).unwrap().ca_pem;
    let error = world.try_connect(&stranger, &[]).await.err().unwrap();
    assert!(error.to_string().contains("invalid peer certificate"), "{error}");
    world.until_metric(&failed("certificate-refused")).await;
}

#[tokio::test]
async fn stalled_handshakes_are_ended_and_then_others_get_their_turn() {
    let world = World::start(|options| {
        options.limits.handshake_timeout = Duration::from_millis(80);
        options.limits.concurrent_handshakes = 1;
    })
    .await;
    let mut stalled = TcpStream::connect(world.address).await.unwrap();
    stalled.write_all(&PARTIAL_HELLO).await.unwrap();
    let mut client = world.connect(&[]).await;
    assert_eq!(client.post("/pods/enforce", "{}").await.status, 200);
    world.until_metric(&failed("timeout")).await;
    let _ = timeout(PATIENCE, stalled.read_to_end(&mut Vec::new())).await.expect("the server closes");
    // An established connection holds no place at the door.
    assert_eq!(world.connect(&[]).await.post("/pods/enforce", "{}").await.status, 200);
    assert_eq!(client.post("/pods/enforce", "{}").await.status, 200);
}

#[tokio::test]
async fn tls_1_2_is_spoken() {
    let world = World::start(|_| {}).await;
    let mut roots = rustls::RootCertStore::empty();
    let ca = rustls::pki_types::pem::PemObject::from_pem_slice(world.ca_pem.as_bytes()).unwrap();
    roots.add(ca).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(config));
    let tcp = TcpStream::connect(world.address).await.unwrap();
    let tls = connector.connect(ServerName::try_from("localhost").unwrap(), tcp).await.unwrap();
    assert_eq!(tls.get_ref().1.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_2));
}
