//! `sundown serve` as a process: addresses, a review over TLS, policy reload, bad input, the end by SIGTERM.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;

const POLICY: &str = include_str!("cases/000-reference-policy.yaml");
const REVIEW: &str = include_str!("reviews/pod-create-of-replicaset-storefront.json");

fn sundown() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sundown"));
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// A running webhook; killed when dropped.
struct Webhook {
    process: Child,
    log: BufReader<ChildStderr>,
    address: String,
    admin: String,
    folder: tempfile::TempDir,
}

impl Webhook {
    fn start(policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("policy.yaml"), policy).unwrap();
        let mut process = sundown()
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--tls-ephemeral"])
            .args(["--log-format", "json", "--drain-seconds", "0", "--tls-ca-out"])
            .arg(folder.path().join("ca.crt"))
            .arg("--policy")
            .arg(folder.path().join("policy.yaml"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let listening = wait_for_line(&mut log, "listening");
        let text = |name: &str| listening[name].as_str().unwrap().to_owned();
        Self { process, log, address: text("address"), admin: text("admin_address"), folder }
    }

    fn policy(&self) -> std::path::PathBuf {
        self.folder.path().join("policy.yaml")
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.admin).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Asks until the answer holds what is waited for.
    fn wait_until(&self, path: &str, wanted: &str) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = self.get(path);
            if answer.contains(wanted) {
                return answer;
            }
            assert!(Instant::now() < end, "{path} never says {wanted:?}: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn post(&self, body: &str) -> (u16, String) {
        let ca = CertificateDer::from_pem_file(self.folder.path().join("ca.crt")).unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(ca).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut tls = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let mut stream = rustls::Stream::new(&mut tls, &mut socket);
        write!(
            stream,
            "POST /pods/enforce?timeout=3s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// The grace period that a review would set.
    fn given_grace(&self) -> Option<i64> {
        let (status, body) = self.post(REVIEW);
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        let patch = answer["response"]["patch"].as_str()?;
        let patch = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, patch).unwrap();
        let operations: Value = serde_json::from_slice(&patch).unwrap();
        let grace = |op: &&Value| op["path"] == "/spec/terminationGracePeriodSeconds";
        operations.as_array().unwrap().iter().find(grace)?["value"].as_i64()
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads the log up to a line with this message.
fn wait_for_line(log: &mut impl BufRead, message: &str) -> Value {
    for line in log.lines() {
        let line = line.unwrap();
        if let Ok(value) = serde_json::from_str::<Value>(&line)
            && value["message"] == message
        {
            return value;
        }
    }
    panic!("the log ended without {message:?}");
}

#[test]
fn serves_reloads_and_keeps_the_last_good_policy() {
    let webhook = Webhook::start(POLICY);
    assert!(webhook.wait_until("/readyz?verbose", "[+]policy ok").contains("200 OK"));
    assert_eq!(webhook.given_grace(), Some(20));

    let wider = POLICY.replace("shutdownGracePeriod: 30s", "shutdownGracePeriod: 70s");
    fs::write(webhook.policy(), wider.replace("inhibitDelayMaxSec: 30", "inhibitDelayMaxSec: 70")).unwrap();
    webhook.wait_until("/metrics", "sundown_policy_reloads_total{result=\"success\"} 1");
    assert_eq!(webhook.given_grace(), Some(60));

    fs::write(webhook.policy(), "spec: [").unwrap();
    let degraded = webhook.wait_until("/readyz?verbose", "the last good policy serves");
    assert!(degraded.contains("200 OK"), "a bad reload does not take the webhook away: {degraded}");
    assert_eq!(webhook.given_grace(), Some(60));
}

#[test]
fn what_cannot_be_decided_is_an_http_error_and_the_next_request_works() {
    let webhook = Webhook::start(POLICY);
    let (status, line) = webhook.post("{\"kind\":");
    assert_eq!(status, 400);
    assert!(line.contains("not JSON"), "{line}");
    assert_eq!(webhook.given_grace(), Some(20));
    let metrics = webhook.get("/metrics");
    assert!(metrics.contains("sundown_review_errors_total{reason=\"json\"} 1"), "{metrics}");
}

#[test]
fn ends_by_sigterm_with_0() {
    let mut webhook = Webhook::start(POLICY);
    let id = webhook.process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(webhook.process.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    webhook.log.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("SIGTERM"), "{rest}");
}

fn serve_fails(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = sundown()
        .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(status.code(), Some(2));
    String::from_utf8(stderr).unwrap()
}

#[test]
fn what_makes_serving_impossible_is_said_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let bad = write("bad.yaml", "apiVersion: sundown.dev/v1alpha1\nkind: PreemptionPolicy\n");
    let error = serve_fails(&["--tls-ephemeral", "--policy", &bad]);
    assert!(error.contains("bad.yaml:1:1: error: metadata.name is missing"), "{error}");
    let error = serve_fails(&["--tls-ephemeral", "--policy", "preset:nowhere"]);
    assert!(error.contains("the presets are selectel-mks"), "{error}");
    let cert = write("tls.crt", "no certificate");
    let key = write("tls.key", "no key");
    let error = serve_fails(&["--tls-cert", &cert, "--tls-key", &key]);
    assert!(error.contains("tls.key") && error.contains("no private key"), "{error}");
    let error = serve_fails(&[]);
    assert!(error.contains("--tls-ephemeral"), "{error}");
}
