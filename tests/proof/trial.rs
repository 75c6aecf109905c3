//! One trial: some pods live, a class of faults strikes, and what was counted is audited.

use std::time::Duration;

use podinit::metrics::Format;
use podinit::sim::rng::Rng;
use podinit::timestamp::Timestamp;
use tokio::time::{Instant, sleep, sleep_until};

use crate::audit::{self, Findings};
use crate::classes::Class;
use crate::exporter::{Exporter, Settings};
use crate::handed::{Account, Handed};
use crate::ingest::Disk;
use crate::lives::Lives;
use crate::mischief::Break;
use crate::planted::{Bug, Planted};
use crate::scrape_support::Scrape;
use crate::server::Server;
use crate::tally::Counted;

/// When every trial begins.
const EPOCH: i64 = 1_795_000_000_000_000_000;
/// Pods are created for so long before anybody looks.
const BEFORE: Duration = Duration::from_secs(12);
/// Faults strike for so long after the last pod was created.
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
    pub planted: Planted,
}

/// What came of it.
#[derive(Debug)]
pub struct Report {
    /// That there were
    pub pods: usize,
    /// That were counted
    pub discovered: usize,
    pub versions: usize,
    /// Events handed over
    pub handed: usize,
    /// Versions that were never handed over, for a reason
    pub withheld: usize,
    /// Lists that completed
    pub lists: usize,
    pub counted: Vec<Counted>,
    pub findings: Findings,
}

impl Trial {
    pub fn new(class: Class, seed: u64, pods: u32) -> Self {
        Self {
            class,
            seed,
            pods,
            planted: Planted::default(),
        }
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

struct World {
    trial: Trial,
    parts: Vec<Class>,
    server: Server,
    lives: Lives,
    rng: Rng,
    began: Instant,
    exporter: Option<Exporter>,
    starts: u64,
    left: u32,
    next_pod: Instant,
    frozen_until: Instant,
    /// Where the program keeps its ledger, if it has one
    disk: Option<Disk>,
    /// The state of the server at some moment
    backup: Option<(u64, Lives)>,
}

impl World {
    fn start(trial: Trial) -> Self {
        let mut rng = Rng::fork(trial.seed, 3);
        let parts = trial.class.parts(&mut rng);
        let mut lives = Lives::new(trial.seed);
        if parts.contains(&Class::SameNames) {
            lives.recreating = 0.5;
        }
        let ledger = parts.iter().any(|part| part.has_ledger());
        let disk = ledger.then(Disk::default);
        Self {
            server: Server::new(trial.seed, EPOCH, parts.contains(&Class::Sources)),
            trial,
            parts,
            lives,
            rng,
            began: Instant::now(),
            exporter: None,
            starts: 0,
            left: trial.pods,
            next_pod: Instant::now(),
            frozen_until: Instant::now(),
            disk,
            backup: None,
        }
    }

    async fn run(mut self) -> Report {
        self.live_until(self.began + BEFORE).await;
        self.start_exporter();
        if self.rng.chance(0.8) {
            // Otherwise the first list has its troubles too.
            self.live_until(Instant::now() + Duration::from_secs(2))
                .await;
        }
        self.trouble(true);
        let mut strike = Instant::now() + Duration::from_secs(3);
        while self.left > 0 {
            self.live_until(strike).await;
            self.strike().await;
            strike = Instant::now() + Duration::from_millis(1_000 + self.rng.below(9_000));
        }
        for _ in 0..6 {
            self.live_until(Instant::now() + AFTERWARDS / 6).await;
            self.strike().await;
        }
        self.trouble(false);
        self.live_until(Instant::now() + QUIET / 2).await;
        self.lives.delete_half(&mut self.server.lock().history);
        self.live_until(Instant::now() + QUIET / 2).await;
        // The last things that happened are told before the end.
        sleep(Duration::from_secs(5)).await;
        self.report().await
    }

    /// Lets pods live until then.
    async fn live_until(&mut self, until: Instant) {
        loop {
            let now = Instant::now();
            self.live(now);
            if now >= until {
                return;
            }
            let wake = self.next_wake().map_or(until, |at| at.min(until));
            sleep_until(wake.max(now + QUANTUM)).await;
        }
    }

    fn live(&mut self, now: Instant) {
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

    fn time(&self, at: Instant) -> Timestamp {
        let elapsed = at.duration_since(self.began).as_nanos();
        Timestamp::from_nanos(EPOCH + i64::try_from(elapsed).unwrap_or(i64::MAX))
    }

    fn start_exporter(&mut self) {
        self.starts += 1;
        let settings = Settings {
            seed: self.trial.seed ^ self.starts,
            fused: self.trial.seed.is_multiple_of(4) || !self.trial.seed.is_multiple_of(3),
            planted: self.trial.planted,
            slow: match self.parts.contains(&Class::SlowAccounting) {
                true => Duration::from_millis(8),
                false => Duration::ZERO,
            },
            queue: self.parts.contains(&Class::SlowAccounting).then_some(8),
        };
        self.exporter = Some(Exporter::start(&self.server, settings, self.disk.as_ref()));
    }

    /// Begins, or ends, what is wrong all the time.
    fn trouble(&mut self, begins: bool) {
        let mut state = self.server.lock();
        if begins {
            for part in &self.parts {
                part.afflict(&mut state.mischief);
            }
            if self.trial.planted.bug == Bug::Untold {
                state.mischief.lose = 0.01;
            }
        } else {
            state.mischief.cease();
        }
        drop(state);
        self.server.changed.notify_waiters();
    }

    async fn strike(&mut self) {
        let part = *self.rng.pick(&self.parts);
        part.strike(&mut self.server.lock().mischief, &mut self.rng);
        match part {
            Class::UnseenDeletions => {
                let history = &mut self.server.lock().history;
                for _ in 0..1 + self.rng.below(4) {
                    let nth = self.rng.below(self.lives.living() as u64) as usize;
                    self.lives.remove_unseen(nth, history);
                }
            }
            Class::Stopped => self.stop_and_continue().await,
            Class::RolledBack => self.back_up_or_restore(),
            Class::ColdRestart if self.rng.chance(0.3) => self.restart(false).await,
            Class::Restart => self.restart(false).await,
            Class::RestartInGap => self.restart(true).await,
            _ => {}
        }
        self.server.changed.notify_waiters();
    }

    /// The process is stopped while the world goes on: when it continues, all its deadlines have
    /// passed, and all that happened is there to be read.
    async fn stop_and_continue(&mut self) {
        let longest = if self.rng.chance(0.2) {
            600_000
        } else {
            20_000
        };
        let by = Duration::from_millis(200 + self.rng.below(longest));
        let until = Instant::now() + by;
        let mut at = Instant::now();
        while at < until {
            at = (at + Duration::from_millis(500)).min(until);
            self.live(at);
        }
        tokio::time::advance(by).await;
    }

    fn back_up_or_restore(&mut self) {
        let mut state = self.server.lock();
        match self.backup.take() {
            None => self.backup = Some((state.history.number(), self.lives.clone())),
            Some((number, lives)) => {
                let undone: Vec<_> = state.history.after(number).to_vec();
                for account in &mut state.accounts {
                    account.spoilt.extend(undone.iter().copied());
                    account.gap(number);
                }
                state.history.roll_back(number);
                state.mischief.break_watches(Break::Reset);
                self.lives = lives;
                // Nothing is written until whoever watched has come back: a server that has gone
                // past the version of a watch cannot be told from the one before.
                self.frozen_until = Instant::now() + Duration::from_secs(5);
                self.lives
                    .resume(self.time(self.frozen_until), self.rng.next_u64());
            }
        }
    }

    /// The process is killed and another one is started, which knows what the ledger says, or
    /// nothing. The server may forget meanwhile what came after that.
    async fn restart(&mut self, gap: bool) {
        if let Some(exporter) = self.exporter.take() {
            exporter.stop().await;
        }
        let durable = self
            .disk
            .as_ref()
            .and_then(|disk| disk.lock().unwrap().clone());
        {
            let accounts = &mut self.server.lock().accounts;
            match durable {
                Some(durable) => durable.accounted.forget_the_rest(accounts),
                None => accounts
                    .iter_mut()
                    .for_each(|account| *account = Account::of(account.scope)),
            }
        }
        let down = Duration::from_millis(self.rng.below(30_000));
        self.live_until(Instant::now() + down).await;
        if gap {
            self.server.lock().history.compact();
        }
        self.start_exporter();
    }

    async fn report(mut self) -> Report {
        let exporter = self.exporter.take().expect("it runs");
        let synced = exporter.synced();
        let (tally, exposition) = exporter.stop().await;
        let state = self.server.lock();
        let mut findings = audit::audit(&state.history, &state.accounts, &tally.pods);
        let text = exposition.encode(Format::Text).expect("it can be scraped");
        let scrape = Scrape::parse(&String::from_utf8(text).expect("it is text"));
        audit::exposition(&scrape, &tally.pods, &mut findings);
        if !synced {
            findings.add(
                audit::Fault::Lost,
                None,
                "the watch is not in sync at the end",
            );
        }
        let handed = || state.accounts.iter().flat_map(|account| &account.handed);
        let is_list = |handed: &&Handed| matches!(handed, Handed::List { .. });
        let lists = handed().filter(is_list).count();
        Report {
            pods: state.history.pods.len(),
            discovered: tally.pods.iter().filter(|pod| pod.discovered > 0).count(),
            versions: state.history.log.len(),
            handed: handed().count() - lists,
            withheld: audit::withheld(&state.history, &state.accounts),
            lists,
            counted: tally.pods,
            findings,
        }
    }
}
