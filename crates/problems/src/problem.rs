//! What a problem states ([§13.6](crate::specification#s13-6)).

use std::sync::Arc;

use super::affected_pods::AffectedPods;
use super::capacity::{self, FoundCapacity};
use super::container::FoundContainer;
use super::found_pod::{FoundPod, FoundState};
use super::found_pods::FoundPods;
use super::kind::ProblemKind;
use super::since::{self, Earlier};
use super::texts::FaultTexts;
use super::values::{ProblemIdentity, SharedValue, StatedFault};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, Outcome, Stage};
use podinit_core::timestamp::Timestamp;

/// What makes a problem the same as an earlier one ([§13.7](crate::specification#s13-7)).
pub(super) type ProblemKey = (Cause, ProblemIdentity);

/// So many pods of a problem are named, those that have waited longest.
pub const MOST_NAMED: usize = 3;

/// A set of pods that one cause affects.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundProblem {
    pub kind: ProblemKind,
    pub cause: Cause,
    /// What its pods share, where they share one thing
    pub shared: Option<(Dimension, Arc<str>)>,
    /// Tells it from others of its cause, where its pods share nothing: the same from one finding to the next
    pub fault: Option<u64>,
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
    /// What Kubernetes says of most of its pods, in its own words; `None` where it says nothing, or too many things
    pub message: Option<Arc<str>>,
    /// Of how many pods it says that
    pub message_pods: usize,
    /// Of how many pods it gives a reason
    pub told: usize,
    /// What it says of the next ones, and how many they are, where the message is of fewer than nine tenths of those that
    /// have a reason, and this is of a quarter
    pub next_message: Option<(Arc<str>, usize)>,
    /// How many faults its pods have, of which none is told
    pub untold_faults: usize,
    /// What autoscalers say of most of its pods that are unschedulable
    pub capacity: Option<FoundCapacity>,
    /// Of its pods, or of those with the message where there is one, those that have waited longest: at most
    /// [`MOST_NAMED`]
    pub oldest: Vec<FoundPod>,
}

impl FoundProblem {
    /// The problem of the pods with these ranks, of which there is at least one, those that have waited longest first.
    pub(super) fn new(
        identity: &ProblemIdentity,
        ranks: &[u32],
        (pods, texts): (&AffectedPods, &FaultTexts),
    ) -> Self {
        let cause = pods.get(ranks[0]).cause;
        let place = |rank: &u32| pods.get(*rank).place;
        let shared = identity.shared.clone();
        let others = identity.fault == StatedFault::Others;
        let quoted = texts.quoted(ranks, pods).filter(|_| !others);
        let is_named =
            |rank: &&u32| quoted.as_ref().is_none_or(|quoted| texts.has(**rank, quoted.number));
        let named = ranks.iter().filter(is_named).take(MOST_NAMED);
        let oldest = named.filter_map(|rank| pods.found.get(place(rank))).collect();
        let times: Vec<Timestamp> = ranks.iter().map(|rank| pods.get(*rank).since).collect();
        let (since, earlier) = since::since(&times);
        let places = ranks.iter().map(place);
        Self {
            message_pods: quoted.as_ref().map_or(0, |quoted| quoted.pods),
            told: quoted.as_ref().map_or(0, |quoted| quoted.told),
            next_message: quoted.as_ref().and_then(|quoted| quoted.next.clone()),
            message: quoted.map(|quoted| quoted.text),
            untold_faults: if others { texts.faults(ranks) } else { 0 },
            container: pods.container(ranks),
            fault: identity.fault.number(),
            earlier,
            oldest,
            ..Self::of_places((cause, shared), since, places, &pods.found)
        }
    }

    /// That of the pods at these places, those that have waited longest first, without words of Kubernetes.
    pub(super) fn of_places(
        (cause, shared): (Cause, SharedValue),
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
            fault: None,
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
            message_pods: 0,
            told: 0,
            next_message: None,
            untold_faults: 0,
            capacity: capacity::shared(unschedulable.map(|place| found.capacity(place))),
            shared,
            oldest: (places.take(MOST_NAMED)).filter_map(|place| found.get(place)).collect(),
        }
    }

    /// One of `cause` without pods, as a base of others.
    pub fn of_nothing(cause: Cause) -> Self {
        Self::of_places((cause, None), Timestamp::EPOCH, std::iter::empty(), &FoundPods::default())
    }

    /// How many pods each of its causes affects, most first: one cause, unless it is of several.
    pub fn causes(&self) -> Vec<(Cause, usize)> {
        match &self.kind {
            ProblemKind::SeveralCauses(causes) => {
                causes.iter().map(|one| (one.cause, one.pods)).collect()
            }
            _ => vec![(self.cause, self.pods)],
        }
    }

    /// Its dimension and value as texts, empty where it has none.
    pub fn shared_texts(&self) -> (&'static str, &str) {
        let texts = self.shared.as_ref();
        texts.map_or(("", ""), |(dimension, value)| (dimension.as_str(), value))
    }

    /// The worst comes first.
    pub(super) fn order(&self) -> impl Ord {
        let (_, value) = self.shared_texts();
        let message = self.message.as_deref();
        (std::cmp::Reverse(self.pods), self.since, self.cause.as_str(), value, message)
    }
}

/// How many different ones there are.
fn distinct<T: Ord>(all: impl Iterator<Item = T>) -> usize {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}
