//! How late events are accounted for, beside scrapers.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use podinit_core::quantile::nearest_rank;
use serde_json::Value;

use super::Options;
use super::api_server::ApiServer;
use super::reader::Reader;
use super::support::Step;
use super::template::number_of;
use super::usage::Usage;

/// How often the newest startups are read: more often than 500 pods become ready.
const READ_EVERY: Duration = Duration::from_millis(200);

/// A time that is earlier than the sending is not an arrival: an event that comes after the second in which
/// it was sent has the middle of that second for its time.
const TOLERANCE_MS: f64 = 5.0;

const PROTOBUF: &str =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

/// Prints for each rate how late events were, without and with scrapers.
pub(crate) fn measure(server: &ApiServer, podinit: &Reader, scrapers: usize, options: &Options) {
    // So that every namespace has all of its histograms.
    server.rate.store(2_000, Relaxed);
    while server.sent.load(Relaxed) < 16 * options.namespaces.max(770) {
        sleep(Duration::from_millis(10));
    }
    for &rate in &options.rates {
        server.rate.store(rate, Relaxed);
        sleep(Duration::from_millis(500));
        for scrapers in [0, scrapers] {
            phase(server, podinit, scrapers, options);
        }
    }
}

fn phase(server: &ApiServer, podinit: &Reader, scrapers: usize, options: &Options) {
    let ask = Ask {
        path: "/metrics",
        accept: match options.text {
            true => "text/plain;version=0.0.4",
            false => PROTOBUF,
        },
        coding: match options.gzip {
            true => "gzip",
            false => "identity",
        },
    };
    let stop = Arc::new(AtomicBool::new(false));
    let scraping: Vec<_> = (0..scrapers)
        .map(|number| {
            let begin = Duration::from_secs(1) * number as u32 / scrapers as u32;
            scraper(podinit.address.clone(), ask, begin, Arc::clone(&stop))
        })
        .collect();
    sleep(Duration::from_millis(500));
    let (before, sent) = (Usage::of(podinit.process()), server.sent.load(Relaxed));
    let mut lateness = Lateness::default();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(options.seconds) {
        sleep(READ_EVERY);
        lateness.read(server, &podinit.address);
    }
    let after = Usage::of(podinit.process());
    let sent = server.sent.load(Relaxed) - sent;
    let passed = begun.elapsed().as_secs_f64();
    stop.store(true, Relaxed);
    let [nanoseconds, ..] = after.since(&before);
    println!(
        "{scrapers} scrapers, {:.0} events/s, {:.0} % of a core:",
        sent as f64 / passed,
        nanoseconds / 1e7 / passed
    );
    let Lateness { arrivals, behind, .. } = lateness;
    println!("  from the sending of an event to its arrival: {}", Spread(arrivals));
    println!("  accounting behind the sending, when asked: {}", Spread(behind));
    let scrapes = scraping.into_iter();
    let scrapes: Vec<Scrape> = scrapes.flat_map(|scraper| scraper.join().unwrap()).collect();
    if let Some(last) = scrapes.last() {
        let spread = |time: fn(&Scrape) -> Duration| {
            Spread(scrapes.iter().map(|it| time(it).as_secs_f64() * 1e3).collect())
        };
        println!(
            "  a scrape of {} bytes, to its first byte: {}",
            last.length,
            spread(|it| it.first_byte)
        );
        println!("  to its last byte: {}", spread(|it| it.last_byte));
    }
}

/// What a scraper asks for.
#[derive(Clone, Copy)]
struct Ask {
    path: &'static str,
    accept: &'static str,
    coding: &'static str,
}

/// A scrape: from the moment at which its connection was asked for.
struct Scrape {
    /// Until the first byte of the answer: the encoding, and the wait for it
    first_byte: Duration,
    last_byte: Duration,
    /// Of the body
    length: usize,
}

/// Milliseconds.
struct Spread(Vec<f64>);

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |percent| nearest_rank(&sorted, percent);
        match (at(50), at(99), at(100)) {
            (Some(half), Some(most), Some(longest)) => write!(
                f,
                "median {half:.2} ms, 99th percentile {most:.2} ms, longest {longest:.2} ms ({})",
                sorted.len()
            ),
            _ => f.write_str("nothing measured"),
        }
    }
}

/// Scrapes every second.
fn scraper(
    address: String,
    ask: Ask,
    begin: Duration,
    stop: Arc<AtomicBool>,
) -> JoinHandle<Vec<Scrape>> {
    thread::spawn(move || {
        let (mut scrapes, mut answer) = (Vec::new(), Vec::new());
        let mut due = Instant::now() + begin;
        while !stop.load(Relaxed) {
            sleep(due.saturating_duration_since(Instant::now()));
            due += Duration::from_secs(1);
            let begun = Instant::now();
            let first_byte = get(&address, ask, &mut answer).expect("a scrape");
            scrapes.push(Scrape {
                first_byte: first_byte - begun,
                last_byte: begun.elapsed(),
                length: body(&answer).expect("a scrape").len(),
            });
        }
        scrapes
    })
}

/// How late events were, in milliseconds.
#[derive(Default)]
struct Lateness {
    /// The pods that have been read
    pods: HashSet<usize>,
    /// From the sending of each event that reached a milestone to its arrival, as podinit states it
    arrivals: Vec<f64>,
    /// How far the accounting was behind the last event that had been sent, whenever it was asked
    behind: Vec<f64>,
}

impl Lateness {
    /// Reads the newest startups, and adds those that were not read before.
    fn read(&mut self, server: &ApiServer, address: &str) {
        let last_sent = server.last_sent();
        let ask = Ask { path: "/api/v1/startups?limit=500", accept: "*/*", coding: "identity" };
        let mut answer = Vec::new();
        let Some(page) = get(address, ask, &mut answer).and_then(|_| body(&answer)) else {
            return;
        };
        let page = json(page);
        if let (Some(sent), Some(accounted)) = (last_sent, time(&page["time"])) {
            self.behind.push(milliseconds(accounted, sent).max(0.0));
        }
        for startup in page["items"].as_array().expect("a list") {
            let pod = startup["uid"].as_str().and_then(number_of);
            let Some(pod) = pod.filter(|pod| self.pods.insert(*pod)) else {
                continue;
            };
            for milestone in startup["milestones"].as_array().into_iter().flatten() {
                self.milestone(server, pod, milestone);
            }
        }
    }

    fn milestone(&mut self, server: &ApiServer, pod: usize, milestone: &Value) {
        let step = match milestone["milestone"].as_str() {
            Some("PodScheduled") => Step::Scheduled,
            Some("PodReadyToStartContainers") => Step::NetworkReady,
            Some("Initialized") => Step::Initialized,
            Some("Ready") => Step::Ready,
            _ => return,
        };
        let sent = server.sent_at(pod, step as usize);
        let (Some(sent), Some(arrived)) = (sent, time(&milestone["time"])) else {
            return;
        };
        let late = milliseconds(sent, arrived);
        self.arrivals.push(if late < -TOLERANCE_MS {
            // It came in a later second: at least what was left of its own.
            let since = sent.duration_since(UNIX_EPOCH).unwrap_or_default();
            1e3 - f64::from(since.subsec_nanos()) / 1e6
        } else {
            late.max(0.0)
        });
    }
}

fn milliseconds(from: SystemTime, to: SystemTime) -> f64 {
    match to.duration_since(from) {
        Ok(passed) => passed.as_secs_f64() * 1e3,
        Err(error) => -error.duration().as_secs_f64() * 1e3,
    }
}

fn time(value: &Value) -> Option<SystemTime> {
    let time: jiff::Timestamp = value.as_str()?.parse().ok()?;
    Some(time.into())
}

fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_default()
}

/// Reads an answer into `answer`, whose memory is used again. Returns when its first byte came.
fn get(address: &str, ask: Ask, answer: &mut Vec<u8>) -> Option<Instant> {
    let Ask { path, accept, coding } = ask;
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\nAccept-Encoding: {coding}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    answer.clear();
    answer.push(0);
    stream.read_exact(answer).ok()?;
    let first_byte = Instant::now();
    stream.read_to_end(answer).ok()?;
    Some(first_byte)
}

/// The body of an answer with status 200.
fn body(answer: &[u8]) -> Option<&[u8]> {
    let head = memchr::memmem::find(answer, b"\r\n\r\n")?;
    let ok = answer.starts_with(b"HTTP/1.1 200");
    ok.then(|| &answer[head + 4..])
}
