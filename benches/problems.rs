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

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use podinit::inspect::problems::{self, Finder, Snapshots};
use podinit::inspect::records::{self, Queries, RecordStore, RecordsClient};
use podinit::metrics::ProblemPods;
use podinit_core::lifecycle::{Delivery, Observation, PodEvent, SourceId, Tracker, TrackerConfig};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Events a second.
const RATE: u32 = 2_000;
/// How long each phase takes.
const PHASE: Duration = Duration::from_secs(20);
/// Phases without and with a finder, in turn.
const ROUNDS: usize = 2;
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

fn deliver(tracker: &mut Tracker, seconds: i64, event: PodEvent) {
    let delivery = Delivery {
        source: SourceId(0),
        event,
        now: at(seconds),
        observed: Some(at(seconds)),
        version: None,
    };
    tracker.apply(delivery, &mut |_, _: Observation<'_>| {});
}

/// What a phase took.
struct Phase {
    delays: Vec<Duration>,
    cpu: Duration,
    findings: usize,
}

impl Phase {
    fn percentile(&self, part: usize) -> Duration {
        self.delays[(self.delays.len() - 1) * part / 1_000]
    }
}

fn process_cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        now.tv_sec.unsigned_abs(),
        u32::try_from(now.tv_nsec).unwrap(),
    )
}

/// A finder on threads of its own, as in `serve`.
fn finder(
    client: RecordsClient,
    shutdown: CancellationToken,
) -> (thread::JoinHandle<()>, Snapshots) {
    let (publisher, snapshots) = problems::channel();
    let finder = Finder::new(client, publisher, Arc::new(ProblemPods::default()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let run = move || runtime.unwrap().block_on(finder.run(shutdown));
    (thread::spawn(run), snapshots)
}

/// Accounts for events at a fixed rate, a step for readers after each.
fn phase(
    tracker: &mut Tracker,
    queries: &mut Queries,
    events: &[PodSnapshot],
    second: &mut i64,
    snapshots: Option<&Snapshots>,
) -> Phase {
    let store = RecordStore::default();
    let (began, cpu) = (Instant::now(), process_cpu());
    let mut phase = Phase {
        delays: Vec::new(),
        cpu: Duration::ZERO,
        findings: 0,
    };
    let mut newest = None;
    for number in 0.. {
        let due =
            began + PHASE.mul_f64(f64::from(number) / (PHASE.as_secs_f64() * f64::from(RATE)));
        if due > began + PHASE {
            break;
        }
        loop {
            queries.step(tracker, &store);
            let now = Instant::now();
            if now >= due {
                break;
            }
            thread::sleep((due - now).min(Duration::from_micros(200)));
        }
        if number % RATE == 0 {
            *second += 1;
            tracker.advance(at(*second), &mut |_, _: Observation<'_>| {});
            let found = snapshots.and_then(Snapshots::newest);
            if found.as_ref().map(Arc::as_ptr) != newest.as_ref().map(Arc::as_ptr) {
                phase.findings += 1;
                newest = found;
            }
        }
        let event = events[number as usize % events.len()].clone();
        deliver(tracker, *second, PodEvent::Applied(event));
        phase.delays.push(due.elapsed());
    }
    phase.cpu = process_cpu() - cpu;
    phase.delays.sort_unstable();
    phase
}

fn main() {
    let asked = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    let pods: usize = asked.unwrap_or(100_000);
    let mut tracker = Tracker::new(TrackerConfig::default());
    let listed = PodEvent::Listed {
        pods: Vec::new().into(),
        began: at(-10),
    };
    deliver(&mut tracker, -10, listed);
    for number in 0..pods {
        deliver(&mut tracker, 1, PodEvent::Applied(pod(number, 0)));
    }
    let events: Vec<PodSnapshot> = (0..pods.min(5_000))
        .map(|number| pod(number * 17 % pods, 1))
        .collect();
    let mut second = 600;
    println!(
        "{pods} pods in flight, {RATE} events/s, phases of {} s",
        PHASE.as_secs()
    );
    println!(
        "{:<8} {:>10} {:>10} {:>10} {:>12} {:>9}",
        "finder", "p99", "p99.9", "longest", "CPU/event", "findings"
    );
    let mut cpu = [Duration::ZERO; 2];
    for round in 0..2 * ROUNDS {
        let with = round % 2 == 1;
        let (client, mut queries) = records::channel();
        queries.begin();
        let shutdown = CancellationToken::new();
        let running = with.then(|| finder(client, shutdown.clone()));
        let snapshots = running.as_ref().map(|(_, snapshots)| snapshots);
        let phase = phase(&mut tracker, &mut queries, &events, &mut second, snapshots);
        shutdown.cancel();
        drop(queries);
        if let Some((thread, _)) = running {
            thread.join().unwrap();
        }
        cpu[usize::from(with)] += phase.cpu;
        let each = phase.cpu / u32::try_from(phase.delays.len()).unwrap();
        println!(
            "{:<8} {:>10.1?} {:>10.1?} {:>10.1?} {:>12.1?} {:>9}",
            if with { "yes" } else { "no" },
            phase.percentile(990),
            phase.percentile(999),
            phase.percentile(1_000),
            each,
            phase.findings
        );
    }
    let ratio = cpu[1].as_secs_f64() / cpu[0].as_secs_f64();
    println!("CPU time with a finder / without: {ratio:.2}");
}
