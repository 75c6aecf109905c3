//! What some of the pods of a finding have, by themselves: a reason that is told of a rollout is one that its own pods
//! give ([§17.5](crate::specification#s17-5)).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::affected_pods::AffectedPods;
use super::problem::FoundProblem;
use super::texts::FaultTexts;
use super::values::{ProblemIdentity, StatedFault};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;

/// A part of the pods of a finding, by a number of whoever asks.
pub type PartNumber = u32;

/// What the pods of each part have, that of most pods first. A part without affected pods is not there.
pub type FoundParts = HashMap<PartNumber, Vec<FoundProblem>>;

/// Which pods, by place, are of which part.
pub(super) type PartOfPlaces = HashMap<u32, PartNumber>;

/// What the affected pods of each part have, by cause, and what those have that wait for one of the problems `as_is`, such
/// as nodes that do not become schedulable.
pub(super) fn found(
    part_of: &PartOfPlaces,
    (pods, texts): (&AffectedPods, &FaultTexts),
    as_is: &[(FoundProblem, Vec<u32>)],
) -> FoundParts {
    let mut by_cause: BTreeMap<(PartNumber, &str), Vec<u32>> = BTreeMap::new();
    for rank in pods.ranks() {
        let pod = pods.get(rank);
        if let Some(part) = part_of.get(&pod.place) {
            by_cause.entry((*part, pod.cause.as_str())).or_default().push(rank);
        }
    }
    let mut found = FoundParts::new();
    for ((part, _), ranks) in by_cause {
        let problem = FoundProblem::new(&identity(&ranks, pods), &ranks, (pods, texts));
        found.entry(part).or_default().push(problem);
    }
    for (problem, places) in as_is.iter().filter(|(one, _)| one.kind.late_nodes().is_some()) {
        let mut counts: HashMap<PartNumber, usize> = HashMap::new();
        for part in places.iter().filter_map(|place| part_of.get(place)) {
            *counts.entry(*part).or_default() += 1;
        }
        for (part, pods) in counts {
            found.entry(part).or_default().push(FoundProblem { pods, ..problem.clone() });
        }
    }
    found.values_mut().for_each(|problems| problems.sort_by_key(|one| Reverse(one.pods)));
    found
}

/// What the pods share of which the sentence about their cause names the value.
fn identity(ranks: &[u32], pods: &AffectedPods) -> ProblemIdentity {
    let first = pods.get(ranks[0]);
    let dimension = match first.cause {
        Cause::Gate | Cause::ReadinessGate => Dimension::Gate,
        cause if cause.is_of_pulls() => Dimension::Image,
        _ => return ProblemIdentity::of_fault(StatedFault::Any),
    };
    let value = first.values.get(dimension);
    let is_shared = ranks.iter().all(|rank| pods.get(*rank).values.get(dimension) == value);
    match value.filter(|_| is_shared) {
        Some(number) => {
            let value = pods.looked_at.value(dimension, number);
            ProblemIdentity::of_value(dimension, value.clone())
        }
        None => ProblemIdentity::of_fault(StatedFault::Any),
    }
}
