//! The intervals that are measured ([§3](crate::specification#s3)): the stages that split a startup,
//! the two end-to-end durations, and the steps inside the stages `network` and `containers`
//! ([§9.1](crate::specification#s9-1)). [`INTERVALS`] has one row for each, as the specification's table
//! does, and everything else about an interval follows from its row.
//!
//! To add an interval, add its variant and its row.

use super::milestone::Milestone;
use crate::label_value::LabelValue;
use crate::{label_values, serde_by_text};

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

label_values! {
    /// A part of the stage `network` or `containers` ([§9.1](crate::specification#s9-1)), or of the stage
    /// `unschedulable` where a pod waited for a new node ([§14.6](crate::specification#s14-6)). No pod is
    /// counted as being in a step.
    pub enum Step {
        Acknowledge => "acknowledge",
        Sandbox => "sandbox",
        Start => "start",
        Probe => "probe",
        NodeLaunch => "node_launch",
        NodeReady => "node_ready",
        NodeJoin => "node_join",
    }
}

impl Stage {
    /// Whether the spec or the status of a pod has to say that it applies. Scheduling applies to all that are not
    /// unschedulable, and is not meant.
    pub const fn is_conditional(self) -> bool {
        use AppliesTo::{AllPods, NeverUnschedulable};
        !matches!(Interval::Stage(self).definition().applies_to, AllPods | NeverUnschedulable)
    }
}

impl Step {
    /// The stage that it is a part of.
    pub const fn stage(self) -> Stage {
        match self {
            Self::Acknowledge | Self::Sandbox => Stage::Network,
            Self::Start | Self::Probe => Stage::Containers,
            Self::NodeLaunch | Self::NodeReady | Self::NodeJoin => Stage::Unschedulable,
        }
    }

    /// Whether it is a part of the wait for a new node, which needs nodes as a source.
    pub const fn is_of_node(self) -> bool {
        matches!(self.stage(), Stage::Unschedulable)
    }
}

/// What is either observed or, with a reason, not: a stage or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StageOrStep {
    Stage(Stage),
    Step(Step),
}

/// Anything that has a duration: a stage, one of the two end-to-end durations, or a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Interval {
    Stage(Stage),
    ScheduledToReady,
    #[default]
    CreatedToReady,
    Step(Step),
}

/// What begins an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalStart {
    /// One milestone
    At(Milestone),
    /// Created; for pods seen with scheduling gates, Ungated
    CreatedOrUngated,
    /// NetworkReady; for pods with init containers, the later of NetworkReady and Initialized
    NetworkReadyAndInitialized,
    /// A point of the pod's node
    Node(NodePoint),
}

/// What ends an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntervalEnd {
    /// A milestone
    At(Milestone),
    /// A point of the pod's node
    Node(NodePoint),
}

/// A point of the startup of a pod's node ([§14.6](crate::specification#s14-6)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodePoint {
    /// Its creation
    Created,
    /// Its first Ready=True
    Ready,
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
    /// Pods that were `unschedulable` and whose node is younger than they are
    /// ([§14.6](crate::specification#s14-6))
    WithNewNode,
}

/// One row of [`INTERVALS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalDefinition {
    pub interval: Interval,
    pub from: IntervalStart,
    pub to: IntervalEnd,
    pub(super) applies_to: AppliesTo,
}

/// The specification's table, row by row.
#[rustfmt::skip]
pub(super) const INTERVALS: &[IntervalDefinition; Interval::COUNT] = {
    use AppliesTo::{AllPods, NeverUnschedulable, WithInitContainers, WithReadinessGates};
    use Interval::{CreatedToReady, ScheduledToReady};
    use Milestone::{Acknowledged, ContainersReady, ContainersStarted, Created, Initialized};
    use Milestone::{NetworkReady, Ready, Scheduled, Ungated};
    use Stage::{Containers, Init, Network, Readiness, Scheduling};
    use IntervalStart::{At, CreatedOrUngated, NetworkReadyAndInitialized, Node};
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
        step(Step::Acknowledge,     At(Scheduled),              Acknowledged),
        step(Step::Sandbox,         At(Acknowledged),           NetworkReady),
        step(Step::Start,           NetworkReadyAndInitialized, ContainersStarted),
        step(Step::Probe,           At(ContainersStarted),      ContainersReady),
        of_node(Step::NodeLaunch,   CreatedOrUngated,           IntervalEnd::Node(NodePoint::Created)),
        of_node(Step::NodeReady,    Node(NodePoint::Created),   IntervalEnd::Node(NodePoint::Ready)),
        of_node(Step::NodeJoin,     Node(NodePoint::Ready),     IntervalEnd::At(Scheduled)),
    ]
};

const fn stage(
    stage: Stage,
    from: IntervalStart,
    to: Milestone,
    applies_to: AppliesTo,
) -> IntervalDefinition {
    IntervalDefinition {
        interval: Interval::Stage(stage),
        from,
        to: IntervalEnd::At(to),
        applies_to,
    }
}

const fn whole(interval: Interval, from: IntervalStart, to: Milestone) -> IntervalDefinition {
    all_pods(interval, from, to)
}

const fn step(step: Step, from: IntervalStart, to: Milestone) -> IntervalDefinition {
    all_pods(Interval::Step(step), from, to)
}

const fn of_node(step: Step, from: IntervalStart, to: IntervalEnd) -> IntervalDefinition {
    IntervalDefinition {
        interval: Interval::Step(step),
        from,
        to,
        applies_to: AppliesTo::WithNewNode,
    }
}

const fn all_pods(interval: Interval, from: IntervalStart, to: Milestone) -> IntervalDefinition {
    IntervalDefinition { interval, from, to: IntervalEnd::At(to), applies_to: AppliesTo::AllPods }
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
    /// How many intervals there are: the stages, two end-to-end durations, and the steps.
    pub const COUNT: usize = Stage::ALL.len() + 2 + Step::ALL.len();

    /// Every interval: the stages in their order, then the end-to-end durations, then the steps.
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
            Self::Step(step) => Stage::ALL.len() + 2 + step as usize,
        }
    }

    /// The number of intervals without those that need nodes as a source, which come last.
    pub const WITHOUT_NODES: usize = {
        let mut count = Self::COUNT;
        while count > 0 && INTERVALS[count - 1].interval.is_of_node() {
            count -= 1;
        }
        count
    };

    /// Whether it needs nodes as a source ([§14.6](crate::specification#s14-6)).
    pub const fn is_of_node(self) -> bool {
        matches!(self, Self::Step(step) if step.is_of_node())
    }

    /// The name that users write in an SLO file and read in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stage(stage) => stage.as_str(),
            Self::ScheduledToReady => "scheduled_to_ready",
            Self::CreatedToReady => "created_to_ready",
            Self::Step(step) => step.as_str(),
        }
    }

    /// The stage or step that this is; `None` for an end-to-end duration.
    pub const fn stage_or_step(self) -> Option<StageOrStep> {
        match self {
            Self::Stage(stage) => Some(StageOrStep::Stage(stage)),
            Self::Step(step) => Some(StageOrStep::Step(step)),
            Self::ScheduledToReady | Self::CreatedToReady => None,
        }
    }

    /// The row of this interval.
    pub(super) const fn definition(self) -> &'static IntervalDefinition {
        &INTERVALS[self.index()]
    }
}

impl StageOrStep {
    /// The stages in their order, then the steps.
    pub const ALL: [Self; Stage::ALL.len() + Step::ALL.len()] = {
        let mut all = [Self::Step(Step::Probe); Stage::ALL.len() + Step::ALL.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = match index < Stage::ALL.len() {
                true => Self::Stage(Stage::ALL[index]),
                false => Self::Step(Step::ALL[index - Stage::ALL.len()]),
            };
            index += 1;
        }
        all
    };

    /// The name, as the labels `stage`, `step` and `interval` have it.
    pub const fn as_str(self) -> &'static str {
        self.interval().as_str()
    }

    /// The interval of this stage or step.
    pub const fn interval(self) -> Interval {
        match self {
            Self::Stage(stage) => Interval::Stage(stage),
            Self::Step(step) => Interval::Step(step),
        }
    }
}

impl From<Stage> for StageOrStep {
    fn from(stage: Stage) -> Self {
        Self::Stage(stage)
    }
}

impl From<Step> for StageOrStep {
    fn from(step: Step) -> Self {
        Self::Step(step)
    }
}

impl LabelValue for StageOrStep {
    const ALL: &'static [Self] = &Self::ALL;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }

    fn index(self) -> usize {
        match self {
            Self::Stage(stage) => stage as usize,
            Self::Step(step) => Stage::ALL.len() + step as usize,
        }
    }

    /// Without nodes as a source, intervals that need them have no series.
    fn is_exposed_at_zero(self) -> bool {
        !self.interval().is_of_node()
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

serde_by_text!(Interval);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_and_steps_stand_at_their_indexes() {
        for (index, part) in StageOrStep::ALL.into_iter().enumerate() {
            assert_eq!(LabelValue::index(part), index);
            assert_eq!(part.interval().stage_or_step(), Some(part));
        }
    }

    #[test]
    fn the_last_stage_ends_with_the_startup() {
        let last = INTERVALS[Stage::ALL.len() - 1];
        assert_eq!(last.to, IntervalEnd::At(Milestone::Ready));
        assert_eq!(last.interval, Interval::Stage(Stage::Readiness));
    }

    #[test]
    fn the_intervals_of_nodes_come_last() {
        let (others, of_nodes) = Interval::ALL.split_at(Interval::WITHOUT_NODES);
        assert_eq!(of_nodes.len(), 3);
        assert!(of_nodes.iter().all(|interval| interval.is_of_node()));
        assert!(!others.iter().any(|interval| interval.is_of_node()));
    }
}
