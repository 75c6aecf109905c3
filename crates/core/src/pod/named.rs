//! The gates of a pod, and the conditions that have names of their own ([§16](crate::specification#s16)).

use std::sync::Arc;

use super::StatusCondition;

/// How many gates of each kind are followed of a pod ([§16.1](crate::specification#s16-1)).
pub const MOST_GATES: usize = 8;

/// How many conditions can be milestones ([§16.5](crate::specification#s16-5)).
pub const MOST_OWN_MILESTONES: usize = 8;

/// The names of the gates of one kind, in the order of the spec and in one piece of memory
/// ([§16.1](crate::specification#s16-1)): the first [`MOST_GATES`] different ones. None is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GateList {
    text: String,
    /// Where each name ends in the text; 0 behind the last one
    ends: [u32; MOST_GATES],
}

impl GateList {
    /// Adds a name, unless it is empty, is there already, or there are [`MOST_GATES`].
    pub fn push(&mut self, name: &str) {
        let len = self.len();
        let end = u32::try_from(self.text.len() + name.len());
        if let Ok(end) = end
            && len < MOST_GATES
            && !name.is_empty()
            && !self.iter().any(|known| known == name)
        {
            self.text.push_str(name);
            self.ends[len] = end;
        }
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.ends.iter().take_while(|end| **end > 0).count()
    }

    /// Whether the list is empty.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = [0].into_iter().chain(self.ends);
        let names = starts.zip(self.ends).take_while(|(_, end)| *end > 0);
        names.map(|(start, end)| self.text.get(start as usize..end as usize).unwrap_or_default())
    }
}

/// Allocates exactly what the names need.
impl<T: AsRef<str>> FromIterator<T> for GateList {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        let mut list = Self::default();
        names.into_iter().for_each(|name| list.push(name.as_ref()));
        list.text.shrink_to_fit();
        list
    }
}

/// The gates of a pod by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GateNames {
    /// `spec.schedulingGates`
    pub scheduling: GateList,
    /// The condition types of `spec.readinessGates`
    pub readiness: GateList,
}

impl GateNames {
    /// Whether the pod has no gate.
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
    pub readiness: Box<[Option<StatusCondition>]>,
    /// The condition of each milestone, in the order in which they were configured; empty where none is there
    pub milestones: Box<[Option<StatusCondition>]>,
}

impl NamedConditions {
    /// The names of the gates.
    pub fn names(&self) -> Option<&GateNames> {
        self.gates.as_deref()
    }

    /// The condition of the milestone at this position.
    pub fn milestone(&self, position: usize) -> Option<StatusCondition> {
        self.milestones.get(position).copied().flatten()
    }

    /// The condition of the readiness gate at this position.
    pub fn readiness(&self, position: usize) -> Option<StatusCondition> {
        self.readiness.get(position).copied().flatten()
    }

    /// The first readiness gate whose condition is not True.
    pub fn first_open(&self) -> Option<&str> {
        let mut gates = self.names()?.readiness.iter().zip(&self.readiness);
        let open = gates.find(|(_, condition)| !condition.is_some_and(StatusCondition::is_true));
        open.map(|(name, _)| name)
    }

    /// Every condition that is there.
    pub fn conditions(&self) -> impl Iterator<Item = StatusCondition> {
        self.readiness.iter().chain(&self.milestones).flatten().copied()
    }
}
