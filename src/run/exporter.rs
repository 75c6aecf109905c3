//! The exporter: what `serve` and `demo` have in common, with a real or a simulated API server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::checkpoint::{Checkpoint, Parts, Recovery, Snapshots};
use super::ingest::Ingest;
use super::reload::ReloadTask;
use super::scrapes::Scrapes;
use super::slos::{SloReload, SloSettings};
use super::tasks::Tasks;
use super::web_config::WebSettings;
use crate::access::Gate;
use crate::access::kubernetes::Kubernetes;
use crate::args::ExporterArgs;
use crate::cluster::client::Cluster;
use crate::cluster::clock::Clock;
use crate::lifecycle::{Delivery, Tracker, TrackerConfig};
use crate::metrics::{Builder, ClockFamilies, Exposition, Recorder};
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

/// How long the reload of the SLO file may be silent. It polls every few seconds, and may have to
/// wait for the ingest task.
const SLO_FILE_DEADLINE: Duration = Duration::from_secs(90);

/// How long the reload of the web configuration may be silent. It polls every few seconds, and waits
/// for nothing but the file system.
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
    slo_reload: Option<ReloadTask<SloReload>>,
    checkpoint: Option<Checkpoint>,
    accounting: TrackerConfig,
    web: WebSettings,
}

/// What only `serve` has, and `demo` has not.
#[derive(Default)]
pub(super) struct ServeOnly {
    /// Whether clients have to send bearer tokens
    pub(super) tokens: bool,
    /// Where the counts outlive the process
    pub(super) checkpoint: Option<(Checkpoint, Snapshots)>,
}

impl Exporter {
    /// Opens the configuration files and binds the address, before anything is asked of a cluster.
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
        let slos = SloSettings::open(args.slo.as_deref(), &clock)?;
        watch.decode.workload |= slos.may_need_workload();
        let web = WebSettings::open(args.web_config.as_deref(), serve_only.tokens, &clock)?;
        let stats = Arc::new(WatchStats::new(watch.scopes.len()));
        let builder = Builder::new(args.labels.config())
            .watch(stats.clone())
            .source(Box::new(ClockFamilies::new(Arc::clone(&clock))));
        let (recorder, exposition) = build_metrics(builder, &slos, &web, checkpoint.as_ref())?;
        let health = Health::new();
        let scrapes = Arc::new(Scrapes {
            exposition,
            stats: Arc::clone(&stats),
            commits: checkpoint.as_ref().map(Checkpoint::commits),
        });
        let server = Server::bind(args.listen, Limits::default(), scrapes, health.clone())?;
        let scopes = watch.scopes.iter();
        let sources = scopes.map(|scope| health.register_source(scope.to_string()));
        let (sender, receiver) = mpsc::channel(QUEUE);
        let accounting = TrackerConfig {
            timestamps: args.timestamps,
            slos: slos.slos.rules,
            max_pods: args.max_pods.get(),
            ..TrackerConfig::default()
        };
        let ingest = Ingest {
            tracker: Tracker::new(accounting.clone()),
            recorder,
            deliveries: receiver,
            clock: Arc::clone(&clock),
            sources: sources.collect(),
            heartbeat: health.register_task("ingest", INGEST_DEADLINE),
            slos: slos.changes,
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
            slo_reload: slos.reload,
            checkpoint,
            accounting,
            web,
        })
    }

    /// Restores what an earlier process has left in the checkpoint.
    pub(super) fn recover(&mut self, from: &Recovery<'_>) {
        if let Some(checkpoint) = &mut self.checkpoint {
            let parts = Parts {
                tracker: &mut self.ingest.tracker,
                config: self.accounting.clone(),
                recorder: &mut self.ingest.recorder,
                snapshots: &mut self.ingest.snapshots,
                watch: &mut self.watch,
            };
            checkpoint.recover(from, parts);
        }
    }

    /// What it is going to watch.
    pub(super) fn watch(&self) -> &WatchConfig {
        &self.watch
    }

    /// The address that was bound.
    pub(super) fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// The scheme of its URLs.
    pub(super) fn scheme(&self) -> &'static str {
        self.web.config.tls.as_ref().map_or("http", |_| "https")
    }

    /// Watches `cluster` and serves until `shutdown`. `tokens` judges bearer tokens.
    ///
    /// # Errors
    /// When a task ends before the shutdown: its figures would go stale, so the process ends too.
    pub(super) async fn run(
        self,
        cluster: &Cluster,
        tokens: Option<Kubernetes>,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        let web = self.web;
        let gate = Gate::new(web.config.clone(), tokens, Arc::clone(&web.stats))?;
        let gate = Arc::new(gate);
        let server = self.server.with_access(gate.clone());
        let tls = web.config.tls.is_some();
        tracing::info!(address = %server.local_addr(), tls, "listening");
        // Kept until the end. If it were not, and a watch failed, the ingest task would end too, and
        // could be reported in place of the watch.
        let deliveries = self.deliveries;
        let watches = watch::spawn(
            &cluster.client,
            &self.watch,
            self.clock,
            &self.stats,
            &deliveries,
            &shutdown,
        );
        let mut tasks = Tasks::new(shutdown.clone());
        spawn_accounting(&mut tasks, server, self.checkpoint, self.ingest, &shutdown)?;
        if let Some(reload) = self.slo_reload {
            let heartbeat = self.health.register_task("slo-file", SLO_FILE_DEADLINE);
            let reload = reload.run(shutdown.clone(), heartbeat);
            tasks.spawn("the reload of the SLO file", reload);
        }
        if let Some(reload) = web.reload(gate) {
            let heartbeat = self.health.register_task("web-config", WEB_CONFIG_DEADLINE);
            let reload = reload.run(shutdown, heartbeat);
            tasks.spawn("the reload of the web configuration", reload);
        }
        tasks.run(watches).await?;
        tracing::info!("ended");
        Ok(())
    }
}

/// The metrics of everything that an exporter has.
fn build_metrics(
    mut builder: Builder,
    slos: &SloSettings,
    web: &WebSettings,
    checkpoint: Option<&Checkpoint>,
) -> anyhow::Result<(Recorder, Arc<Exposition>)> {
    builder = builder
        .slos(slos.slos.docs.clone())
        .source(Box::new(Arc::clone(&slos.gauges)))
        .source(Box::new(Arc::clone(&web.stats)))
        .collector(Box::new(ProcessCollector::new()));
    if let Some(checkpoint) = checkpoint {
        builder = builder.source(Box::new(Arc::clone(&checkpoint.gauges)));
    }
    Ok(builder.build()?)
}

/// Starts the server, the checkpoint and the ingest task, which end in this order: the last commit
/// then holds all that was ever shown, and it still finds the ingest task, which it asks.
fn spawn_accounting(
    tasks: &mut Tasks,
    server: Server,
    checkpoint: Option<Checkpoint>,
    ingest: Ingest,
    shutdown: &CancellationToken,
) -> anyhow::Result<()> {
    let shutdown = shutdown.clone();
    let served = CancellationToken::new();
    let mut ingest_stop = served.clone();
    let committer = checkpoint.map(Checkpoint::committer).transpose()?;
    tasks.spawn("the server", async move {
        server.serve(shutdown).await;
        served.cancel();
    });
    if let Some(committer) = committer {
        let served = std::mem::take(&mut ingest_stop);
        let committed = ingest_stop.clone();
        tasks.spawn("the checkpoint", async move {
            committer.run(served).await;
            committed.cancel();
        });
    }
    tasks.spawn("the ingest task", ingest.run(ingest_stop));
    Ok(())
}

#[cfg(test)]
#[path = "exporter_tests.rs"]
mod tests;
