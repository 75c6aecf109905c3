//! What badly behaved clients can do, over a real socket: not much.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::PATIENCE;
use crate::support::server::{Reply, Running, Source, body_of, request, start};
use podinit_http::{ExpositionFormat, ServerLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// More than the kernel buffers for a connection on loopback.
const HUGE: usize = 32 << 20;

#[tokio::test]
async fn heads_that_are_too_long_or_too_many_get_431() {
    let limits = ServerLimits::default();
    let server = start(Source::default(), limits);
    let long = "x".repeat(limits.max_head_bytes);
    let reply = server.request("GET", "/livez", &[("X-Long", &long)]).await;
    assert_eq!(reply.status, 431);
    let many = vec![("X-Many", "1"); limits.max_headers + 1];
    let reply = server.request("GET", "/livez", &many).await;
    assert_eq!(reply.status, 431);
    let reply = server.get(&format!("/{long}")).await;
    assert_eq!(reply.status, 431);
    assert_eq!(server.get("/livez").await.status, 200);
}

#[tokio::test]
async fn what_is_not_http_gets_400() {
    let server = start(Source::default(), ServerLimits::default());
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n"[..],
        b"GET /metrics HTTP/1.1\r\nHost\0: x\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET  /metrics\r\n\r\n",
        b"GET /<script> HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        assert_eq!(server.exchange(nonsense).await.status, 400);
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_arrive_ends_the_connection() {
    let server = start(Source::default(), ServerLimits::default());
    for sent in ["", "GET /metrics HTTP/1.1\r\nHost: "] {
        let mut stream = server.connect().await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        assert!(received.is_empty());
    }
}

#[tokio::test]
async fn a_scraper_that_does_not_read_is_cut_off_and_no_longer_counts() {
    let source = Source { size: HUGE, ..Source::default() };
    let limits = ServerLimits { max_scrapes: 1, ..ServerLimits::default() };
    let server = start(source, limits);
    let mut stream = server.connect().await;
    let scrape = request("GET", "/metrics", &[]);
    stream.write_all(&scrape).await.unwrap();
    server.source.until_begun(1).await;
    assert_eq!(server.get("/metrics").await.status, 503);

    // The encoding has to end on its own time before the clock can be set forward.
    stream.readable().await.unwrap();
    tokio::time::pause();
    tokio::time::sleep(limits.write_timeout + Duration::from_secs(1)).await;
    tokio::time::resume();
    let mut received = Vec::new();
    // The end is a reset where the kernel still held bytes.
    let _ = stream.read_to_end(&mut received).await;
    assert!(received.len() < HUGE);
    assert_eq!(server.request("HEAD", "/metrics", &[]).await.status, 200);
}

/// Asks for a scrape and reads nothing of it.
async fn silent_scrape(server: &Running) -> TcpStream {
    let mut stream = server.connect().await;
    let scrape = request("GET", "/metrics", &[]);
    stream.write_all(&scrape).await.unwrap();
    stream
}

#[tokio::test]
async fn clients_that_do_not_read_do_not_shut_out_a_scraper() {
    let source = Source { size: HUGE, ..Source::default() };
    let limits = ServerLimits {
        max_scrapes: 4,
        min_stall: Duration::ZERO,
        // Nobody is cut off before the scraper has had its turn.
        stall_timeout: 2 * PATIENCE,
        write_timeout: 2 * PATIENCE,
        ..ServerLimits::default()
    };
    let server = start(source, limits);
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(silent_scrape(&server).await);
    }
    let scraped = tokio::time::timeout(PATIENCE, async {
        while server.request("HEAD", "/metrics", &[]).await.status != 200 {}
    });
    scraped.await.expect("it is shut out until those that do not read are cut off");
}

#[tokio::test]
async fn one_client_cannot_take_all_places() {
    let limits = ServerLimits { max_scrapes: 4, ..ServerLimits::default() };
    let server = start(Source::default(), limits);
    // They are not answered yet, so that nobody can know whether they are going to read.
    server.source.gate.set_shut(true);
    let mut crowd = Vec::new();
    for _ in 0..20 {
        crowd.push(silent_scrape(&server).await);
    }
    server.source.until_begun(1).await;
    while server.get("/metrics").await.status != 503 {}
    let other = TcpSocket::new_v4().unwrap();
    other.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = other.connect(server.address).await.unwrap();
    other.write_all(&request("GET", "/metrics", &[])).await.unwrap();
    // Its request is under way before the others can be answered.
    while server.get("/livez").await.status != 200 {}
    server.source.gate.set_shut(false);
    let mut received = Vec::new();
    other.read_to_end(&mut received).await.unwrap();
    assert_eq!(Reply::parse(&received).status, 200);
}

#[tokio::test]
async fn bodies_of_get_are_passed_over() {
    let server = start(Source::default(), ServerLimits::default());
    let mut stream = server.connect().await;
    let with_body = b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let last = request("GET", "/metrics", &[]);
    stream.write_all(&[&with_body[..], &last].concat()).await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    let expected = body_of(ExpositionFormat::Text, 1000);
    assert!(received.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert!(received.ends_with(&expected));
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_its_end() {
    let server = start(Source::default(), ServerLimits::default());
    let (mut read, mut write) = server.connect().await.into_split();
    let endless = tokio::spawn(async move {
        let head = b"GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        let mut outcome = write.write_all(head).await;
        let chunk = [b"10000\r\n".as_slice(), &[0; 0x10000], b"\r\n"].concat();
        while outcome.is_ok() {
            outcome = write.write_all(&chunk).await;
        }
    });
    let mut received = Vec::new();
    let _ = read.read_to_end(&mut received).await;
    assert_eq!(Reply::parse(&received).status, 200);
    // Ends only because the server has closed.
    endless.await.unwrap();
}

#[tokio::test]
async fn excess_scrapes_are_turned_away_while_probes_are_answered() {
    let limits = ServerLimits { max_scrapes: 1, ..ServerLimits::default() };
    let server = start(Source::default(), limits);
    server.source.gate.set_shut(true);
    let mut first = server.connect().await;
    let scrape = request("GET", "/metrics", &[]);
    first.write_all(&scrape).await.unwrap();
    server.source.until_begun(1).await;
    for _ in 0..100 {
        let reply = server.exchange(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(reply.status, 503);
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert_eq!(reply.header("connection"), Some("close"));
        assert_eq!(reply.text(), "too many scrapes at a time, try again\n");
        assert_eq!(server.get("/livez").await.status, 200);
    }
    server.source.gate.set_shut(false);
    let mut received = Vec::new();
    first.read_to_end(&mut received).await.unwrap();
    assert_eq!(Reply::parse(&received).body, body_of(ExpositionFormat::Text, 1000));
    assert_eq!(server.get("/metrics").await.status, 200);
}

#[tokio::test]
async fn a_house_full_of_silent_clients_lets_probes_in() {
    let limits = ServerLimits {
        max_connections: 8,
        max_scrapes: 4,
        min_idle: Duration::from_millis(1),
        ..ServerLimits::default()
    };
    let server = start(Source::default(), limits);
    let mut silent = Vec::new();
    for number in 0..50 {
        let mut stream = server.connect().await;
        let sent = ["", "GET /livez HTTP/1.1\r\n"][number % 2];
        stream.write_all(sent.as_bytes()).await.unwrap();
        silent.push(stream);
        assert_eq!(server.get("/livez").await.status, 200);
    }
}

#[tokio::test]
async fn a_full_house_keeps_its_scrapes() {
    let limits = ServerLimits {
        max_connections: 2,
        max_scrapes: 1,
        min_idle: Duration::ZERO,
        ..ServerLimits::default()
    };
    let server = start(Source::default(), limits);
    server.source.gate.set_shut(true);
    let mut scraper = server.connect().await;
    let scrape = request("GET", "/metrics", &[]);
    scraper.write_all(&scrape).await.unwrap();
    server.source.until_begun(1).await;
    for _ in 0..20 {
        let mut silent = server.connect().await;
        let mut received = Vec::new();
        // Turned out to keep a place free for the next one, and told so.
        silent.read_to_end(&mut received).await.unwrap();
        let reply = Reply::parse(&received);
        assert_eq!(reply.status, 503);
        assert_eq!(reply.text(), "too many connections, try again");
        assert_eq!(reply.header("content-length"), Some("31"));
        assert_eq!(reply.header("retry-after"), Some("1"));
    }
    server.source.gate.set_shut(false);
    let mut received = Vec::new();
    scraper.read_to_end(&mut received).await.unwrap();
    assert_eq!(Reply::parse(&received).status, 200);
}

#[tokio::test]
async fn a_crowd_is_served_or_turned_away_and_shares_its_encodings() {
    let server = start(Source::default(), ServerLimits::default());
    server.source.gate.set_shut(true);
    let mut crowd = Vec::new();
    for _ in 0..300 {
        let mut stream = server.connect().await;
        let scrape = request("GET", "/metrics", &[]);
        stream.write_all(&scrape).await.unwrap();
        crowd.push(stream);
    }
    server.source.until_begun(1).await;
    server.source.gate.set_shut(false);
    let mut served = 0;
    for mut stream in crowd {
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await.unwrap();
        match Reply::parse(&received).status {
            200 => served += 1,
            status => assert_eq!(status, 503),
        }
    }
    assert!(served > 0);
    assert!(server.source.begun.load(Ordering::SeqCst) <= served);
}
