//! The distribution of each stage, step and end-to-end duration.

use super::charts::distribution;
use crate::reports::report::ReportedPod;
use crate::reports::report::durations::LEAST_OF_P99;
use crate::reports::report::formatting::{Names, seconds};
use crate::reports::report::report_sink::rows;
use podinit_core::lifecycle::{Interval, Latency};
use podinit_core::quantile::{nearest_rank, sorted};

/// How long an interval took.
pub(super) struct Distribution {
    pub name: &'static str,
    pub pods: usize,
    pub p50: String,
    /// `None` of too few pods
    pub p99: Option<String>,
    pub svg: String,
}

/// Every interval that was observed, all on the same axis.
pub(super) fn of(pods: &[ReportedPod], names: Names) -> Vec<Distribution> {
    let all: Vec<(Interval, Vec<f64>)> = rows()
        .map(|interval| {
            let records = pods.iter().filter_map(|pod| pod.record.as_ref());
            let durations = records.filter_map(|record| record.duration(interval));
            (interval, sorted(durations.map(Latency::as_seconds_f64)))
        })
        .filter(|(_, durations)| !durations.is_empty())
        .collect();
    let most = all.iter().filter_map(|(_, durations)| durations.last());
    let most = most.copied().fold(0.0, f64::max);
    let draw = |(interval, durations): &(Interval, Vec<f64>)| {
        let at = |percent| nearest_rank(durations, percent).map_or_else(String::new, seconds);
        Distribution {
            name: names.name(interval.as_str()),
            pods: durations.len(),
            p50: at(50),
            p99: (durations.len() as u64 >= LEAST_OF_P99).then(|| at(99)),
            svg: distribution(durations, most, class(*interval)),
        }
    };
    all.iter().map(draw).collect()
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
