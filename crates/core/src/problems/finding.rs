//! One finding: pods are added one by one, so that nobody has to hold the records of all of them.

use std::collections::{BTreeMap, HashSet};

use super::affected::{self, Affected, Limits, Verdict};
use super::background::Background;
use super::found_pod::FoundPod;
use super::grouping;
use super::others::Others;
use super::over_time::{Ended, OverTime};
use super::problem::Problem;
use super::values::Names;
use crate::lifecycle::{Outcome, Record};
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// So many of the newest records are compared with.
pub const MOST_RECORDS: usize = 1_000;

/// What is broken, and which pods are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The problems, the worst first, each with its pods, those that have waited longest first
    pub problems: Vec<(Problem, Vec<FoundPod>)>,
    /// The other pods in flight
    pub rest: Vec<FoundPod>,
    /// The problems that have ended lately, the newest first
    pub ended: Vec<Ended>,
}

/// The problems of one instant, while pods are added.
#[derive(Debug)]
pub struct Finding {
    now: Timestamp,
    limits: Limits,
    others: Others,
    affected: Vec<Affected>,
    rest: Vec<FoundPod>,
    /// A pod that moves while pods are listed may be listed twice
    known: HashSet<PodUid>,
    names: Names,
}

impl Finding {
    /// Begins to find the problems as of `now`. `newest` are the newest records of startups that have ended, of
    /// which at most [`MOST_RECORDS`] count, the last ones.
    pub fn new(newest: &[Record], now: Timestamp) -> Self {
        let newest = &newest[newest.len().saturating_sub(MOST_RECORDS)..];
        let is_ready = |record: &&Record| record.outcome() == Some(Outcome::Ready);
        let ready: Vec<&Record> = newest.iter().filter(is_ready).collect();
        let (mut others, mut names) = (Others::default(), Names::default());
        for record in &ready {
            others.add_ready(record, &mut names);
        }
        Self {
            now,
            limits: Limits::of(&ready),
            others,
            affected: Vec::new(),
            rest: Vec::new(),
            known: HashSet::new(),
            names,
        }
    }

    /// Adds the pod in flight that `record` is of. Does nothing with a pod that was added before, or a startup
    /// that has ended.
    pub fn add(&mut self, record: &Record) {
        let Some(pod) = FoundPod::of(record) else {
            return;
        };
        if !self.known.insert(pod.uid) {
            return;
        }
        match affected::verdict(record, &pod, &self.limits, self.now) {
            Verdict::Affected(had) => {
                self.affected.push(had.by(pod, record, &mut self.names));
            }
            Verdict::StartsWell => {
                self.others.add(record, &mut self.names);
                self.rest.push(pod);
            }
            Verdict::Ignored => self.rest.push(pod),
        }
    }

    /// The problems, by what was stated before, which this changes.
    pub fn finish(mut self, over_time: &mut OverTime) -> Found {
        self.affected
            .sort_by(|one, other| one.order().cmp(&other.order()));
        affected::forget_too_many(&mut self.affected);
        let looked_at = self.affected.iter().map(|pod| &pod.values);
        let background = Background::new(&self.others, looked_at);
        let mut by_cause: BTreeMap<&'static str, Vec<Affected>> = BTreeMap::new();
        for pod in self.affected {
            by_cause.entry(pod.cause.as_str()).or_default().push(pod);
        }
        let groups = by_cause
            .into_values()
            .flat_map(|pods| grouping::groups(pods, &background));
        Found {
            problems: over_time.state(groups, self.now),
            rest: self.rest,
            ended: over_time.ended(),
        }
    }
}
