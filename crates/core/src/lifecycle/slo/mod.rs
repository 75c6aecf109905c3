//! SLOs and their deadlines ([§6](crate::specification#s6)).
//!
//! Each pod has exactly one event per SLO that matches it. A histogram never shows a pod that does not
//! become ready; a deadline does.

mod interval;
mod matched;
mod progress;
mod selection;
mod timers;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(super) use matched::SloMatches;
pub use matched::UnmatchedSlo;
pub(super) use progress::{SloInput, SloProgress, shows_no_network_condition};
pub use selection::Selection;
pub(super) use selection::StartupKind;
pub(super) use timers::SloTimers;

use super::custom_milestone::SloInterval;
use crate::pod::{PodInfo, Workload};

/// The namespaces whose pods an SLO matches.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
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

/// Which pods an SLO matches, and what they have to meet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SloRule {
    /// The value of the label `slo`
    pub name: Arc<str>,
    /// The interval that the threshold limits
    pub interval: SloInterval,
    /// The longest good duration
    #[serde(default)]
    pub threshold: Duration,
    /// How much later than the threshold the deadline passes: time for the delivery of the event
    #[serde(default)]
    pub grace: Duration,
    /// The namespaces whose pods it matches
    #[serde(default)]
    pub namespaces: Namespaces,
    /// The kinds of owner whose pods it matches; empty for all pods
    #[serde(default)]
    pub owner_kinds: Vec<Box<str>>,
    /// The startups that count
    #[serde(default)]
    pub selection: Selection,
}

impl SloRule {
    /// Whether `newer` is this SLO with at most another threshold or grace
    /// ([§6.6](crate::specification#s6-6)). Otherwise it is a new SLO.
    pub fn becomes(&self, newer: &Self) -> bool {
        self.name == newer.name
            && self.interval == newer.interval
            && self.namespaces == newer.namespaces
            && self.owner_kinds == newer.owner_kinds
            && self.selection == newer.selection
    }

    /// Whether the SLO matches this pod. Which startups count is known later ([`SloRule::selection`]).
    pub fn matches(&self, pod: &PodInfo) -> bool {
        self.matches_pods_of(&pod.namespace, pod.workload.as_deref())
    }

    /// Whether it matches the pods of this owner, if they have one, in this namespace.
    pub fn matches_pods_of(&self, namespace: &str, owner: Option<&Workload>) -> bool {
        let owned = || {
            let mut kinds = self.owner_kinds.iter();
            owner.is_some_and(|owner| kinds.any(|kind| owner.is_of_kind(kind)))
        };
        self.namespaces.contain(namespace) && (self.owner_kinds.is_empty() || owned())
    }
}
