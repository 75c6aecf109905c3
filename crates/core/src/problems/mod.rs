//! Problems ([§13](crate::specification#s13)): which pods in flight are affected by one cause, and the one
//! thing that they share, if there is one.
//!
//! ```text
//! records ─▶ affected pods ─▶ values, weighed against pods that start well ─▶ groups ─▶ problems
//! ```

mod affected;
mod grouping;
mod message;
mod others;
mod values;
mod weight;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use affected::{Affected, Verdict};
use others::Others;
pub use values::Dimension;

use crate::lifecycle::{Cause, Outcome, Record};
use crate::timestamp::Timestamp;

/// So many of the newest records are compared with.
pub const MOST_RECORDS: usize = 1_000;

/// So many pods of a problem are named, those that have waited longest.
pub const MOST_NAMED: usize = 3;

/// A set of pods in flight that one cause affects.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub cause: Cause,
    /// What its pods share, where they share one thing
    pub shared: Option<(Dimension, Arc<str>)>,
    /// How many pods it has
    pub pods: usize,
    /// How many of them count as stuck
    pub stuck: usize,
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
    /// Those of its pods that have waited longest, at most [`MOST_NAMED`]
    pub oldest: Vec<Record>,
}

/// What is broken, and which pods are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The problems, the worst first, each with its pods, those that have waited longest first
    pub problems: Vec<(Problem, Vec<Record>)>,
    /// The other pods in flight
    pub rest: Vec<Record>,
}

/// The problems among the pods in flight, the worst first, as of `now`.
///
/// `newest` are the newest records of startups that have ended, of which at most [`MOST_RECORDS`] count, the
/// last ones.
pub fn problems(in_flight: Vec<Record>, newest: &[Record], now: Timestamp) -> Vec<Problem> {
    let found = find(in_flight, newest, now).problems.into_iter();
    found.map(|(problem, _)| problem).collect()
}

/// Those problems and their pods.
pub fn find(in_flight: Vec<Record>, newest: &[Record], now: Timestamp) -> Found {
    let newest = &newest[newest.len().saturating_sub(MOST_RECORDS)..];
    let is_ready = |record: &&Record| record.outcome() == Some(Outcome::Ready);
    let ready: Vec<&Record> = newest.iter().filter(is_ready).collect();
    let limits = affected::Limits::of(&ready);
    let (mut pods, mut others, mut rest) = (Vec::new(), Others::default(), Vec::new());
    for record in in_flight {
        match affected::verdict(record, &limits, now) {
            Verdict::Affected(pod) => pods.push(*pod),
            Verdict::StartsWell(record) => {
                others.add(&record);
                rest.push(*record);
            }
            Verdict::Ignored(record) => rest.push(*record),
        }
    }
    for record in ready {
        others.add_ready(record);
    }
    pods.sort_by(|one, other| one.order().cmp(&other.order()));
    affected::forget_too_many(&mut pods);
    let mut by_cause: BTreeMap<&'static str, Vec<Affected>> = BTreeMap::new();
    for pod in pods {
        by_cause.entry(pod.cause.as_str()).or_default().push(pod);
    }
    let groups = by_cause
        .into_values()
        .flat_map(|pods| grouping::groups(pods, &others));
    let mut problems: Vec<(Problem, Vec<Record>)> = groups
        .map(|(shared, pods)| {
            let problem = Problem::of(shared, &pods);
            (problem, pods.into_iter().map(|pod| pod.record).collect())
        })
        .collect();
    problems.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
    Found { problems, rest }
}

impl Problem {
    /// The problem of these pods, of which there is at least one, those that have waited longest first.
    fn of(shared: Option<(Dimension, Arc<str>)>, pods: &[Affected]) -> Self {
        let count = |dimension: Dimension| {
            let values = pods.iter().filter_map(|pod| pod.values.get(dimension));
            values.collect::<BTreeSet<_>>().len()
        };
        let namespaces: BTreeSet<&str> =
            pods.iter().map(|pod| &*pod.record.pod.namespace).collect();
        Self {
            cause: pods[0].cause,
            pods: pods.len(),
            stuck: pods.iter().filter(|pod| pod.is_stuck()).count(),
            since: pods[0].since,
            nodes: count(Dimension::Node),
            workloads: count(Dimension::Workload),
            namespaces: namespaces.len(),
            message: message::most_frequent(pods),
            shared,
            oldest: (pods.iter().take(MOST_NAMED))
                .map(|pod| pod.record.clone())
                .collect(),
        }
    }

    /// Its dimension and value as texts, empty where it has none.
    pub fn shared_texts(&self) -> (&'static str, &str) {
        let texts = self.shared.as_ref();
        texts.map_or(("", ""), |(dimension, value)| (dimension.as_str(), value))
    }

    fn order(&self) -> (std::cmp::Reverse<usize>, Timestamp, &'static str, &str) {
        let (_, value) = self.shared_texts();
        (
            std::cmp::Reverse(self.pods),
            self.since,
            self.cause.as_str(),
            value,
        )
    }
}

#[cfg(test)]
mod tests;
