//! Readers of a running `podinit serve`, as many as an incident has.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Exporter;
use crate::support::get;

/// What they read, by turns.
const PATHS: [&str; 4] = ["/api/v1/problems", "/api/v1/stuck?limit=500", "/", "/metrics"];
/// Between two looks at how old the newest finding is.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What was seen while they read.
#[derive(Debug, Default)]
pub struct Seen {
    /// How old the oldest finding was that was said to be of the present, in seconds
    pub oldest_fresh: f64,
    /// How old the oldest was
    pub oldest: f64,
    /// How many looks found an answer that was not fresh
    pub not_fresh: usize,
    pub looks: usize,
    /// How many answers the readers had
    pub answers: usize,
    /// How many of them were refusals
    pub refused: usize,
}

/// Reads with so many readers at once until so many findings were made.
pub fn read_beside(exporter: &Exporter, readers: usize, findings: usize) -> Seen {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let read = |reader| read(exporter.address(), reader, &done);
        let readers: Vec<_> = (0..readers).map(|one| scope.spawn(move || read(one))).collect();
        let mut seen = look(exporter, findings);
        done.store(true, Relaxed);
        for reader in readers {
            let (answers, refused) = reader.join().unwrap();
            seen.answers += answers;
            seen.refused += refused;
        }
        seen
    })
}

/// How long it takes to end the exporter while so many readers read.
pub fn end_beside(exporter: Exporter, readers: usize) -> Duration {
    let (done, address) = (AtomicBool::new(false), exporter.address());
    thread::scope(|scope| {
        for reader in 0..readers {
            let done = &done;
            scope.spawn(move || read(address, reader, done));
        }
        look(&exporter, 1);
        let began = Instant::now();
        exporter.terminate();
        done.store(true, Relaxed);
        began.elapsed()
    })
}

/// Reads by turns until it is `done`, or nobody answers. Returns how many answers it had, and how many refusals.
fn read(address: SocketAddr, reader: usize, done: &AtomicBool) -> (usize, usize) {
    let (mut answers, mut refused) = (0, 0);
    for path in PATHS.iter().cycle().skip(reader) {
        if done.load(Relaxed) {
            break;
        }
        let Ok(answer) = get(address, path) else {
            break;
        };
        answers += 1;
        refused += usize::from(!answer.starts_with("HTTP/1.1 200"));
    }
    (answers, refused)
}

/// Looks at the newest finding until it has changed so often.
fn look(exporter: &Exporter, findings: usize) -> Seen {
    let (mut seen, mut last, mut changes) = (Seen::default(), Value::Null, 0);
    while changes <= findings {
        let answer = exporter.get("/api/v1/problems");
        thread::sleep(LOOK_EVERY);
        let Some((head, body)) = answer.split_once("\r\n\r\n") else {
            continue;
        };
        if !head.starts_with("HTTP/1.1 200") {
            continue;
        }
        let found: Value = serde_json::from_str(body).expect(body);
        let age = found["age_seconds"].as_f64().unwrap_or_default();
        seen.looks += 1;
        seen.oldest = seen.oldest.max(age);
        match found["fresh"].as_bool() {
            Some(true) => seen.oldest_fresh = seen.oldest_fresh.max(age),
            _ => seen.not_fresh += 1,
        }
        changes += usize::from(found["time"] != last);
        last = found["time"].clone();
    }
    seen
}
