//! One trial: pods start up, faults of one class are injected, and what was counted is audited.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::ExpositionFormat;
use podinit_sim::rng::Rng;
use tokio::time::{Instant, sleep, sleep_until};

use crate::proof::audit::{self, Findings};
use crate::proof::classes::Class;
use crate::proof::delivery_log::Delivered;
use crate::proof::injected_bug::{Bug, InjectedBug};
use crate::proof::lives::Lives;
use crate::proof::process::Process;
use crate::proof::server::Server;
use crate::proof::tally::Counted;
use crate::support::scrape::Scrape;

/// When every trial begins.
const EPOCH: i64 = 1_795_000_000_000_000_000;
/// Pods are created for so long before anybody looks.
const BEFORE: Duration = Duration::from_secs(12);
/// Faults fault_at for so long after the last pod was created.
const AFTERWARDS: Duration = Duration::from_secs(60);
/// All is well for so long at the end.
const QUIET: Duration = Duration::from_secs(150);
/// What is due within this time happens at once.
const QUANTUM: Duration = Duration::from_millis(40);

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    pub class: Class,
    pub seed: u64,
    /// Pods, apart from those that are re-created
    pub pods: u32,
    pub injected: InjectedBug,
}

/// What came of it.
#[derive(Debug)]
pub struct Report {
    /// What struck
    pub parts: Vec<Class>,
    /// That there were
    pub pods: usize,
    /// That were counted
    pub discovered: usize,
    pub versions: usize,
    /// Events delivered
    pub delivered: usize,
    /// Versions that were never delivered, for a reason
    pub withheld: usize,
    /// Lists that completed
    pub lists: usize,
    pub counted: Vec<Counted>,
    pub findings: Findings,
}

impl Trial {
    pub fn new(class: Class, seed: u64, pods: u32) -> Self {
        Self { class, seed, pods, injected: InjectedBug::default() }
    }

    /// Runs it, in virtual time.
    pub fn run(self) -> Report {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async { World::start(self).run().await })
    }
}

/// A trial under way.
pub struct World {
    pub trial: Trial,
    pub parts: Vec<Class>,
    pub server: Server,
    pub lives: Lives,
    pub rng: Rng,
    pub began: Instant,
    /// How far the machine's clock is ahead of the API server's
    pub offset: Arc<AtomicI64>,
    pub processes: Vec<Process>,
    pub starts: u64,
    pub left: u32,
    pub next_pod: Instant,
    pub frozen_until: Instant,
    /// Decides what happens to shards, so that their pods are those of a trial without them
    pub shard_rng: Rng,
    /// The state of the server at some moment
    pub backup: Option<(u64, Lives)>,
}

impl World {
    fn start(trial: Trial) -> Self {
        let mut rng = Rng::fork(trial.seed, 3);
        let parts = trial.class.parts(&mut rng);
        let mut lives = Lives::new(trial.seed);
        if parts.contains(&Class::SameNames) {
            lives.recreating = 0.5;
        }
        let (processes, logs) = Process::all(&parts);
        let sharding = Class::sharding(&parts);
        Self {
            server: Server::new(trial.seed, EPOCH, sharding, logs),
            trial,
            parts,
            lives,
            rng,
            began: Instant::now(),
            offset: Arc::default(),
            processes,
            starts: 0,
            left: trial.pods,
            next_pod: Instant::now(),
            frozen_until: Instant::now(),
            shard_rng: Rng::fork(trial.seed, 6),
            backup: None,
        }
    }

    async fn run(mut self) -> Report {
        self.live_until(self.began + BEFORE).await;
        for number in 0..self.processes.len() {
            self.start_process(number);
        }
        if self.rng.chance(0.8) {
            // Otherwise the first list has its troubles too.
            self.live_until(Instant::now() + Duration::from_secs(2)).await;
        }
        self.trouble(true);
        let mut fault_at = Instant::now() + Duration::from_secs(3);
        while self.left > 0 {
            self.live_until(fault_at).await;
            self.inject().await;
            fault_at = Instant::now() + Duration::from_millis(1_000 + self.rng.below(9_000));
        }
        for _ in 0..6 {
            self.live_until(Instant::now() + AFTERWARDS / 6).await;
            self.inject().await;
        }
        self.trouble(false);
        self.live_until(Instant::now() + QUIET / 2).await;
        self.lives.delete_half(&mut self.server.lock().history);
        self.live_until(Instant::now() + QUIET / 2).await;
        // The last versions are delivered before the end.
        sleep(Duration::from_secs(5)).await;
        self.report().await
    }

    /// Lets pods live until then.
    pub async fn live_until(&mut self, until: Instant) {
        loop {
            let now = Instant::now();
            self.live(now);
            self.start_what_is_due(now);
            if now >= until {
                return;
            }
            let wake = self.next_wake().map_or(until, |at| at.min(until));
            sleep_until(wake.max(now + QUANTUM)).await;
        }
    }

    pub fn live(&mut self, now: Instant) {
        if now < self.frozen_until {
            return;
        }
        let before = self.server.lock().history.log.len();
        while self.left > 0 && self.next_pod <= now {
            let at = self.time(self.next_pod);
            let history = &mut self.server.lock().history;
            self.lives.advance(history, at);
            self.lives.create(history, at);
            self.left -= 1;
            self.next_pod += Duration::from_millis(20 + self.rng.below(160));
        }
        let at = self.time(now);
        let mut state = self.server.lock();
        self.lives.advance(&mut state.history, at);
        if state.history.log.len() > before {
            self.server.changed.notify_waiters();
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let step = self.lives.next_due().map(|due| {
            let nanos = due.as_nanos() - EPOCH;
            self.began + Duration::from_nanos(nanos.unsigned_abs())
        });
        let create = (self.left > 0).then_some(self.next_pod);
        step.into_iter().chain(create).min()
    }

    pub fn time(&self, at: Instant) -> Timestamp {
        let elapsed = at.duration_since(self.began).as_nanos();
        Timestamp::from_nanos(EPOCH + i64::try_from(elapsed).unwrap_or(i64::MAX))
    }

    /// Begins, or ends, what is wrong all the time.
    fn trouble(&mut self, begins: bool) {
        let mut state = self.server.lock();
        if begins {
            for part in &self.parts {
                part.inject_lasting(&mut state.faults);
            }
            if self.trial.injected.bug == Bug::Undelivered {
                state.faults.lose = 0.01;
            }
        } else {
            state.faults.clear();
        }
        drop(state);
        self.server.changed.notify_waiters();
    }

    async fn report(mut self) -> Report {
        let mut findings = Findings::default();
        let (mut tallies, mut scrapes, mut withheld) = (Vec::new(), Vec::new(), 0);
        for process in &mut self.processes {
            let exporter = process.exporter.take().expect("it runs");
            if !exporter.synced() {
                let what = "the watch is not in sync at the end";
                findings.add(audit::Fault::Lost, None, what);
            }
            let (tally, accounted, exposition) = exporter.stop().await;
            let state = self.server.lock();
            let logs = process.logs(&state.logs);
            audit::audit(&state.history, logs, &tally, &mut findings);
            for (source, log) in logs.iter().enumerate() {
                audit::given(&state.history, log, accounted.of(source), &mut findings);
            }
            withheld += audit::withheld(&state.history, logs);
            let text = exposition.encode(ExpositionFormat::Text).expect("it can be scraped");
            let scrape = Scrape::parse(&String::from_utf8(text).expect("it is text"));
            audit::exposed(&scrape, &tally.pods, &mut findings);
            tallies.push(tally.pods);
            scrapes.push(scrape);
        }
        let state = self.server.lock();
        audit::gated(&state.history, &state.logs, &scrapes, &mut findings);
        let pods = state.history.pods.len();
        drop(state);
        let mut counted = vec![Counted::default(); pods];
        for tally in &tallies {
            counted.iter_mut().zip(tally).for_each(|(sum, counted)| sum.add(counted));
        }
        if tallies.len() > 1 {
            audit::sums(&self.server.lock().history, &counted, &mut findings);
        }
        let state = self.server.lock();
        let delivered = || state.logs.iter().flat_map(|log| &log.delivered);
        let is_list = |delivered: &&Delivered| matches!(delivered, Delivered::List { .. });
        let lists = delivered().filter(is_list).count();
        Report {
            parts: self.parts,
            pods: state.history.pods.len(),
            discovered: counted.iter().filter(|pod| pod.all("discovered") > 0).count(),
            versions: state.history.log.len(),
            delivered: delivered().count() - lists,
            withheld,
            lists,
            counted,
            findings,
        }
    }
}
