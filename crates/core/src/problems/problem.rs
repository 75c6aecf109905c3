//! What a problem states ([§13.6](crate::specification#s13-6)).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::affected::Affected;
use super::capacity::{self, FoundCapacity};
use super::found_pod::FoundPod;
use super::message;
use super::values::{Dimension, Shared};
use crate::lifecycle::{Cause, Outcome, Stage};
use crate::timestamp::Timestamp;

/// What makes a problem the same as an earlier one ([§13.7](crate::specification#s13-7)).
pub(super) type Key = (Cause, Shared);

/// So many pods of a problem are named, those that have waited longest.
pub const MOST_NAMED: usize = 3;

/// A set of pods that one cause affects.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
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
    /// The earliest time at which one of its pods first had the cause in its present stage
    pub since: Timestamp,
    /// On how many nodes its pods are
    pub nodes: usize,
    /// Of how many workloads its pods are
    pub workloads: usize,
    /// In how many namespaces its pods are
    pub namespaces: usize,
    /// What Kubernetes says of most of its pods, in its own words
    pub message: Option<Arc<str>>,
    /// What autoscalers say of most of its pods that are unschedulable
    pub capacity: Option<FoundCapacity>,
    /// Those of its pods that have waited longest, at most [`MOST_NAMED`]
    pub oldest: Vec<FoundPod>,
}

impl Problem {
    /// The problem of these pods, of which there is at least one, those that have waited longest first.
    pub(super) fn of(shared: Shared, pods: &[Affected]) -> Self {
        let count = |dimension: Dimension| {
            let values = pods.iter().filter_map(|pod| pod.values.get(dimension));
            values.collect::<BTreeSet<_>>().len()
        };
        let unschedulable = pods.iter().map(|pod| &pod.pod);
        let unschedulable = unschedulable
            .filter(|pod| (pod.waiting()).is_some_and(|one| one.stage() == Stage::Unschedulable))
            .map(|pod| pod.capacity.as_ref());
        let having = |has: fn(&FoundPod) -> bool| pods.iter().filter(|pod| has(&pod.pod)).count();
        let namespaces: BTreeSet<&str> = pods.iter().map(|pod| &*pod.pod.namespace).collect();
        Self {
            cause: pods[0].cause,
            pods: pods.len(),
            stuck: having(FoundPod::is_stuck),
            failed: having(FoundPod::has_failed),
            relapsed: having(|pod| pod.outcome() == Some(Outcome::Ready)),
            since: pods[0].since,
            nodes: count(Dimension::Node),
            workloads: count(Dimension::Workload),
            namespaces: namespaces.len(),
            message: message::most_frequent(pods),
            capacity: capacity::shared(unschedulable),
            shared,
            oldest: (pods.iter().take(MOST_NAMED))
                .map(|pod| pod.pod.clone())
                .collect(),
        }
    }

    /// Its dimension and value as texts, empty where it has none.
    pub fn shared_texts(&self) -> (&'static str, &str) {
        let texts = self.shared.as_ref();
        texts.map_or(("", ""), |(dimension, value)| (dimension.as_str(), value))
    }

    /// The worst comes first.
    pub(super) fn order(&self) -> (std::cmp::Reverse<usize>, Timestamp, &'static str, &str) {
        let (_, value) = self.shared_texts();
        (
            std::cmp::Reverse(self.pods),
            self.since,
            self.cause.as_str(),
            value,
        )
    }

    /// What makes it the same as an earlier one.
    pub(super) fn key(&self) -> Key {
        (self.cause, self.shared.clone())
    }
}
