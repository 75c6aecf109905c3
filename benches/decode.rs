//! Decoding of pods, from JSON or protobuf to snapshots: watch events, list pages and recordings.
//!
//! Run with `cargo bench --bench decode`. The generated events have the size and shape of those of an
//! API server (about 7 kB, half of it `managedFields`). To measure your own stream, set
//! `PODINIT_BENCH_EVENTS` to a file with one watch event per line.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

#[path = "support/mod.rs"]
mod support;

use std::hint::black_box;
use std::io::Cursor;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use podinit_decode::{DecodeOptions, ObjectEncoding, PodDecoder};
use podinit_recordings::reader::Recording;
use podinit_sim::protobuf;
use serde_json::{Value, json};

use support::{Step, watch_event};

/// The number of events. Each is of a different pod, so that no two lines are the same.
const EVENTS: usize = 512;

fn decode(c: &mut Criterion) {
    let generated: Vec<String> =
        (0..EVENTS).map(|number| watch_event(number, Step::Ready).to_string()).collect();
    watch_events(c, "generated", &generated);
    if let Some(lines) = support::captured_events() {
        watch_events(c, "file", &lines);
    }
    lives(c);
    list_page(c);
    recording(c, &generated);
}

fn watch_events(c: &mut Criterion, source: &str, lines: &[String]) {
    let mut group = c.benchmark_group(format!("decode/watch_event/{source}"));
    let bytes: usize = lines.iter().map(String::len).sum();
    println!("{source}: {} events of {} bytes on average", lines.len(), bytes / lines.len().max(1));
    let all = DecodeOptions {
        pod_labels: vec!["app.kubernetes.io/name".to_owned()],
        spec_fields: Vec::new(),
        node: true,
        workload: true,
        probes: false,
        images: false,
        messages: false,
        endings: false,
        claims: false,
        nodes: None,
        milestones: Vec::new(),
    };
    let frames: Vec<Vec<u8>> =
        (lines.iter()).map(|line| protobuf::event(line.as_bytes()).unwrap()).collect();
    println!(
        "{source}: {} bytes on average in protobuf",
        frames.iter().map(Vec::len).sum::<usize>() / frames.len().max(1)
    );
    for (name, options) in [("plain", DecodeOptions::default()), ("all_labels", all)] {
        let mut decoder = PodDecoder::new(options.clone());
        group.throughput(Throughput::Elements(lines.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                for line in lines {
                    black_box(decoder.watch_event(line.as_bytes()).unwrap());
                }
            });
        });
        let decode = |decoder: &mut PodDecoder| {
            for frame in &frames {
                black_box(decoder.watch_frame(frame).unwrap());
            }
        };
        group.bench_function(format!("{name}/protobuf"), |b| {
            let fresh = || PodDecoder::new(options.clone());
            b.iter_batched_ref(fresh, decode, BatchSize::LargeInput);
        });
        group.bench_function(format!("{name}/protobuf, known pods"), |b| {
            b.iter(|| decode(&mut decoder));
        });
    }
    group.finish();
}

/// The lives of pods as `serve` decodes them: the first event of each is of a pod that is not known.
fn lives(c: &mut Criterion) {
    let frames: Vec<Vec<u8>> = (support::lives(EVENTS).iter())
        .map(|line| protobuf::event(line.as_bytes()).unwrap())
        .collect();
    let mut decoder = PodDecoder::new(DecodeOptions {
        node: true,
        workload: true,
        images: true,
        messages: true,
        endings: true,
        ..DecodeOptions::default()
    });
    let mut group = c.benchmark_group("decode/lives");
    group.throughput(Throughput::Elements(frames.len() as u64)).sample_size(20);
    group.bench_function("protobuf", |b| {
        b.iter(|| {
            for frame in &frames {
                black_box(decoder.watch_frame(frame).unwrap());
            }
        });
    });
    group.finish();
}

fn list_page(c: &mut Criterion) {
    let items: Vec<Value> = (0..EVENTS).map(|number| support::pod(number, Step::Ready)).collect();
    let page = json!({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": items});
    let body = page.to_string();
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let mut group = c.benchmark_group("decode/list_page");
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("512_pods", |b| {
        b.iter(|| black_box(decoder.list_page(body.as_bytes()).unwrap()));
    });
    let body = protobuf::document(body.as_bytes()).unwrap();
    let mut buffer = Vec::new();
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("512_pods/protobuf", |b| {
        b.iter(|| {
            let mut page = decoder.page(ObjectEncoding::Protobuf, &mut buffer);
            for chunk in body.chunks(16 * 1024) {
                page.push(chunk).unwrap();
            }
            black_box(page.finish().unwrap())
        });
    });
    group.finish();
}

fn recording(c: &mut Criterion, lines: &[String]) {
    let text = lines.join("\n").into_bytes();
    let mut group = c.benchmark_group("decode/recording");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("events", |b| {
        b.iter(|| {
            let input = Cursor::new(text.clone());
            let recording = Recording::from_reader("bench", input, DecodeOptions::default());
            assert_eq!(recording.filter(Result::is_ok).count(), lines.len());
        });
    });
    group.finish();
}

criterion_group!(benches, decode);
criterion_main!(benches);
