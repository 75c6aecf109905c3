//! What a crowd of 10,000 scrapers costs `podinit demo`: the resident memory of the real process,
//! as Linux states its peak (`VmHWM`), while it goes on answering `/livez`.

#![cfg(target_os = "linux")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::support::PATIENCE;
use crate::support::demo::Demo;
use crate::support::descriptors;
use crate::support::memory::kibibytes;

const SCRAPERS: usize = 10_000;

const KIB: u64 = 1024;

/// What the crowd may add. Each of at most 512 connections holds a few KiB, and each of at most 32
/// scrapes an exposition, which here takes some 100 KiB.
const LIMIT: u64 = 32 * KIB * KIB;

/// A connection on which `path` was asked for.
fn ask(demo: &Demo, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&demo.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    descriptors::end_if_lost(&stream);
    let text = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    // One that was turned away at once may be closed by now.
    let _ = stream.write_all(text.as_bytes());
    stream
}

fn peak_resident(demo: &Demo) -> u64 {
    kibibytes(demo.process.id(), "VmHWM") * KIB
}

/// The status of the answer; `None` where the connection was closed without one.
fn status(mut stream: TcpStream) -> Option<u16> {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::TimedOut))
        }
    }
    let head = String::from_utf8_lossy(&answer);
    Some(head.split(' ').nth(1)?.parse().unwrap())
}

#[test]
fn ten_thousand_scrapers_cost_a_bounded_amount() {
    let _descriptors = descriptors::reserve_blocking(SCRAPERS as u64 + 100);
    // What the cluster itself takes grows with the time, so hardly a pod comes to it.
    let demo = Demo::start(&["--rate", "0.01"]);
    assert_eq!(status(ask(&demo, "/metrics")), Some(200));
    let before = peak_resident(&demo);
    let mut crowd = Vec::new();
    for number in 0..SCRAPERS {
        crowd.push(ask(&demo, "/metrics"));
        if number % 500 == 0 {
            assert_eq!(status(ask(&demo, "/livez")), Some(200));
        }
    }
    assert_eq!(status(ask(&demo, "/livez")), Some(200));
    let answers: Vec<_> = crowd.into_iter().map(status).collect();
    let count = |wanted: Option<u16>| answers.iter().filter(|status| **status == wanted).count();
    let (served, refused, closed) = (count(Some(200)), count(Some(503)), count(None));
    let more = peak_resident(&demo) - before;
    println!(
        "{SCRAPERS} scrapers: {served} served, {refused} refused, {closed} closed; {:.1} MiB more",
        more as f64 / (KIB * KIB) as f64
    );
    assert_eq!(served + refused + closed, SCRAPERS);
    assert!(served > 0);
    assert!(more <= LIMIT, "{more}");
    assert_eq!(status(ask(&demo, "/livez")), Some(200));
}
