//! Deadlines (§6): SLO events that see the pods that never arrive.
//!
//! For each pod there is exactly one event per SLO that matches it. A histogram is blind to a pod
//! that never gets ready; the deadline is not.

mod progress;
mod timers;

use std::sync::Arc;

pub(super) use progress::{SloInput, SloProgress};
pub(super) use timers::Timers;

use super::interval::Interval;
use super::outcome::Outcome;
use crate::pod::PodInfo;

/// The position of an SLO among those that are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SloId(pub u16);

/// Which pods an SLO is about, by their namespace.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Namespaces {
    /// Every namespace
    #[default]
    All,
    /// These only
    Include(Vec<Box<str>>),
    /// All but these
    Exclude(Vec<Box<str>>),
}

impl Namespaces {
    fn contain(&self, namespace: &str) -> bool {
        let names = |list: &[Box<str>]| list.iter().any(|name| **name == *namespace);
        match self {
            Self::All => true,
            Self::Include(list) => names(list),
            Self::Exclude(list) => !names(list),
        }
    }
}

/// When a pod meets an objective, and when it has missed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SloRule {
    /// The value of the label `slo`
    pub name: Arc<str>,
    /// What is to be fast enough
    pub interval: Interval,
    /// How fast, in nanoseconds
    pub threshold_nanos: i64,
    /// How much later the deadline passes than the threshold, in nanoseconds: time for the
    /// delivery of what happened
    pub grace_nanos: i64,
    /// Which pods it is about
    pub namespaces: Namespaces,
    /// Which pods it is about, by the kind of their owner; empty for all
    pub owner_kinds: Vec<Box<str>>,
}

impl SloRule {
    /// Whether `newer` is this SLO, at most with another threshold or grace: then pods in flight
    /// go on as they stand. Otherwise it is a new one, and concerns the pods that come from now on.
    pub fn becomes(&self, newer: &Self) -> bool {
        self.name == newer.name
            && self.interval == newer.interval
            && self.namespaces == newer.namespaces
            && self.owner_kinds == newer.owner_kinds
    }

    /// Whether the SLO is about this pod.
    pub fn matches(&self, pod: &PodInfo) -> bool {
        let kind = pod.workload.as_ref().map(|workload| &*workload.kind);
        let owned =
            || kind.is_some_and(|kind| self.owner_kinds.iter().any(|wanted| **wanted == *kind));
        self.namespaces.contain(&pod.namespace) && (self.owner_kinds.is_empty() || owned())
    }
}

/// Why a pod is neither good nor bad for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExclusionReason {
    /// The pod ended first, with the interval open
    Ended(Outcome),
    /// It ended as ready, but the interval's milestones were not both seen
    NotSeen,
    /// It can no longer enter the interval
    NotEntered,
    /// The interval's times are unusable
    Time,
    /// A condition type that the interval needs does not exist on this cluster
    ConditionAbsent,
}

impl ExclusionReason {
    /// Every reason. `Ended(Ready)` is none: it is `NotSeen`.
    pub const ALL: [Self; 10] = [
        Self::Ended(Outcome::Completed),
        Self::Ended(Outcome::Failed),
        Self::Ended(Outcome::Deleted),
        Self::Ended(Outcome::Vanished),
        Self::Ended(Outcome::Preexisting),
        Self::Ended(Outcome::Static),
        Self::NotSeen,
        Self::NotEntered,
        Self::Time,
        Self::ConditionAbsent,
    ];

    /// The reason for a pod that ended with `outcome` before its interval did.
    pub const fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ready => Self::NotSeen,
            other => Self::Ended(other),
        }
    }

    /// The value of the label `reason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended(Outcome::Ready) | Self::NotSeen => "not_seen",
            Self::Ended(outcome) => outcome.as_str(),
            Self::NotEntered => "not_entered",
            Self::Time => "time",
            Self::ConditionAbsent => "condition_absent",
        }
    }
}

/// The one event of a pod for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SloVerdict {
    /// The interval ended within the threshold
    Good,
    /// It took longer, or its deadline passed
    Bad,
    /// The pod counts for nothing
    Excluded(ExclusionReason),
}
