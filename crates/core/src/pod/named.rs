//! The gates of a pod, and the conditions that have names of their own ([§16](crate::specification#s16)).

use std::sync::Arc;

use super::Condition;

/// So many gates of each kind are followed of a pod ([§16.1](crate::specification#s16-1)).
pub const MOST_GATES: usize = 8;

/// So many conditions can be made milestones ([§16.5](crate::specification#s16-5)).
pub const MOST_OWN_MILESTONES: usize = 8;

/// The gates of a pod by name, at most [`MOST_GATES`] of each kind in the order of the spec; no name is empty, and none
/// is there twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GateNames {
    /// `spec.schedulingGates`
    pub scheduling: Box<[Arc<str>]>,
    /// The condition types of `spec.readinessGates`
    pub readiness: Box<[Arc<str>]>,
}

impl GateNames {
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.scheduling.is_empty() && self.readiness.is_empty()
    }
}

/// The gates that one version of a pod has, and the conditions that only they and
/// [milestones of your own](crate::specification#s16-5) need. A pod has none unless one of them is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedConditions {
    /// The gates; shared with the other pods of the workload
    pub gates: Option<Arc<GateNames>>,
    /// The condition of each readiness gate, in the order of [`GateNames::readiness`]
    pub readiness: Box<[Option<Condition>]>,
    /// The condition of each milestone, in the order in which they were configured; empty where none is there
    pub milestones: Box<[Option<Condition>]>,
}

impl NamedConditions {
    /// The names of the gates.
    pub fn names(&self) -> Option<&GateNames> {
        self.gates.as_deref()
    }

    /// The condition of the milestone at this position.
    pub fn milestone(&self, position: usize) -> Option<Condition> {
        self.milestones.get(position).copied().flatten()
    }

    /// The condition of the readiness gate at this position.
    pub fn readiness(&self, position: usize) -> Option<Condition> {
        self.readiness.get(position).copied().flatten()
    }

    /// The first readiness gate whose condition is not True.
    pub fn first_open(&self) -> Option<&Arc<str>> {
        let mut gates = self.names()?.readiness.iter().zip(&self.readiness);
        let open = gates.find(|(_, condition)| !condition.is_some_and(Condition::is_true));
        open.map(|(name, _)| name)
    }

    /// Every condition that is there.
    pub fn conditions(&self) -> impl Iterator<Item = Condition> {
        self.readiness.iter().chain(&self.milestones).flatten().copied()
    }
}
