//! The distribution of each stage, step and end-to-end duration, in one figure.

use super::charts::LogAxis;
use crate::report::formatting::{IntervalNames, seconds};
use crate::report::report_sink::rows;
use podinit_core::lifecycle::{Interval, IntervalResult, Record};
use podinit_core::quantile::ExactDistribution as Durations;
use podinit_text::words::count;

/// How long each interval took, on one axis.
pub(super) struct IntervalDistributions {
    pub rows: Vec<IntervalDistribution>,
    /// Where each text of the axis stands, in percent
    pub ticks: Vec<(String, &'static str)>,
}

/// How long an interval took.
pub(super) struct IntervalDistribution {
    pub name: &'static str,
    /// Of how many pods, in words
    pub pods: String,
    pub p50: String,
    pub p90: String,
    pub max: String,
    pub svg: String,
}

/// The durations of all pods, by [`Interval::index`].
#[derive(Default)]
pub(super) struct AllDurations([Durations; Interval::COUNT]);

impl AllDurations {
    pub(super) fn add(&mut self, record: &Record) {
        for one in &record.intervals {
            if let IntervalResult::Measured { seconds } = one.result {
                self.0[one.interval.index()].add(seconds);
            }
        }
    }

    pub(super) fn of(&self, interval: Interval) -> &Durations {
        &self.0[interval.index()]
    }
}

/// Every interval that was observed.
pub(super) fn interval_distributions(
    durations: &AllDurations,
    names: IntervalNames,
) -> IntervalDistributions {
    let all: Vec<(Interval, &Durations)> = rows()
        .map(|interval| (interval, durations.of(interval)))
        .filter(|(_, durations)| durations.count() > 0)
        .collect();
    let axis = LogAxis::from_distributions(all.iter().map(|(_, durations)| *durations));
    let draw = |(interval, durations): &(Interval, &Durations)| {
        let at = |percent| durations.at(percent).map_or_else(String::new, seconds);
        IntervalDistribution {
            name: names.name(interval.as_str()),
            pods: count(durations.count(), "pod", "pods"),
            p50: at(50),
            p90: at(90),
            max: at(100),
            svg: axis.ranges(&[(durations, class(*interval))]),
        }
    };
    IntervalDistributions { rows: all.iter().map(draw).collect(), ticks: axis.ticks() }
}

/// A step has the colour of its stage.
fn class(interval: Interval) -> &'static str {
    match interval {
        Interval::Stage(stage) => stage.as_str(),
        Interval::Step(step) => step.stage().as_str(),
        Interval::ScheduledToReady | Interval::CreatedToReady => "whole",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::{Stage, Step};

    #[test]
    fn a_step_has_the_colour_of_its_stage() {
        assert_eq!(class(Interval::Step(Step::Sandbox)), Stage::Network.as_str());
    }
}
