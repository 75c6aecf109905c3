//! How a server ends, over a real socket.

use std::time::Duration;

use crate::support::server::{Reply, Source, body_of, request, start};
use podinit_http::{ExpositionFormat, ServerLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_scrape_under_way_is_finished_and_nobody_else_comes_in() {
    let server = start(Source::default(), ServerLimits::default());
    server.source.gate.set_shut(true);
    let mut scraper = server.connect().await;
    // Not asked to close: that the connection is closed afterwards is the server's doing.
    let scrape = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
    scraper.write_all(scrape).await.unwrap();
    server.source.until_begun(1).await;

    server.shutdown.cancel();
    let address = server.address;
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    server.source.gate.set_shut(false);
    let mut received = Vec::new();
    scraper.read_to_end(&mut received).await.unwrap();
    let reply = Reply::parse(&received);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, body_of(ExpositionFormat::Text, 1000));
    server.task.await.unwrap();
}

#[tokio::test]
async fn silent_clients_do_not_hold_the_shutdown_up() {
    let limits =
        ServerLimits { shutdown_grace: Duration::from_secs(3600), ..ServerLimits::default() };
    let server = start(Source::default(), limits);
    let mut streams = Vec::new();
    for sent in ["", "GET /livez HTTP/1.1\r\n"] {
        let mut stream = server.connect().await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    // Answered on a connection that is kept, so the ones before it have been accepted too.
    let mut kept = server.connect().await;
    kept.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    kept.readable().await.unwrap();
    server.shutdown.cancel();
    server.task.await.unwrap();
}

#[tokio::test]
async fn a_scrape_that_does_not_finish_in_time_is_cut() {
    let source = Source { size: 32 << 20, ..Source::default() };
    let limits =
        ServerLimits { shutdown_grace: Duration::from_millis(10), ..ServerLimits::default() };
    let server = start(source, limits);
    let mut stream = server.connect().await;
    let scrape = request("GET", "/metrics", &[]);
    stream.write_all(&scrape).await.unwrap();
    stream.readable().await.unwrap();
    server.shutdown.cancel();
    server.task.await.unwrap();
}
