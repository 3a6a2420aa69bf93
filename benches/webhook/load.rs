//! A load generator cheap enough not to be the bottleneck: HTTP/1.1 with ready-made bytes, as API servers send it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::child::Child;
use crate::median;
use crate::process::{cpu_seconds, rss_mib};

const BODY: &[u8] = include_bytes!("../../tests/reviews/pod-create-of-replicaset-storefront.json");

/// Open connections to one server.
pub(crate) struct Load {
    pid: u32,
    connections: Vec<Connection>,
}

/// One measurement.
pub(crate) struct Measured {
    pub(crate) per_second: f64,
    pub(crate) cpu_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    rss_mib: f64,
    /// How much of one core the server had; well below 1 says that the generator was the bottleneck.
    busy: f64,
}

struct Connection {
    stream: TlsStream<TcpStream>,
    request: Arc<Vec<u8>>,
    buffer: Vec<u8>,
    /// All answers are equally long, since all requests are the same.
    answer_bytes: usize,
    latencies_us: Vec<f64>,
}

impl Load {
    pub(crate) async fn connect(server: &Child, connections: usize) -> Self {
        let head = format!(
            "POST /pods/enforce?timeout=3s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: kube-apiserver-admission\r\n\
             Content-Length: {}\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n\
             Accept-Encoding: gzip\r\n\r\n",
            BODY.len()
        );
        let request = Arc::new([head.as_bytes(), BODY].concat());
        let connector = TlsConnector::from(client_config(&server.ca_pem));
        let mut load = Self { pid: server.pid(), connections: Vec::new() };
        for _ in 0..connections {
            let tcp = TcpStream::connect(server.address).await.unwrap();
            tcp.set_nodelay(true).unwrap();
            let stream = connector.connect(ServerName::try_from("localhost").unwrap(), tcp).await.unwrap();
            load.connections.push(Connection::new(stream, Arc::clone(&request)).await);
        }
        load
    }

    /// Sends for `time`, and says what it took.
    pub(crate) async fn run_for(&mut self, time: Duration) -> Measured {
        let over = Arc::new(AtomicBool::new(false));
        let (start, cpu) = (Instant::now(), cpu_seconds(self.pid));
        let ends = Arc::clone(&over);
        let timer = tokio::spawn(async move {
            tokio::time::sleep(time).await;
            ends.store(true, Ordering::Relaxed);
        });
        self.run(move || !over.load(Ordering::Relaxed)).await;
        timer.await.unwrap();
        self.measured(start.elapsed().as_secs_f64(), cpu_seconds(self.pid) - cpu)
    }

    /// Sends `requests`, give or take one for each connection.
    pub(crate) async fn run_count(&mut self, requests: usize) {
        let left = Arc::new(AtomicUsize::new(requests));
        self.run(move || {
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        })
        .await;
    }

    async fn run(&mut self, go_on: impl Fn() -> bool + Clone + Send + 'static) {
        let tasks: Vec<_> = self
            .connections
            .drain(..)
            .map(|mut connection| {
                let go_on = go_on.clone();
                tokio::spawn(async move {
                    connection.latencies_us.clear();
                    while go_on() {
                        connection.exchange().await;
                    }
                    connection
                })
            })
            .collect();
        for task in tasks {
            self.connections.push(task.await.unwrap());
        }
    }

    fn measured(&self, seconds: f64, cpu_seconds: f64) -> Measured {
        let mut latencies: Vec<f64> =
            self.connections.iter().flat_map(|one| one.latencies_us.iter().copied()).collect();
        latencies.sort_by(f64::total_cmp);
        let quantile = |of: usize| latencies.get(latencies.len() * of / 100).copied().unwrap_or(f64::NAN);
        let requests = latencies.len() as f64;
        Measured {
            per_second: requests / seconds,
            cpu_us: cpu_seconds * 1e6 / requests,
            p50_us: quantile(50),
            p99_us: quantile(99),
            rss_mib: rss_mib(self.pid),
            busy: cpu_seconds / seconds,
        }
    }
}

fn client_config(ca_pem: &str) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

impl Connection {
    /// Learns from a first exchange how long an answer is.
    async fn new(mut stream: TlsStream<TcpStream>, request: Arc<Vec<u8>>) -> Self {
        stream.write_all(&request).await.unwrap();
        stream.flush().await.unwrap();
        let mut buffer = Vec::new();
        let head_bytes = loop {
            assert!(stream.read_buf(&mut buffer).await.unwrap() > 0, "the server closed");
            if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let head = String::from_utf8(buffer.drain(..head_bytes).collect()).unwrap();
        let length = head.split("content-length: ").nth(1).expect("a length").lines().next().unwrap();
        let body_bytes: usize = length.parse().unwrap();
        while buffer.len() < body_bytes {
            assert!(stream.read_buf(&mut buffer).await.unwrap() > 0, "the server closed");
        }
        let answer_bytes = head_bytes + body_bytes;
        Self { stream, request, buffer: vec![0; answer_bytes], answer_bytes, latencies_us: Vec::new() }
    }

    async fn exchange(&mut self) {
        let start = Instant::now();
        self.stream.write_all(&self.request).await.unwrap();
        self.stream.flush().await.unwrap();
        self.stream.read_exact(&mut self.buffer).await.unwrap();
        self.latencies_us.push(start.elapsed().as_secs_f64() * 1e6);
        assert!(self.buffer.starts_with(b"HTTP/1.1 200"), "an answer of {} bytes", self.answer_bytes);
    }
}

impl Measured {
    /// Each number's median by itself.
    pub(crate) fn median<'a>(rounds: &(impl Iterator<Item = &'a Self> + Clone)) -> Self {
        let of = |number: fn(&Self) -> f64| median(rounds.clone().map(number));
        Self {
            per_second: of(|one| one.per_second),
            cpu_us: of(|one| one.cpu_us),
            p50_us: of(|one| one.p50_us),
            p99_us: of(|one| one.p99_us),
            rss_mib: of(|one| one.rss_mib),
            busy: of(|one| one.busy),
        }
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { per_second, cpu_us, p50_us, p99_us, rss_mib, busy } = self;
        write!(
            f,
            "{per_second:>7.0} requests/s, {cpu_us:>5.1} us CPU each, p50 {p50_us:>5.0} us, p99 {p99_us:>5.0} us, \
             {rss_mib:>5.1} MiB, {busy:.2} busy"
        )
    }
}
