//! The program: the list-watches with the real client, the tracker and the recorder, put together
//! as `serve` does.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use podinit_core::lifecycle::{TimestampMode, Tracker, TrackerConfig};
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_expo::metrics::{Exposition, ExpositionBuilder, LabelConfig, SloDoc};
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::WatchStats;
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::rng::Rng;
use podinit_slo::{Slo, SloFile};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::proof::batch::OVERSIZE;
use crate::proof::checkpoint::Accounted;
use crate::proof::delivery_log::DeliveryLog;
use crate::proof::ingest::{Disk, Ingest};
use crate::proof::injected_bug::{Bug, InjectedBug};
use crate::proof::lives::NUMBER;
use crate::proof::server::Server;
use crate::proof::shard::ShardNumber;
use crate::proof::tally::{SLOS, Tally, milestones};

/// As in `serve`.
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
    pub injected: InjectedBug,
    /// The accounting takes so long for each delivery
    pub slow: Duration,
    /// Deliveries that may wait
    pub queue: Option<usize>,
    /// The shard that it is
    pub shard: Option<ShardNumber>,
}

/// A running program.
pub struct Exporter {
    stats: Arc<WatchStats>,
    watches: JoinSet<()>,
    ingest: JoinHandle<(Tally, Accounted)>,
    cancel: CancellationToken,
    exposition: Arc<Exposition>,
}

impl Exporter {
    /// Starts it with these list-watches, on a machine whose clock is `offset` ahead of the API server's, and with a checkpoint
    /// if it is given a disk.
    pub fn start(
        server: &Server,
        settings: Settings,
        sources: Range<usize>,
        offset: &Arc<AtomicI64>,
        disk: Option<&Disk>,
    ) -> Self {
        let scope_of = |log: &DeliveryLog| {
            let name = log.scope;
            name.map_or(PodScope::Cluster, |name| PodScope::Namespace(name.to_owned()))
        };
        let scopes = server.lock().logs[sources.clone()].iter().map(scope_of).collect();
        let mut config = WatchConfig {
            scopes,
            decode: DecodeOptions {
                pod_labels: vec![NUMBER.to_owned()],
                ..DecodeOptions::default()
            }
            .with_milestones(&milestones()),
            ..WatchConfig::default()
        };
        if settings.injected.bug != Bug::CountsAllShards {
            config.selectors.shard = settings.shard.map(ShardNumber::flag);
        }
        config.reflector.seed = Some(settings.seed);
        config.reflector.page_limit = 100;
        config.reflector.max_line_bytes = OVERSIZE;
        let slos = objectives();
        let stats = Arc::new(WatchStats::new(config.scopes.len()));
        let (recorder, exposition) = ExpositionBuilder::new(LabelConfig::default())
            .slos(slos.slos.iter().map(doc).collect())
            .watch(stats.clone())
            .milestones(milestones())
            .build()
            .unwrap();
        let (sender, deliveries) = mpsc::channel(settings.queue.unwrap_or(QUEUE));
        let cancel = CancellationToken::new();
        let (epoch, base) = server.lock().epoch;
        let offset = Arc::clone(offset);
        let wall = move || {
            let elapsed = i64::try_from(epoch.elapsed().as_nanos()).unwrap_or(i64::MAX);
            Timestamp::from_nanos(base + elapsed + offset.load(Ordering::Relaxed))
        };
        let clock = Arc::new(ApiServerClock::new(wall, move || epoch.elapsed()));
        let cluster = ClusterClient {
            credentials: None,
            client: server.client(sources),
            server: "the proof".to_owned(),
            origin: "the proof".to_owned(),
            authority: Vec::new(),
            proxy: None,
            unverified: false,
        }
        .observing_dates(clock.clone());
        let accounting = TrackerConfig {
            timestamps: match settings.fused {
                true => TimestampMode::Fused,
                false => TimestampMode::Api,
            },
            slos: slos.slos.iter().map(|slo| slo.rule.clone()).collect(),
            shard: settings.shard.map(ShardNumber::flag),
            milestones: milestones(),
            ..TrackerConfig::default()
        };
        let mut tally = Tally { pods: Vec::new(), recorder, injected: settings.injected };
        let found = disk.and_then(|disk| disk.lock().clone());
        let mut accounted = Accounted::default();
        let tracker = match found {
            Some(durable) => {
                let (tracker, resume) =
                    durable.restore(accounting, &mut tally, config.scopes.len(), settings.shard);
                accounted = durable.accounted;
                config.resume = resume;
                config.knows_pods = true;
                tracker
            }
            None => Tracker::new(accounting),
        };
        let watches = spawn(&cluster.client, &config, clock.clone(), &stats, &sender, &cancel);
        let ingest = Ingest {
            tracker,
            tally,
            deliveries,
            accounted,
            clock,
            stats: Arc::clone(&stats),
            slow: settings.slow,
            disk: disk.cloned(),
            shard: settings.shard,
            rng: Rng::fork(settings.seed, 5),
        };
        let ingest = tokio::spawn(ingest.run(cancel.clone()));
        Self { stats, watches, ingest, cancel, exposition }
    }

    pub fn synced(&self) -> bool {
        self.stats.synced()
    }

    /// Ends it, and says what it has counted, and from what.
    pub async fn stop(mut self) -> (Tally, Accounted, Arc<Exposition>) {
        self.cancel.cancel();
        while let Some(ended) = self.watches.join_next().await {
            ended.expect("a watch panicked");
        }
        let (tally, accounted) = self.ingest.await.expect("the accounting panicked");
        (tally, accounted, self.exposition)
    }
}

pub fn objectives() -> SloFile {
    let slos = SloFile::parse("the proof", OBJECTIVES.as_bytes()).unwrap();
    assert_eq!(slos.slos.len(), SLOS.len());
    slos
}

fn doc(slo: &Slo) -> SloDoc {
    SloDoc::new(&slo.rule, slo.objective_ratio(), slo.window_seconds())
}
