//! What `podinit serve` takes for each event of a watch, over a real connection on loopback, and how late
//! it is.
//!
//! ```text
//! cargo bench --bench ingest                              # all rates, protobuf and JSON, and the floor
//! cargo bench --bench ingest -- --rates 500,2000 --encodings protobuf
//! cargo bench --bench ingest -- --rates 0 --encodings protobuf   # how often it wakes while nothing happens
//! cargo bench --bench ingest -- --scrapers 10             # how late, beside scrapers
//! cargo bench --bench ingest -- --scrapers 10 --gzip      # which ask for compressed bodies
//! PODINIT_BIN=old/podinit cargo bench --bench ingest      # another binary
//! ```
//!
//! A server in this process plays the lives of pods at each rate. The CPU time and the context switches
//! are those of the process that reads them, so other load affects them only through the caches. The floor
//! reads the same watch in the same way and throws it away: what reading alone takes. Both take turns. Linux only.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod api_server;
mod floor;
mod lateness;
mod reader;
#[path = "../support/mod.rs"]
mod support;
mod template;
mod usage;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

use api_server::ApiServer;
use clap::Parser;
use reader::Reader;
use usage::Usage;

/// Options of this benchmark.
#[derive(Parser)]
struct Options {
    /// Watch events a second; 0 counts wake-ups
    #[arg(long, value_delimiter = ',', default_values_t = [100, 500, 2_000, 5_000, 10_000])]
    rates: Vec<u64>,
    /// How the API server answers: protobuf, json
    #[arg(long, value_delimiter = ',', default_values_t = ["protobuf".to_owned(), "json".to_owned()])]
    encodings: Vec<String>,
    /// How long each phase lasts, in seconds
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// How often podinit and the floor take turns at each rate
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Measures how late events are accounted for instead, beside so many scrapers
    #[arg(long)]
    scrapers: Option<usize>,
    /// Scrapers ask for gzip, as Prometheus does
    #[arg(long)]
    gzip: bool,
    /// Scrapers ask for text 0.0.4 instead of protobuf
    #[arg(long)]
    text: bool,
    /// How many namespaces the pods are in; each has about thirteen histograms
    #[arg(long, default_value_t = 8)]
    namespaces: usize,
    /// Keeps the counts on disk, so that every scrape waits for a commit
    #[arg(long)]
    state: bool,
    /// Drains the watch of this server and does nothing else
    #[arg(long, hide = true, requires = "certificate")]
    drain: Option<SocketAddr>,
    /// The certificate of the server
    #[arg(long, hide = true)]
    certificate: Option<PathBuf>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let options = Options::parse();
    if let (Some(server), Some(certificate)) = (options.drain, &options.certificate) {
        floor::drain(server, certificate, &options.encodings[0]);
        return;
    }
    if let Some(scrapers) = options.scrapers {
        let namespaces = options.namespaces.max(770);
        for encoding in &options.encodings {
            let server = ApiServer::start(namespaces).unwrap();
            let podinit = Reader::podinit(&server, encoding, options.state);
            lateness::measure(&server.0, &podinit, scrapers, &options);
        }
        return;
    }
    println!("| reader | events/s | CPU µs/event: least, median, most | switches/event |");
    println!("|---|---:|---:|---:|");
    for encoding in &options.encodings {
        let servers = [(); 2].map(|()| ApiServer::start(options.namespaces).unwrap());
        let readers = [
            ("podinit", Reader::podinit(&servers[0], encoding, options.state)),
            ("floor", Reader::floor(&servers[1], encoding)),
        ];
        for (server, _) in &servers {
            warm_up(server);
        }
        for &rate in &options.rates {
            if rate == 0 {
                let (name, podinit) = &readers[0];
                let switches = idle_switches(podinit.process());
                println!("| {name}, {encoding} | 0 | | {switches:.1} a second |");
                continue;
            }
            let mut phases = [const { Vec::new() }; 2];
            for _ in 0..options.turns {
                for (((server, _), (_, reader)), phases) in
                    servers.iter().zip(&readers).zip(&mut phases)
                {
                    phases.push(phase(server, reader.process(), rate, options.seconds));
                }
            }
            let medians = phases.map(|mut phases| {
                phases.sort_by(|one, other| one.micros.total_cmp(&other.micros));
                let (least, most) = (phases[0].micros, phases[phases.len() - 1].micros);
                let median = &phases[phases.len() / 2];
                (least, median.micros, most, median.rate, median.switches)
            });
            for ((name, _), (least, median, most, rate, switches)) in readers.iter().zip(medians) {
                println!(
                    "| {name}, {encoding} | {rate:.0} | {least:.1}, {median:.1}, {most:.1} | {switches:.2} |"
                );
            }
            println!("| ratio, {encoding} | | {:.2} | |", medians[0].1 / medians[1].1);
        }
    }
}

/// Some lives, after which everything is allocated.
fn warm_up(server: &ApiServer) {
    server.rate.store(2_000, Relaxed);
    let begun = Instant::now();
    while server.sent.load(Relaxed) < 2_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no watch comes");
        sleep(Duration::from_millis(10));
    }
    server.rate.store(0, Relaxed);
}

/// What a reader took in a phase.
struct Phase {
    /// Events a second
    rate: f64,
    /// Microseconds of CPU time for each event
    micros: f64,
    /// Context switches for each event
    switches: f64,
}

/// Context switches a second of a process while nothing happens. The watch must not seem dead.
fn idle_switches(process: u32) -> f64 {
    const SECONDS: u64 = 20;
    sleep(Duration::from_secs(1));
    let before = Usage::of(process);
    sleep(Duration::from_secs(SECONDS));
    let [_, voluntary, involuntary] = Usage::of(process).since(&before);
    (voluntary + involuntary) / SECONDS as f64
}

/// One turn of a reader at a rate.
fn phase(server: &ApiServer, process: u32, rate: u64, seconds: u64) -> Phase {
    server.rate.store(rate, Relaxed);
    sleep(Duration::from_millis(500));
    let (before, sent) = (Usage::of(process), server.sent.load(Relaxed));
    let begun = Instant::now();
    sleep(Duration::from_secs(seconds));
    let (after, sent) = (Usage::of(process), server.sent.load(Relaxed) - sent);
    let passed = begun.elapsed().as_secs_f64();
    server.rate.store(0, Relaxed);
    #[allow(clippy::cast_precision_loss)]
    let sent = sent as f64;
    let [nanoseconds, voluntary, involuntary] = after.since(&before);
    Phase {
        rate: sent / passed,
        micros: nanoseconds / 1e3 / sent,
        switches: (voluntary + involuntary) / sent,
    }
}
