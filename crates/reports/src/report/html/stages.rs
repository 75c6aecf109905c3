//! Where the time of startups goes: the stages of all pods and of the slowest, stacked.

use super::charts::{BarPart, bar};
use crate::report::durations::three_digit_seconds;
use crate::report::formatting::IntervalNames;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, Latency, Record, Stage};
use podinit_core::quantile::ExactDistribution;
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

/// Which pods are shown: what they are called, and which part of all they are.
const SHARES: [(&str, u64); 3] =
    [("all that became ready", 1), ("the slowest tenth", 10), ("the slowest hundredth", 100)];

/// What pods took in all, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub(super) struct StageSums {
    pods: usize,
    whole: u128,
    stages: [u128; Stage::ALL.len()],
}

impl StageSums {
    fn add(&mut self, record: &Record, whole: Latency) {
        self.pods += 1;
        self.whole += u128::from(whole.as_nanos());
        for (stage, sum) in Stage::ALL.into_iter().zip(&mut self.stages) {
            let took = record.duration(Interval::Stage(stage));
            *sum += took.map_or(0, |took| u128::from(took.as_nanos()));
        }
    }

    /// From Created to Ready, on average.
    fn whole(&self) -> f64 {
        self.mean(self.whole)
    }

    /// A stage on average; a pod without it counts as 0.
    fn stage(&self, stage: Stage) -> f64 {
        self.mean(self.stages[stage.index()])
    }

    fn mean(&self, nanos: u128) -> f64 {
        const SECOND: u128 = 1_000_000_000;
        let seconds = (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / SECOND as f64;
        seconds / self.pods.max(1) as f64
    }

    /// How many pods there are.
    pub(super) const fn pods(&self) -> usize {
        self.pods
    }

    /// The share of a stage in the time of all these startups.
    pub(super) fn share_of(&self, stage: Stage) -> f64 {
        let whole = self.whole();
        if whole > 0.0 { self.stage(stage) / whole } else { 0.0 }
    }
}

/// The pods that became ready, the slowest tenth and the slowest hundredth of them. Of pods that take as long, the first
/// are among the slowest.
pub(super) struct ReadyPods {
    /// Each with its least duration, and how many pods with that are still to be added
    shares: [(StageSums, Option<(Latency, u64)>); SHARES.len()],
}

impl ReadyPods {
    /// None yet of pods that take so long from Created to Ready.
    pub(super) fn new(durations: &ExactDistribution) -> Self {
        let slowest = |part| durations.least_of_slowest(durations.count().div_ceil(part));
        Self { shares: SHARES.map(|(_, part)| (StageSums::default(), slowest(part))) }
    }

    pub(super) fn add(&mut self, record: &Record) {
        let Some(whole) = record.duration(Interval::CreatedToReady) else {
            return;
        };
        for (sums, slowest) in &mut self.shares {
            let is_one = match slowest {
                Some((least, left)) if whole == *least => {
                    let has_room = *left > 0;
                    *left = left.saturating_sub(1);
                    has_room
                }
                slowest => slowest.is_some_and(|(least, _)| whole > least),
            };
            if is_one {
                sums.add(record, whole);
            }
        }
    }

    /// All of them.
    pub(super) const fn all(&self) -> &StageSums {
        &self.shares[0].0
    }

    /// The slowest tenth.
    pub(super) const fn slowest_tenth(&self) -> &StageSums {
        &self.shares[1].0
    }

    /// Those of which there are enough, drawn.
    pub(super) fn stacked(&self, names: IntervalNames) -> Vec<StackedStages> {
        let ready = self.all().pods as u64;
        let shares = SHARES.iter().zip(&self.shares);
        let shares = shares.filter(|((_, part), _)| ready >= *part);
        let longest = shares.clone().map(|(_, (sums, _))| sums.whole()).fold(0.0, f64::max);
        shares.map(|((title, _), (sums, _))| stack(title, sums, longest, names)).collect()
    }
}

fn stack(
    title: &'static str,
    sums: &StageSums,
    longest: f64,
    names: IntervalNames,
) -> StackedStages {
    let whole = sums.whole();
    let stages = Stage::ALL.map(|stage| (stage.as_str(), sums.stage(stage)));
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
        pods: sums.pods,
        whole: three_digit_seconds(whole, f64::round),
        svg: bar(&drawn),
        parts: parts.collect(),
    }
}
