//! The slowest startups, each as a bar of its stages.

use super::charts::{BarPart, bar};
use super::stages::UNKNOWN;
use crate::report::ReportedPod;
use crate::report::formatting::{IntervalNames, seconds};
use podinit_core::lifecycle::{Interval, Latency, Record, Stage};
use podinit_core::timestamp::Timestamp;

/// One startup.
pub(super) struct StartupWaterfall {
    pub pod: String,
    pub node: String,
    pub took: String,
    /// The stage that took more than half of it, if one did
    pub most: String,
    pub svg: String,
}

/// The slowest pods from Created to Ready, and of how many.
pub(super) fn slowest<'a>(
    pods: impl Iterator<Item = &'a ReportedPod>,
    most: usize,
    names: IntervalNames,
) -> (Vec<StartupWaterfall>, usize) {
    let ready = pods.filter_map(|pod| {
        let record = pod.record.as_ref()?;
        let took = record.duration(Interval::CreatedToReady)?;
        Some((took, pod, record))
    });
    let mut ready: Vec<_> = ready.collect();
    // The sort is stable: pods that took as long stay in the order of their names.
    ready.sort_by_key(|(took, ..)| std::cmp::Reverse(*took));
    let longest = ready.first().map_or(0.0, |(took, ..)| took.as_seconds_f64());
    let drawn = ready.iter().take(most);
    let drawn = drawn.map(|(took, pod, record)| draw(*took, pod, record, (longest, names)));
    (drawn.collect(), ready.len())
}

fn draw(
    took: Latency,
    pod: &ReportedPod,
    record: &Record,
    (longest, names): (f64, IntervalNames),
) -> StartupWaterfall {
    let scale = 1_000.0 / longest.max(f64::MIN_POSITIVE);
    let whole = record.intervals.iter();
    let created = whole
        .clone()
        .find(|one| one.interval == Interval::CreatedToReady)
        .and_then(|one| one.began);
    let place = |at: Timestamp| created.map_or(0, |from| at.nanos_since(from)) as f64 / 1e9 * scale;
    let length = took.as_seconds_f64() * scale;
    let mut parts = vec![BarPart { class: UNKNOWN, begin: 0.0, length }];
    let stages = Stage::ALL.into_iter().filter_map(|stage| {
        let found = whole.clone().find(|one| one.interval == Interval::Stage(stage))?;
        Some((stage, found.began?, found.ended?))
    });
    let stages: Vec<_> = stages.filter(|(_, from, to)| from < to).collect();
    parts.extend(stages.iter().map(|(stage, from, to)| BarPart {
        class: stage.as_str(),
        begin: place(*from),
        length: place(*to) - place(*from),
    }));
    let durations = stages.iter().map(|(stage, from, to)| {
        let seconds = to.nanos_since(*from) as f64 / 1e9;
        (stage, seconds)
    });
    let mut most = durations.filter(|(_, seconds)| *seconds > took.as_seconds_f64() / 2.0);
    let most = most.next().map_or_else(String::new, |(stage, took)| {
        format!("{} {}", names.name(stage.as_str()), seconds(took))
    });
    StartupWaterfall {
        pod: pod.name(),
        node: pod.has().node.unwrap_or_default().to_owned(),
        took: seconds(took.as_seconds_f64()),
        most,
        svg: bar(&parts),
    }
}
