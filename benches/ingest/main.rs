//! What `podinit serve` takes for each event of a watch, over a real connection on loopback, and how late
//! it is.
//!
//! ```text
//! cargo bench --bench ingest                              # all rates, protobuf and JSON, and curl
//! cargo bench --bench ingest -- --rates 500,2000 --encodings protobuf
//! cargo bench --bench ingest -- --scrapers 10             # how late, beside scrapers
//! cargo bench --bench ingest -- --scrapers 10 --gzip      # which ask for compressed bodies
//! PODINIT_BIN=old/podinit cargo bench --bench ingest      # another binary
//! ```
//!
//! A server in this process plays the lives of pods at each rate. The CPU time and the context switches
//! are those of the process that reads them, so other load affects them only through the caches. `curl`
//! reads the same watch and throws it away: what reading alone takes. Linux only.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod api_server;
mod lateness;
mod reader;
#[path = "../support/mod.rs"]
mod support;
mod template;
mod usage;

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
    /// Watch events a second
    #[arg(long, value_delimiter = ',', default_values_t = [100, 500, 2_000, 5_000, 10_000])]
    rates: Vec<u64>,
    /// How the API server answers: protobuf, json
    #[arg(long, value_delimiter = ',', default_values_t = ["protobuf".to_owned(), "json".to_owned()])]
    encodings: Vec<String>,
    /// How long each phase lasts, in seconds
    #[arg(long, default_value_t = 8)]
    seconds: u64,
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
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let options = Options::parse();
    if let Some(scrapers) = options.scrapers {
        let namespaces = options.namespaces.max(770);
        for encoding in &options.encodings {
            let (server, address) = ApiServer::start(namespaces).unwrap();
            let podinit = Reader::podinit(address, encoding, options.state);
            lateness::measure(&server, &podinit, scrapers, &options);
        }
        return;
    }
    println!("| reader | events/s | CPU µs/event | switches/event | of them involuntary |");
    println!("|---|---:|---:|---:|---:|");
    for encoding in &options.encodings {
        for name in ["podinit", "curl"] {
            let (server, address) = ApiServer::start(options.namespaces).unwrap();
            let reader = match name {
                "podinit" => Some(Reader::podinit(address, encoding, options.state)),
                _ => Reader::curl(address, encoding),
            };
            let Some(reader) = reader else {
                println!("| {name} is not installed |");
                continue;
            };
            warm_up(&server);
            for &rate in &options.rates {
                let row = phase(&server, reader.process(), rate, options.seconds);
                println!("| {name}, {encoding} | {row} |");
            }
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
}

/// One rate: the row of the table.
fn phase(server: &ApiServer, process: u32, rate: u64, seconds: u64) -> String {
    server.rate.store(rate, Relaxed);
    sleep(Duration::from_millis(500));
    let (before, sent) = (Usage::of(process), server.sent.load(Relaxed));
    let begun = Instant::now();
    sleep(Duration::from_secs(seconds));
    let (after, sent) = (Usage::of(process), server.sent.load(Relaxed) - sent);
    let passed = begun.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss)]
    let sent = sent as f64;
    let [nanoseconds, voluntary, involuntary] = after.since(&before);
    format!(
        "{:.0} | {:.1} | {:.2} | {:.2}",
        sent / passed,
        nanoseconds / 1e3 / sent,
        (voluntary + involuntary) / sent,
        involuntary / sent
    )
}
