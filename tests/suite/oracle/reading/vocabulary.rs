//! The words of [§2](crate::specification#s2) and [§3](crate::specification#s3).

/// [§2](crate::specification#s2), in the order of that section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Milestone {
    Created,
    Ungated,
    Scheduled,
    NetworkReady,
    Initialized,
    ContainersReady,
    Ready,
}

impl Milestone {
    pub(crate) const ALL: [Self; 7] = [
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
            Self::Created | Self::Ungated => &[],
            Self::Scheduled => &["PodScheduled"],
            Self::NetworkReady => &["PodReadyToStartContainers", "PodHasNetwork"],
            Self::Initialized => &["Initialized"],
            Self::ContainersReady => &["ContainersReady"],
            Self::Ready => &["Ready"],
        }
    }
}

/// [§3](crate::specification#s3). `scheduling` and `unschedulable` are "the same interval".
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
}

impl Interval {
    pub(crate) const ALL: [Self; 8] = [
        Self::Gated,
        Self::UntilScheduled,
        Self::Network,
        Self::Init,
        Self::Containers,
        Self::Readiness,
        Self::ScheduledToReady,
        Self::CreatedToReady,
    ];

    /// The label value `stage`; the whole durations are no stages.
    pub(crate) fn stage(self, traits: Traits) -> Option<&'static str> {
        match self {
            Self::Gated => Some("gated"),
            Self::UntilScheduled if traits.unschedulable => Some("unschedulable"),
            Self::UntilScheduled => Some("scheduling"),
            Self::Network => Some("network"),
            Self::Init => Some("init"),
            Self::Containers => Some("containers"),
            Self::Readiness => Some("readiness"),
            Self::ScheduledToReady | Self::CreatedToReady => None,
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
