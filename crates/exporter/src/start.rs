//! The exporter: what `serve` and `demo` have in common, with a real or a simulated API server.
//!
//! ```text
//! API server ── pods, nodes ─▶ watches ── queue of 1,024: when it is full, the watches wait ──▶┐
//!            ── Events ──────▶ watches ── queue of 4,096: when it is full, Events are dropped ▶┤
//! SLO file ──▶ reload ── new SLOs ────────────────────────────────────────────────────────────▶┤
//! views ── questions about records, answered in steps ────────────────────────────────────────▶┤
//!                                                                                              │
//!                                 ingest: the one task that owns tracker, recorder and records ┤
//!                                                                                              │
//! scrapes ◀── exposition ◀── atomics ◀─────────────────────────────────────────────────────────┤
//! checkpoint ◀── committer ◀── a snapshot, which a scrape asks for ◀───────────────────────────┤
//! collector ◀── spans ◀── queue of startups that have ended ◀──────────────────────────────────┘
//!
//! clients ──▶ server ──▶ gate: who may ask ◀── reload ◀── web configuration
//!               └──▶ scrapes, probes, and what views add: API, problems, page
//! ```
//!
//! [`Exporter::bind`] makes all of this. It starts in three steps: `Exporter::serve` answers requests, before there is
//! anything to answer; [`ExporterStart`](crate::first_contact::ExporterStart) reads the checkpoint, waits for the API server and restores
//! the state; and `ServingExporter::watch_until` starts the watches and the tasks that account.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::config::ExporterConfig;
use super::evidence::EvidenceWatches;
use super::ingest::{INGEST_DEADLINE, IngestTask};
use super::ingest_sink::IngestSink;
use super::own_families::ClockFamilies;
use super::records::RecordKeeper;
use super::saving::{SnapshotService, StateCheckpoint};
use super::scrapes::ScrapeSource;
use super::serving::{AccountingPipeline, ServingExporter};
use super::slos::SloSettings;
use super::tasks::NamedTasks;
use super::views::{AddedTask, ExporterViews, WaitsFor};
use crate::process::metrics::ProcessCollector;
use crate::process::signals::ReloadSignal;
use crate::traces::TraceExport;
use podinit_core::lifecycle::{SourceId, Tracker};
use podinit_expo::metrics::{ProblemPods, StuckRollouts};
use podinit_http::{
    AccessControl, AccessStats, AllowedHosts, HttpServer, ProcessHealth, ServerLimits, SourceHealth,
};
use podinit_instruments::FamilySource;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::WatchStats;

/// How many deliveries may wait for the ingest task. A full queue slows the watches down, and the
/// API server with them; nothing is dropped.
const QUEUE: usize = 1024;

/// An exporter that is bound to its address and has not begun to watch.
pub struct Exporter {
    server: HttpServer,
    views: ExporterViews,
    added: Vec<AddedTask>,
    pipeline: AccountingPipeline,
}

/// What an exporter is given, and can do without.
#[derive(Default)]
pub struct ExporterOptions {
    /// Where the counts outlive the process
    pub checkpoint: Option<(StateCheckpoint, SnapshotService)>,
    /// What is counted of who may ask
    pub access: Option<Arc<AccessStats>>,
    /// What keeps the records of startups
    pub records: Option<Box<dyn RecordKeeper>>,
    /// What sends startups as traces
    pub traces: Option<TraceExport>,
}

impl Exporter {
    /// Puts the parts of the sketch together, in this order: files and settings, what is counted, who answers, who
    /// accounts. Binds the address, and asks nothing of a cluster.
    ///
    /// # Errors
    /// One line for a file, a setting or an address that cannot be used.
    pub fn bind(
        config: ExporterConfig,
        given: ExporterOptions,
        mut watch: WatchConfig,
        clock: Arc<dyn DeliveryClock>,
    ) -> anyhow::Result<Self> {
        // Records name the owner, the node and the images of every pod, and what is said of it.
        watch.decode = watch.decode.with_records().with_milestones(&config.milestones);
        let ExporterOptions { checkpoint, access, records, traces } = given;
        let (checkpoint, snapshots) = checkpoint.unzip();
        let slos = SloSettings::open(config.slo.as_deref(), config.available(), &clock)?;
        let (trace_stats, trace_sink, trace_sender) = match traces {
            Some(TraceExport { stats, sink, sender }) => (Some(stats), Some(sink), Some(sender)),
            None => (None, None, None),
        };

        let stats = Arc::new(WatchStats::of_scopes(&watch.scopes));
        let (queue, deliveries) = mpsc::channel(QUEUE);
        let (evidence, events) =
            EvidenceWatches::new(&config, watch.scopes.len(), &stats, &clock, &queue);
        let problem_pods = Arc::new(ProblemPods::default());
        let stuck_rollouts = Arc::new(StuckRollouts::new(&config.labels));
        let metrics = config.metrics(&slos.slos.docs, clock.now()).watch(Arc::clone(&stats));
        let metrics = metrics.sources([
            source(ClockFamilies::new(Arc::clone(&clock))),
            source(Arc::clone(&problem_pods)),
            // A shard sees parts of workloads.
            config.shard.is_none().then(|| source(Arc::clone(&stuck_rollouts))).flatten(),
            evidence.families(),
            trace_stats,
            source(Arc::clone(&slos.gauges)),
            access.and_then(source),
            checkpoint.as_ref().and_then(|checkpoint| source(Arc::clone(&checkpoint.gauges))),
        ]);
        let (recorder, exposition) =
            metrics.collector(Box::new(ProcessCollector::new())).build()?;

        let health = ProcessHealth::new();
        let commits = checkpoint.as_ref().map(StateCheckpoint::commits);
        let scrapes = Arc::new(ScrapeSource::new(Arc::clone(&exposition), commits));
        let server = HttpServer::bind(
            config.listen,
            ServerLimits::default(),
            scrapes.clone(),
            health.clone(),
        )?;
        let hosts = AllowedHosts::new(&config.allowed_hosts, server.local_addr());
        let server = server.with_hosts(hosts).with_metrics_at(config.metrics_path.clone());

        let sink = IngestSink::new(recorder).keeping(records).telling(trace_sink, &stats);
        let waits_for = Arc::new(WaitsFor::default());
        let accounting = config.tracker(&slos.slos);
        let ingest = IngestTask {
            tracker: Tracker::new(accounting.clone()),
            sink,
            deliveries,
            events,
            clock: Arc::clone(&clock),
            sources: register_sources(&health, &watch.scopes, &stats),
            heartbeat: health.register_task("ingest", INGEST_DEADLINE),
            slos: slos.changes,
            stats: Arc::clone(&stats),
            snapshots: snapshots.unwrap_or_else(SnapshotService::none),
        };
        let views = ExporterViews {
            metrics_path: config.metrics_path,
            cluster: config.cluster_name,
            label_keys: watch.decode.pod_labels.clone(),
            stats: Arc::clone(&stats),
            shard: config.shard,
            saw_new: Arc::clone(&ingest.sink.saw_new),
            waits_for: Arc::clone(&waits_for),
            exposition,
            health: health.clone(),
            clock: Arc::clone(&clock),
            problem_pods,
            stuck_rollouts,
        };
        let (accounting_runtime, reload, slo_reload) =
            (Handle::current(), ReloadSignal::never(), slos.reload);
        #[rustfmt::skip]
        let pipeline = AccountingPipeline {
            health, stats, waits_for, ingest, deliveries: queue, evidence, watch, clock, accounting_runtime, reload,
            slo_reload, checkpoint, accounting, scrapes, trace_sender,
        };
        Ok(Self { server, views, added: Vec::new(), pipeline })
    }

    /// What a view of it is made of.
    pub fn views(&self) -> &ExporterViews {
        &self.views
    }

    /// Answers only whom `access` lets. Without it, everybody.
    #[must_use]
    pub fn guarded_by(mut self, access: Arc<dyn AccessControl>) -> Self {
        self.server = self.server.with_access(access);
        self
    }

    /// Serves these routes too, and this page at `/`.
    #[must_use]
    pub fn showing(mut self, routes: Router, page: Router) -> Self {
        self.server = self.server.with_routes(routes).with_page(page);
        self
    }

    /// Runs a task on `runtime` while it serves. The task ends at the shutdown that it is given, and not before.
    #[must_use]
    pub fn running<T: Future<Output = ()> + Send + 'static>(
        mut self,
        name: &'static str,
        runtime: &Handle,
        task: impl FnOnce(CancellationToken) -> T + Send + 'static,
    ) -> Self {
        let run = Box::new(|shutdown| task(shutdown).boxed());
        self.added.push(AddedTask { name, runtime: runtime.clone(), run });
        self
    }

    /// Watches and accounts on `runtime`, and serves on that of the caller. Without it, it does both there.
    pub fn accounting_on(mut self, runtime: &Handle) -> Self {
        self.pipeline.accounting_runtime = runtime.clone();
        self
    }

    /// Reads its files again when `reload` requests it. Without it, only at intervals.
    pub fn reloading_on(mut self, reload: ReloadSignal) -> Self {
        self.pipeline.reload = reload;
        self
    }

    /// What scrapes show, for tests that have no socket.
    #[cfg(test)]
    pub(crate) fn scrapes(&self) -> Arc<ScrapeSource> {
        Arc::clone(&self.pipeline.scrapes)
    }

    /// What the probes say.
    #[cfg(test)]
    pub(crate) fn health(&self) -> ProcessHealth {
        self.pipeline.health.clone()
    }

    /// The address that was bound.
    pub fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// The scheme of its URLs.
    pub fn scheme(&self) -> &'static str {
        if self.server.access().tls().is_some() { "https" } else { "http" }
    }

    /// Serves, and watches `cluster`, until `shutdown`.
    ///
    /// # Errors
    /// When a task ends before the shutdown: its figures would go stale, so the process ends too.
    pub async fn run(
        self,
        cluster: &ClusterClient,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        let serving = self.serve(&shutdown);
        serving.watch_until(cluster, shutdown).await
    }

    /// Begins to answer requests, until `shutdown`.
    pub(crate) fn serve(self, shutdown: &CancellationToken) -> ServingExporter {
        let Self { server, added, pipeline, .. } = self;
        let access = server.access();
        let tls = access.tls().is_some();
        tracing::info!(address = %server.local_addr(), tls, "listening");
        let mut tasks = NamedTasks::new(shutdown.clone());
        let served = CancellationToken::new();
        let (ends, ended) = (shutdown.clone(), served.clone());
        tasks.spawn("the server", async move {
            server.serve(ends).await;
            ended.cancel();
        });
        for AddedTask { name, runtime, run } in added {
            tasks.spawn_on(&runtime, name, run(shutdown.clone()));
        }
        ServingExporter { tasks, served, access, pipeline }
    }
}

/// Families that are exposed.
fn source(families: impl FamilySource + 'static) -> Option<Box<dyn FamilySource>> {
    Some(Box::new(families))
}

/// Shows in the probes which watches are in sync, and why one is not.
fn register_sources(
    health: &ProcessHealth,
    scopes: &[PodScope],
    stats: &Arc<WatchStats>,
) -> Vec<SourceHealth> {
    let scopes = (0..=u16::MAX).zip(scopes);
    let sources = scopes.map(|(index, scope)| {
        let stats = Arc::clone(stats);
        health.register_source_that(scope.to_string(), move || {
            let trouble = stats.trouble_of(SourceId(index))?;
            Some(trouble.reason.as_str())
        })
    });
    sources.collect()
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
