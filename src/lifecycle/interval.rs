//! The intervals that are measured ([§3](crate::specification#s3)): the stages that split a startup,
//! and the two whole durations. [`INTERVALS`] has one row for each, as the specification's table
//! does, and everything else about an interval follows from its row.
//!
//! To add an interval, add its variant and its row.

use super::milestone::Milestone;
use crate::label_value::LabelValue;
use crate::label_values;

label_values! {
    /// A part of a pod's startup, between two milestones. The order is that of a startup: a pod is
    /// in the first stage that applies to it and has not ended.
    pub enum Stage {
        Gated => "gated",
        Scheduling => "scheduling",
        Unschedulable => "unschedulable",
        Network => "network",
        Init => "init",
        Containers => "containers",
        Readiness => "readiness",
    }
}

/// Anything that has a duration: a stage, or one of the two whole durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interval {
    Stage(Stage),
    ScheduledToReady,
    CreatedToReady,
}

/// What begins an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// One milestone
    At(Milestone),
    /// Created; for pods seen with scheduling gates, Ungated
    CreatedOrUngated,
    /// NetworkReady; for pods with init containers, the later of NetworkReady and Initialized
    NetworkReadyAndInitialized,
}

/// The pods that an interval is observed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AppliesTo {
    AllPods,
    /// Pods seen with scheduling gates
    Gated,
    /// Pods never seen `Unschedulable`
    NeverUnschedulable,
    /// Pods seen `PodScheduled=False, reason=Unschedulable` at least once
    Unschedulable,
    /// Pods with init containers (restartable ones count)
    WithInitContainers,
    /// Pods with `spec.readinessGates`
    WithReadinessGates,
}

/// One row of [`INTERVALS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub interval: Interval,
    pub from: Start,
    pub to: Milestone,
    pub applies_to: AppliesTo,
}

/// The specification's table, row by row.
#[rustfmt::skip]
pub(super) const INTERVALS: &[Definition; Interval::COUNT] = {
    use AppliesTo::{AllPods, NeverUnschedulable, WithInitContainers, WithReadinessGates};
    use Interval::{CreatedToReady, ScheduledToReady};
    use Milestone::{ContainersReady, Created, Initialized, NetworkReady, Ready, Scheduled, Ungated};
    use Stage::{Containers, Init, Network, Readiness, Scheduling};
    use Start::{At, CreatedOrUngated, NetworkReadyAndInitialized};
    &[
        stage(Stage::Gated,         At(Created),                Ungated,         AppliesTo::Gated),
        stage(Scheduling,           CreatedOrUngated,           Scheduled,       NeverUnschedulable),
        stage(Stage::Unschedulable, CreatedOrUngated,           Scheduled,       AppliesTo::Unschedulable),
        stage(Network,              At(Scheduled),              NetworkReady,    AllPods),
        stage(Init,                 At(NetworkReady),           Initialized,     WithInitContainers),
        stage(Containers,           NetworkReadyAndInitialized, ContainersReady, AllPods),
        stage(Readiness,            At(ContainersReady),        Ready,           WithReadinessGates),
        whole(ScheduledToReady,     At(Scheduled),              Ready),
        whole(CreatedToReady,       At(Created),                Ready),
    ]
};

const fn stage(stage: Stage, from: Start, to: Milestone, applies_to: AppliesTo) -> Definition {
    Definition {
        interval: Interval::Stage(stage),
        from,
        to,
        applies_to,
    }
}

const fn whole(interval: Interval, from: Start, to: Milestone) -> Definition {
    Definition {
        interval,
        from,
        to,
        applies_to: AppliesTo::AllPods,
    }
}

/// Every row is at the index of its interval.
const _: () = {
    let mut row = 0;
    while row < INTERVALS.len() {
        assert!(INTERVALS[row].interval.index() == row);
        row += 1;
    }
};

impl Interval {
    /// How many intervals there are: the stages, and two whole durations.
    pub const COUNT: usize = Stage::ALL.len() + 2;

    /// Every interval: the stages in their order, then the whole durations.
    pub const ALL: [Self; Self::COUNT] = {
        let mut all = [Self::CreatedToReady; Self::COUNT];
        let mut row = 0;
        while row < all.len() {
            all[row] = INTERVALS[row].interval;
            row += 1;
        }
        all
    };

    /// The position in [`Interval::ALL`].
    pub const fn index(self) -> usize {
        match self {
            Self::Stage(stage) => stage as usize,
            Self::ScheduledToReady => Stage::ALL.len(),
            Self::CreatedToReady => Stage::ALL.len() + 1,
        }
    }

    /// The name that users write in an SLO file and read in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stage(stage) => stage.as_str(),
            Self::ScheduledToReady => "scheduled_to_ready",
            Self::CreatedToReady => "created_to_ready",
        }
    }

    /// The row of this interval.
    pub(super) const fn definition(self) -> &'static Definition {
        &INTERVALS[self.index()]
    }
}

impl LabelValue for Interval {
    const ALL: &'static [Self] = &Self::ALL;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }

    fn index(self) -> usize {
        Self::index(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stage_ends_with_the_startup() {
        let last = INTERVALS[Stage::ALL.len() - 1];
        assert_eq!(last.to, Milestone::Ready);
        assert_eq!(last.interval, Interval::Stage(Stage::Readiness));
    }
}
