//! The webhook with the shipped policy, a review over TLS as the API server sends it, and the pod before and after.
//!
//! `cargo run --release --example try`

#![expect(clippy::indexing_slicing, reason = "members of JSON that are not there are null")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use sundown::policy::{DEFAULT_PRESET, Source, load, preset};
use sundown::review::{Core, Endpoint};
use sundown::rules::{NoView, REGISTRY, catalogue};
use sundown::server::{Options, Server, Shutdown};
use sundown::telemetry::{Health, Metrics};
use sundown::tls::{Ephemeral, ServedCertificate, server_config};

/// A request of a real API server, for a pod that tolerates the taint of the default policy.
const REVIEW: &str = include_str!("review.json");

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let ephemeral = Ephemeral::issue(&[])?;
    let ca = ephemeral.ca_pem.clone();
    let address = start(ephemeral).await?;
    println!("webhook with preset:{DEFAULT_PRESET} on https://{address}{}\n", Endpoint::PodsEnforce.path());
    let answer: Value = serde_json::from_slice(&post(address, &ca).await?)?;
    let review: Value = serde_json::from_str(REVIEW)?;
    let before = review["request"]["object"].clone();
    let patch = STANDARD.decode(answer["response"]["patch"].as_str().unwrap_or_default())?;
    let mut after = before.clone();
    json_patch::patch(&mut after, &serde_json::from_slice::<json_patch::Patch>(&patch)?)?;
    show(&before, &after);
    for warning in answer["response"]["warnings"].as_array().into_iter().flatten() {
        println!("Warning: {}", warning.as_str().unwrap_or_default());
    }
    Ok(())
}

/// Serves as `sundown serve --tls-ephemeral` does, on free ports of this machine.
async fn start(ephemeral: Ephemeral) -> Outcome<SocketAddr> {
    let preset = preset(DEFAULT_PRESET).ok_or("the default preset ships with sundown")?;
    let source = Source { name: preset.name.to_owned(), text: preset.text.as_bytes().to_vec() };
    let (policies, _) = load(&[source], &catalogue())?;
    let health = Health::new();
    let metrics = Arc::new(Metrics::new(&REGISTRY.iter().map(|rule| rule.id).collect::<Vec<_>>()));
    let certificate = ServedCertificate::new(&health, Arc::clone(&metrics));
    certificate.replace(ephemeral.pair);
    let local = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server {
        options: Options::new(local, local),
        reviewer: Arc::new(Core::new(policies, Arc::new(NoView))),
        tls: server_config(certificate)?,
        health,
        metrics,
    };
    let bound = server.bind().await?;
    let address = bound.address();
    let (_, shutdown) = Shutdown::new();
    tokio::spawn(bound.serve(shutdown));
    Ok(address)
}

/// Posts the review as the API server does: HTTP/1.1 over TLS.
async fn post(address: SocketAddr, ca: &str) -> Outcome<Bytes> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes())?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(address).await?;
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let stream = connector.connect(ServerName::try_from("localhost")?, stream).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = hyper::Request::post(Endpoint::PodsEnforce.path())
        .header("Host", "localhost")
        .header("Content-Type", "application/json")
        .body(Full::new(Bytes::from_static(REVIEW.as_bytes())))?;
    let response = sender.send_request(request).await?;
    println!("HTTP {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes())
}

/// The change as a diff of the two pods.
fn show(before: &Value, after: &Value) {
    let (before, after) = (sundown::yaml::to_string(before), sundown::yaml::to_string(after));
    let diff = similar::TextDiff::from_lines(&before, &after);
    print!("{}", diff.unified_diff().header("pod as it reaches the webhook", "pod as it is admitted"));
    println!();
}
