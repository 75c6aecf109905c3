//! One finding: pods are added one by one, so that nobody has to hold the records of all of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::affected::{self, AffectedPod, InFlightPlace, PodCause, PodVerdict, StageLimits};
use super::affected_pods::AddedPods;
use super::background::ProblemBackground;
use super::clocks::ClockProblems;
use super::ended;
use super::found_pods::FoundPods;
use super::grouping;
use super::late_nodes::LateNodes;
use super::others::UnaffectedPods;
use super::over_time::{EndedProblem, OverTime};
use super::parts::{self, FoundParts, PartNumber, PartOfPlaces};
use super::problem::FoundProblem;
use super::texts::FaultTexts;
use podinit_core::lifecycle::{NodeFaults, Outcome, Progress, Record};
use podinit_core::timestamp::Timestamp;

/// So many of the newest records count that were neither rejected nor failed, and so many of those that were: a loop of
/// failures must not push out what starts well.
pub const MOST_RECORDS: usize = 1_000;

/// A finding that began longer ago says nothing of the present ([§13.8](crate::specification#s13-8)).
pub const FINDING_LASTS: Duration = Duration::from_secs(15);

/// What is broken, and which pods are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindingResult {
    /// All pods in flight and those of problems
    pub pods: Arc<FoundPods>,
    /// The problems, what is new first and then the worst, each with the places of its pods, those that have waited
    /// longest first
    pub problems: Vec<(FoundProblem, Vec<u32>)>,
    /// The places of the other pods in flight
    pub rest: Vec<u32>,
    /// The problems that have ended lately, the newest first
    pub ended: Vec<EndedProblem>,
    /// Of how many affected pods a value was not looked at ([§13.8](crate::specification#s13-8))
    pub incomplete: usize,
    /// What the pods of each part have
    pub parts: FoundParts,
}

/// The problems of one instant, while pods are added.
#[derive(Debug)]
pub struct ProblemFinding {
    now: Timestamp,
    limits: StageLimits,
    others: UnaffectedPods,
    added: AddedPods,
    /// Those that were rejected or failed lately
    failed: Vec<AffectedPod>,
    rest: Vec<u32>,
    clocks: ClockProblems,
    late_nodes: LateNodes,
    parts: PartOfPlaces,
}

impl ProblemFinding {
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
            limits: StageLimits::from_ready(&ready),
            others: UnaffectedPods::default(),
            added: AddedPods::default(),
            failed: Vec::new(),
            rest: Vec::new(),
            clocks: ClockProblems::default(),
            late_nodes: LateNodes::default(),
            parts: PartOfPlaces::new(),
        };
        newest.iter().for_each(|record| finding.compare(record));
        failed.iter().for_each(|record| finding.add(record));
        finding
    }

    /// The same where this is wrong with nodes. To be called before pods are added.
    #[must_use]
    pub fn with_faults(self, faults: &NodeFaults) -> Self {
        let NodeFaults { clocks, late } = faults;
        Self { clocks: ClockProblems::new(clocks), late_nodes: LateNodes::new(late), ..self }
    }

    /// The same with what earlier findings knew of gates. To be called before pods are added.
    #[must_use]
    pub fn after(mut self, over_time: &OverTime) -> Self {
        self.limits.learn_gates(over_time.gates());
        self
    }

    /// Takes in a startup that was neither rejected nor failed: it started well, unless the pod crashes again.
    fn compare(&mut self, record: &Record) {
        let Progress::Ended { outcome, at, .. } = record.progress else {
            return;
        };
        match outcome {
            Outcome::Ready => match ended::relapsed(record, self.now) {
                Some(had) => self.add_affected(record, had),
                None => self.others.add_ready(record),
            },
            Outcome::Completed => self.others.add_completed(record, at),
            _ => {}
        }
    }

    /// Adds the pod that `record` is of, which is in flight, was rejected or failed, or crashes after it was ready. Does
    /// nothing with a pod that was added before, or with any other startup that has ended.
    pub fn add(&mut self, record: &Record) {
        let (waiting, entered) = match record.progress {
            Progress::InFlight { waiting, entered, .. } => (waiting, entered),
            Progress::Ended { .. } => return self.add_ended(record),
        };
        // A pod that moves while pods are listed may be listed twice.
        let Some(place) = self.added.found.add(record) else {
            return;
        };
        self.clocks.add(place, &self.added.found);
        match affected::verdict(record, InFlightPlace { waiting, entered }, &self.limits, self.now)
        {
            PodVerdict::Affected(had)
                if self.late_nodes.take(place, record, had.cause, had.since) => {}
            PodVerdict::Affected(had) => {
                let pod = self.added.affected(place, had, record);
                self.added.push(pod);
            }
            PodVerdict::StartsWell => {
                self.others.add(record);
                self.rest.push(place);
            }
            PodVerdict::Ignored => self.rest.push(place),
        }
    }

    /// Adds the pod in flight that `record` is of, as [`ProblemFinding::add`], as one of a part.
    pub fn add_of_part(&mut self, record: &Record, part: PartNumber) {
        self.add(record);
        if let Some(place) = self.added.found.place(record.uid) {
            self.parts.insert(place, part);
        }
    }

    fn add_ended(&mut self, record: &Record) {
        if let Some(had) = ended::failed(record, self.now) {
            if let Some(place) = self.added.found.add(record) {
                let pod = self.added.affected(place, had, record);
                self.failed.push(pod);
            }
        } else if let Some(had) = ended::relapsed(record, self.now) {
            self.add_affected(record, had);
        }
    }

    fn add_affected(&mut self, record: &Record, had: PodCause) {
        if let Some(place) = self.added.found.add(record) {
            let pod = self.added.affected(place, had, record);
            self.added.push(pod);
        }
    }

    /// The problems, by what was stated before, which this changes.
    pub fn finish(self, over_time: &mut OverTime) -> FindingResult {
        let (mut added, mut rest) = (self.added, self.rest);
        rest.shrink_to_fit();
        for pod in ended::repeated(self.failed, &added.found) {
            added.push(pod);
        }
        let pods = added.finish(self.now);
        let background = ProblemBackground::new(&self.others, &pods.looked_at);
        drop(self.others);
        let mut by_cause: BTreeMap<&'static str, Vec<u32>> = BTreeMap::new();
        for rank in pods.ranks() {
            let cause = pods.get(rank).cause.as_str();
            by_cause.entry(cause).or_default().push(rank);
        }
        let mut texts = FaultTexts::new(by_cause.values(), &pods);
        let mut groups = Vec::new();
        for ranks in by_cause.into_values() {
            groups.extend(grouping::groups(ranks, &pods, &mut texts, &background, self.now));
        }
        let as_is = self.clocks.into_problems(&pods.found, self.now);
        let as_is = as_is.chain(self.late_nodes.into_problems(&pods.found, self.now));
        let problems = over_time.state(groups, as_is, (&pods, &texts), self.now);
        let parts = parts::found(&self.parts, (&pods, &texts), &problems);
        drop(texts);
        drop(background);
        let incomplete = pods.looked_at.incomplete();
        let pods = pods.into_found();
        over_time.remember(&pods);
        over_time.remember_gates(self.limits.gates());
        FindingResult { problems, pods, rest, ended: over_time.ended(), incomplete, parts }
    }
}
