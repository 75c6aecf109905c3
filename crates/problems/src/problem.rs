//! What a problem states ([§13.6](crate::specification#s13-6)).

use std::sync::Arc;

use super::affected_pods::AffectedPods;
use super::capacity::{self, FoundCapacity};
use super::container::FoundContainer;
use super::found_pod::{FoundPod, FoundState};
use super::found_pods::FoundPods;
use super::kind::ProblemKind;
use super::message;
use super::since::{self, Earlier};
use super::values::SharedValue;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, Outcome, Stage};
use podinit_core::timestamp::Timestamp;

/// What makes a problem the same as an earlier one ([§13.7](crate::specification#s13-7)).
pub(super) type ProblemKey = (Cause, SharedValue);

/// So many pods of a problem are named, those that have waited longest.
pub const MOST_NAMED: usize = 3;

/// A set of pods that one cause affects.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundProblem {
    pub kind: ProblemKind,
    pub cause: Cause,
    /// What its pods share, where they share one thing
    pub shared: Option<(Dimension, Arc<str>)>,
    /// How many pods it has
    pub pods: usize,
    /// How many of them count as stuck
    pub stuck: usize,
    /// How many of them have ended lately, rejected or failed
    pub failed: usize,
    /// How many of them crash after they were ready
    pub relapsed: usize,
    /// The earliest time at which one of its pods, but for `earlier`, first had the cause in its present stage
    pub since: Timestamp,
    /// The few pods that had the cause long before the others
    pub earlier: Option<Earlier>,
    /// On how many nodes its pods are
    pub nodes: usize,
    /// Of how many workloads its pods are
    pub workloads: usize,
    /// In how many namespaces its pods are
    pub namespaces: usize,
    /// The container that gives nine tenths of its pods the cause, where they have more than one
    pub container: Option<Arc<FoundContainer>>,
    /// What Kubernetes says of most of its pods, in its own words
    pub message: Option<Arc<str>>,
    /// What autoscalers say of most of its pods that are unschedulable
    pub capacity: Option<FoundCapacity>,
    /// Those of its pods that have waited longest, at most [`MOST_NAMED`]
    pub oldest: Vec<FoundPod>,
}

impl FoundProblem {
    /// The problem of the pods with these ranks, of which there is at least one, those that have waited longest first.
    pub(super) fn new(shared: SharedValue, ranks: &[u32], pods: &AffectedPods) -> Self {
        let first = pods.get(ranks[0]);
        let places = ranks.iter().map(|rank| pods.get(*rank).place);
        let times: Vec<Timestamp> = ranks.iter().map(|rank| pods.get(*rank).since).collect();
        let (since, earlier) = since::since(&times);
        Self {
            message: message::most_frequent(ranks, pods),
            container: pods.container(ranks),
            earlier,
            ..Self::of_places((first.cause, shared), since, places, &pods.found)
        }
    }

    /// That of the pods at these places, those that have waited longest first, without words of Kubernetes.
    pub(super) fn of_places(
        (cause, shared): ProblemKey,
        since: Timestamp,
        places: impl ExactSizeIterator<Item = u32> + Clone,
        found: &FoundPods,
    ) -> Self {
        let states = || places.clone().filter_map(|place| found.state(place));
        let having = |has: fn(&FoundState) -> bool| states().filter(has).count();
        let is_unschedulable = |place: &u32| {
            let waiting = found.state(*place).and_then(|state| state.waiting());
            waiting.is_some_and(|waiting| waiting.stage() == Stage::Unschedulable)
        };
        let unschedulable = places.clone().filter(is_unschedulable);
        let nodes = places.clone().filter_map(|place| found.node_number(place));
        let workloads = places.clone();
        let workloads = workloads.filter_map(|place| found.workload_number(place));
        let namespaces = places.clone().map(|place| found.namespace_number(place));
        Self {
            kind: ProblemKind::Pods,
            cause,
            pods: places.len(),
            stuck: having(FoundState::is_stuck),
            failed: having(FoundState::has_failed),
            relapsed: having(|state| state.outcome() == Some(Outcome::Ready)),
            since,
            earlier: None,
            nodes: distinct(nodes),
            workloads: distinct(workloads),
            namespaces: distinct(namespaces),
            container: None,
            message: None,
            capacity: capacity::shared(unschedulable.map(|place| found.capacity(place))),
            shared,
            oldest: (places.take(MOST_NAMED)).filter_map(|place| found.get(place)).collect(),
        }
    }

    /// One of `cause` without pods, as a base of tests.
    pub fn of_nothing(cause: Cause) -> Self {
        Self::of_places((cause, None), Timestamp::EPOCH, std::iter::empty(), &FoundPods::default())
    }

    /// Its dimension and value as texts, empty where it has none.
    pub fn shared_texts(&self) -> (&'static str, &str) {
        let texts = self.shared.as_ref();
        texts.map_or(("", ""), |(dimension, value)| (dimension.as_str(), value))
    }

    /// The worst comes first.
    pub(super) fn order(&self) -> (std::cmp::Reverse<usize>, Timestamp, &'static str, &str) {
        let (_, value) = self.shared_texts();
        (std::cmp::Reverse(self.pods), self.since, self.cause.as_str(), value)
    }

    /// What makes it the same as an earlier one.
    pub(super) fn key(&self) -> ProblemKey {
        (self.cause, self.shared.clone())
    }
}

/// How many different ones there are.
fn distinct<T: Ord>(all: impl Iterator<Item = T>) -> usize {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}
