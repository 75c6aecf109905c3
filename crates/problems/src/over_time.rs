//! Problems over time ([§13.7](crate::specification#s13-7)): what is stated changes only when the same other
//! result stands, and problems that have ended are kept for a while.
//!
//! ```text
//! found groups ─▶ what each pod's set is stated to share ─▶ stated groups ─▶ problems, ended ones
//!                            ▲ before, by pod ─┘
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::affected::{AffectedPod, GatePercentiles, is_old};
use super::affected_pods::AffectedPods;
use super::blocks::NONE;
use super::found_pods::FoundPods;
use super::grouping::{self, RankedGroup};
use super::problem::{FoundProblem, ProblemKey};
use super::several_causes;
use super::texts::FaultTexts;
use super::values::{MOST_VALUES, ProblemIdentity, StatedFault};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;

/// Another result is stated once it has been found for so long.
const STANDS_AFTER: Duration = Duration::from_secs(30);

/// A problem that has ended is kept for so long.
pub(super) const ENDED_LASTS: Duration = Duration::from_secs(600);

/// So many problems that have ended are kept, the newest.
pub const MOST_ENDED: usize = 100;

/// A problem that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedProblem {
    /// As it was stated last
    pub problem: FoundProblem,
    /// When it was found to have no pod
    pub at: Timestamp,
}

/// What was stated before. It has the pods that were affected at the last finding, and no others.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    /// The pods of the last finding, which its readers have too
    pods: Arc<FoundPods>,
    /// By place, what each of them is stated to share: the number of it
    stated_of: Vec<u32>,
    /// What is stated, each once
    stated: Vec<StatedValues>,
    /// The problems, as they were stated last
    lasting: HashMap<ProblemKey, FoundProblem>,
    /// The newest first
    ended: VecDeque<(ProblemKey, EndedProblem)>,
    /// How long gates took when enough records said so the last time
    gates: GatePercentiles,
}

/// What a pod is stated to share with others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StatedValues {
    cause: Cause,
    identity: ProblemIdentity,
    /// Another result, and since when it has been found
    other: Option<(ProblemIdentity, Timestamp)>,
}

impl StatedValues {
    fn new(cause: Cause, identity: &ProblemIdentity) -> Self {
        Self { cause, identity: identity.clone(), other: None }
    }

    fn key(&self) -> ProblemKey {
        (self.cause, self.identity.clone())
    }

    /// The same after `found` was found at `now`.
    fn after(mut self, found: &ProblemIdentity, now: Timestamp) -> Self {
        if self.identity == *found {
            self.other = None;
            return self;
        }
        // A clock that was set back begins anew.
        let same = self.other.filter(|(other, _)| other == found);
        let since = same.map_or(now, |(_, since)| since.min(now));
        if since.plus(STANDS_AFTER) <= now {
            return Self::new(self.cause, found);
        }
        self.other = Some((found.clone(), since));
        self
    }
}

/// What is stated, each once, while it is found.
#[derive(Default)]
struct StatementCollector {
    all: Vec<StatedValues>,
    numbers: HashMap<StatedValues, u32>,
}

impl StatementCollector {
    fn number(&mut self, stated: StatedValues) -> u32 {
        if let Some(number) = self.numbers.get(&stated) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(stated.clone());
        self.numbers.insert(stated, number);
        number
    }
}

/// What may be stated of a pod that is found anew.
struct StatableValues {
    /// The number of it
    stated: u32,
    shared: SharedNumber,
    fault: StatedFault,
    /// It is what was found
    is_found: bool,
}

/// A problem that is stated as it is found.
#[derive(Debug)]
pub(super) struct StatedAsIs {
    /// It stands still ([§13.5](crate::specification#s13-5))
    pub is_still: bool,
    pub problem: FoundProblem,
    /// The places of its pods, those that have waited longest first
    pub places: Vec<u32>,
}

/// A problem of affected pods, with their ranks: those that have waited longest first.
#[derive(Debug)]
pub(super) struct RankedProblem {
    /// It stands still ([§13.5](crate::specification#s13-5))
    pub is_still: bool,
    pub problem: FoundProblem,
    pub ranks: Vec<u32>,
}

/// What is shared, by number; no number where no pod has it that is looked at.
type SharedNumber = Option<(Dimension, Option<u16>)>;

impl StatableValues {
    /// Whether a pod may be stated with it.
    fn suits(&self, rank: u32, pods: &AffectedPods, texts: &FaultTexts) -> bool {
        let has = |(dimension, value): (Dimension, Option<u16>)| {
            value.is_some() && pods.get(rank).values.get(dimension) == value
        };
        let has_fault = match self.fault {
            StatedFault::Any => true,
            StatedFault::Of(kind) => texts.kind(rank) == Some(kind),
            StatedFault::Others => false,
        };
        self.is_found || self.shared.is_none_or(has) && has_fault
    }
}

impl OverTime {
    /// The problems to state at `now`, what is new first and then the worst, where `groups` of `pods` were found, each
    /// with the places of its pods. The problems `as_is` are stated as they are: what their pods share is certain.
    pub(super) fn state(
        &mut self,
        groups: Vec<RankedGroup>,
        as_is: impl Iterator<Item = StatedAsIs>,
        (pods, texts): (&AffectedPods, &FaultTexts),
        now: Timestamp,
    ) -> Vec<(FoundProblem, Vec<u32>)> {
        let mut stating = StatementCollector::default();
        let mut stated_of = vec![NONE; pods.found.len()];
        let mut renamed = HashSet::new();
        let mut stated: BTreeMap<(&'static str, ProblemIdentity), Vec<u32>> = BTreeMap::new();
        for (found, ranks) in groups {
            let sets = self.sets_of(&ranks, &found, pods);
            // What follows for the pods of the group, by what was stated before.
            let mut following: HashMap<Option<u32>, (u32, bool, Vec<u32>)> = HashMap::new();
            for rank in ranks {
                let pod = pods.get(rank);
                let known = self.known(pod, pods);
                let joined = || {
                    let mut sets = sets.iter();
                    sets.find(|set| set.suits(rank, pods, texts)).map(|set| set.stated)
                };
                let before = known.or_else(joined);
                let (after, is_renamed, members) = following.entry(before).or_insert_with(|| {
                    let anew = || StatedValues::new(pod.cause, &found);
                    let before =
                        before.map_or_else(anew, |before| self.stated[before as usize].clone());
                    let after = before.clone().after(&found, now);
                    let is_renamed = after.identity != before.identity;
                    (stating.number(after), is_renamed, Vec::new())
                });
                if *is_renamed && let Some(known) = known {
                    renamed.insert(self.stated[known as usize].key());
                }
                stated_of[pod.place as usize] = *after;
                members.push(rank);
            }
            for (after, _, members) in following.into_values() {
                let after = &stating.all[after as usize];
                let set = (after.cause.as_str(), after.identity.clone());
                stated.entry(set).or_default().extend(members);
            }
        }
        let as_is: Vec<StatedAsIs> = as_is.collect();
        for one in as_is.iter().filter(|one| one.problem.kind.holds_pods()) {
            // They are in another problem now: the one before has not ended.
            let before = one.places.iter().filter_map(|place| self.stated_before(*place, pods));
            renamed.extend(before.map(|stated| self.stated[stated as usize].key()));
        }
        self.stated_of = stated_of;
        self.stated = stating.all;
        let mut lasting = HashMap::new();
        let problems = stated.into_iter().map(|((_, identity), mut ranks)| {
            ranks.sort_unstable();
            let old = ranks.partition_point(|rank| is_old(pods.get(*rank).since, now));
            let is_still = ranks.len() == 1 || grouping::stands_still(old, ranks.len() - old);
            let problem = FoundProblem::new(&identity, &ranks, (pods, texts));
            let key = (problem.cause, identity);
            let problem = self.lasting(&key, problem);
            lasting.insert(key, problem.clone());
            RankedProblem { is_still, problem, ranks }
        });
        let problems: Vec<RankedProblem> = problems.collect();
        let problems = several_causes::joined(problems, pods).into_iter();
        let places = |ranks: Vec<u32>| ranks.into_iter().map(|rank| pods.get(rank).place).collect();
        let problems = problems.map(|one| (one.is_still, one.problem, places(one.ranks)));
        let mut problems: Vec<(bool, FoundProblem, Vec<u32>)> = problems.collect();
        for StatedAsIs { is_still, problem, places } in as_is {
            let fault = StatedFault::Any;
            let key = (problem.cause, ProblemIdentity { shared: problem.shared.clone(), fault });
            let problem = self.lasting(&key, problem);
            lasting.insert(key, problem.clone());
            problems.push((is_still, problem, places));
        }
        problems.sort_by(|(is_still, one, _), (other_is_still, other, _)| {
            let still = is_still.cmp(other_is_still);
            still.then_with(|| one.order().cmp(&other.order()))
        });
        self.end(lasting, &renamed, now);
        problems.into_iter().map(|(_, problem, places)| (problem, places)).collect()
    }

    /// Those are the pods that were stated last.
    pub(super) fn remember(&mut self, pods: &Arc<FoundPods>) {
        self.pods = Arc::clone(pods);
    }

    /// Those are the times that gates took, as far as there is room for them. What is not among them stays: while a gate
    /// holds all of its pods, the records of those that passed it grow old.
    pub(super) fn remember_gates(&mut self, gates: &GatePercentiles) {
        for (gate, p90) in gates {
            if self.gates.len() < MOST_VALUES || self.gates.contains_key(gate) {
                self.gates.insert(Arc::clone(gate), *p90);
            }
        }
    }

    /// How long gates took.
    pub(super) const fn gates(&self) -> &GatePercentiles {
        &self.gates
    }

    /// The problems that have ended lately, the newest first, of one finding the worst first.
    pub(super) fn ended(&self) -> Vec<EndedProblem> {
        self.ended.iter().map(|(_, ended)| ended.clone()).collect()
    }

    /// What the pod was stated with by the same cause: the number of it.
    fn known(&self, pod: &AffectedPod, pods: &AffectedPods) -> Option<u32> {
        let stated = self.stated_before(pod.place, pods)?;
        (self.stated[stated as usize].cause == pod.cause).then_some(stated)
    }

    /// What the pod at `place` was stated with by any cause: the number of it.
    fn stated_before(&self, place: u32, pods: &AffectedPods) -> Option<u32> {
        let before = self.pods.place(pods.found.uid(place)?)?;
        let stated = *self.stated_of.get(before as usize)?;
        self.stated.get(stated as usize).map(|_| stated)
    }

    /// What the pods that are known were stated with, that of most pods first; on a tie that of the pod that
    /// has waited longest. They are found with `found` now.
    fn sets_of(
        &self,
        ranks: &[u32],
        found: &ProblemIdentity,
        pods: &AffectedPods,
    ) -> Vec<StatableValues> {
        let mut counts: HashMap<u32, (usize, u32)> = HashMap::new();
        for rank in ranks {
            if let Some(known) = self.known(pods.get(*rank), pods) {
                counts.entry(known).or_insert((0, *rank)).0 += 1;
            }
        }
        let mut sets: Vec<_> = counts.into_iter().collect();
        sets.sort_unstable_by_key(|(_, (count, first))| (Reverse(*count), *first));
        let set = |(stated, _)| {
            let ProblemIdentity { shared, fault } = &self.stated[stated as usize].identity;
            let number = |(dimension, value): &(Dimension, Arc<str>)| {
                (*dimension, pods.looked_at.number(*dimension, value))
            };
            StatableValues {
                stated,
                shared: shared.as_ref().map(number),
                fault: *fault,
                is_found: *shared == found.shared && *fault == found.fault,
            }
        };
        sets.into_iter().map(set).collect()
    }

    /// The problem with the earliest time since it lasts, unless a few of its pods are known to be earlier than it.
    fn lasting(&self, key: &ProblemKey, mut problem: FoundProblem) -> FoundProblem {
        if problem.earlier.is_none()
            && let Some(before) = self.lasting.get(key)
        {
            problem.since = problem.since.min(before.since);
        }
        problem
    }

    /// Takes those that are not stated any longer for ended, but for those that only have another name.
    fn end(
        &mut self,
        stated: HashMap<ProblemKey, FoundProblem>,
        renamed: &HashSet<ProblemKey>,
        now: Timestamp,
    ) {
        let before = std::mem::replace(&mut self.lasting, stated);
        self.ended.retain(|(key, _)| !self.lasting.contains_key(key));
        let gone = before.into_iter();
        let gone =
            gone.filter(|(key, _)| !self.lasting.contains_key(key) && !renamed.contains(key));
        let mut gone: Vec<(ProblemKey, FoundProblem)> = gone.collect();
        gone.sort_by(|(_, one), (_, other)| other.order().cmp(&one.order()));
        for (key, problem) in gone {
            self.ended.push_front((key, EndedProblem { problem, at: now }));
        }
        for (_, ended) in &mut self.ended {
            ended.at = ended.at.min(now);
        }
        self.ended.retain(|(_, ended)| ended.at.plus(ENDED_LASTS) > now);
        self.ended.truncate(MOST_ENDED);
    }
}

#[cfg(test)]
#[path = "over_time_tests.rs"]
mod tests;
