//! One finding: pods are added one by one, so that nobody has to hold the records of all of them.

use std::collections::{BTreeMap, HashSet};

use super::affected::{self, Affected, Limits, Place, Verdict};
use super::background::Background;
use super::ended;
use super::found_pod::FoundPod;
use super::grouping;
use super::others::Others;
use super::over_time::{Ended, OverTime};
use super::problem::Problem;
use super::values::Names;
use crate::lifecycle::{Outcome, Progress, Record};
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// So many of the newest records count that were neither rejected nor failed, and so many of those that were: a loop of
/// failures must not push out what starts well.
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
    /// Those that were rejected or failed lately
    failed: Vec<Affected>,
    rest: Vec<FoundPod>,
    /// A pod that moves while pods are listed may be listed twice
    known: HashSet<PodUid>,
    names: Names,
}

impl Finding {
    /// Begins to find the problems as of `now`. `newest` are the newest records of startups that have ended; of those
    /// that were rejected or failed the last [`MOST_RECORDS`] count, and of the others too.
    pub fn new(newest: &[Record], now: Timestamp) -> Self {
        let has_failed = |record: &&Record| record.outcome().is_some_and(Outcome::is_failure);
        let (failed, others): (Vec<&Record>, Vec<&Record>) = newest.iter().partition(has_failed);
        let last = |all: &[&Record]| all.len().saturating_sub(MOST_RECORDS);
        let (failed, newest) = (&failed[last(&failed)..], &others[last(&others)..]);
        let is_ready = |record: &&&Record| record.outcome() == Some(Outcome::Ready);
        let ready: Vec<&Record> = newest.iter().filter(is_ready).copied().collect();
        let mut finding = Self {
            now,
            limits: Limits::of(&ready),
            others: Others::default(),
            affected: Vec::new(),
            failed: Vec::new(),
            rest: Vec::new(),
            known: HashSet::new(),
            names: Names::default(),
        };
        newest.iter().for_each(|record| finding.compare(record));
        failed.iter().for_each(|record| finding.add(record));
        finding
    }

    /// Takes in a startup that was neither rejected nor failed: it started well, unless the pod crashes again.
    fn compare(&mut self, record: &Record) {
        let Progress::Ended { outcome, at, .. } = record.progress else {
            return;
        };
        let names = &mut self.names;
        match outcome {
            Outcome::Ready => match ended::relapsed(record, self.now, names) {
                Some(pod) if self.known.insert(record.uid) => self.affected.push(pod),
                Some(_) => {}
                None => self.others.add_ready(record, names),
            },
            Outcome::Completed => self.others.add_completed(record, at, names),
            _ => {}
        }
    }

    /// Adds the pod that `record` is of, which is in flight, was rejected or failed, or crashes after it was ready. Does
    /// nothing with a pod that was added before, or with any other startup that has ended.
    pub fn add(&mut self, record: &Record) {
        let (waiting, entered) = match record.progress {
            Progress::InFlight {
                waiting, entered, ..
            } => (waiting, entered),
            Progress::Ended { .. } => return self.add_ended(record),
        };
        if !self.known.insert(record.uid) {
            return;
        }
        let (pod, place) = (FoundPod::of(record), Place { waiting, entered });
        match affected::verdict(record, place, &self.limits, self.now) {
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

    fn add_ended(&mut self, record: &Record) {
        if let Some(pod) = ended::failed(record, self.now, &mut self.names) {
            if self.known.insert(record.uid) {
                self.failed.push(pod);
            }
        } else if let Some(pod) = ended::relapsed(record, self.now, &mut self.names)
            && self.known.insert(record.uid)
        {
            self.affected.push(pod);
        }
    }

    /// The problems, by what was stated before, which this changes.
    pub fn finish(mut self, over_time: &mut OverTime) -> Found {
        self.affected.extend(ended::repeated(self.failed));
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
