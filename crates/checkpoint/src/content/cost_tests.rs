//! What it costs to read the checkpoint of another version.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Duration;

use super::evolution_tests::{renamed, with_shapes};
use super::tests::{checkpoint_of, read_file};
use super::*;

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The least CPU time that it takes to read a file.
fn least(file: &[u8]) -> Duration {
    let times = (0..3).map(|_| {
        let begun = cpu_time();
        let read = read_file(file).unwrap();
        let took = cpu_time() - begun;
        drop(black_box(read));
        took
    });
    times.min().unwrap()
}

/// A file with so many pods in flight.
fn file_of(pods: usize) -> Vec<u8> {
    let DecodedCheckpoint { content, pods: all, .. } = read_file(&checkpoint_of(true)).unwrap();
    let in_flight = || all.iter().filter(|pod| pod.in_flight().is_some()).cloned();
    encode(&content, in_flight().cycle().take(pods)).finish()
}

#[test]
#[ignore = "measures time; cargo test --profile bench -p podinit-checkpoint cost_ -- --ignored --nocapture"]
fn another_version_costs_at_most_three_times_as_much() {
    const PODS: usize = 20_000;
    let file = file_of(PODS);
    let same = least(&file);
    let (fields, variants) = shapes().names();
    let names = fields.into_iter().chain(variants);
    let costs = names.map(|name| (least(&with_shapes(&file, &renamed(&name))), name));
    let mut costs: Vec<_> = costs.collect();
    costs.sort();
    println!("{PODS} pods in flight: {same:.1?}");
    for (took, name) in costs.iter().rev().take(12) {
        println!("{name:?}: {took:.1?}, {:.2} times", took.as_secs_f64() / same.as_secs_f64());
    }
    let (most, _) = costs.last().unwrap();
    assert!(*most < same * 3);
    let (file, name) = (file_of(100_000), ("PodInfo".to_owned(), "namespace".to_owned()));
    let all = least(&with_shapes(&file, &renamed(&name)));
    println!("100,000 without {name:?}: {all:.1?}, {:.1?} with it", least(&file));
    assert!(all < Duration::from_secs(3));
}
