//! The milestones of a pod's startup (§2).

use crate::pod::{Condition, ConditionType, Conditions};

/// A point that every startup is measured by. Reached once per pod UID, at the
/// lastTransitionTime of the first snapshot that shows it, and latched from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Milestone {
    /// `metadata.creationTimestamp`
    Created,
    /// The scheduling gates are gone; only the watch shows when
    Ungated,
    /// `PodScheduled=True`
    Scheduled,
    /// `PodReadyToStartContainers=True` or, under its old name, `PodHasNetwork=True`
    NetworkReady,
    /// `Initialized=True`
    Initialized,
    /// `ContainersReady=True`
    ContainersReady,
    /// `Ready=True`
    Ready,
}

impl Milestone {
    /// Every milestone, in the order of their discriminants.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::Ungated,
        Self::Scheduled,
        Self::NetworkReady,
        Self::Initialized,
        Self::ContainersReady,
        Self::Ready,
    ];

    /// The milestones that a condition stands for.
    pub const BY_CONDITION: [Self; 5] = [
        Self::Scheduled,
        Self::NetworkReady,
        Self::Initialized,
        Self::ContainersReady,
        Self::Ready,
    ];

    /// The milestones that come after Scheduled, and that can be entered again (§5 rule 6).
    pub const REENTERABLE: [Self; 4] = [
        Self::NetworkReady,
        Self::Initialized,
        Self::ContainersReady,
        Self::Ready,
    ];

    /// The milestone that a condition type stands for.
    pub const fn of(kind: ConditionType) -> Self {
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

    /// The condition that decides this milestone among `conditions`, if one stands.
    /// `PodReadyToStartContainers` wins over `PodHasNetwork` where both stand (§1).
    pub fn condition(self, conditions: &Conditions) -> Option<Condition> {
        let get = |kind| conditions.get(kind);
        match self {
            Self::Created | Self::Ungated => None,
            Self::Scheduled => get(ConditionType::PodScheduled),
            Self::NetworkReady => get(ConditionType::PodReadyToStartContainers)
                .or_else(|| get(ConditionType::PodHasNetwork)),
            Self::Initialized => get(ConditionType::Initialized),
            Self::ContainersReady => get(ConditionType::ContainersReady),
            Self::Ready => get(ConditionType::Ready),
        }
    }

    /// The value of the label `milestone`: the condition type, as Kubernetes spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Ungated => "Ungated",
            Self::Scheduled => ConditionType::PodScheduled.as_str(),
            Self::NetworkReady => ConditionType::PodReadyToStartContainers.as_str(),
            Self::Initialized => ConditionType::Initialized.as_str(),
            Self::ContainersReady => ConditionType::ContainersReady.as_str(),
            Self::Ready => ConditionType::Ready.as_str(),
        }
    }
}
