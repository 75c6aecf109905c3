//! Where the time of startups goes: the stages of all pods and of the slowest, stacked.

use super::charts::{BarPart, bar};
use crate::report::ReportedPod;
use crate::report::durations::three_digit_seconds;
use crate::report::formatting::IntervalNames;
use podinit_core::lifecycle::{Interval, Latency, Record, Stage};
use podinit_text::words::percent;

/// The stages of some pods, on average.
pub(super) struct StackedStages {
    /// Which pods
    pub title: &'static str,
    pub pods: usize,
    /// From Created to Ready, on average
    pub whole: String,
    pub svg: String,
    /// Each stage that takes time: its class, its name, its average and its percentage
    pub parts: Vec<(&'static str, &'static str, String, String)>,
}

/// The class of what no stage accounts for.
pub(super) const UNKNOWN: &str = "unknown";
/// What a reader is told of it.
pub(super) const NOT_ACCOUNTED_FOR: &str = "not accounted for";

/// All pods that became ready, the slowest tenth and the slowest hundredth of them.
pub(super) fn stacked(pods: &[ReportedPod], names: IntervalNames) -> Vec<StackedStages> {
    let ready = by_duration(pods);
    let shares =
        [("all that became ready", 1), ("the slowest tenth", 10), ("the slowest hundredth", 100)];
    let shares = shares.into_iter().filter(|(_, part)| ready.len() >= *part);
    let longest = shares
        .clone()
        .map(|(_, part)| mean(&ready[..ready.len().div_ceil(part)], Interval::CreatedToReady));
    let longest = longest.fold(0.0, f64::max);
    shares
        .map(|(title, part)| {
            let records = &ready[..ready.len().div_ceil(part)];
            stack(title, records, longest, names)
        })
        .collect()
}

/// The records of the pods that became ready, the slowest first.
pub(super) fn by_duration(pods: &[ReportedPod]) -> Vec<&Record> {
    let records = pods.iter().filter_map(|pod| pod.record.as_ref());
    let mut ready: Vec<_> =
        records.filter(|record| record.duration(Interval::CreatedToReady).is_some()).collect();
    ready.sort_by_key(|record| std::cmp::Reverse(record.duration(Interval::CreatedToReady)));
    ready
}

/// The average duration of an interval; a pod without it counts as 0.
pub(super) fn mean(records: &[&Record], interval: Interval) -> f64 {
    let durations = records.iter().filter_map(|record| record.duration(interval));
    let sum: f64 = durations.map(Latency::as_seconds_f64).sum();
    sum / records.len().max(1) as f64
}

fn stack(
    title: &'static str,
    records: &[&Record],
    longest: f64,
    names: IntervalNames,
) -> StackedStages {
    let whole = mean(records, Interval::CreatedToReady);
    let stages = Stage::ALL.map(|stage| (stage.as_str(), mean(records, Interval::Stage(stage))));
    let known: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
    let rest = (UNKNOWN, (whole - known).max(0.0));
    // Less than a hundredth is what rounding leaves.
    let rest = Some(rest).filter(|(_, seconds)| *seconds > whole / 100.0);
    let stages = stages.into_iter().chain(rest);
    let stages: Vec<_> = stages.filter(|(_, seconds)| *seconds > 0.0).collect();
    let scale = 1_000.0 / longest.max(f64::MIN_POSITIVE);
    let mut begin = 0.0;
    let drawn: Vec<BarPart> = stages
        .iter()
        .map(|(class, seconds)| {
            let length = seconds * scale;
            let part = BarPart { class, begin, length };
            begin += length;
            part
        })
        .collect();
    let parts = stages.iter().map(|(class, mean)| {
        let share = mean / whole.max(f64::MIN_POSITIVE);
        let name = if *class == UNKNOWN { NOT_ACCOUNTED_FOR } else { names.name(class) };
        (*class, name, three_digit_seconds(*mean, f64::round), percent(share))
    });
    StackedStages {
        title,
        pods: records.len(),
        whole: three_digit_seconds(whole, f64::round),
        svg: bar(&drawn),
        parts: parts.collect(),
    }
}
