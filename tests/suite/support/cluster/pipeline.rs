//! The pipeline as `serve` puts it together, with its one loop turned by the test.
//!
//! Nodes and Events do not come over watches of their own: the test takes them from the cluster when it wants to,
//! so that their order among the pods is always the same.

use std::sync::Arc;
use std::time::Duration;

use podinit_connect::connect_to;
use podinit_core::lifecycle::{
    Delivery, EndedStartup, LabelObserver, NodeEvent, Observation, Observer, PodEvent, Record,
    SloId, SourceId, TimestampMode, Tracker, TrackerConfig,
};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_decode::node::NodeOptions;
use podinit_decode::node::watch::{NodeDecoder, NodeLineKind};
use podinit_decode::{DecodeOptions, ObjectEncoding};
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder, SloDoc,
};
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::WatchStats;
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_oncall::problems::Problems;
use podinit_oncall::records::NewestRecords;
use podinit_sim::object::{EventKind, HistoryEvent};
use podinit_sim::{FIRST_VERSION, SimulatedCluster};
use podinit_slo::{Slo, SloFile};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::support::PATIENCE;
use crate::support::scrape::Scrape;

/// How long a silent server is waited for where tests make it silent.
const BRIEF: Duration = Duration::from_millis(100);

pub struct Pipeline {
    deliveries: mpsc::Receiver<Delivery>,
    tracker: Tracker,
    sink: RecorderAndRecords,
    exposition: Arc<Exposition>,
    /// Completed lists so far
    pub lists: u64,
    /// The versions up to which nodes and Events were taken, where they are evidence
    evidence: Option<(u64, u64)>,
    event_decoder: EventDecoder,
    node_decoder: NodeDecoder,
    /// Around each delivery that is accounted for, for tests that measure it
    pub meter: fn(&mut dyn FnMut()),
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl Pipeline {
    pub async fn start(cluster: &SimulatedCluster) -> Self {
        Self::assemble(cluster, &SloFile { slos: vec![] }, BRIEF, false).await
    }

    /// One with these SLOs. It takes no silence for a fault: while it resumed the watch, simulated
    /// time would pass without deadlines.
    pub async fn judging(cluster: &SimulatedCluster, slos: &SloFile) -> Self {
        Self::assemble(cluster, slos, PATIENCE, false).await
    }

    /// The same with evidence: Events after this, and nodes.
    pub async fn judging_with_evidence(cluster: &SimulatedCluster, slos: &SloFile) -> Self {
        Self::assemble(cluster, slos, PATIENCE, true).await
    }

    async fn assemble(
        cluster: &SimulatedCluster,
        slos: &SloFile,
        silence: Duration,
        evidence: bool,
    ) -> Self {
        let stats = Arc::new(WatchStats::new(1));
        let doc = |slo: &Slo| SloDoc::new(&slo.rule, slo.objective_ratio(), slo.window_seconds());
        let (recorder, exposition) = ExpositionBuilder::new(LabelConfig::default())
            .slos(slos.slos.iter().map(doc).collect())
            .watch(stats.clone())
            .events(evidence)
            .nodes(evidence)
            .build()
            .unwrap();
        let (sender, deliveries) = mpsc::channel(16);
        let api = connect_to(cluster.url(), "the test".into()).await.unwrap();
        let clock = cluster.clock();
        let cancel = CancellationToken::new();
        let tasks = spawn(
            &api.client,
            &WatchConfig { decode: decode_options(evidence), ..watch_config(silence) },
            Arc::new(move || clock.now()),
            &stats,
            &sender,
            &cancel,
        );
        Self {
            deliveries,
            tracker: Tracker::new(TrackerConfig {
                timestamps: TimestampMode::Fused,
                slos: slos.slos.iter().map(|slo| slo.rule.clone()).collect(),
                stuck_after: slos.stuck_limits(),
                events: evidence,
                nodes: evidence,
                ..TrackerConfig::default()
            }),
            sink: RecorderAndRecords { recorder, newest: NewestRecords::default() },
            exposition,
            lists: 0,
            evidence: evidence.then(|| (FIRST_VERSION, cluster.events().version())),
            event_decoder: EventDecoder::new(decode_options(evidence)),
            node_decoder: NodeDecoder::new(NodeOptions::default()),
            meter: |account| account(),
            cancel,
            tasks,
        }
    }

    /// Accounts for deliveries until one shows `namespace`/`name` at `version` or later: then the
    /// watch has delivered everything up to it.
    pub async fn catch_up(&mut self, namespace: &str, name: &str, version: u64) {
        let shows = |event: &PodEvent| {
            let pods: Vec<PodSnapshot> = match event {
                PodEvent::Applied(pod) => vec![pod.clone()],
                PodEvent::Listed { pods, .. } => pods.copies().collect(),
                _ => Vec::new(),
            };
            pods.iter().any(|pod| {
                &*pod.info.namespace == namespace
                    && &*pod.info.name == name
                    && pod.resource_version >= Some(version)
            })
        };
        while !self.take_one(shows).await {}
    }

    /// Accounts for deliveries until another list has completed.
    pub async fn relisted(&mut self) {
        let listed = |event: &PodEvent| matches!(event, PodEvent::Listed { .. });
        while !self.take_one(listed).await {}
    }

    /// Accounts for deliveries until the watch is no longer in sync.
    pub async fn blinded(&mut self) {
        while !self.take_one(|event| *event == PodEvent::SyncLost).await {}
    }

    /// Accounts for deliveries until the watch has gone on from where it had stopped.
    pub async fn resumed(&mut self) {
        let resumed = |event: &PodEvent| matches!(event, PodEvent::Resumed | PodEvent::CaughtUp);
        while !self.take_one(resumed).await {}
    }

    /// Accounts for the nodes and the Events that the cluster has had since the last time.
    pub fn take_evidence(&mut self, cluster: &SimulatedCluster) {
        let Some((nodes, events)) = self.evidence else {
            return;
        };
        let now = cluster.clock().now();
        let batch = cluster.nodes().events_after(nodes, usize::MAX).unwrap();
        let nodes = batch.up_to;
        for event in &batch.events {
            let line = self.node_decoder.decode_event(ObjectEncoding::Json, &line(event));
            let event = match line.unwrap().kind {
                NodeLineKind::Applied(node) => NodeEvent::Applied(node),
                NodeLineKind::Deleted(node) => NodeEvent::Deleted(node),
                _ => continue,
            };
            self.deliver(PodEvent::Nodes(event), Some(now));
        }
        let batch = cluster.events().events_after(events, usize::MAX).unwrap();
        self.evidence = Some((nodes, batch.up_to));
        for event in &batch.events {
            let line = self.event_decoder.line(&line(event)).unwrap();
            if let EventLineKind::Applied(event) = line.kind {
                self.deliver(PodEvent::Event(event), None);
            }
        }
    }

    fn deliver(&mut self, event: PodEvent, observed: Option<Timestamp>) {
        let delivery = Delivery {
            source: SourceId::default(),
            event,
            now: Timestamp::EPOCH,
            observed,
            version: None,
        };
        self.tracker.apply(delivery, &mut self.sink);
    }

    /// Lets time pass while nothing is delivered.
    pub fn advance(&mut self, now: Timestamp) {
        self.tracker.advance(now, &mut self.sink);
    }

    /// How many pods in flight still wait for their event of `slo`.
    pub fn undecided(&self, slo: SloId) -> usize {
        self.tracker.undecided(slo)
    }

    async fn take_one(&mut self, wanted: impl Fn(&PodEvent) -> bool) -> bool {
        let received = tokio::time::timeout(PATIENCE, self.deliveries.recv()).await;
        let delivery = received.expect("the watch is stuck").unwrap();
        let found = wanted(&delivery.event);
        self.lists += u64::from(matches!(delivery.event, PodEvent::Listed { .. }));
        // Of a copy, so that what was allocated elsewhere is not freed within the measurement.
        (self.meter)(&mut || self.tracker.apply(delivery.clone(), &mut self.sink));
        found
    }

    pub fn scrape(&self) -> Scrape {
        let text = self.exposition.encode(ExpositionFormat::Text).unwrap();
        Scrape::parse(&String::from_utf8(text).unwrap())
    }

    /// The problems now.
    pub fn problems(&self) -> Problems {
        let in_flight = self.tracker.in_flight_after(None);
        let newest = self.sink.newest.iter();
        let newest: Vec<Record> = newest.map(|startup| self.tracker.record_of(startup)).collect();
        let in_flight = in_flight.map(|(_, pod)| pod.record()).collect();
        let faults = self.tracker.node_faults();
        Problems::find(in_flight, &newest, faults, self.tracker.accounted_time())
    }

    /// Ends the watch, which must not have ended before.
    pub async fn end(mut self) {
        self.cancel.cancel();
        assert!(self.tasks.join_next().await.unwrap().is_ok());
    }
}

/// Counts what happens, and keeps the newest startups that have ended.
struct RecorderAndRecords {
    recorder: Recorder,
    newest: NewestRecords<EndedStartup>,
}

impl Observer for RecorderAndRecords {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }

    fn ended(&mut self, startup: EndedStartup) {
        self.newest.push(startup.outcome(), startup);
    }

    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(&mut self.recorder)
    }
}

/// With evidence, what `serve` reads of a pod, so that there are problems; otherwise only what is counted.
fn decode_options(evidence: bool) -> DecodeOptions {
    DecodeOptions {
        endings: evidence,
        node: evidence,
        workload: evidence,
        images: evidence,
        messages: evidence,
        ..DecodeOptions::default()
    }
}

/// What a watch would say of an object that is not a pod.
fn line(event: &HistoryEvent) -> Vec<u8> {
    let kind = match event.kind {
        EventKind::Added => "ADDED",
        EventKind::Modified => "MODIFIED",
        EventKind::Deleted => "DELETED",
    };
    let object = std::str::from_utf8(&event.object.json).unwrap();
    format!(r#"{{"type":"{kind}","object":{object}}}"#).into_bytes()
}

/// A server that does not answer is waited for as long as `silence`.
fn watch_config(silence: Duration) -> WatchConfig {
    let mut config = WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() };
    let reflector = &mut config.reflector;
    reflector.page_limit = 20;
    reflector.header_timeout = silence;
    reflector.chunk_timeout = silence;
    reflector.idle_timeout = silence;
    reflector.settle_quiet = Duration::from_millis(1);
    reflector.short_watch = Duration::ZERO;
    reflector.backoff_base = Duration::from_millis(1);
    reflector.backoff_cap = Duration::from_millis(4);
    reflector.seed = Some(3);
    config
}
