//! A server with a small reviewer, and a client that sees every byte.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sundown::review::{Decision, Endpoint, ErrorReason, Record, ReviewError, Reviewed, Reviewer};
use sundown::rules::{Action, Finding, Intent, Mode, Severity};
use sundown::server::{Ended, Options, Server, Shutdown, Trigger};
use sundown::telemetry::{Check, Health, Metrics, State};
use sundown::tls::{Ephemeral, ServedCertificate, server_config};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Longer than anything here takes; a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Does what the body says.
struct Obedient;

impl Reviewer for Obedient {
    fn review(&self, endpoint: Endpoint, body: &[u8]) -> Result<Reviewed, ReviewError> {
        let (decision, findings) = match body {
            b"panic" => panic!("as told"),
            b"bad" => {
                return Err(ReviewError { reason: ErrorReason::Json, message: "not JSON at byte 0".into() });
            }
            b"patch" => (Decision::Patched, vec![finding()]),
            _ => (Decision::Allowed, vec![]),
        };
        let record = Record {
            decision,
            resource: "pods",
            operation: "CREATE",
            uid: "u".into(),
            namespace: "shop".into(),
            name: "web-*".into(),
            findings,
            would_be_patch: None,
            exempt: None,
        };
        let body = format!("{{\"path\":\"{}\",\"bytes\":{}}}", endpoint.path(), body.len());
        Ok(Reviewed { body: body.into_bytes(), record })
    }
}

fn finding() -> Finding {
    Finding {
        rule: "grace-period",
        severity: Severity::Error,
        mode: Mode::Enforce,
        intent: Intent::Change,
        policy: "p".into(),
        path: "/spec/terminationGracePeriodSeconds".into(),
        action: Action::Change,
        message: "asked 600 s, given 120 s".into(),
        help: String::new(),
        from: 600.into(),
        to: 120.into(),
    }
}

/// A running server.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) ca_pem: String,
    pub(crate) health: Health,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) policy: Check,
    pub(crate) served: Arc<ServedCertificate>,
    pub(crate) trigger: Trigger,
    pub(crate) task: JoinHandle<Ended>,
}

impl World {
    /// A server with the defaults, except that it drains without delay, and what `change` changes.
    pub(crate) async fn start(change: impl FnOnce(&mut Options)) -> Self {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut options = Options { drain_delay: Duration::ZERO, ..Options::new(any, any) };
        change(&mut options);
        let (health, metrics) = (Health::new(), Arc::new(Metrics::new(&["grace-period"])));
        let policy = health.register("policy", "not loaded yet");
        policy.set(State::Ok);
        let served = ServedCertificate::new(&health, Arc::clone(&metrics));
        let ephemeral = Ephemeral::issue(&[]).unwrap();
        served.replace(ephemeral.pair);
        let server = Server {
            options,
            reviewer: Arc::new(Obedient),
            tls: server_config(Arc::clone(&served) as _).unwrap(),
            health: health.clone(),
            metrics: Arc::clone(&metrics),
        };
        let bound = server.bind().await.unwrap();
        let (address, admin) = (bound.address(), bound.admin_address());
        let (trigger, shutdown) = Shutdown::new();
        let task = tokio::spawn(bound.serve(shutdown));
        Self { address, admin, ca_pem: ephemeral.ca_pem, health, metrics, policy, served, trigger, task }
    }

    /// A client that trusts the server and offers `alpn`.
    pub(crate) async fn connect(&self, alpn: &[&[u8]]) -> Client {
        self.try_connect(&self.ca_pem, alpn).await.unwrap()
    }

    /// A client that trusts `ca_pem`.
    pub(crate) async fn try_connect(&self, ca_pem: &str, alpn: &[&[u8]]) -> std::io::Result<Client> {
        let tcp = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let connector = TlsConnector::from(client_config(ca_pem, alpn));
        let stream = timeout(PATIENCE, connector.connect(name, tcp)).await.expect("a handshake")?;
        Ok(Client { stream, buffer: Vec::new() })
    }

    /// The answer of the admin port to `GET path`.
    pub(crate) async fn admin_get(&self, path: &str) -> Response {
        let mut tcp = TcpStream::connect(self.admin).await.unwrap();
        tcp.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await.unwrap();
        read_response(&mut tcp, &mut Vec::new()).await.unwrap()
    }

    /// Waits until the metrics have `line`.
    pub(crate) async fn until_metric(&self, line: &str) {
        let found = async {
            while !self.metrics.render().lines().any(|one| one == line) {
                sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("{line} in {}", self.metrics.render()));
    }

    /// How serving ended.
    pub(crate) async fn ended(self) -> Ended {
        timeout(PATIENCE, self.task).await.expect("an end").unwrap()
    }
}

pub(crate) fn client_config(ca_pem: &str, alpn: &[&[u8]]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    Arc::new(config)
}

/// One connection, HTTP/1.1 by hand.
pub(crate) struct Client {
    pub(crate) stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
}

impl Client {
    /// Sends bytes as they are.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// The next response.
    pub(crate) async fn response(&mut self) -> Response {
        read_response(&mut self.stream, &mut self.buffer).await.expect("a response")
    }

    /// Posts JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Response {
        self.send(post(path, "Content-Type: application/json\r\n", body)).await;
        self.response().await
    }

    /// Waits until the server closes; anything it still sends fails the test.
    pub(crate) async fn closed(mut self) {
        let mut rest = Vec::new();
        let end = timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await;
        // A close without close_notify is an error, and a close all the same.
        let _ = end.expect("the server closes");
        assert_eq!(rest, b"", "after the last response");
    }

    /// The certificate that the server showed.
    pub(crate) fn certificate(&self) -> Vec<u8> {
        self.stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
    }
}

/// A POST with a Content-Length.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// In lower case, one a line.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    /// The value of one header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

async fn read_response(
    stream: &mut (impl AsyncReadExt + Unpin),
    buffer: &mut Vec<u8>,
) -> std::io::Result<Response> {
    loop {
        if let Some(response) = parse(buffer) {
            return Ok(response);
        }
        let read = timeout(PATIENCE, stream.read_buf(buffer)).await.expect("an answer in time")?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn parse(buffer: &mut Vec<u8>) -> Option<Response> {
    let end = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(buffer[..end].to_vec()).unwrap().to_lowercase();
    let status = head.split(' ').nth(1)?.parse().unwrap();
    let mut response = Response { status, head, body: String::new() };
    let length: usize = response.header("content-length").map_or(0, |length| length.parse().unwrap());
    let body = buffer.get(end..end + length)?;
    response.body = String::from_utf8(body.to_vec()).unwrap();
    buffer.drain(..end + length);
    Some(response)
}
