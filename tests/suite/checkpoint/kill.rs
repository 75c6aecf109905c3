//! `kill -9`, again and again, while pods come and go and somebody scrapes all the time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::PATIENCE;
use crate::support::restart::load::Load;
use crate::support::restart::{World, scrape};
use crate::support::scrape::Scrape;
use podinit_sim::rng::Rng;

/// So many things happen in the cluster at most before a process is killed, which may be before it listens.
const LONGEST_LIFE: u32 = 400;
/// Between two things that happen in the cluster.
const PACE: Duration = Duration::from_millis(1);

/// What scrapes have shown, across all processes.
#[derive(Default)]
struct Prometheus {
    highest: BTreeMap<String, f64>,
    lower: Vec<String>,
}

impl Prometheus {
    fn take(&mut self, scrape: &Scrape, life: u64) {
        for (series, value) in &self.highest {
            let shown = scrape.value(series);
            if shown.is_none_or(|shown| shown < *value) {
                self.lower.push(format!("life {life}: {series} is {shown:?} after {value}"));
            }
        }
        for (series, value) in scrape.counters() {
            self.highest.insert(series.to_owned(), value);
        }
    }
}

/// Where the process listens that lives now, and which one it is.
#[derive(Default)]
struct Target {
    address: Mutex<Option<(String, u64)>>,
    scrapes: AtomicU64,
    done: AtomicBool,
}

fn scrape_all_the_time(target: &Target) -> Prometheus {
    let mut prometheus = Prometheus::default();
    while !target.done.load(Ordering::Relaxed) {
        let at = target.address.lock().unwrap().clone();
        match at.and_then(|(address, life)| Some((scrape(&address)?, life))) {
            Some((scrape, life)) => {
                prometheus.take(&scrape, life);
                target.scrapes.fetch_add(1, Ordering::Relaxed);
            }
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
    prometheus
}

fn run(world: &World, lives: u64, seed: u64) {
    let mut random = Rng::new(seed);
    let mut load = Load::seeded(seed);
    // The first list is empty: what comes after it is observed in full.
    let mut first = world.podinit();
    first.until_synced();
    first.kill();
    let target = Arc::new(Target::default());
    let scraper = {
        let target = Arc::clone(&target);
        thread::spawn(move || scrape_all_the_time(&target))
    };
    let mut listened = 0;
    for life in 1..=lives {
        let mut process = world.podinit();
        // Every other one lives on until it has been scraped, however slow the machine is.
        let mut is_due = life % 2 == 0;
        let scraped = target.scrapes.load(Ordering::Relaxed);
        let deadline = Instant::now() + PATIENCE;
        let mut left = random.within(1..=LONGEST_LIFE);
        while left > 0 || !is_due {
            load.go_on(&world.cluster);
            if process.listens() {
                let address = process.address().map(str::to_owned);
                *target.address.lock().unwrap() = address.map(|address| (address, life));
            }
            is_due |= target.scrapes.load(Ordering::Relaxed) > scraped;
            assert!(
                Instant::now() < deadline,
                "seed {seed}: life {life} is not scraped, listening: {}",
                process.listens()
            );
            left = left.saturating_sub(1);
            thread::sleep(PACE);
        }
        listened += u64::from(process.listens());
        process.kill();
        // Some time passes unwatched.
        for _ in 0..random.within(0..=20) {
            load.go_on(&world.cluster);
        }
    }
    let mut last = world.podinit();
    *target.address.lock().unwrap() = last.address().map(|address| (address.to_owned(), lives + 1));
    let deadline = Instant::now() + PATIENCE;
    let mut end = last.scrape();
    while !load.faults(&end).is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
        end = last.scrape();
    }
    target.done.store(true, Ordering::Relaxed);
    let prometheus = scraper.join().unwrap();
    let scrapes = target.scrapes.load(Ordering::Relaxed);
    println!(
        "seed {seed}: {lives} kills, {listened} of them while it listened; {} pods, {scrapes} scrapes, {} series",
        load.created(),
        prometheus.highest.len(),
    );
    let faults = load.faults(&end);
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n"));
    assert!(prometheus.lower.is_empty(), "seed {seed}:\n{}", prometheus.lower.join("\n"));
    assert!(listened >= lives / 2 && scrapes >= lives / 2, "nothing was tested");
    assert!(last.terminate());
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_it_loses_nothing_that_it_has_shown() {
    let world = World::start().await;
    let (lives, seed) = (number("PODINIT_KILLS", 10), number("PODINIT_SEED", 1));
    tokio::task::block_in_place(|| run(&world, lives, seed));
}
