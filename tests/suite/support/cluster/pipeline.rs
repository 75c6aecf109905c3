//! The pipeline as `serve` puts it together, with its one loop turned by the test.
//!
//! Events do not come over a watch of their own: the test takes them from the cluster when it wants to, so
//! that their order among the pods is always the same.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use podinit::cluster::client::connect_to;
use podinit::inspect::problems::Problems;
use podinit::metrics::{Builder, Exposition, Format, LabelConfig, Recorder, SloDoc};
use podinit::slo::{Slo, SloFile};
use podinit::watch::requests::Scope;
use podinit::watch::stats::WatchStats;
use podinit::watch::{WatchConfig, spawn};
use podinit_core::lifecycle::{
    Delivery, EndedStartup, Observation, Observer, PodEvent, Record, Sink, SloId, SourceId,
    TimestampMode, Tracker, TrackerConfig,
};
use podinit_core::pod::PodSnapshot;
use podinit_core::problems::MOST_RECORDS;
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_sim::Cluster;
use podinit_sim::object::EventKind;
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
    /// The version up to which Events were taken, where they are evidence
    events: Option<u64>,
    event_decoder: EventDecoder,
    /// Around each delivery that is accounted for, for tests that measure it
    pub meter: fn(&mut dyn FnMut()),
    cancel: CancellationToken,
    tasks: JoinSet<()>,
}

impl Pipeline {
    pub async fn start(cluster: &Cluster) -> Self {
        Self::assemble(cluster, &SloFile { slos: vec![] }, BRIEF, false).await
    }

    /// One with these SLOs. It takes no silence for a fault: while it resumed the watch, simulated
    /// time would pass without deadlines.
    pub async fn judging(cluster: &Cluster, slos: &SloFile) -> Self {
        Self::assemble(cluster, slos, PATIENCE, false).await
    }

    /// The same with Events as evidence: those after this.
    pub async fn judging_with_events(cluster: &Cluster, slos: &SloFile) -> Self {
        Self::assemble(cluster, slos, PATIENCE, true).await
    }

    async fn assemble(cluster: &Cluster, slos: &SloFile, silence: Duration, events: bool) -> Self {
        let stats = Arc::new(WatchStats::new(1));
        let doc = |slo: &Slo| SloDoc {
            name: Arc::clone(&slo.rule.name),
            objective_ratio: slo.objective_ratio(),
            interval: slo.rule.interval,
            threshold_seconds: slo.threshold_seconds(),
        };
        let (recorder, exposition) = Builder::new(LabelConfig::default())
            .slos(slos.slos.iter().map(doc).collect())
            .watch(stats.clone())
            .events(events)
            .build()
            .unwrap();
        let (sender, deliveries) = mpsc::channel(16);
        let api = connect_to(cluster.url(), "the test".into()).await.unwrap();
        let clock = cluster.clock();
        let cancel = CancellationToken::new();
        let tasks = spawn(
            &api.client,
            &WatchConfig {
                decode: decode_options(events),
                ..watch_config(silence)
            },
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
                events,
                ..TrackerConfig::default()
            }),
            sink: RecorderAndRecords {
                recorder,
                newest: VecDeque::new(),
            },
            exposition,
            lists: 0,
            events: events.then(|| cluster.events().version()),
            event_decoder: EventDecoder::default(),
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
        while !self.take_one(|event| *event == PodEvent::Resumed).await {}
    }

    /// Accounts for the Events that the cluster has had since the last time.
    pub fn take_events(&mut self, cluster: &Cluster) {
        let Some(since) = self.events else { return };
        let batch = cluster.events().events_after(since, usize::MAX).unwrap();
        self.events = Some(batch.up_to);
        for event in batch.events {
            let kind = match event.kind {
                EventKind::Added => "ADDED",
                EventKind::Modified => "MODIFIED",
                EventKind::Deleted => continue,
            };
            let object = std::str::from_utf8(&event.object.json).unwrap();
            let line = format!(r#"{{"type":"{kind}","object":{object}}}"#);
            let line = self.event_decoder.line(line.as_bytes()).unwrap();
            let EventLineKind::Applied(event) = line.kind else {
                continue;
            };
            let delivery = Delivery {
                source: SourceId::default(),
                event: PodEvent::Event(event),
                now: Timestamp::EPOCH,
                observed: None,
                version: None,
            };
            self.tracker.apply(delivery, &mut self.sink);
        }
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
        let text = self.exposition.encode(Format::Text).unwrap();
        Scrape::parse(&String::from_utf8(text).unwrap())
    }

    /// The problems now.
    pub fn problems(&self) -> Problems {
        let in_flight = self.tracker.in_flight_after(None);
        let newest: Vec<Record> = (self.sink.newest.iter())
            .map(EndedStartup::record)
            .collect();
        let in_flight = in_flight.map(|(_, pod)| pod.record()).collect();
        Problems::find(in_flight, &newest, self.tracker.accounted_time())
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
    /// The oldest first
    newest: VecDeque<EndedStartup>,
}

impl Observer for RecorderAndRecords {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }
}

impl Sink for RecorderAndRecords {
    fn ended(&mut self, startup: EndedStartup) {
        if self.newest.len() == MOST_RECORDS {
            self.newest.pop_front();
        }
        self.newest.push_back(startup);
    }
}

/// With Events, what `serve` reads of a pod, so that there are problems; otherwise only what is counted.
fn decode_options(events: bool) -> DecodeOptions {
    DecodeOptions {
        node: events,
        workload: events,
        images: events,
        messages: events,
        ..DecodeOptions::default()
    }
}

/// A server that does not answer is waited for as long as `silence`.
fn watch_config(silence: Duration) -> WatchConfig {
    let mut config = WatchConfig {
        scopes: vec![Scope::Cluster],
        ..WatchConfig::default()
    };
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
