//! Problems over time ([§13.7](crate::specification#s13-7)): what is stated changes only when the same other
//! result stands, and problems that have ended are kept for a while.
//!
//! ```text
//! found groups ─▶ what each pod's set is stated to share ─▶ stated groups ─▶ problems, ended ones
//!                            ▲ before, by pod ─┘
//! ```

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use super::affected::Affected;
use super::found_pod::FoundPod;
use super::grouping::Group;
use super::problem::{Key, Problem};
use super::values::Shared;
use crate::lifecycle::Cause;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// Another result is stated once it has been found for so long.
const STANDS_AFTER: Duration = Duration::from_secs(30);

/// A problem that has ended is kept for so long.
pub const ENDED_LASTS: Duration = Duration::from_secs(600);

/// So many problems that have ended are kept, the newest.
pub const MOST_ENDED: usize = 100;

/// A problem that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// As it was stated last
    pub problem: Problem,
    /// When it was found to have no pod
    pub at: Timestamp,
}

/// What was stated before. It has the pods that were affected at the last finding, and no others.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    pods: HashMap<PodUid, Stated>,
    /// The problems, as they were stated last
    lasting: HashMap<Key, Problem>,
    /// The newest first
    ended: VecDeque<Ended>,
}

/// What a pod is stated to share with others.
#[derive(Clone, Debug, PartialEq)]
struct Stated {
    cause: Cause,
    shared: Shared,
    /// Another result, and since when it has been found
    other: Option<(Shared, Timestamp)>,
}

impl Stated {
    fn new(cause: Cause, shared: &Shared) -> Self {
        Self {
            cause,
            shared: shared.clone(),
            other: None,
        }
    }

    fn key(&self) -> Key {
        (self.cause, self.shared.clone())
    }

    /// Whether a pod of the set `found` may be stated with it.
    fn suits(&self, pod: &Affected, found: &Shared) -> bool {
        let has = |(dimension, value): &(_, _)| pod.values.get(*dimension) == Some(value);
        self.shared.as_ref().is_none_or(has) || self.shared == *found
    }

    /// The same after `found` was found at `now`.
    fn after(mut self, found: &Shared, now: Timestamp) -> Self {
        if self.shared == *found {
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

impl OverTime {
    /// The problems to state at `now`, the worst first, where `groups` were found.
    pub(super) fn state(
        &mut self,
        groups: impl Iterator<Item = Group>,
        now: Timestamp,
    ) -> Vec<(Problem, Vec<FoundPod>)> {
        let mut pods = HashMap::new();
        let mut renamed = HashSet::new();
        let mut stated: BTreeMap<(&'static str, Shared), Vec<Affected>> = BTreeMap::new();
        for (found, members) in groups {
            let sets = self.sets_of(&members);
            for pod in members {
                let known = self.known(&pod);
                let joined = || sets.iter().find(|set| set.suits(&pod, &found)).copied();
                let before = known.or_else(joined);
                let before = before.map_or_else(|| Stated::new(pod.cause, &found), Stated::clone);
                let after = before.clone().after(&found, now);
                if known.is_some() && after.shared != before.shared {
                    renamed.insert(before.key());
                }
                let group = stated.entry((pod.cause.as_str(), after.shared.clone()));
                pods.insert(pod.pod.uid, after);
                group.or_default().push(pod);
            }
        }
        self.pods = pods;
        let mut problems: Vec<_> = stated
            .into_iter()
            .map(|((_, shared), mut pods)| {
                pods.sort_by(|one, other| one.order().cmp(&other.order()));
                let problem = self.lasting(Problem::of(shared, &pods));
                (problem, pods.into_iter().map(|pod| pod.pod).collect())
            })
            .collect();
        problems.sort_by(|(one, _), (other, _): &(Problem, Vec<FoundPod>)| {
            one.order().cmp(&other.order())
        });
        self.end(problems.iter().map(|(problem, _)| problem), &renamed, now);
        problems
    }

    /// The problems that have ended lately, the newest first, of one finding the worst first.
    pub(super) fn ended(&self) -> Vec<Ended> {
        self.ended.iter().cloned().collect()
    }

    /// What the pod was stated with by the same cause.
    fn known(&self, pod: &Affected) -> Option<&Stated> {
        let known = self.pods.get(&pod.pod.uid);
        known.filter(|known| known.cause == pod.cause)
    }

    /// What the pods that are known were stated with, that of most pods first; on a tie that of the pod that
    /// has waited longest.
    fn sets_of(&self, pods: &[Affected]) -> Vec<&Stated> {
        let mut sets: Vec<(&Stated, usize)> = Vec::new();
        for known in pods.iter().filter_map(|pod| self.known(pod)) {
            match sets.iter_mut().find(|(set, _)| *set == known) {
                Some((_, count)) => *count += 1,
                None => sets.push((known, 1)),
            }
        }
        sets.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        sets.into_iter().map(|(set, _)| set).collect()
    }

    /// The problem with the earliest time since it lasts.
    fn lasting(&self, mut problem: Problem) -> Problem {
        if let Some(before) = self.lasting.get(&problem.key()) {
            problem.since = problem.since.min(before.since);
        }
        problem
    }

    /// Takes those that are not stated any longer for ended, but for those that only have another name.
    fn end<'a>(
        &mut self,
        stated: impl Iterator<Item = &'a Problem>,
        renamed: &HashSet<Key>,
        now: Timestamp,
    ) {
        let stated = stated.map(|problem| (problem.key(), problem.clone()));
        let before = std::mem::replace(&mut self.lasting, stated.collect());
        self.ended
            .retain(|ended| !self.lasting.contains_key(&ended.problem.key()));
        let gone = before.into_iter();
        let gone =
            gone.filter(|(key, _)| !self.lasting.contains_key(key) && !renamed.contains(key));
        let mut gone: Vec<Problem> = gone.map(|(_, problem)| problem).collect();
        gone.sort_by(|one, other| other.order().cmp(&one.order()));
        for problem in gone {
            self.ended.push_front(Ended { problem, at: now });
        }
        for ended in &mut self.ended {
            ended.at = ended.at.min(now);
        }
        self.ended.retain(|ended| ended.at.plus(ENDED_LASTS) > now);
        self.ended.truncate(MOST_ENDED);
    }
}

#[cfg(test)]
#[path = "over_time_tests.rs"]
mod tests;
