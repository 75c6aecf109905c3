//! The exporter: what `serve` and `demo` have in common, whoever answers for the API server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::checkpoint::{Checkpoint, Others, Parts, Recovery, Snapshots};
use super::ingest::Ingest;
use super::labels::label_config;
use super::scrapes::Scrapes;
use super::slos::{InForce, SloWatch};
use super::tasks::Tasks;
use super::web::Web;
use crate::access::Gate;
use crate::access::kubernetes::Kubernetes;
use crate::args::ExporterArgs;
use crate::cluster::client::Cluster;
use crate::cluster::clock::Clock;
use crate::lifecycle::delivery::Delivery;
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::metrics::{Builder, ClockFamilies};
use crate::process::metrics::ProcessCollector;
use crate::server::{Health, Limits, Server};
use crate::watch::stats::WatchStats;
use crate::watch::{self, WatchConfig};

/// How many deliveries may wait for the ingest task. A full queue slows the watches down, and the
/// API server with them; nothing is dropped.
const QUEUE: usize = 1024;

/// How long the ingest task may be silent before `/livez` fails. A list of a million pods takes
/// a few seconds.
const INGEST_DEADLINE: Duration = Duration::from_secs(60);

/// How long the SLO file's keeper may be silent: it looks every few seconds, and then may have to
/// wait for the ingest task.
const SLO_FILE_DEADLINE: Duration = Duration::from_secs(90);

/// How long the web configuration's keeper may be silent: it looks every few seconds, and waits for
/// nothing but the file system.
const WEB_CONFIG_DEADLINE: Duration = Duration::from_secs(60);

/// An exporter that is bound to its address and has not begun to watch.
pub(super) struct Exporter {
    server: Server,
    health: Health,
    stats: Arc<WatchStats>,
    ingest: Ingest,
    deliveries: mpsc::Sender<Delivery>,
    watch: WatchConfig,
    clock: Arc<dyn Clock>,
    clock_families: Arc<ClockFamilies>,
    slo_watch: Option<SloWatch>,
    checkpoint: Option<Checkpoint>,
    accounting: TrackerConfig,
    web: Web,
}

/// What `serve` alone can be asked for.
#[derive(Default)]
pub(super) struct ServeOnly {
    /// Whether bearer tokens are going to be asked for
    pub(super) tokens: bool,
    /// In what the counts are kept
    pub(super) checkpoint: Option<(Checkpoint, Snapshots)>,
}

impl Exporter {
    /// Binds the address first: nothing else needs to be tried if that cannot be had.
    pub(super) fn bind(
        args: &ExporterArgs,
        serve_only: ServeOnly,
        mut watch: WatchConfig,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let (checkpoint, snapshots) = match serve_only.checkpoint {
            Some((checkpoint, snapshots)) => (Some(checkpoint), snapshots),
            None => (None, Snapshots::none()),
        };
        let in_force = InForce::open(args.slo.as_deref(), &clock)?;
        watch.decode.workload |= in_force.may_need_workload();
        let web = Web::open(args.web_config.as_deref(), serve_only.tokens, &clock)?;
        let stats = Arc::new(WatchStats::new(watch.scopes.len()));
        let clock_families = Arc::new(ClockFamilies::new(Arc::clone(&clock)));
        let mut builder = Builder::new(label_config(&args.labels))
            .slos(in_force.slos.docs)
            .watch(stats.clone())
            .source(Box::new(Arc::clone(&clock_families)))
            .source(Box::new(in_force.gauges))
            .source(Box::new(Arc::clone(&web.stats)))
            .collector(Box::new(ProcessCollector::new()));
        if let Some(checkpoint) = &checkpoint {
            builder = builder.source(Box::new(Arc::clone(&checkpoint.gauges)));
        }
        let (recorder, exposition) = builder.build()?;
        let health = Health::new();
        let scrapes = Arc::new(Scrapes {
            exposition,
            stats: Arc::clone(&stats),
            commits: checkpoint.as_ref().map(Checkpoint::commits),
        });
        let server = Server::bind(args.listen, Limits::default(), scrapes, health.clone())?;
        let scopes = watch.scopes.iter();
        let sources = scopes
            .map(|scope| health.register_source(scope.to_string()))
            .collect();
        let (sender, receiver) = mpsc::channel(QUEUE);
        let accounting = TrackerConfig {
            timestamps: args.timestamps,
            slos: in_force.slos.rules,
            max_pods: args.max_pods.get(),
            ..TrackerConfig::default()
        };
        let ingest = Ingest {
            tracker: Tracker::new(accounting.clone()),
            recorder,
            deliveries: receiver,
            clock: Arc::clone(&clock),
            sources,
            heartbeat: health.register_task("ingest", INGEST_DEADLINE),
            slos: in_force.changes,
            stats: Arc::clone(&stats),
            snapshots,
        };
        Ok(Self {
            server,
            health,
            stats,
            ingest,
            deliveries: sender,
            watch,
            clock,
            clock_families,
            slo_watch: in_force.watch,
            checkpoint,
            accounting,
            web,
        })
    }

    /// Goes on from what an earlier process has left in the checkpoint.
    pub(super) fn recover(&mut self, from: &Recovery<'_>) {
        if let Some(checkpoint) = &mut self.checkpoint {
            let parts = Parts {
                tracker: &mut self.ingest.tracker,
                config: self.accounting.clone(),
                recorder: &mut self.ingest.recorder,
                stats: &self.stats,
                others: Others {
                    access: Arc::clone(&self.web.stats),
                    clock: Arc::clone(&self.clock_families),
                },
                snapshots: &mut self.ingest.snapshots,
                watch: &mut self.watch,
            };
            checkpoint.recover(from, parts);
        }
    }

    /// What is going to be watched.
    pub(super) fn watch(&self) -> &WatchConfig {
        &self.watch
    }

    /// The address that was bound.
    pub(super) fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// How to get at it.
    pub(super) fn scheme(&self) -> &'static str {
        self.web.config.tls.as_ref().map_or("http", |_| "https")
    }

    /// Watches `cluster` and serves until `shutdown`. Bearer tokens are judged by `tokens`. The
    /// server ends first, so that the last commit holds all that was ever shown, and the accounting
    /// last, which that commit needs.
    ///
    /// # Errors
    /// When a task ends that must not: the process would be stale, so it ends too.
    pub(super) async fn run(
        self,
        cluster: &Cluster,
        tokens: Option<Kubernetes>,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        let Self {
            server,
            health,
            stats,
            ingest,
            deliveries,
            watch,
            clock,
            slo_watch,
            checkpoint,
            web,
            ..
        } = self;
        let gate = Gate::new(web.config.clone(), tokens, Arc::clone(&web.stats))?;
        let gate = Arc::new(gate);
        let server = server.with_access(gate.clone());
        let tls = web.config.tls.is_some();
        tracing::info!(address = %server.local_addr(), tls, "listening");
        let client = &cluster.client;
        let watches = watch::spawn(client, &watch, clock, &stats, &deliveries, &shutdown);
        // Held to the end, so that a watch that fails is told of as such, and not as the end of the
        // deliveries.
        let _deliveries = deliveries;
        let mut tasks = Tasks::new(shutdown.clone());
        let stop = shutdown.clone();
        let served = CancellationToken::new();
        let mut unneeded = served.clone();
        tasks.spawn("the server", async move {
            server.serve(stop).await;
            served.cancel();
        });
        if let Some(checkpoint) = checkpoint {
            let committer = checkpoint.committer()?;
            let served = std::mem::take(&mut unneeded);
            let committed = unneeded.clone();
            tasks.spawn("the keeper of the checkpoint", async move {
                committer.run(served).await;
                committed.cancel();
            });
        }
        tasks.spawn("the accounting of pods", ingest.run(unneeded));
        if let Some(slo_watch) = slo_watch {
            let heartbeat = health.register_task("slo-file", SLO_FILE_DEADLINE);
            let keeper = slo_watch.run(shutdown.clone(), heartbeat);
            tasks.spawn("the SLO file's keeper", keeper);
        }
        if let Some(web_watch) = web.watch(gate) {
            let heartbeat = health.register_task("web-config", WEB_CONFIG_DEADLINE);
            let keeper = web_watch.run(shutdown, heartbeat);
            tasks.spawn("the web configuration's keeper", keeper);
        }
        tasks.run(watches).await?;
        tracing::info!("ended");
        Ok(())
    }
}

#[cfg(test)]
#[path = "exporter_tests.rs"]
mod tests;
