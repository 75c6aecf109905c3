//! The checkpoint's content against going on without a restart: whatever has happened, and wherever
//! the process is stopped, what is restored counts on exactly as if it had never been away.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::sync::Arc;

use crate::oracle::history;
use crate::oracle::reading::{Options, Timestamps};
use crate::oracle::{implementation, seeds};
use crate::support::parsed_exposition::protobuf;
use crate::support::sinks::Counted;
use podinit_checkpoint::content::{self, CheckpointContent, UnsealedCheckpoint};
use podinit_checkpoint::frame;
use podinit_core::lifecycle::{
    CustomMilestone, Delivery, NodeEvent, PodEvent, Progress, Record, SavedPod, SavedTracker,
    SourceId, SourceSuccessor, TimestampMode, Tracker, TrackerConfig, Version,
};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::NodeOptions;
use podinit_decode::node::watch::NodeLineKind;
use podinit_decode::{DecodeOptions, WatchEventKind};
use podinit_expo::metrics::saved::RestoredDurations;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder, SeriesLabel, SloDoc,
};
use podinit_oncall::records::RecordStore;
use podinit_recordings::reader::{RecordedNodes, RecordedPods, Recording};
use podinit_sim::rng::Rng;

/// Random histories, without another number in `ORACLE_HISTORIES`.
const HISTORIES: u64 = 12;

/// When the first process began: before all histories.
const STARTED: Timestamp = Timestamp::from_seconds(1);

/// Two list-watches, each of which delivers what falls to it.
const SOURCES: [SourceId; 2] = [SourceId(0), SourceId(1)];

/// A tracker and what it has said.
struct Harness {
    config: TrackerConfig,
    docs: Vec<SloDoc>,
    tracker: Tracker,
    said: Counted,
    exposition: Arc<Exposition>,
}

impl Harness {
    /// So many deadlines pass at once.
    fn new(options: &Options, deadlines_at_once: usize) -> Self {
        let slos = implementation::slos(options);
        let doc = |slo: &podinit_slo::Slo| {
            SloDoc::new(&slo.rule, slo.objective_ratio(), slo.window_seconds())
        };
        let docs: Vec<SloDoc> = slos.iter().map(doc).collect();
        let config = TrackerConfig {
            slos: slos.iter().map(|slo| slo.rule.clone()).collect(),
            timestamps: match options.timestamps {
                Timestamps::Api => TimestampMode::Api,
                Timestamps::Fused => TimestampMode::Fused,
            },
            backfill: options.backfill.into(),
            max_pods: 12,
            events: options.events,
            nodes: options.nodes,
            milestones: Arc::new(implementation::milestones(options)),
            deadlines_at_once,
            ..TrackerConfig::default()
        };
        let (recorder, exposition) = counters(&docs, &config, STARTED);
        Self {
            tracker: Tracker::new(config.clone()),
            config,
            docs,
            said: Counted { recorder, records: RecordStore::default() },
            exposition,
        }
    }

    fn apply(&mut self, delivery: &Delivery) {
        self.tracker.apply(delivery.clone(), &mut self.said);
    }

    /// All deadlines that have passed are reported.
    fn pass_all(&mut self) {
        while self.tracker.is_behind() {
            self.tracker.pass_more(&mut self.said);
        }
    }

    fn content(&self, tracker: SavedTracker) -> CheckpointContent {
        CheckpointContent {
            tracker,
            metrics: self.said.recorder.saved(),
            records: self.said.records.kept(),
            ..CheckpointContent::default()
        }
    }

    /// The checkpoint as it stands.
    fn written(&self) -> Vec<u8> {
        let content = self.content(self.tracker.saved());
        content::encode(&content, self.tracker.saved_pods()).finish()
    }

    /// The checkpoint as it stands, written while all this is accounted for.
    fn written_during(&mut self, deliveries: &[Delivery]) -> Vec<u8> {
        let at_once = self.written();
        let saved = self.tracker.begin_saving();
        let mut file = UnsealedCheckpoint::begin(self.content(saved), self.tracker.remembered());
        deliveries.iter().for_each(|delivery| self.apply(delivery));
        while file.add_chunk(&mut self.tracker) {}
        let file = file.finish();
        assert!(file == at_once, "what was accounted for meanwhile is in the checkpoint");
        file
    }

    /// The process ends during a commit, after all this, and another one begins.
    fn restart(&mut self, unsaved: &[Delivery]) {
        let file = self.written_during(unsaved);
        let content::DecodedCheckpoint { content, mut pods, .. } =
            content::decode(&frame::read(&file).unwrap(), podinit::families()).unwrap();
        let again = content::encode(&content, pods.iter().cloned()).finish();
        assert!(again == file, "read and written again, it is another checkpoint");
        let later = Timestamp::from_nanos(STARTED.as_nanos() + 1);
        let (mut recorder, exposition) = counters(&self.docs, &self.config, later);
        let in_flight = pods.iter().filter_map(SavedPod::in_flight);
        let durations = recorder.restore(&content.metrics, in_flight);
        assert_eq!(durations, RestoredDurations::Continued);
        recorder.restore_holds(content.tracker.now.unwrap_or(STARTED), &mut pods);
        let config = self.config.clone();
        let saved = content.tracker;
        let records = RecordStore::restored(content.records);
        let mut said = Counted { recorder, records };
        self.tracker = Tracker::restored(config, saved, pods, SourceSuccessor::Same, &mut said);
        let kept = said.records.kept().records;
        (self.tracker).look_after(kept.iter().map(|record| &*record.startup));
        (self.said, self.exposition) = (said, exposition);
        let remembered = self.written();
        assert!(remembered.len() == file.len(), "what was restored is not what was written");
    }

    /// The records of pods in flight, and of startups that have ended. Those that are absent from one
    /// list end in no particular order.
    fn records(&self) -> Vec<Record> {
        let in_flight = self.tracker.in_flight_after(None);
        let in_flight = in_flight.map(|(_, pod)| pod.record());
        let mut ended = self.said.records.kept().records;
        ended.sort_by_key(|kept| (kept.startup.ended(), kept.startup.uid()));
        let ended = ended.into_iter().map(|kept| kept.startup.record());
        let mut records: Vec<Record> = in_flight.chain(ended).collect();
        // Which container gave a cause is not saved: a decision of rule 13.3. Nor is which label names a pool.
        for record in &mut records {
            let causes = record.causes.iter_mut();
            causes.for_each(|cause| cause.container = None);
            for node in [&mut record.pod.node_labels, &mut record.node_labels].into_iter().flatten()
            {
                Arc::make_mut(node).pool_label = None;
            }
        }
        records
    }

    fn text(&self) -> String {
        String::from_utf8(self.exposition.encode(ExpositionFormat::Text).unwrap()).unwrap()
    }

    /// All series with the time since when each counts.
    fn starts(&self) -> Vec<String> {
        let families = protobuf(&self.exposition.encode(ExpositionFormat::Protobuf).unwrap());
        let mut starts = Vec::new();
        for family in families {
            for metric in family.metric {
                let counter = metric.counter.and_then(|counter| counter.start_timestamp);
                let histogram = metric.histogram.and_then(|it| it.start_timestamp);
                let start = counter.or(histogram);
                starts.push(format!("{} {:?} {start:?}", family.name, metric.label));
            }
        }
        starts
    }
}

/// Caps so low that the histories pass them.
fn counters(
    docs: &[SloDoc],
    config: &TrackerConfig,
    start: Timestamp,
) -> (Recorder, Arc<Exposition>) {
    let of_nodes = [SeriesLabel::NodePool, SeriesLabel::Zone];
    let mut series_labels = vec![SeriesLabel::Namespace, SeriesLabel::Workload, SeriesLabel::Node];
    series_labels.extend(of_nodes.into_iter().filter(|_| config.nodes));
    let labels =
        LabelConfig { labels: series_labels, max_values: 2, max_sets: 4, ..LabelConfig::default() };
    let builder =
        ExpositionBuilder::new(labels).events(config.events).nodes(config.nodes).starts(start);
    let builder = builder.milestones(Arc::clone(&config.milestones));
    builder.slos(docs.to_vec()).build().unwrap()
}

/// The first record by which one harness differs from another.
///
/// Whether a pod is stuck is left out, as among the metrics: a source that is out of sync says so later.
fn other_record(steady: &Harness, restarted: &Harness) -> Option<String> {
    let records = |harness: &Harness| {
        let mut records = harness.records();
        for record in &mut records {
            if let Progress::InFlight { is_stuck, .. } = &mut record.progress {
                *is_stuck = false;
            }
        }
        records
    };
    let (steady, restarted) = (records(steady), records(restarted));
    let mut pairs = steady.iter().zip(&restarted);
    let differ = pairs.find(|(steady, restarted)| steady != restarted);
    differ
        .map(|(steady, restarted)| format!("{restarted:?}, without a restart {steady:?}"))
        .or_else(|| (steady.len() != restarted.len()).then(|| "more records".to_owned()))
}

/// The first series that counts since another time in one harness than in another.
fn other_start(steady: &Harness, restarted: &Harness) -> Option<String> {
    difference(&steady.starts().join("\n"), &restarted.starts().join("\n"))
}

/// What a list-watch could deliver of a history.
fn deliveries(documents: &str, milestones: &[CustomMilestone], random: &mut Rng) -> Vec<Delivery> {
    let decode = DecodeOptions {
        node: true,
        workload: true,
        images: true,
        messages: true,
        nodes: Some(NodeOptions::default()),
        ..DecodeOptions::default()
    };
    let decode = decode.with_milestones(milestones);
    let input = Cursor::new(documents.to_owned());
    let mut now = Timestamp::EPOCH;
    let mut version = 0;
    let mut streamed: BTreeSet<PodUid> = BTreeSet::new();
    let documents = Recording::from_reader("history", input, decode).map(Result::unwrap);
    let deliveries = documents.flat_map(|document| {
        let is_deleted =
            matches!(document.pods, Some(RecordedPods::Event(WatchEventKind::Deleted(_))));
        let pods = document.snapshots().filter(|_| !is_deleted);
        let latest = pods.filter_map(|pod| pod.latest_api_time).max();
        now = now.max(document.observed_at.or(latest).unwrap_or(now));
        let began = now;
        let mut before = Vec::new();
        let mut of_nodes = |event| {
            let node = sync(PodEvent::Nodes(event), SOURCES[0], now);
            before.push(Delivery { observed: document.observed_at, ..node });
        };
        match document.evidence.nodes {
            Some(RecordedNodes::List { nodes, .. }) => {
                streamed.clear();
                of_nodes(NodeEvent::Listed { nodes, began });
            }
            Some(RecordedNodes::Event(NodeLineKind::Applied(node))) => {
                streamed.insert(node.uid);
                of_nodes(NodeEvent::Applied(node));
            }
            Some(RecordedNodes::Event(NodeLineKind::Deleted(node))) => {
                of_nodes(NodeEvent::Deleted(node));
            }
            Some(RecordedNodes::Event(NodeLineKind::Bookmark { initial_events_end: true })) => {
                let listed = std::mem::take(&mut streamed).into_iter().collect();
                of_nodes(NodeEvent::StreamedListClosed { listed });
            }
            Some(RecordedNodes::Event(_)) | None => {}
        }
        let event = match document.pods {
            Some(RecordedPods::List { pods, .. }) => PodEvent::Listed { pods, began },
            Some(
                RecordedPods::Bare(pod)
                | RecordedPods::Event(WatchEventKind::Added(pod) | WatchEventKind::Modified(pod)),
            ) => PodEvent::Applied(pod),
            Some(RecordedPods::Event(WatchEventKind::Deleted(pod))) => PodEvent::Deleted(pod),
            Some(RecordedPods::Event(WatchEventKind::Bookmark { .. })) => PodEvent::Bookmark,
            Some(RecordedPods::Event(WatchEventKind::OtherShard { .. })) => PodEvent::OtherShard,
            Some(RecordedPods::Event(WatchEventKind::Error(_))) => PodEvent::SyncLost,
            None => {
                let events = document.evidence.events.into_iter().map(PodEvent::Event);
                before.extend(events.map(|event| sync(event, SOURCES[0], now)));
                return before;
            }
        };
        version += u64::from(random.within(0..=2));
        before.push(Delivery {
            source: SOURCES[random.within(0..=5) as usize / 5],
            event,
            now,
            observed: document.observed_at,
            version: Some(Version::Number(version)),
        });
        before
    });
    deliveries.collect()
}

/// What a restart is to those who have none.
fn sync(event: PodEvent, source: SourceId, now: Timestamp) -> Delivery {
    Delivery { source, event, now, observed: None, version: None }
}

/// The first line by which an exposition after restarts differs from the one without. Two gauges aside, of which a
/// process that has just begun does not know all of the one before: until when deadlines have been judged, and whether
/// a pod became stuck while its own source was out of sync and another was not, which is said once it is in sync.
fn difference(steady: &str, restarted: &str) -> Option<String> {
    let lasting = |text: &str| -> String {
        let lines = text.lines();
        let unknown = ["podinit_deadlines_judged", "podinit_stuck_pods"];
        let lasting = lines.filter(|line| unknown.iter().all(|name| !line.starts_with(name)));
        lasting.flat_map(|line| [line, "\n"]).collect()
    };
    let (steady, restarted) = (&*lasting(steady), &*lasting(restarted));
    let mut lines = steady.lines().zip(restarted.lines());
    let line = lines.find(|(steady, restarted)| steady != restarted);
    line.map(|(steady, restarted)| format!("{restarted}, without a restart {steady}"))
        .or_else(|| (steady != restarted).then(|| "more lines".to_owned()))
}

fn differs(seed: u64) -> Option<String> {
    let mut random = Rng::new(seed);
    let history = history::generate(seed);
    let milestones = implementation::milestones(&history.options);
    let text = history::text(&history.documents);
    let deliveries = deliveries(&text, &milestones, &mut random);
    let at_once = random.within(1..=3) as usize;
    let (mut steady, mut restarted) =
        (Harness::new(&history.options, usize::MAX), Harness::new(&history.options, at_once));
    for (place, delivery) in deliveries.iter().enumerate() {
        if random.within(0..=2) == 0 {
            restarted.pass_all();
        }
        steady.apply(delivery);
        restarted.apply(delivery);
        if random.within(0..=9) > 0 {
            continue;
        }
        let now = delivery.now;
        restarted.pass_all();
        for source in SOURCES {
            let lost = sync(PodEvent::SyncLost, source, now);
            steady.apply(&lost);
            restarted.apply(&lost);
        }
        let unsaved = deliveries.iter().skip(place + 1);
        let unsaved: Vec<Delivery> = unsaved.take(random.within(0..=8) as usize).cloned().collect();
        restarted.restart(&unsaved);
        let difference = difference(&steady.text(), &restarted.text());
        let difference = difference
            .or_else(|| other_start(&steady, &restarted))
            .or_else(|| other_record(&steady, &restarted));
        if difference.is_some() {
            return difference;
        }
        for source in SOURCES {
            if random.within(0..=3) > 0 {
                let resumed = sync(PodEvent::Resumed, source, now);
                steady.apply(&resumed);
                restarted.apply(&resumed);
            }
        }
    }
    restarted.pass_all();
    let (same, other) = (steady.written().len(), restarted.written().len());
    difference(&steady.text(), &restarted.text())
        .or_else(|| other_start(&steady, &restarted))
        .or_else(|| other_record(&steady, &restarted))
        .or_else(|| {
            (same != other).then(|| format!("a checkpoint of {other} bytes instead of {same}"))
        })
}

#[test]
fn after_any_restart_everything_goes_on_as_if_there_had_been_none() {
    let failing = seeds::first(seeds::asked().unwrap_or(HISTORIES), |seed| differs(seed).is_some());
    let difference = failing.map(|seed| (seed, differs(seed)));
    assert_eq!(difference, None, "a seed whose restarts can be seen");
}
