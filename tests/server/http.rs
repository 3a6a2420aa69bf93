//! What is answered to what.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use crate::support::{Client, Response, World, post};

const JSON: &str = "Content-Type: application/json\r\n";

async fn exchange(client: &mut Client, request: String) -> (u16, String) {
    client.send(request).await;
    let Response { status, body, .. } = client.response().await;
    (status, body)
}

#[tokio::test]
async fn each_endpoint_decides_for_itself() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    for path in ["/pods/enforce", "/pods/audit", "/workloads/enforce", "/workloads/audit"] {
        let response = client.post(&format!("{path}?timeout=10s"), "{}").await;
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        assert_eq!(response.body, format!("{{\"path\":\"{path}\",\"bytes\":2}}"));
    }
}

#[tokio::test]
async fn what_cannot_be_decided_says_why_and_the_connection_lives_on() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    let get = "GET /pods/enforce HTTP/1.1\r\nHost: a\r\n\r\n".to_owned();
    let cases = [
        (post("/pods", JSON, "{}"), 404, "path", "no such path; reviews go to /pods/enforce, "),
        (post("/pods/enforce/", JSON, "{}"), 404, "path", "no such path"),
        (get, 405, "method", "reviews are sent by POST"),
        (post("/pods/enforce", "", "{}"), 415, "content-type", "the Content-Type must be application/json"),
        (
            post("/pods/enforce", "Content-Type: text/plain\r\n", "{}"),
            415,
            "content-type",
            "the Content-Type",
        ),
        (
            post("/pods/enforce", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "{}"),
            415,
            "content-type",
            "the body must not be compressed",
        ),
        (post("/pods/enforce", JSON, "bad"), 400, "json", "not JSON at byte 0"),
        (post("/pods/enforce", JSON, "panic"), 500, "panic", "the review failed unexpectedly"),
    ];
    for (request, status, reason, line) in cases {
        let before = count(&world, reason);
        let (got, body) = exchange(&mut client, request.clone()).await;
        assert_eq!(got, status, "{request}");
        assert!(body.starts_with(line) && body.ends_with('\n') && body.lines().count() == 1, "{body}");
        assert_eq!(count(&world, reason), before + 1, "{reason}");
        assert_eq!(client.post("/pods/enforce", "{}").await.status, 200, "after {request}");
    }
}

fn count(world: &World, reason: &str) -> u64 {
    let series = format!("sundown_review_errors_total{{reason=\"{reason}\"}} ");
    let text = world.metrics.render();
    text.lines().find_map(|line| line.strip_prefix(&series)).unwrap().parse().unwrap()
}

#[tokio::test]
async fn other_methods_are_told_which_one_is_allowed() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    client.send("PUT /pods/enforce HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").await;
    let response = client.response().await;
    assert_eq!((response.status, response.header("allow")), (405, Some("post")));
}

#[tokio::test]
async fn chunks_a_charset_and_a_wish_for_gzip_are_fine() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    let head = "POST /pods/enforce HTTP/1.1\r\nHost: a\r\nContent-Type: application/json; charset=utf-8\r\n\
                Accept-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.send(format!("{head}1\r\n{{\r\n1\r\n}}\r\n0\r\n\r\n")).await;
    let response = client.response().await;
    assert_eq!((response.status, response.header("content-encoding")), (200, None));
    assert!(response.body.ends_with("\"bytes\":2}"), "{}", response.body);
}

#[tokio::test]
async fn a_claim_over_the_limit_is_refused_before_the_body_comes() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    client
        .send(format!("POST /pods/enforce HTTP/1.1\r\nHost: a\r\n{JSON}Content-Length: 8388609\r\n\r\n"))
        .await;
    let response = client.response().await;
    assert_eq!((response.status, response.body.as_str()), (413, "the body is larger than 8388608 bytes\n"));
    client.send(vec![b' '; 8_388_609]).await;
    assert_eq!(client.post("/pods/enforce", "{}").await.status, 200, "the body was passed over");
}

#[tokio::test]
async fn chunks_over_the_limit_are_refused_and_at_the_limit_taken() {
    let world = World::start(|options| options.limits.body_bytes = 200_000).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    let head = format!("POST /pods/enforce HTTP/1.1\r\nHost: a\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n");
    for (bytes, status) in [(200_000, 200), (200_001, 413), (900_000, 413)] {
        let body = " ".repeat(bytes);
        let (got, _) = exchange(&mut client, format!("{head}{bytes:x}\r\n{body}\r\n0\r\n\r\n")).await;
        assert_eq!(got, status, "{bytes}");
    }
}

#[tokio::test]
async fn a_body_of_eight_mebibytes_is_taken() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    let response = client.post("/workloads/enforce", &" ".repeat(8 * 1024 * 1024)).await;
    assert_eq!(response.status, 200);
    assert!(response.body.ends_with("\"bytes\":8388608}"));
}

#[tokio::test]
async fn a_body_that_stalls_gets_408_and_the_connection_ends() {
    let world = World::start(|options| options.limits.body_timeout = Duration::from_millis(50)).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    client.send(format!("POST /pods/enforce HTTP/1.1\r\nHost: a\r\n{JSON}Content-Length: 5\r\n\r\nab")).await;
    let response = client.response().await;
    assert_eq!((response.status, response.body.as_str()), (408, "the body did not arrive within 50ms\n"));
    client.closed().await;
}

#[tokio::test]
async fn a_header_over_the_limit_gets_431() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    let long = "x".repeat(70_000);
    let request = format!("POST /pods/enforce HTTP/1.1\r\nHost: a\r\nX-Long: {long}\r\n\r\n");
    // The server may close before all of it is written.
    let _ = client.stream.write_all(request.as_bytes()).await;
    assert_eq!(client.response().await.status, 431);
}

#[tokio::test]
async fn a_header_that_trickles_and_an_idle_connection_end_in_time() {
    let world = World::start(|options| options.limits.header_timeout = Duration::from_millis(60)).await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    client.send("POST /pods/enf").await;
    client.closed().await;
    let mut client = world.connect(&[b"http/1.1"]).await;
    assert_eq!(client.post("/pods/enforce", "{}").await.status, 200);
    client.closed().await;
}

#[tokio::test]
async fn without_alpn_it_is_http_1() {
    let world = World::start(|_| {}).await;
    let mut client = world.connect(&[]).await;
    assert_eq!(client.post("/pods/enforce", "{}").await.status, 200);
}

#[tokio::test]
async fn http_2_is_spoken_when_it_is_agreed_on() {
    let world = World::start(|_| {}).await;
    let client = world.connect(&[b"h2", b"http/1.1"]).await;
    assert_eq!(client.stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let (mut sender, connection) = h2::client::handshake(client.stream).await.unwrap();
    tokio::spawn(connection);
    for (path, body, status) in [("/pods/audit", "{}", 200), ("/pods/audit", "panic", 500), ("/x", "{}", 404)]
    {
        let request = axum::http::Request::post(format!("https://localhost{path}"))
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        let (response, mut send) = sender.send_request(request, false).unwrap();
        send.send_data(Bytes::from_static(body.as_bytes()), true).unwrap();
        assert_eq!(response.await.unwrap().status(), status, "{path} {body}");
    }
}
