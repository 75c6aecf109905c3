//! The exporter: what `serve` and `demo` have in common, with a real or a simulated API server.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::config::ExporterConfig;
use super::freshness::FreshnessSource;
use super::ingest::{DEADLINES_AT_ONCE, INGEST_DEADLINE, Ingest};
use super::ingest_sink::IngestSink;
use super::own_families::ClockFamilies;
use super::records;
use super::saving::{Checkpoint, Snapshots};
use super::scrapes::Scrapes;
use super::serving::{Pipeline, Serving};
use super::slos::SloSettings;
use super::span_export::Traces;
use super::tasks::Tasks;
use super::tls_reload::WebSettings;
use super::views::{AddedTask, Views};
use crate::process::metrics::ProcessCollector;
use crate::process::signals::Reload;
use podinit_core::lifecycle::{SourceId, Tracker, TrackerConfig};
use podinit_expo::metrics::{Builder, Exposition, ProblemPods, Recorder};
use podinit_http::access::Gate;
use podinit_http::access::kubernetes::Kubernetes;
use podinit_http::server::{AllowedHosts, Health, Limits, Server};
use podinit_kube::cluster::client::Cluster;
use podinit_kube::cluster::clock::Clock;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::events::EventSink;
use podinit_kube::watch::events::stats::EvidenceStats;
use podinit_kube::watch::nodes::NodeSink;
use podinit_kube::watch::stats::WatchStats;
use podinit_slo::file::Sources;

/// How many deliveries may wait for the ingest task. A full queue slows the watches down, and the
/// API server with them; nothing is dropped.
const QUEUE: usize = 1024;

/// How many Events may wait for the ingest task. When the queue is full, Events are dropped and counted,
/// so that they take at most about a megabyte and nothing waits for them.
const EVENT_QUEUE: usize = 4096;

/// How long the reload of the web configuration may be silent. It polls every few seconds, and waits
/// for nothing but the file system.
const WEB_CONFIG_DEADLINE: Duration = Duration::from_secs(60);

/// An exporter that is bound to its address and has not begun to watch.
pub struct Exporter {
    server: Server,
    web: WebSettings,
    views: Views,
    added: Vec<AddedTask>,
    pipeline: Pipeline,
}

/// What only `serve` has, and `demo` has not.
#[derive(Default)]
pub struct ServeOnly {
    /// Whether clients have to send bearer tokens
    pub tokens: bool,
    /// Where the counts outlive the process
    pub checkpoint: Option<(Checkpoint, Snapshots)>,
}

impl Exporter {
    /// Opens the configuration files and binds the address, before anything is asked of a cluster.
    pub fn bind(
        config: ExporterConfig,
        serve_only: ServeOnly,
        mut watch: WatchConfig,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let (checkpoint, snapshots) = match serve_only.checkpoint {
            Some((checkpoint, snapshots)) => (Some(checkpoint), snapshots),
            None => (None, Snapshots::none()),
        };
        let slos = SloSettings::open(config.slo.as_deref(), config.evidence, &clock)?;
        // Records name the owner, the node and the images of every pod, and what is said of it.
        watch.decode = watch.decode.with_records();
        let web = WebSettings::open(config.web_config.as_deref(), serve_only.tokens, &clock)?;
        let stats = Arc::new(WatchStats::of_scopes(&watch.scopes));
        let (events_in, events) = mpsc::channel(EVENT_QUEUE);
        let event_scopes = match config.evidence.events {
            true => watch.scopes.len(),
            false => 0,
        };
        let evidence = Arc::new(EvidenceStats::new(event_scopes, config.evidence.nodes));
        let event_sink = config.evidence.events.then(|| EventSink {
            events: events_in,
            stats: Arc::clone(&evidence),
            watch: Arc::clone(&stats),
        });
        let mut builder = Builder::new(config.labels)
            .starts(clock.now())
            .shard(config.shard.unwrap_or_default())
            .watch(stats.clone())
            .events(config.evidence.events)
            .nodes(config.evidence.nodes)
            .source(Box::new(ClockFamilies::new(Arc::clone(&clock))));
        let problem_pods = Arc::new(ProblemPods::default());
        builder = builder.source(Box::new(Arc::clone(&problem_pods)));
        if config.evidence != Sources::NONE {
            builder = builder.source(Box::new(Arc::clone(&evidence)));
        }
        let label_keys = watch.decode.pod_labels.clone();
        let endpoint = config.otlp_endpoint.as_ref();
        let traces = Traces::open(endpoint, config.otlp_sample_ratio, label_keys)?;
        let (traces, trace_queue) = traces.unzip();
        if let Some(traces) = &traces {
            builder = builder.source(Box::new(Arc::clone(&traces.stats)));
        }
        let (recorder, exposition) = build_metrics(builder, &slos, &web, checkpoint.as_ref())?;
        let health = Health::new();
        let commits = checkpoint.as_ref().map(Checkpoint::commits);
        let scrapes = Scrapes::new(Arc::clone(&exposition), Arc::clone(&stats), commits);
        let scrapes = Arc::new(scrapes);
        let server =
            Server::bind(config.listen, Limits::default(), scrapes.clone(), health.clone())?;
        let hosts = AllowedHosts::new(&config.allowed_hosts, server.local_addr());
        let server = server.with_hosts(hosts);
        let scopes = (0..=u16::MAX).zip(&watch.scopes);
        let sources = scopes.map(|(index, scope)| {
            let stats = Arc::clone(&stats);
            health.register_source_that(scope.to_string(), move || {
                let trouble = stats.trouble_of(SourceId(index))?;
                Some(trouble.reason.as_str())
            })
        });
        let (sender, receiver) = mpsc::channel(QUEUE);
        let (records, queries) = records::channel();
        let label_keys = watch.decode.pod_labels.clone();
        let mut sink = IngestSink::new(recorder);
        sink.traces = trace_queue;
        sink.watch = Some(Arc::clone(&stats));
        let freshness = Arc::new(FreshnessSource::new(
            (Arc::clone(&stats), health.clone()),
            Arc::clone(&clock),
            config.shard,
            Arc::clone(&sink.saw_new),
        ));
        let views = Views {
            cluster: config.cluster_name,
            label_keys,
            records,
            freshness: Arc::clone(&freshness),
            exposition,
            health: health.clone(),
            clock: Arc::clone(&clock),
            problem_pods,
        };
        let accounting = TrackerConfig {
            timestamps: config.timestamps,
            slos: slos.slos.rules,
            stuck_after: slos.slos.stuck_after,
            max_pods: config.max_pods.get(),
            events: config.evidence.events,
            nodes: config.evidence.nodes,
            shard: config.shard,
            deadlines_at_once: DEADLINES_AT_ONCE,
            ..TrackerConfig::default()
        };
        let nodes = config.evidence.nodes.then(|| {
            let sink = NodeSink {
                deliveries: sender.clone(),
                clock: Arc::clone(&clock),
                stats: evidence,
                watch: Arc::clone(&stats),
            };
            (config.nodes, sink)
        });
        let ingest = Ingest {
            tracker: Tracker::new(accounting.clone()),
            sink,
            deliveries: receiver,
            events,
            clock: Arc::clone(&clock),
            sources: sources.collect(),
            heartbeat: health.register_task("ingest", INGEST_DEADLINE),
            slos: slos.changes,
            stats: Arc::clone(&stats),
            queries,
            snapshots,
        };
        Ok(Self {
            server,
            web,
            views,
            added: Vec::new(),
            pipeline: Pipeline {
                health,
                stats,
                freshness,
                ingest,
                deliveries: sender,
                events: event_sink,
                nodes,
                watch,
                clock,
                accounting_runtime: Handle::current(),
                reload: Reload::never(),
                slo_reload: slos.reload,
                checkpoint,
                accounting,
                scrapes,
                traces,
            },
        })
    }

    /// What a view of it is made of.
    pub fn views(&self) -> &Views {
        &self.views
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
    pub fn reloading_on(mut self, reload: Reload) -> Self {
        self.pipeline.reload = reload;
        self
    }

    /// What scrapes show, for tests that have no socket.
    #[cfg(test)]
    pub(crate) fn scrapes(&self) -> Arc<Scrapes> {
        Arc::clone(&self.pipeline.scrapes)
    }

    /// What the probes say.
    #[cfg(test)]
    pub(crate) fn health(&self) -> Health {
        self.pipeline.health.clone()
    }

    /// The address that was bound.
    pub fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Names the kubeconfig of its cluster in what it says.
    pub fn set_kubeconfig(&self, path: String) {
        self.pipeline.freshness.set_kubeconfig(path);
    }

    /// The scheme of its URLs.
    pub fn scheme(&self) -> &'static str {
        self.web.config.tls.as_ref().map_or("http", |_| "https")
    }

    /// Serves, and watches `cluster`, until `shutdown`. `tokens` judges bearer tokens.
    ///
    /// # Errors
    /// When a task ends before the shutdown: its figures would go stale, so the process ends too.
    pub async fn run(
        self,
        cluster: &Cluster,
        tokens: Option<Kubernetes>,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        let serving = self.serve(tokens, &shutdown)?;
        serving.watch_until(cluster, shutdown).await
    }

    /// Begins to answer requests, until `shutdown`. `tokens` judges bearer tokens.
    ///
    /// # Errors
    /// Where the system has no randomness for access control.
    pub(crate) fn serve(
        self,
        tokens: Option<Kubernetes>,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Serving> {
        let Self { server, web, added, pipeline, .. } = self;
        let gate = Gate::new(web.config.clone(), tokens, Arc::clone(&web.stats))?;
        let gate = Arc::new(gate);
        let server = server.with_access(gate.clone());
        let tls = web.config.tls.is_some();
        tracing::info!(address = %server.local_addr(), tls, "listening");
        let mut tasks = Tasks::new(shutdown.clone());
        let served = CancellationToken::new();
        let (ends, ended) = (shutdown.clone(), served.clone());
        tasks.spawn("the server", async move {
            server.serve(ends).await;
            ended.cancel();
        });
        for AddedTask { name, runtime, run } in added {
            tasks.spawn_on(&runtime, name, run(shutdown.clone()));
        }
        if let Some(reload) = web.reload(gate) {
            let heartbeat = pipeline.health.register_task("web-config", WEB_CONFIG_DEADLINE);
            let reload = reload.run(shutdown.clone(), heartbeat, pipeline.reload.clone());
            tasks.spawn("the reload of the web configuration", reload);
        }
        Ok(Serving { tasks, served, pipeline })
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

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
