//! The distribution of each stage, step and end-to-end duration.

use super::charts::distribution;
use crate::report::ReportedPod;
use crate::report::formatting::{Names, seconds};
use crate::report::pods::durations;
use crate::report::report_sink::rows;
use podinit_core::lifecycle::Interval;
use podinit_core::quantile::Distribution as Durations;

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
    let all: Vec<(Interval, Durations)> = rows()
        .map(|interval| (interval, durations(pods, interval)))
        .filter(|(_, durations)| !durations.seconds().is_empty())
        .collect();
    let most = all.iter().filter_map(|(_, durations)| durations.at(100));
    let most = most.fold(0.0, f64::max);
    let draw = |(interval, durations): &(Interval, Durations)| {
        let of = durations.seconds();
        Distribution {
            name: names.name(interval.as_str()),
            pods: of.len(),
            p50: durations.at(50).map_or_else(String::new, seconds),
            p99: durations.p99().map(seconds),
            svg: distribution(of, most, class(*interval)),
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
