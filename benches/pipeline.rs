//! The whole pipeline on one core, from the bytes of a watch to histograms.
//!
//! ```text
//! cargo bench --bench pipeline
//! PODINIT_BENCH_EVENTS=events.json cargo bench --bench pipeline -- file
//! cargo bench --bench pipeline -- pod_life     # the lives of pods, without and with their Events
//! cargo bench --bench pipeline -- heartbeat    # updates of nodes that change nothing
//! cargo bench --bench pipeline -- --once json  # one pass without measuring, for benches/ledger; or protobuf
//! ```
//!
//! Bytes arrive in chunks as from a connection; they are cut into events, decoded, tracked and recorded,
//! all on one thread and in the order of `serve`. Only the connection and the queue are left out. The
//! throughput is in watch events per second of CPU time, so that other load affects it only through the
//! caches.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

#[path = "support/cpu_time.rs"]
mod cpu_time;
#[path = "../tests/suite/memory/node_object.rs"]
mod node_object;
#[path = "support/mod.rs"]
mod support;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::Criterion;
use criterion::{BatchSize, Throughput, criterion_group};
use podinit_core::lifecycle::{
    Delivery, Interval, Namespaces, NodeEvent, PodEvent, Selection, SloRule, SourceId, Stage,
    TimestampMode, Tracker, TrackerConfig,
};
use podinit_core::timestamp::Timestamp;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_decode::node::NodeOptions;
use podinit_decode::node::watch::{NodeDecoder, NodeLineKind};
use podinit_decode::{ObjectEncoding, PodDecoder, WatchEventKind};
use podinit_expo::metrics::{Exposition, ExpositionBuilder, LabelConfig, Recorder, SeriesLabel};
use podinit_kube::watch::event_reader::EventReader;
use podinit_kube::watch::line_reader::{FramedEvent, LineReader};
use podinit_sim::protobuf;
use serde_json::json;

const PODS: usize = 512;

/// How many bytes a connection gives at once.
const CHUNK: usize = 16 * 1024;

/// When the first chunk arrives: shortly after the pods were created.
const BEGIN: Timestamp = Timestamp::from_seconds(1_795_247_820);

/// A fresh pipeline.
struct Pipeline {
    events: EventReader,
    decoder: PodDecoder,
    event_lines: LineReader,
    event_decoder: EventDecoder,
    tracker: Tracker,
    recorder: Recorder,
    exposition: Arc<Exposition>,
    now: Timestamp,
}

impl Pipeline {
    fn new(
        labels: LabelConfig,
        slos: &Arc<[SloRule]>,
        encoding: ObjectEncoding,
        events: bool,
    ) -> Self {
        let options = labels.decode_options();
        let (recorder, exposition) = ExpositionBuilder::new(labels).events(events).build().unwrap();
        Self {
            events: EventReader::new(encoding, 8 << 20),
            decoder: PodDecoder::new(options),
            event_lines: LineReader::new(8 << 20),
            event_decoder: EventDecoder::default(),
            tracker: Tracker::new(TrackerConfig {
                timestamps: TimestampMode::Fused,
                slos: Arc::clone(slos),
                events,
                ..TrackerConfig::default()
            }),
            recorder,
            exposition,
            now: BEGIN,
        }
    }

    /// Processes a chunk and returns how many events it completed.
    fn chunk(&mut self, mut chunk: &[u8]) -> u64 {
        let mut events = 0;
        self.now = self.now.plus_nanos(1_000_000);
        let encoding = self.events.encoding();
        while let Some(event) = self.events.next(&mut chunk) {
            let FramedEvent::Whole(event) = event else { continue };
            let event = match encoding {
                ObjectEncoding::Json => self.decoder.watch_event(event),
                ObjectEncoding::Protobuf => self.decoder.watch_frame(event),
            };
            let event = match event.unwrap().kind {
                WatchEventKind::Added(pod) | WatchEventKind::Modified(pod) => {
                    PodEvent::Applied(pod)
                }
                WatchEventKind::Deleted(pod) => PodEvent::Deleted(pod),
                WatchEventKind::OtherShard { .. }
                | WatchEventKind::Bookmark { .. }
                | WatchEventKind::Error(_) => continue,
            };
            let delivery = Delivery {
                source: SourceId(0),
                event,
                now: self.now,
                observed: Some(self.now),
                version: None,
            };
            self.tracker.apply(delivery, &mut self.recorder);
            events += 1;
        }
        events
    }

    /// Processes a chunk of the watch of Events.
    fn event_chunk(&mut self, mut chunk: &[u8]) {
        while let Some(line) = self.event_lines.next(&mut chunk) {
            let FramedEvent::Whole(line) = line else { continue };
            let EventLineKind::Applied(event) = self.event_decoder.line(line).unwrap().kind else {
                continue;
            };
            let delivery = Delivery {
                source: SourceId(0),
                event: PodEvent::Event(event),
                now: Timestamp::EPOCH,
                observed: None,
                version: None,
            };
            self.tracker.apply(delivery, &mut self.recorder);
        }
    }
}

/// Processes a whole stream and returns its number of events. Its instructions are those of the ledger.
#[inline(never)]
fn play(pipeline: &mut Pipeline, stream: &[u8]) -> u64 {
    stream.chunks(CHUNK).map(|chunk| pipeline.chunk(chunk)).sum()
}

/// A watch in an encoding.
fn stream(lines: &[String], encoding: ObjectEncoding) -> Vec<u8> {
    match encoding {
        ObjectEncoding::Json => {
            lines.iter().flat_map(|line| [line, "\n"]).collect::<String>().into()
        }
        ObjectEncoding::Protobuf => {
            let frames = lines.iter().map(|line| protobuf::event(line.as_bytes()).unwrap());
            frames.flat_map(|frame| protobuf::framed(&frame)).collect()
        }
    }
}

fn pipeline(c: &mut Criterion) {
    let generated = support::lives(PODS);
    let no_slos: Arc<[SloRule]> = Arc::default();
    for encoding in [ObjectEncoding::Json, ObjectEncoding::Protobuf] {
        let name = |what: &str| format!("{encoding:?}/{what}").to_lowercase();
        run(
            c,
            &name("namespace"),
            &stream(&generated, encoding),
            encoding,
            LabelConfig::default,
            &no_slos,
        );
        run(
            c,
            &name("all_labels_3_slos"),
            &stream(&generated, encoding),
            encoding,
            all_labels,
            &slos(),
        );
    }
    if let Some(captured) = support::captured_events() {
        let json = ObjectEncoding::Json;
        run(c, "file/namespace", &stream(&captured, json), json, LabelConfig::default, &no_slos);
    }
}

fn run(
    c: &mut Criterion,
    name: &str,
    stream: &[u8],
    encoding: ObjectEncoding,
    labels: fn() -> LabelConfig,
    slos: &Arc<[SloRule]>,
) {
    let mut probe = Pipeline::new(labels(), slos, encoding, false);
    let events = play(&mut probe, stream);
    println!(
        "{name}: {events} events of {} bytes on average; {} pods remembered, exposition of {} bytes",
        stream.len() as u64 / events.max(1),
        probe.tracker.remembered(),
        probe.exposition.encode(podinit_expo::metrics::ExpositionFormat::Text).unwrap().len(),
    );
    let mut group = c.benchmark_group("pipeline");
    group
        .throughput(Throughput::Elements(events))
        .sample_size(20)
        .measurement_time(Duration::from_secs(5));
    group.bench_function(name, |b| {
        b.iter_batched_ref(
            || Pipeline::new(labels(), slos, encoding, false),
            |pipeline| assert_eq!(play(pipeline, stream), events),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// What Events cost: the same lives without and with them, in one run. The elements are lives.
fn pod_life(c: &mut Criterion) {
    let lives = support::lives_with_events(PODS);
    let events = lives.iter().map(|(_, events)| events.lines().count());
    let bytes = lives.iter().map(|(_, events)| events.len());
    let (events, bytes): (usize, usize) = (events.sum(), bytes.sum());
    println!("pod_life: {} Events of {} bytes on average in a life", events / PODS, bytes / events);
    let slos = slos();
    let mut group = c.benchmark_group("pod_life");
    group
        .throughput(Throughput::Elements(PODS as u64))
        .sample_size(20)
        .measurement_time(Duration::from_secs(5));
    for (name, events) in [("without_events", false), ("with_events", true)] {
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || Pipeline::new(LabelConfig::default(), &slos, ObjectEncoding::Json, events),
                |pipeline| {
                    for (changed, reported) in &lives {
                        pipeline.chunk(changed.as_bytes());
                        if events {
                            pipeline.event_chunk(reported.as_bytes());
                        }
                    }
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// What an update of a node costs that changes nothing: decoded only, and accounted for too, in one run.
fn heartbeat(c: &mut Criterion) {
    const NODES: usize = 5_000;
    let mut group = c.benchmark_group("heartbeat");
    group.throughput(Throughput::Elements(NODES as u64));
    for encoding in [ObjectEncoding::Json, ObjectEncoding::Protobuf] {
        let updates: Vec<Vec<u8>> = (0..NODES)
            .map(|number| {
                let node = node_object::node(&format!("{number:07}"));
                let event = json!({"type": "MODIFIED", "object": node}).to_string();
                match encoding {
                    ObjectEncoding::Json => event.into_bytes(),
                    ObjectEncoding::Protobuf => protobuf::event(event.as_bytes()).unwrap(),
                }
            })
            .collect();
        println!("heartbeat: {} bytes of {encoding:?}", updates[0].len());
        let mut decoder = NodeDecoder::new(NodeOptions::default());
        let mut decoded = |update: &[u8]| match decoder.decode_event(encoding, update) {
            Ok(line) => line.kind,
            Err(error) => panic!("{error}"),
        };
        let builder = ExpositionBuilder::new(LabelConfig::default()).nodes(true);
        let (mut recorder, _exposition) = builder.build().unwrap();
        let mut tracker = Tracker::new(TrackerConfig { nodes: true, ..TrackerConfig::default() });
        let mut account = |kind: NodeLineKind| {
            let NodeLineKind::Applied(node) = kind else {
                panic!("{kind:?}");
            };
            let delivery = Delivery {
                source: SourceId(0),
                event: PodEvent::Nodes(NodeEvent::Applied(node)),
                now: Timestamp::EPOCH,
                observed: Some(BEGIN),
                version: None,
            };
            tracker.apply(delivery, &mut recorder);
        };
        for update in &updates {
            account(decoded(update));
        }
        let name = |what: &str| format!("{encoding:?}/{what}").to_lowercase();
        group.bench_function(name("decoded"), |b| {
            b.iter(|| {
                for update in &updates {
                    black_box(decoded(update));
                }
            });
        });
        group.bench_function(name("accounted"), |b| {
            b.iter(|| {
                for update in &updates {
                    account(decoded(update));
                }
            });
        });
    }
    group.finish();
}

fn all_labels() -> LabelConfig {
    LabelConfig {
        labels: SeriesLabel::OF_ANY_POD
            .into_iter()
            .chain([SeriesLabel::PodLabel("app.kubernetes.io/name".to_owned())])
            .collect(),
        ..LabelConfig::default()
    }
}

fn slos() -> Arc<[SloRule]> {
    let intervals =
        [Interval::CreatedToReady, Interval::ScheduledToReady, Interval::Stage(Stage::Network)];
    let slo = |interval: Interval| SloRule {
        name: format!("{interval:?}").into(),
        interval: interval.into(),
        threshold: Duration::from_secs(30),
        grace: Duration::from_secs(5),
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
        selection: Selection::default(),
    };
    intervals.into_iter().map(slo).collect()
}

criterion_group!(name = benches; config = cpu_time::criterion(); targets = pipeline, pod_life, heartbeat);

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--once").skip(1);
    let Some(encoding) = arguments.next() else {
        benches();
        criterion::Criterion::default().configure_from_args().final_summary();
        return;
    };
    let encoding = match encoding.as_str() {
        "json" => ObjectEncoding::Json,
        "protobuf" => ObjectEncoding::Protobuf,
        other => panic!("{other} is no encoding: json or protobuf"),
    };
    let stream = stream(&support::lives(PODS), encoding);
    let mut pipeline = Pipeline::new(LabelConfig::default(), &Arc::default(), encoding, false);
    println!("{}", play(&mut pipeline, &stream));
}
