//! The intervals that are measured: the stages that split a startup, and the two whole
//! durations (§3).

/// A part of a pod's startup, between two milestones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Created → Ungated, for pods seen with scheduling gates
    Gated,
    /// Created (or Ungated) → Scheduled, for pods never seen Unschedulable
    Scheduling,
    /// The same interval, for pods seen Unschedulable at least once
    Unschedulable,
    /// Scheduled → NetworkReady
    Network,
    /// NetworkReady → Initialized, for pods with init containers
    Init,
    /// The later of NetworkReady and (with init containers) Initialized → ContainersReady
    Containers,
    /// ContainersReady → Ready, observed for pods with readiness gates
    Readiness,
}

impl Stage {
    /// Every stage, in the order of their discriminants.
    pub const ALL: [Self; 7] = [
        Self::Gated,
        Self::Scheduling,
        Self::Unschedulable,
        Self::Network,
        Self::Init,
        Self::Containers,
        Self::Readiness,
    ];

    /// The value of the label `stage`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gated => "gated",
            Self::Scheduling => "scheduling",
            Self::Unschedulable => "unschedulable",
            Self::Network => "network",
            Self::Init => "init",
            Self::Containers => "containers",
            Self::Readiness => "readiness",
        }
    }
}

/// Anything that has a duration: a stage, or one of the two whole durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interval {
    /// One stage
    Stage(Stage),
    /// Scheduled → Ready
    ScheduledToReady,
    /// Created → Ready
    CreatedToReady,
}

impl Interval {
    /// Every interval: the stages in their order, then the whole durations.
    pub const ALL: [Self; 9] = [
        Self::Stage(Stage::Gated),
        Self::Stage(Stage::Scheduling),
        Self::Stage(Stage::Unschedulable),
        Self::Stage(Stage::Network),
        Self::Stage(Stage::Init),
        Self::Stage(Stage::Containers),
        Self::Stage(Stage::Readiness),
        Self::ScheduledToReady,
        Self::CreatedToReady,
    ];

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_positions() {
        for (index, interval) in Interval::ALL.into_iter().enumerate() {
            assert_eq!(interval.index(), index);
        }
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(stage as usize, index);
        }
    }
}
