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
use crate::pod::PodInfo;

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
