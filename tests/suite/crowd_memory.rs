//! What a crowd of 10,000 scrapers costs `podinit demo`: the resident memory of the real process,
//! as Linux states its peak (`VmHWM`), while it goes on answering `/livez`.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::support::descriptors;

const SCRAPERS: usize = 10_000;

const KIB: u64 = 1024;

/// What the crowd may add. Each of at most 512 connections holds a few KiB, and each of at most 32
/// scrapes an exposition, which here takes some 100 KiB.
const LIMIT: u64 = 32 * KIB * KIB;

/// A running demonstration, killed when dropped.
struct Demo {
    process: Child,
    address: String,
}

impl Demo {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
            .args(["demo", "--listen", "127.0.0.1:0", "--log-level", "off"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let address = (output.lines().map_while(Result::ok)).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            Some(rest.split_once("/metrics")?.0.to_owned())
        });
        let address = address.expect("it says where the metrics are");
        Self { process, address }
    }

    /// A connection on which `path` was asked for.
    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let text = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        // One that was turned away at once may be closed by now.
        let _ = stream.write_all(text.as_bytes());
        stream
    }

    fn peak_resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
        kibibytes.parse::<u64>().unwrap() * KIB
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// The status of the answer; `None` where the connection was closed without one.
fn status(mut stream: TcpStream) -> Option<u16> {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    let head = String::from_utf8_lossy(&answer);
    Some(head.split(' ').nth(1)?.parse().unwrap())
}

#[test]
fn ten_thousand_scrapers_cost_a_bounded_amount() {
    let _descriptors = descriptors::reserve_blocking(SCRAPERS as u64 + 100);
    let demo = Demo::start();
    assert_eq!(status(demo.ask("/metrics")), Some(200));
    let before = demo.peak_resident();
    let mut crowd = Vec::new();
    for number in 0..SCRAPERS {
        crowd.push(demo.ask("/metrics"));
        if number % 500 == 0 {
            assert_eq!(status(demo.ask("/livez")), Some(200));
        }
    }
    assert_eq!(status(demo.ask("/livez")), Some(200));
    let answers: Vec<_> = crowd.into_iter().map(status).collect();
    let count = |wanted: Option<u16>| answers.iter().filter(|status| **status == wanted).count();
    let (served, refused, closed) = (count(Some(200)), count(Some(503)), count(None));
    let more = demo.peak_resident() - before;
    println!(
        "{SCRAPERS} scrapers: {served} served, {refused} refused, {closed} closed; {:.1} MiB more",
        more as f64 / (KIB * KIB) as f64
    );
    assert_eq!(served + refused + closed, SCRAPERS);
    assert!(served > 0);
    assert!(more <= LIMIT, "{more}");
    assert_eq!(status(demo.ask("/livez")), Some(200));
}
