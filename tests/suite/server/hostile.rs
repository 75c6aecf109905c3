//! What hostile clients try with the protocol itself: requests within requests, other protocols,
//! headers without end, and crowds.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::descriptors;
use crate::support::server::{Reply, Running, Source, body_of, request, start};
use podinit_http::{ExpositionFormat, ServerLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends bytes as they are, then closes the sending side, and takes all that comes.
async fn half_closed(server: &Running, sent: &[u8]) -> Vec<u8> {
    let mut stream = server.connect().await;
    let _ = stream.write_all(sent).await;
    let _ = stream.shutdown().await;
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    received
}

/// How many responses were received.
fn responses(received: &[u8]) -> usize {
    let text = String::from_utf8_lossy(received);
    text.matches("HTTP/1.1 ").count()
}

#[tokio::test]
async fn requests_hidden_in_the_bodies_of_others_are_not_answered() {
    let server = start(Source::default(), ServerLimits::default());
    let hidden = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
    let length = hidden.len();
    for framing in [
        // Which of the two counts is what proxies and servers disagree about.
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n0\r\n\r\n{hidden}"),
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n\r\n{hidden}"),
        format!("Content-Length: 0, {length}\r\n\r\n{hidden}"),
        format!("Content-Length: +{length}\r\n\r\n{hidden}"),
        format!("Content-Length: -1\r\n\r\n{hidden}"),
        format!("Content-Length: 99999999999999999999999\r\n\r\n{hidden}"),
        format!("Content-Length: {length}\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked, identity\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: xchunked\r\n\r\n{hidden}"),
        format!("Transfer-Encoding : chunked\r\n\r\n{hidden}"),
        format!("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{hidden}"),
        format!("Transfer-Encoding: chunked\r\n\r\n-1\r\n{hidden}"),
        format!(" folded: x\r\n\r\n{hidden}"),
        format!("X: a\nb\r\n\r\n{hidden}"),
    ] {
        let sent = format!("GET /livez HTTP/1.1\r\nHost: a\r\n{framing}");
        let received = half_closed(&server, sent.as_bytes()).await;
        assert!(responses(&received) <= 1, "{framing:?}");
        assert_eq!(server.source.begun.load(Ordering::SeqCst), 0, "{framing:?}");
    }
    assert_eq!(server.get("/livez").await.status, 200);
}

#[tokio::test]
async fn other_versions_of_the_protocol() {
    let server = start(Source::default(), ServerLimits::default());
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let received = half_closed(&server, preface).await;
    assert!(!String::from_utf8_lossy(&received).contains(" 200 "));

    let upgrade = request("GET", "/livez", &[("Upgrade", "h2c, websocket")]);
    assert_eq!(server.exchange(&upgrade).await.status, 200);

    let old = server.exchange(b"GET /metrics HTTP/1.0\r\n\r\n").await;
    assert_eq!(old.status, 200);
    assert_eq!(old.body, body_of(ExpositionFormat::Text, 1000));

    let older = server.exchange(b"GET /metrics\r\n\r\n").await;
    assert_eq!(older.status, 400);
}

#[tokio::test]
async fn a_client_that_has_closed_its_side_is_answered() {
    let server = start(Source::default(), ServerLimits::default());
    let received = half_closed(&server, b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(Reply::parse(&received).body, body_of(ExpositionFormat::Text, 1000));
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_their_order() {
    const REQUESTS: usize = 500;
    let server = start(Source::default(), ServerLimits::default());
    let (mut read, mut write) = server.connect().await.into_split();
    let writer = tokio::spawn(async move {
        for number in 0..REQUESTS {
            let path = ["/livez", "/nothing"][number % 2];
            let text = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
            write.write_all(text.as_bytes()).await.unwrap();
        }
        write.shutdown().await.unwrap();
    });
    let mut received = String::new();
    read.read_to_string(&mut received).await.unwrap();
    writer.await.unwrap();
    let statuses = received.split("HTTP/1.1 ").skip(1).map(|reply| &reply[..3]);
    let expected = ["200", "404"].into_iter().cycle().take(REQUESTS);
    assert!(statuses.eq(expected));
}

#[tokio::test]
async fn hostile_accept_headers_get_some_format() {
    let server = start(Source::default(), ServerLimits::default());
    let text = body_of(ExpositionFormat::Text, 1000);
    let many = "application/openmetrics-text;q=nan, ".repeat(300);
    for value in [
        &b"*/*;q=nan"[..],
        b"*/*;q=1e9, text/plain;q=-1",
        b";;;;,,,,====\"",
        b"\"\\\"\\\"\\",
        b"\xff\xfe\x80/\xff;\xff=\xff",
        b"text/plain;version=0.0.4;version=9;q=0.1;q=1",
        "ｔｅｘｔ/ｐｌａｉｎ".as_bytes(),
        many.as_bytes(),
    ] {
        for name in ["Accept", "Accept-Encoding"] {
            let head = format!("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{name}: ");
            let sent = [head.as_bytes(), value, b"\r\n\r\n"].concat();
            let reply = server.exchange(&sent).await;
            assert_eq!(reply.status, 200, "{value:?}");
            assert_eq!(reply.header("content-encoding"), None, "{value:?}");
            assert_eq!(reply.body, text, "{value:?}");
        }
    }
}

/// The head comes one byte every second: each is progress, and yet it has to end.
#[tokio::test(start_paused = true)]
async fn a_head_that_trickles_in_ends_the_connection() {
    let server = start(Source::default(), ServerLimits::default());
    let (mut read, mut write) = server.connect().await.into_split();
    let trickle = tokio::spawn(async move {
        let mut sent = 0;
        while write.write_all(b"G").await.is_ok() && sent < 10_000 {
            sent += 1;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        sent
    });
    let mut received = Vec::new();
    let _ = read.read_to_end(&mut received).await;
    assert!(!String::from_utf8_lossy(&received).contains(" 200 "));
    assert!(trickle.await.unwrap() < 60);
}

#[tokio::test]
async fn a_body_that_was_announced_and_never_comes_holds_nothing_up() {
    let limits = ServerLimits { max_scrapes: 1, ..ServerLimits::default() };
    let server = start(Source::default(), limits);
    let mut waiting = Vec::new();
    for framing in ["Content-Length: 1000000", "Transfer-Encoding: chunked"] {
        let mut stream = server.connect().await;
        let sent = format!("GET /metrics HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n");
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        waiting.push(stream);
        // Its scrape is over although its body has not come.
        let status = async || server.request("HEAD", "/metrics", &[]).await.status;
        while status().await != 200 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn ten_thousand_scrapers_at_once_are_served_or_turned_away() {
    const SCRAPERS: usize = 10_000;
    let limits = ServerLimits::default();
    // The test holds one end of each connection, the server the other.
    let wanted = SCRAPERS + limits.max_connections + 200;
    let _descriptors = descriptors::reserve(wanted as u64).await;
    let server = start(Source::default(), limits);
    server.source.gate.set_shut(true);
    let crowd: Vec<_> = (0..SCRAPERS).map(|_| tokio::spawn(scrape(server.address))).collect();
    server.source.until_begun(1).await;
    // As many as may be are under way; everybody else is turned away, and probes get through.
    let turned_away = || crowd.iter().filter(|scraper| scraper.is_finished()).count();
    while turned_away() < SCRAPERS - limits.max_scrapes {
        assert_eq!(server.get("/livez").await.status, 200);
    }
    server.source.gate.set_shut(false);
    let (mut served, mut refused) = (0, 0);
    for scraper in crowd {
        match scraper.await.unwrap() {
            Some(200) => served += 1,
            Some(status) => {
                assert_eq!(status, 503);
                refused += 1;
            }
            // The connection was closed to make room before its request had come.
            None => refused += 1,
        }
    }
    assert!((1..=limits.max_scrapes as u64).contains(&served));
    assert_eq!(served + refused, SCRAPERS as u64);
    assert!(server.source.begun.load(Ordering::SeqCst) <= served);
    assert_eq!(server.get("/metrics").await.status, 200);
}

/// The status of a scrape; `None` where the connection ended without one.
async fn scrape(address: std::net::SocketAddr) -> Option<u16> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    descriptors::end_if_lost(&stream);
    let _ = stream.write_all(&request("GET", "/metrics", &[])).await;
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    (!received.is_empty()).then(|| Reply::parse(&received).status)
}
