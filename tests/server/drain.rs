//! The end: unready first, then no new connections, and nobody in flight is dropped.

use std::time::Duration;

use sundown::server::Ended;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::support::{Client, PATIENCE, World};

const HALF: &str = "POST /pods/enforce HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
                    Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{";
const LONG: Duration = Duration::from_secs(3600);

/// A request that the server is reading, of which half is still to come.
async fn in_flight(client: &mut Client) {
    client.send(HALF).await;
    assert_eq!(client.response().await.status, 100);
}

async fn until_unready(world: &World) {
    let unready = async {
        while world.health.report().is_ready() {
            sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(PATIENCE, unready).await.expect("unready");
}

#[tokio::test]
async fn before_the_delay_is_over_it_is_unready_and_serves_with_connection_close() {
    let world = World::start(|options| options.drain_delay = LONG).await;
    let mut old = world.connect(&[b"http/1.1"]).await;
    assert_eq!(old.post("/pods/enforce", "{}").await.header("connection"), None);
    in_flight(&mut old).await;
    world.trigger.advance();
    until_unready(&world).await;
    let readyz = world.admin_get("/readyz").await;
    assert_eq!(readyz.status, 503);
    assert!(readyz.body.contains("[-]shutdown failed: shutting down\n"), "{}", readyz.body);
    old.send("}").await;
    let response = old.response().await;
    assert_eq!((response.status, response.header("connection")), (200, Some("close")));
    old.closed().await;
    let mut new = world.connect(&[b"http/1.1"]).await;
    let response = new.post("/nowhere", "{}").await;
    assert_eq!((response.status, response.header("connection")), (404, Some("close")));
    new.closed().await;
}

#[tokio::test]
async fn after_the_delay_new_connections_are_refused_and_those_in_flight_finish() {
    let world = World::start(|_| {}).await;
    let mut busy = world.connect(&[b"http/1.1"]).await;
    let idle = world.connect(&[b"http/1.1"]).await;
    in_flight(&mut busy).await;
    world.until_metric("sundown_open_connections 2").await;
    world.trigger.advance();
    idle.closed().await;
    assert!(TcpStream::connect(world.address).await.is_err());
    busy.send("}").await;
    assert_eq!(busy.response().await.status, 200);
    busy.closed().await;
    assert_eq!(world.ended().await, Ended::Drained);
}

#[tokio::test]
async fn an_idle_http_2_connection_is_told_to_go_away() {
    let world = World::start(|_| {}).await;
    let client = world.connect(&[b"h2"]).await;
    let (sender, connection) = h2::client::handshake(client.stream).await.unwrap();
    let connection = tokio::spawn(connection);
    world.trigger.advance();
    timeout(PATIENCE, connection).await.expect("an end").unwrap().unwrap();
    drop(sender);
    assert_eq!(world.ended().await, Ended::Drained);
}

#[tokio::test]
async fn whoever_is_busy_at_the_deadline_is_cut_off() {
    let world = World::start(|options| options.drain_deadline = Duration::from_millis(50)).await;
    let mut busy = world.connect(&[b"http/1.1"]).await;
    in_flight(&mut busy).await;
    world.trigger.advance();
    busy.closed().await;
    assert_eq!(world.ended().await, Ended::Cut(1));
}

#[tokio::test]
async fn a_second_signal_aborts() {
    let world = World::start(|options| options.drain_delay = LONG).await;
    let busy = world.connect(&[b"http/1.1"]).await;
    world.trigger.advance();
    until_unready(&world).await;
    world.trigger.advance();
    busy.closed().await;
    assert_eq!(world.ended().await, Ended::Aborted);
}
