//! The cost of an observation, alone and during scrapes, and the cost of a scrape.
//!
//! ```text
//! cargo bench --bench metrics
//! cargo bench --bench metrics -- encode   # scrapes only
//! ```
//!
//! A series is a histogram here: 28 lines of text, or one protobuf message with both kinds of
//! buckets.

#![forbid(unsafe_code)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Interval, Latency, Outcome, PodObservation, PodState, Stage, WaitReason,
};
use podinit_core::pod::{PodInfo, PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder,
};
use podinit_instruments::Histogram;

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

const MEASURED: PodObservation = PodObservation::Measured {
    interval: Interval::Stage(Stage::Network),
    latency: Latency::from_nanos(1_234_567_890),
};

fn pod(namespace: &str) -> PodInfo {
    let uid = PodUid::from_text(namespace);
    PodSnapshot::bare(uid, namespace, "checkout-5d9c7b9f6-x2x7q").info
}

/// `series` histograms, each with twenty latencies from 0.1 s to 40 s.
fn filled(series: usize) -> (Recorder, Arc<Exposition>) {
    let sets = series.div_ceil(Interval::ALL.len());
    let labels = LabelConfig { max_values: sets, max_sets: sets, ..LabelConfig::default() };
    let (mut recorder, exposition) = ExpositionBuilder::new(labels).build().unwrap();
    for set in 0..sets {
        let pod = pod(&format!("namespace-{set:05}"));
        let moved = PodObservation::Moved {
            from: PodState::Undiscovered,
            to: PodState::Finished(Outcome::Ready),
        };
        recorder.observe_pod(NOW, &pod, moved);
        for interval in Interval::ALL {
            for step in 0..20 {
                let seconds = 0.1 * 1.37_f64.powi(step);
                let latency = Latency::from_nanos((seconds * 1e9) as u64);
                recorder.observe_pod(NOW, &pod, PodObservation::Measured { interval, latency });
            }
        }
    }
    (recorder, exposition)
}

fn observe(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("observe");
    let histogram = Histogram::default();
    let latency = Latency::from_nanos(1_234_567_890);
    group.bench_function("histogram", |bench| {
        bench.iter(|| histogram.observe(black_box(latency)));
    });

    let (mut recorder, exposition) = filled(1000);
    let pod = pod("namespace-00042");
    group.bench_function("recorder", |bench| {
        bench.iter(|| recorder.observe_pod(NOW, black_box(&pod), MEASURED));
    });
    group.bench_function("recorder, pod moved", |bench| {
        let there = (
            PodState::InFlight(WaitReason::otherwise(Stage::Init), CapacityState::Unknown),
            PodState::InFlight(WaitReason::otherwise(Stage::Network), CapacityState::Unknown),
        );
        bench.iter(|| {
            let (from, to) = black_box(there);
            recorder.observe_pod(NOW, &pod, PodObservation::Moved { from, to });
            recorder.observe_pod(NOW, &pod, PodObservation::Moved { from: to, to: from });
        });
    });

    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                black_box(exposition.encode(ExpositionFormat::Protobuf).unwrap());
            }
        });
        group.bench_function("recorder, beside endless scrapes", |bench| {
            bench.iter(|| recorder.observe_pod(NOW, black_box(&pod), MEASURED));
        });
        done.store(true, Ordering::Relaxed);
    });
    group.finish();
}

fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    for series in [1000, 10_000] {
        let (_recorder, exposition) = filled(series);
        for format in ExpositionFormat::ALL {
            let id = BenchmarkId::new(format!("{format:?}"), series);
            group.bench_function(id, |bench| {
                bench.iter(|| black_box(exposition.encode(format).unwrap()));
            });
        }
        group.bench_function(BenchmarkId::new("Json", series), |bench| {
            bench.iter(|| black_box(exposition.encode_json().unwrap()));
        });
    }
    group.finish();
}

criterion_group!(benches, observe, encode);
criterion_main!(benches);
