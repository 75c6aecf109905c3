//! After how long in one stage a pod counts as stuck: it is unlikely to leave the stage without help.

use super::SloFile;
use super::duration::SloDuration;
use crate::lifecycle::{Interval, Stage};

/// A pod counts as stuck after this many times the threshold of an SLO. Until then it is only late,
/// and the SLO counts it.
const STUCK_AFTER_THRESHOLDS: u64 = 3;

/// The time in a stage after which a pod is stuck, unless an SLO allows more.
const fn least(stage: Stage) -> SloDuration {
    match stage {
        // Queues hold gated pods for hours by design; after a day, nobody is going to remove the gate.
        Stage::Gated => SloDuration::from_days(1),
        // Even in a burst, a scheduler takes seconds to bind a pod or to mark it unschedulable.
        Stage::Scheduling => SloDuration::from_minutes(5),
        // More than the 15 minutes after which cluster-autoscaler gives up on a node.
        Stage::Unschedulable => SloDuration::from_hours(1),
        // Kubelet and runtime retry within four minutes; volumes are mounted in this stage too.
        Stage::Network => SloDuration::from_minutes(10),
        // Init containers restore data and migrate schemas, large images and startup probes take
        // minutes; restarts back off to five minutes.
        Stage::Init | Stage::Containers => SloDuration::from_minutes(30),
        // Load balancers register a target within a few minutes.
        Stage::Readiness => SloDuration::from_minutes(15),
    }
}

impl SloFile {
    /// The time in a stage after which a pod is stuck: the stage's own limit, or
    /// [`STUCK_AFTER_THRESHOLDS`] times the longest threshold of an SLO whose interval contains the
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
        allowed.fold(least(stage), SloDuration::max)
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
