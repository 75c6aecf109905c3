//! SLOs ([§6](crate::specification#s6)), and their [`file`](mod@file), read with the place of what is wrong.
//!
//! [`podinit_core::lifecycle`] decides whether a pod meets an SLO. After how long in one stage a pod counts as stuck
//! follows from the SLOs: it is unlikely to leave the stage without help. This crate knows core and files of settings;
//! it must not know a runtime, a server or where pods come from.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod file;

use std::time::Duration;

use podinit_core::lifecycle::{Interval, SloInterval, SloRule, Stage, StuckAfter};
use podinit_text::duration::PrometheusDuration;

/// The SLOs of one file, in its order. No two have the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct SloFile {
    /// At most [`MAX_SLOS`](file::MAX_SLOS)
    pub slos: Vec<Slo>,
}

/// An SLO: what share of pods must be fast enough, over which window.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// The name, which pods it covers, and how fast they must be
    pub rule: SloRule,
    /// The share of pods that must be good, in percent, strictly between 1 and 100
    pub objective_percent: f64,
    /// The window of the objective: whole minutes, from one minute to 366 days
    pub window: PrometheusDuration,
    /// The line of the file on which the SLO begins, from 1
    pub line: u64,
}

impl Slo {
    /// The objective as a ratio: the number nearest to the decimal in the file, so that 99.9 % is
    /// 0.999.
    pub fn objective_ratio(&self) -> f64 {
        decimal(self.objective_percent / 100.0)
    }

    /// The error budget as a ratio: 0.001 for 99.9 %.
    pub fn budget_ratio(&self) -> f64 {
        decimal((100.0 - self.objective_percent) / 100.0)
    }

    pub fn threshold_seconds(&self) -> f64 {
        self.rule.threshold.as_secs_f64()
    }

    pub fn window_seconds(&self) -> f64 {
        Duration::from_millis(self.window.as_millis()).as_secs_f64()
    }
}

/// Rounds to ten decimal places of a percentage, to remove the error of binary fractions.
fn decimal(ratio: f64) -> f64 {
    (ratio * 1e12).round() / 1e12
}

/// A pod counts as stuck after this many times the threshold of an SLO. Until then it is only late,
/// and the SLO counts it.
const STUCK_AFTER_THRESHOLDS: u64 = 3;

impl SloFile {
    /// The time in a stage after which a pod is stuck: the stage's own limit, or
    /// `STUCK_AFTER_THRESHOLDS` times the longest threshold of an SLO whose interval contains the
    /// stage.
    pub fn stuck_after(&self, stage: Stage) -> PrometheusDuration {
        let covering = self.slos.iter().filter(|slo| contains(&slo.rule.interval, stage));
        let allowed = covering.map(|slo| {
            let seconds = slo.threshold_seconds().ceil() as u64;
            let minutes = (STUCK_AFTER_THRESHOLDS * seconds).div_ceil(60);
            PrometheusDuration::from_minutes(minutes)
        });
        let least = StuckAfter::default().limit(stage).as_secs();
        allowed.fold(PrometheusDuration::from_minutes(least / 60), PrometheusDuration::max)
    }

    /// The limits of all stages, for the tracker.
    pub fn stuck_limits(&self) -> StuckAfter {
        StuckAfter::of_each(|stage| Duration::from_secs(self.stuck_after(stage).as_seconds()))
    }
}

fn contains(interval: &SloInterval, stage: Stage) -> bool {
    // A milestone of your own can come in any stage: it allows none more.
    let Some(interval) = interval.standard() else { return false };
    match interval {
        Interval::Stage(one) => one == stage,
        // A step ends before its stage does: it allows the stage nothing.
        Interval::Step(_) => false,
        Interval::ScheduledToReady => {
            !matches!(stage, Stage::Gated | Stage::Scheduling | Stage::Unschedulable)
        }
        Interval::CreatedToReady => true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_longer_threshold_makes_pods_count_as_stuck_later() {
        let text = "slos: [{name: a, interval: scheduled_to_ready, threshold: 20m, objective: 99, \
                    window: 7d}]";
        let file = SloFile::parse("f", text.as_bytes()).unwrap();
        let minutes = |stage| file.stuck_after(stage).as_minutes();
        assert_eq!(minutes(Stage::Network), 60);
        assert_eq!(minutes(Stage::Containers), 60);
        assert_eq!(minutes(Stage::Scheduling), 5);
    }
}
