//! The slowest startups, each as a bar of its stages.

use std::cmp::Reverse;

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

/// The slowest pods from Created to Ready, and of how many. Of pods that took as long, the first are among them.
pub(super) struct SlowestStartups {
    most: usize,
    /// How long each took, and where it stands; more than `most` at times
    slowest: Vec<(Reverse<Latency>, usize)>,
    ready: usize,
}

impl SlowestStartups {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, slowest: Vec::new(), ready: 0 }
    }

    /// Adds the pod at a position, behind all others.
    pub(super) fn add(&mut self, position: usize, record: &Record) {
        let Some(took) = record.duration(Interval::CreatedToReady) else {
            return;
        };
        self.ready += 1;
        self.slowest.push((Reverse(took), position));
        if self.slowest.len() > 2 * self.most {
            self.tidy();
        }
    }

    fn tidy(&mut self) {
        self.slowest.sort_unstable();
        self.slowest.truncate(self.most);
    }

    /// The slowest, drawn, and of how many. `pod` gives the pod at a position.
    pub(super) fn drawn(
        mut self,
        pod: impl Fn(usize) -> Option<ReportedPod>,
        names: IntervalNames,
    ) -> (Vec<StartupWaterfall>, usize) {
        self.tidy();
        let longest = self.slowest.first().map_or(0.0, |(took, _)| took.0.as_seconds_f64());
        let drawn = self.slowest.iter().filter_map(|(took, position)| {
            let pod = pod(*position)?;
            Some(draw(took.0, &pod, pod.record.as_ref()?, (longest, names)))
        });
        (drawn.collect(), self.ready)
    }
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
