//! What finding problems costs the accounting: a cluster with many pods in flight, of which a third cannot pull an
//! image, with and without a finder in one run, in turn.
//!
//! ```text
//! cargo bench --bench problems              # 100,000 pods in flight
//! cargo bench --bench problems -- 10000
//! ```
//!
//! Events are due at a fixed rate. Their delay is the time from when one is due until it is accounted for. As in
//! `serve`, the owner of the pods takes one step for readers between two events. The CPU time is that of the process.
//! Meanwhile the metrics are encoded again and again, as for a scrape.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use podinit_core::lifecycle::{
    Delivery, Observation, Observer, PodEvent, SourceId, Tracker, TrackerConfig,
};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};
use podinit_expo::metrics::{Exposition, ExpositionBuilder, LabelConfig, ProblemPods, Recorder};
use podinit_instruments::ExpositionFormat;
use podinit_oncall::problems::{self, FindingSnapshots, ProblemFinder};
use podinit_oncall::records::{self, RecordQueries, RecordStore, RecordsClient};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Events a second.
const RATE: u32 = 2_000;
/// How long each phase takes.
const PHASE: Duration = Duration::from_secs(20);
/// Phases without and with a finder, in turn.
const ROUNDS: usize = 2;
/// Between two scrapes.
const SCRAPE_EVERY: Duration = Duration::from_millis(20);
/// When the pods were created.
const CREATED: Timestamp = Timestamp::from_seconds(1_767_225_600);

/// A pod that is bound, and whose first container waits.
fn pod(number: usize, version: usize) -> PodSnapshot {
    let reason = match number % 3 {
        0 => json!({"reason": "ImagePullBackOff", "message": "dial tcp: connection refused"}),
        _ => json!({"reason": "ContainerCreating"}),
    };
    let condition = |kind: &str, status: &str| {
        json!({"type": kind, "status": status,
        "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    let image = format!("registry.example.com/team/app-{}:1", number % 700);
    let document = json!({"type": "MODIFIED", "object": {
        "metadata": {"name": format!("pod-{number}"), "namespace": format!("ns-{}", number % 40),
            "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}"),
            "resourceVersion": (version + 1).to_string(), "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "controller": true,
                "name": format!("app-{}", number % 700), "uid": "00000000-0000-4000-8000-000000000001"}]},
        "spec": {"nodeName": format!("node-{}", number % 300), "containers": [{"name": "main", "image": image}]},
        "status": {"phase": "Pending", "startTime": "2026-01-01T00:00:00Z", "conditions": [
            condition("PodScheduled", "True"), condition("PodReadyToStartContainers", "True"),
            condition("Initialized", "True"), condition("ContainersReady", "False"), condition("Ready", "False")],
            "containerStatuses": [{"name": "main", "image": image, "ready": false, "restartCount": 0,
                "state": {"waiting": reason}}]},
    }});
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let event = decoder.watch_event(document.to_string().as_bytes());
    match event.expect("a pod").kind {
        WatchEventKind::Modified(pod) => pod,
        other => panic!("{other:?}"),
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_nanos(CREATED.as_nanos() + seconds * NANOS_PER_SECOND)
}

/// The accounting: the pods, and what is counted of them.
struct Accounting {
    tracker: Tracker,
    recorder: Recorder,
    second: i64,
}

impl Accounting {
    fn deliver(&mut self, event: PodEvent) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: at(self.second),
            observed: Some(at(self.second)),
            version: None,
        };
        let recorder = &mut self.recorder;
        let mut count = |now, observation: Observation<'_>| recorder.observe(now, observation);
        self.tracker.apply(delivery, &mut count);
    }

    fn pass_a_second(&mut self) {
        self.second += 1;
        let recorder = &mut self.recorder;
        let mut count = |now, observation: Observation<'_>| recorder.observe(now, observation);
        self.tracker.advance(at(self.second), &mut count);
    }
}

/// What a phase took.
struct Phase {
    delays: Vec<Duration>,
    cpu: Duration,
    findings: usize,
    /// How long each scrape took
    scrapes: Vec<Duration>,
}

/// A percentile in tenths, of times in order.
fn percentile(times: &[Duration], part: usize) -> Duration {
    times[(times.len() - 1) * part / 1_000]
}

fn process_cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap())
}

/// A finder on threads of its own, as in `serve`.
fn finder(
    client: RecordsClient,
    metric: Arc<ProblemPods>,
    shutdown: CancellationToken,
) -> (thread::JoinHandle<()>, FindingSnapshots) {
    let (publisher, snapshots) = problems::channel();
    let finder = ProblemFinder::new(client, publisher, metric);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let run = move || runtime.unwrap().block_on(finder.run(shutdown));
    (thread::spawn(run), snapshots)
}

/// Encodes the metrics until `done`. Returns how long each time took.
fn scrape(exposition: &Exposition, done: &AtomicBool) -> Vec<Duration> {
    let mut times = Vec::new();
    while !done.load(Relaxed) {
        let began = Instant::now();
        std::hint::black_box(exposition.encode(ExpositionFormat::OpenMetrics).unwrap());
        times.push(began.elapsed());
        thread::sleep(SCRAPE_EVERY);
    }
    times.sort_unstable();
    times
}

/// A phase, in which the metrics are scraped.
fn phase(
    accounting: &mut Accounting,
    queries: &mut RecordQueries,
    events: &[PodSnapshot],
    exposition: &Exposition,
    snapshots: Option<&FindingSnapshots>,
) -> Phase {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let scraper = scope.spawn(|| scrape(exposition, &done));
        let mut phase = account(accounting, queries, events, snapshots);
        done.store(true, Relaxed);
        phase.scrapes = scraper.join().unwrap();
        phase
    })
}

/// Accounts for events at a fixed rate, a step for readers after each.
fn account(
    accounting: &mut Accounting,
    queries: &mut RecordQueries,
    events: &[PodSnapshot],
    snapshots: Option<&FindingSnapshots>,
) -> Phase {
    let store = RecordStore::default();
    let (began, cpu) = (Instant::now(), process_cpu());
    let mut phase =
        Phase { delays: Vec::new(), cpu: Duration::ZERO, findings: 0, scrapes: Vec::new() };
    let mut newest = None;
    for number in 0.. {
        let due =
            began + PHASE.mul_f64(f64::from(number) / (PHASE.as_secs_f64() * f64::from(RATE)));
        if due > began + PHASE {
            break;
        }
        loop {
            queries.step(&accounting.tracker, &store);
            let now = Instant::now();
            if now >= due {
                break;
            }
            thread::sleep((due - now).min(Duration::from_micros(200)));
        }
        if number % RATE == 0 {
            accounting.pass_a_second();
            let found = snapshots.and_then(FindingSnapshots::newest);
            if found.as_ref().map(Arc::as_ptr) != newest.as_ref().map(Arc::as_ptr) {
                phase.findings += 1;
                newest = found;
            }
        }
        let event = events[number as usize % events.len()].clone();
        accounting.deliver(PodEvent::Applied(event));
        phase.delays.push(due.elapsed());
    }
    phase.cpu = process_cpu() - cpu;
    phase.delays.sort_unstable();
    phase
}

fn main() {
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let pods: usize = asked.unwrap_or(100_000);
    let metric = Arc::new(ProblemPods::default());
    let builder =
        ExpositionBuilder::new(LabelConfig::default()).source(Box::new(Arc::clone(&metric)));
    let (recorder, exposition) = builder.build().unwrap();
    let mut accounting =
        Accounting { tracker: Tracker::new(TrackerConfig::default()), recorder, second: -10 };
    accounting.deliver(PodEvent::Listed { pods: Vec::new().into(), began: at(-10) });
    accounting.second = 1;
    for number in 0..pods {
        accounting.deliver(PodEvent::Applied(pod(number, 0)));
    }
    accounting.second = 600;
    let events: Vec<PodSnapshot> =
        (0..pods.min(5_000)).map(|number| pod(number * 17 % pods, 1)).collect();
    println!("{pods} pods in flight, {RATE} events/s, phases of {} s", PHASE.as_secs());
    println!(
        "{:<8} {:>10} {:>10} {:>10} {:>12} {:>9} {:>11} {:>11}",
        "finder", "p99", "p99.9", "longest", "CPU/event", "findings", "scrape p50", "scrape p99"
    );
    let mut cpu = [Duration::ZERO; 2];
    for round in 0..2 * ROUNDS {
        let with = round % 2 == 1;
        let (client, mut queries) = records::channel();
        queries.begin();
        let shutdown = CancellationToken::new();
        let running = with.then(|| finder(client, Arc::clone(&metric), shutdown.clone()));
        let snapshots = running.as_ref().map(|(_, snapshots)| snapshots);
        let phase = phase(&mut accounting, &mut queries, &events, &exposition, snapshots);
        shutdown.cancel();
        drop(queries);
        if let Some((thread, _)) = running {
            thread.join().unwrap();
        }
        cpu[usize::from(with)] += phase.cpu;
        let each = phase.cpu / u32::try_from(phase.delays.len()).unwrap();
        println!(
            "{:<8} {:>10.1?} {:>10.1?} {:>10.1?} {:>12.1?} {:>9} {:>11.1?} {:>11.1?}",
            if with { "yes" } else { "no" },
            percentile(&phase.delays, 990),
            percentile(&phase.delays, 999),
            percentile(&phase.delays, 1_000),
            each,
            phase.findings,
            percentile(&phase.scrapes, 500),
            percentile(&phase.scrapes, 990)
        );
    }
    let ratio = cpu[1].as_secs_f64() / cpu[0].as_secs_f64();
    println!("CPU time with a finder / without: {ratio:.2}");
}
