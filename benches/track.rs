//! The cost of the tracker, without decoding and recording.
//!
//! ```text
//! cargo bench --bench track
//! ```
//!
//! Throughput is per second of CPU time: in events for `lives` and `duplicates`, in pods for the
//! lists, in deadlines for `deadlines`.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

#[path = "support/cpu_time.rs"]
mod cpu_time;
#[path = "support/mod.rs"]
mod support;

use std::hint::black_box;

use cpu_time::Criterion;
use criterion::{BatchSize, BenchmarkId, Throughput, criterion_group, criterion_main};
use podinit_core::lifecycle::{
    Delivery, Observation, PodEvent, SloId, SourceId, Tracker, TrackerConfig,
};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};
use podinit_slo::SloFile;
use support::Step;

const PODS: usize = 1024;

/// Shortly after the pods were created.
const NOW: Timestamp = Timestamp::from_seconds(1_795_247_820);

fn watched(event: PodEvent) -> Delivery {
    Delivery { source: SourceId(0), event, now: NOW, observed: Some(NOW), version: None }
}

fn listed(pods: Vec<PodSnapshot>) -> Delivery {
    let began = NOW;
    Delivery {
        source: SourceId(0),
        event: PodEvent::Listed { pods: pods.into(), began },
        now: NOW,
        observed: None,
        version: None,
    }
}

fn decode(lines: &[String]) -> Vec<PodEvent> {
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let events = lines.iter().map(|line| decoder.watch_event(line.as_bytes()).unwrap().kind);
    events
        .map(|kind| match kind {
            WatchEventKind::Added(pod) | WatchEventKind::Modified(pod) => PodEvent::Applied(pod),
            WatchEventKind::Deleted(pod) => PodEvent::Deleted(pod),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// The first `pods` pods, all of them at `step`.
fn snapshots(pods: usize, step: Step) -> Vec<PodSnapshot> {
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let mut snapshot = |number| {
        let event = support::watch_event(number, step).to_string();
        match decoder.watch_event(event.as_bytes()).unwrap().kind {
            WatchEventKind::Added(pod) | WatchEventKind::Modified(pod) => pod,
            other => panic!("{other:?}"),
        }
    };
    (0..pods).map(&mut snapshot).collect()
}

/// Applies deliveries. Making them is not measured.
fn feed(tracker: &mut Tracker, deliveries: Vec<Delivery>) {
    let mut sink = |_, observation: Observation<'_>| {
        black_box(observation);
    };
    for delivery in deliveries {
        tracker.apply(delivery, &mut sink);
    }
}

fn events(c: &mut Criterion) {
    let mut group = c.benchmark_group("track");
    let lives = decode(&support::lives(PODS));
    group.throughput(Throughput::Elements(lives.len() as u64));
    group.bench_function("lives", |b| {
        b.iter_batched(
            || (Tracker::default(), lives.iter().cloned().map(watched).collect()),
            |(mut tracker, deliveries)| {
                feed(&mut tracker, deliveries);
                tracker
            },
            BatchSize::LargeInput,
        );
    });
    for (name, step) in
        [("duplicates, in flight", Step::NetworkReady), ("duplicates, finished", Step::Ready)]
    {
        let seen = snapshots(PODS, step);
        let again = || seen.iter().cloned().map(PodEvent::Applied).map(watched).collect::<Vec<_>>();
        let mut tracker = Tracker::default();
        feed(&mut tracker, again());
        group.throughput(Throughput::Elements(PODS as u64));
        group.bench_function(name, |b| {
            b.iter_batched(
                again,
                |deliveries| feed(&mut tracker, deliveries),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn lists(c: &mut Criterion) {
    let mut group = c.benchmark_group("track");
    for pods in [1_000, 20_000] {
        group.throughput(Throughput::Elements(pods as u64)).sample_size(10);
        let standing = snapshots(pods, Step::Ready);
        group.bench_function(BenchmarkId::new("first_list", pods), |b| {
            b.iter_batched(
                || (Tracker::new(TrackerConfig::default()), vec![listed(standing.clone())]),
                |(mut tracker, list)| {
                    feed(&mut tracker, list);
                    tracker
                },
                BatchSize::PerIteration,
            );
        });
        let mut tracker = Tracker::default();
        feed(&mut tracker, vec![listed(standing.clone())]);
        group.bench_function(BenchmarkId::new("relist", pods), |b| {
            b.iter_batched(
                || vec![listed(standing.clone())],
                |list| feed(&mut tracker, list),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// So many pods in flight, which an API server that works delivers while nothing else happens.
fn in_flight(pods: &[PodSnapshot]) -> Tracker {
    let slos = SloFile::built_in().slos;
    let mut tracker = Tracker::new(TrackerConfig {
        slos: slos.iter().map(|slo| slo.rule.clone()).collect(),
        ..TrackerConfig::default()
    });
    let pods = pods.iter().cloned().map(PodEvent::Applied).map(watched);
    let deliveries = std::iter::once(listed(Vec::new())).chain(pods);
    feed(&mut tracker, deliveries.collect());
    tracker
}

/// All deadlines of the built-in SLOs pass at once.
fn deadlines(c: &mut Criterion) {
    let mut group = c.benchmark_group("track");
    for pods in [1_000, 10_000, 100_000] {
        let waiting = snapshots(pods, Step::NetworkReady);
        let undecided = |tracker: &Tracker| -> usize {
            let slos = SloFile::built_in().slos.len() as u16;
            (0..slos).map(|slo| tracker.undecided(SloId(slo))).sum()
        };
        let deadlines = undecided(&in_flight(&waiting));
        assert!(deadlines >= pods, "{deadlines}");
        group.throughput(Throughput::Elements(deadlines as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("deadlines", pods), |b| {
            b.iter_batched(
                || in_flight(&waiting),
                |mut tracker| {
                    let mut sink = |_, observation: Observation<'_>| {
                        black_box(observation);
                    };
                    tracker.advance(
                        Timestamp::from_seconds(NOW.as_nanos() / NANOS_PER_SECOND + 86_400),
                        &mut sink,
                    );
                    assert_eq!(undecided(&tracker), 0);
                    tracker
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(name = benches; config = cpu_time::criterion(); targets = events, lists, deadlines);
criterion_main!(benches);
