//! How long each stage takes: now, in the last hour and in the hour before.

use super::history::HourlyDurations;
use podinit_core::lifecycle::{Interval, Stage};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{DurationDistribution, LEAST_OF_P99, stages_and_startup};
use podinit_text::human_time::{rounded_seconds, seconds, since};
use podinit_text::words::thousands;

/// A distribution is drawn from a tenth of a second to a thousand seconds.
const DECADES: f64 = 4.0;
const LEAST_SECONDS: f64 = 0.1;
/// The number of bars.
const BARS: usize = 40;
/// The height of the highest bar in the drawing's own units; each bar is one wide.
const HEIGHT: f64 = 10.0;

/// A stage, or the whole startup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageRow {
    /// The stage, or `whole`: the class of its style
    pub class: &'static str,
    /// What the reader sees
    pub name: &'static str,
    /// How many pods are in it
    pub now: String,
    /// How long that of them has been in it that has been there longest; `None` without any, and of the whole
    pub longest: Option<String>,
    /// How many pods have left it in the last hour
    pub pods: String,
    /// The median of the time in it
    pub median: HourlyFigure,
    /// The 99th percentile; without a value where there are few pods
    pub p99: HourlyFigure,
    /// The `d` of an SVG path, 40 wide and 10 high; empty without any pod
    pub bars: String,
}

/// A figure of the last hour, beside that of the hour before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HourlyFigure {
    pub last: Option<String>,
    pub before: Option<String>,
}

/// The pods in flight as of `at`, by stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct InStages {
    pub pods: [u64; Stage::ALL.len()],
    /// When the one entered it that has been there longest
    pub entered: [Option<Timestamp>; Stage::ALL.len()],
    pub at: Timestamp,
}

/// The stages that pods are in or have left, and the whole startup.
pub(super) fn stage_rows(hours: &HourlyDurations, present: &InStages) -> Vec<StageRow> {
    let mut before = hours.before.iter().flatten();
    let rows = stages_and_startup().zip(&hours.last).map(|(interval, last)| {
        let before = before.next();
        let (class, name, now, entered) = match interval {
            Interval::Stage(stage) => {
                let (pods, entered) =
                    (present.pods[stage as usize], present.entered[stage as usize]);
                (stage.as_str(), stage.as_str(), pods, entered)
            }
            _ => ("whole", "created to ready", present.pods.iter().sum(), None),
        };
        let is_shown = now > 0 || last.count() > 0 || class == "whole";
        let beside = |percent, least| {
            let at = |of: &DurationDistribution| {
                let enough = of.count() >= least;
                enough.then(|| of.quantile(percent)).flatten().map(rounded_seconds)
            };
            HourlyFigure { last: at(last), before: before.and_then(at) }
        };
        is_shown.then(|| StageRow {
            class,
            name,
            now: thousands(now),
            longest: entered.map(|entered| seconds(since(entered, present.at).floor())),
            pods: thousands(last.count()),
            median: beside(50, 1),
            p99: beside(99, LEAST_OF_P99),
            bars: bars(last),
        })
    });
    rows.flatten().collect()
}

/// The bars of a distribution over a logarithmic axis of time. What is outside of it stands at its ends.
fn bars(of: &DurationDistribution) -> String {
    let mut counts = [0.0; BARS];
    for (from, to, pods) in of.buckets() {
        let middle = ((from + to) / 2.0).max(LEAST_SECONDS);
        let place = (middle / LEAST_SECONDS).log10() / DECADES * BARS as f64;
        counts[(place as usize).min(BARS - 1)] += pods as f64;
    }
    let most = counts.iter().copied().fold(1.0, f64::max);
    let drawn = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
    // What is there can be seen, however little it is.
    let drawn = drawn.map(|(place, count)| {
        let height = (count / most * HEIGHT).max(0.4);
        format!("M{place} {HEIGHT}v-{height:.1}h1v{height:.1}z")
    });
    drawn.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_expo::metrics::StageDurations;

    #[test]
    fn figures_stand_beside_those_of_the_hour_before() {
        let of = |pods: u64, nanos: u64| DurationDistribution::of_nanos((0..pods).map(|_| nanos));
        let all =
            |one: DurationDistribution| -> StageDurations { std::array::from_fn(|_| one.clone()) };
        let mut hours = HourlyDurations {
            seconds: 3600,
            last: all(of(99, 2_000_000_000)),
            before: Some(all(of(100, 1_000_000_000))),
        };
        hours.last[Stage::Gated as usize] = DurationDistribution::default();
        let at = Timestamp::from_seconds(1_000_000);
        let mut entered = [None; Stage::ALL.len()];
        entered[Stage::Scheduling as usize] = Some(at.plus_nanos(-720_900_000_000));
        let rows = stage_rows(&hours, &InStages { pods: [0, 3_000, 0, 0, 0, 0, 0], entered, at });
        let (first, whole) = (&rows[0], &rows[rows.len() - 1]);
        assert_eq!((first.name, &*first.now, &*first.pods), ("scheduling", "3,000", "99"));
        assert_eq!((first.longest.as_deref(), &whole.longest), (Some("12m0s"), &None));
        let (last, before) = (first.median.last.as_deref(), first.median.before.as_deref());
        assert_eq!((last, before), (Some("1.9s"), Some("0.96s")));
        assert_eq!((&first.p99.last, first.p99.before.as_deref()), (&None, Some("1s")));
        assert_eq!((whole.class, &*whole.now), ("whole", "3,000"));
    }

    #[test]
    fn a_distribution_is_drawn_between_its_ends() {
        let found = bars(&DurationDistribution::of_nanos([0, 1_000_000_000, u64::MAX / 2]));
        // A second is a quarter of the way.
        assert_eq!(found, "M0 10v-10.0h1v10.0zM9 10v-10.0h1v10.0zM39 10v-10.0h1v10.0z");
        assert_eq!(bars(&DurationDistribution::default()), "");
    }
}
