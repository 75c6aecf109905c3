//! The words of [§2](crate::specification#s2), [§3](crate::specification#s3) and
//! [§9.1](crate::specification#s9-1).

/// [§2](crate::specification#s2), in the order of that section, and
/// [§9.1](crate::specification#s9-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Milestone {
    Created,
    Ungated,
    Scheduled,
    NetworkReady,
    Initialized,
    ContainersReady,
    Ready,
    Acknowledged,
    ContainersStarted,
}

impl Milestone {
    /// Those of [§2](crate::specification#s2). The others "count no `skew` and do not enter
    /// `podinit_watch_delivery_seconds`" ([§9.1](crate::specification#s9-1)).
    pub(crate) const OF_STAGES: [Self; 7] = [
        Self::Created,
        Self::Ungated,
        Self::Scheduled,
        Self::NetworkReady,
        Self::Initialized,
        Self::ContainersReady,
        Self::Ready,
    ];

    /// The condition types that can state it: the later name first.
    pub(crate) fn condition_types(self) -> &'static [&'static str] {
        match self {
            Self::Created | Self::Ungated | Self::Acknowledged | Self::ContainersStarted => &[],
            Self::Scheduled => &["PodScheduled"],
            Self::NetworkReady => &["PodReadyToStartContainers", "PodHasNetwork"],
            Self::Initialized => &["Initialized"],
            Self::ContainersReady => &["ContainersReady"],
            Self::Ready => &["Ready"],
        }
    }
}

/// [§3](crate::specification#s3), where `scheduling` and `unschedulable` are "the same interval",
/// and the steps of [§9.1](crate::specification#s9-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interval {
    Gated,
    UntilScheduled,
    Network,
    Init,
    Containers,
    Readiness,
    ScheduledToReady,
    CreatedToReady,
    Acknowledge,
    Sandbox,
    Start,
    Probe,
}

impl Interval {
    pub(crate) const ALL: [Self; 12] = [
        Self::Gated,
        Self::UntilScheduled,
        Self::Network,
        Self::Init,
        Self::Containers,
        Self::Readiness,
        Self::ScheduledToReady,
        Self::CreatedToReady,
        Self::Acknowledge,
        Self::Sandbox,
        Self::Start,
        Self::Probe,
    ];

    /// The label value `step`, if it is one.
    pub(crate) fn step(self) -> Option<&'static str> {
        match self {
            Self::Acknowledge => Some("acknowledge"),
            Self::Sandbox => Some("sandbox"),
            Self::Start => Some("start"),
            Self::Probe => Some("probe"),
            _ => None,
        }
    }

    /// The label value `stage`; the end-to-end durations and the steps are no stages.
    pub(crate) fn stage(self, traits: Traits) -> Option<&'static str> {
        match self {
            Self::Gated => Some("gated"),
            Self::UntilScheduled if traits.unschedulable => Some("unschedulable"),
            Self::UntilScheduled => Some("scheduling"),
            Self::Network => Some("network"),
            Self::Init => Some("init"),
            Self::Containers => Some("containers"),
            Self::Readiness => Some("readiness"),
            _ => None,
        }
    }

    pub(crate) fn to(self) -> Milestone {
        match self {
            Self::Gated => Milestone::Ungated,
            Self::UntilScheduled => Milestone::Scheduled,
            Self::Network => Milestone::NetworkReady,
            Self::Init => Milestone::Initialized,
            Self::Containers => Milestone::ContainersReady,
            Self::Readiness | Self::ScheduledToReady | Self::CreatedToReady => Milestone::Ready,
            Self::Acknowledge => Milestone::Acknowledged,
            Self::Sandbox => Milestone::NetworkReady,
            Self::Start => Milestone::ContainersStarted,
            Self::Probe => Milestone::ContainersReady,
        }
    }
}

/// What a pod has been seen with, up to some snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub(crate) gated: bool,
    pub(crate) unschedulable: bool,
    pub(crate) init_containers: bool,
    pub(crate) readiness_gates: bool,
}
