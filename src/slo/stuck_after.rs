//! After how long in one stage a pod counts as stuck: it is unlikely to leave the stage without help.

use std::time::Duration;

use super::SloFile;
use super::duration::SloDuration;
use podinit_core::lifecycle::{Interval, Stage, StuckAfter};

/// A pod counts as stuck after this many times the threshold of an SLO. Until then it is only late,
/// and the SLO counts it.
const STUCK_AFTER_THRESHOLDS: u64 = 3;

impl SloFile {
    /// The time in a stage after which a pod is stuck: the stage's own limit, or
    /// `STUCK_AFTER_THRESHOLDS` times the longest threshold of an SLO whose interval contains the
    /// stage.
    pub fn stuck_after(&self, stage: Stage) -> SloDuration {
        let covering = self
            .slos
            .iter()
            .filter(|slo| contains(slo.rule.interval, stage));
        let allowed = covering.map(|slo| {
            let seconds = slo.threshold_seconds().ceil() as u64;
            let minutes = (STUCK_AFTER_THRESHOLDS * seconds).div_ceil(60);
            SloDuration::from_minutes(minutes)
        });
        let least = StuckAfter::default().of(stage).as_secs();
        allowed.fold(SloDuration::from_minutes(least / 60), SloDuration::max)
    }

    /// The limits of all stages, for the tracker.
    pub fn stuck_limits(&self) -> StuckAfter {
        StuckAfter::of_each(|stage| Duration::from_secs(self.stuck_after(stage).as_seconds()))
    }
}

fn contains(interval: Interval, stage: Stage) -> bool {
    match interval {
        Interval::Stage(one) => one == stage,
        // A step ends before its stage does: it allows the stage nothing.
        Interval::Step(_) => false,
        Interval::ScheduledToReady => !matches!(
            stage,
            Stage::Gated | Stage::Scheduling | Stage::Unschedulable
        ),
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
