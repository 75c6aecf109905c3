//! The milestones of a pod's startup ([§2](crate::specification#s2)).

use crate::label_values;
use crate::pod::{ConditionType, StatusCondition, StatusConditions};

label_values! {
    /// A point that every startup is measured by. Reached once per pod UID, at the
    /// lastTransitionTime of the first snapshot that shows it, and latched from then on. The label
    /// `milestone` has the condition type, as Kubernetes spells it.
    pub enum Milestone {
        /// `metadata.creationTimestamp`
        Created => "Created",
        /// The scheduling gates are gone; only the watch shows when
        Ungated => "Ungated",
        /// `PodScheduled=True`
        Scheduled => ConditionType::PodScheduled.as_str(),
        /// `PodReadyToStartContainers=True` or, under its old name, `PodHasNetwork=True`
        NetworkReady => ConditionType::PodReadyToStartContainers.as_str(),
        /// `Initialized=True`
        Initialized => ConditionType::Initialized.as_str(),
        /// `ContainersReady=True`
        ContainersReady => ConditionType::ContainersReady.as_str(),
        /// `Ready=True`
        Ready => ConditionType::Ready.as_str(),
        /// `status.startTime`: the kubelet has accepted the pod ([§9.1](crate::specification#s9-1))
        Acknowledged => "Acknowledged",
        /// Every container of `spec.containers` has started ([§9.1](crate::specification#s9-1))
        ContainersStarted => "ContainersStarted",
    }
}

impl Milestone {
    /// The milestones that a condition shows.
    pub(super) const BY_CONDITION: [Self; 5] = [
        Self::Scheduled,
        Self::NetworkReady,
        Self::Initialized,
        Self::ContainersReady,
        Self::Ready,
    ];

    /// The milestones that come after Scheduled and imply it, and that can be entered again
    /// ([§5.6](crate::specification#s5-6)).
    pub const REENTERABLE: [Self; 4] =
        [Self::NetworkReady, Self::Initialized, Self::ContainersReady, Self::Ready];

    /// The milestone that a condition type shows.
    pub const fn from_condition(kind: ConditionType) -> Self {
        match kind {
            ConditionType::PodScheduled => Self::Scheduled,
            ConditionType::PodReadyToStartContainers | ConditionType::PodHasNetwork => {
                Self::NetworkReady
            }
            ConditionType::Initialized => Self::Initialized,
            ConditionType::ContainersReady => Self::ContainersReady,
            ConditionType::Ready => Self::Ready,
        }
    }

    /// The condition that decides this milestone among `conditions`, if there is one.
    /// `PodReadyToStartContainers` wins over `PodHasNetwork` where both are present ([§1.1](crate::specification#s1-1)).
    pub fn condition(self, conditions: &StatusConditions) -> Option<StatusCondition> {
        let get = |kind| conditions.get(kind);
        match self {
            Self::Created | Self::Ungated | Self::Acknowledged | Self::ContainersStarted => None,
            Self::Scheduled => get(ConditionType::PodScheduled),
            Self::NetworkReady => get(ConditionType::PodReadyToStartContainers)
                .or_else(|| get(ConditionType::PodHasNetwork)),
            Self::Initialized => get(ConditionType::Initialized),
            Self::ContainersReady => get(ConditionType::ContainersReady),
            Self::Ready => get(ConditionType::Ready),
        }
    }
}
