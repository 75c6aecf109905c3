//! The program: the list-watches with the real client, the tracker and the recorder, put together
//! as `serve` does.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use podinit::lifecycle::clock::TimestampMode;
use podinit::lifecycle::delivery::Delivery;
use podinit::lifecycle::slo::SloRule;
use podinit::lifecycle::tracker::{Tracker, TrackerConfig};
use podinit::metrics::{Builder, Exposition, LabelConfig, SloDoc};
use podinit::slo::{Slo, SloFile};
use podinit::timestamp::Timestamp;
use podinit::watch::decode::DecodeOptions;
use podinit::watch::requests::Scope;
use podinit::watch::stats::WatchStats;
use podinit::watch::{WatchConfig, spawn};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, sleep};
use tokio_util::sync::CancellationToken;

use crate::batch::OVERSIZE;
use crate::handed::Account;
use crate::lives::NUMBER;
use crate::planted::Planted;
use crate::server::Server;
use crate::tally::{SLOS, Tally};

/// As in `serve`.
const TICK: Duration = Duration::from_millis(250);
const FRESH: Duration = Duration::from_secs(30);
const STALL: Duration = Duration::from_secs(2);
const QUEUE: usize = 1024;

/// The SLOs in force. One of them leaves out a namespace.
pub const OBJECTIVES: &str = "
slos:
- {name: scheduling, interval: scheduling, threshold: 5s, objective: 99, window: 30d}
- {name: network, interval: network, threshold: 10s, objective: 99, window: 30d}
- {name: ready, interval: scheduled_to_ready, threshold: 20s, objective: 99, window: 30d, \
 namespaces: {exclude: [kube-system]}}
- {name: created, interval: created_to_ready, threshold: 1m, objective: 99, window: 30d}
";

/// How the program runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    pub seed: u64,
    pub fused: bool,
    pub planted: Planted,
    /// The accounting takes so long for each delivery
    pub slow: Duration,
    /// Deliveries that may wait
    pub queue: Option<usize>,
}

/// A running program.
pub struct Exporter {
    stats: Arc<WatchStats>,
    watches: JoinSet<()>,
    ingest: JoinHandle<Tally>,
    cancel: CancellationToken,
    exposition: Arc<Exposition>,
}

impl Exporter {
    /// Starts it, with a clock that is `offset` ahead of the API server's.
    pub fn start(server: &Server, settings: Settings, offset: &Arc<AtomicI64>) -> Self {
        let scope_of = |account: &Account| {
            let name = account.scope;
            name.map_or(Scope::Cluster, |name| Scope::Namespace(name.to_owned()))
        };
        let scopes = server.lock().accounts.iter().map(scope_of).collect();
        let mut config = WatchConfig {
            scopes,
            decode: DecodeOptions {
                pod_labels: vec![NUMBER.to_owned()],
                ..DecodeOptions::default()
            },
            ..WatchConfig::default()
        };
        config.reflector.seed = Some(settings.seed);
        config.reflector.page_limit = 100;
        config.reflector.max_line_bytes = OVERSIZE;
        let slos = objectives();
        let stats = Arc::new(WatchStats::new(config.scopes.len()));
        let (recorder, exposition) = Builder::new(LabelConfig::default())
            .slos(slos.slos.iter().map(doc).collect())
            .watch(stats.clone())
            .build()
            .unwrap();
        let (sender, deliveries) = mpsc::channel(settings.queue.unwrap_or(QUEUE));
        let cancel = CancellationToken::new();
        let (epoch, base) = server.lock().epoch;
        let offset = Arc::clone(offset);
        let clock = move || {
            let elapsed = i64::try_from(epoch.elapsed().as_nanos()).unwrap_or(i64::MAX);
            Timestamp::from_nanos(base + elapsed + offset.load(Ordering::Relaxed))
        };
        let watches = spawn(
            &server.client(),
            &config,
            Arc::new(clock.clone()),
            &stats,
            &sender,
            &cancel,
        );
        let ingest = Ingest {
            tracker: Tracker::new(TrackerConfig {
                timestamps: match settings.fused {
                    true => TimestampMode::Fused,
                    false => TimestampMode::Api,
                },
                slos: slos.slos.iter().map(|slo| slo.rule.clone()).collect::<Arc<[SloRule]>>(),
                ..TrackerConfig::default()
            }),
            tally: Tally {
                pods: Vec::new(),
                recorder,
                planted: settings.planted,
            },
            deliveries,
            clock: Box::new(clock),
            stats: Arc::clone(&stats),
            slow: settings.slow,
        };
        let ingest = tokio::spawn(ingest.run(cancel.clone()));
        Self {
            stats,
            watches,
            ingest,
            cancel,
            exposition,
        }
    }

    pub fn synced(&self) -> bool {
        self.stats.synced()
    }

    /// Ends it, and says what it has counted.
    pub async fn stop(mut self) -> (Tally, Arc<Exposition>) {
        self.cancel.cancel();
        while let Some(ended) = self.watches.join_next().await {
            ended.expect("a watch panicked");
        }
        (self.ingest.await.expect("the accounting panicked"), self.exposition)
    }
}

pub fn objectives() -> SloFile {
    let slos = SloFile::parse("the proof", OBJECTIVES.as_bytes()).unwrap();
    assert_eq!(slos.slos.len(), SLOS);
    slos
}

fn doc(slo: &Slo) -> SloDoc {
    SloDoc {
        name: Arc::clone(&slo.rule.name),
        objective_ratio: slo.objective_ratio(),
        threshold_seconds: slo.threshold_seconds(),
    }
}

/// The one loop of `serve`.
struct Ingest {
    tracker: Tracker,
    tally: Tally,
    deliveries: mpsc::Receiver<Delivery>,
    clock: Box<dyn Fn() -> Timestamp + Send>,
    stats: Arc<WatchStats>,
    slow: Duration,
}

impl Ingest {
    async fn run(mut self, stop: CancellationToken) -> Tally {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_tick = Instant::now();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return self.tally,
                _ = ticks.tick() => {
                    if last_tick.elapsed() > STALL {
                        self.tracker.catch_up((self.clock)());
                    }
                    last_tick = Instant::now();
                    let heard = self.stats.last_contact();
                    let fresh = heard.is_some_and(|at| {
                        Instant::now().into_std().saturating_duration_since(at) < FRESH
                    });
                    if self.deliveries.is_empty() && fresh {
                        self.tracker.advance((self.clock)(), &mut self.tally);
                    }
                }
                Some(delivery) = self.deliveries.recv() => self.account(delivery).await,
            }
        }
    }

    async fn account(&mut self, delivery: Delivery) {
        if self.tally.planted.loses(&delivery.event) {
            return;
        }
        self.tracker.apply(delivery, &mut self.tally);
        if !self.slow.is_zero() {
            sleep(self.slow).await;
        }
    }
}
