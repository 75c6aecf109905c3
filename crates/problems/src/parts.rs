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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::over_time::OverTime;
    use crate::tests::{NOW, at, cause, pod, waits};
    use crate::{FindingResult, ProblemFinding};
    use podinit_core::lifecycle::{Record, Stage};

    const MISSING: &str = "r.io/web:2";

    fn affected(name: &str, image: &str, by: Cause) -> Record {
        waits(pod(name, image), 0, &[cause(Stage::Containers, by, 0)])
    }

    fn found(pods: &[(Record, Option<PartNumber>)]) -> FindingResult {
        let mut finding = ProblemFinding::new(&[], at(NOW));
        for (record, part) in pods {
            match part {
                Some(part) => finding.add_of_part(record, *part),
                None => finding.add(record),
            }
        }
        finding.finish(&mut OverTime::default())
    }

    #[test]
    fn each_part_has_what_its_own_pods_have_that_of_most_pods_first() {
        let starts = waits(pod("new", MISSING), NOW, &[cause(Stage::Containers, Cause::Pull, NOW)]);
        let parts = found(&[
            (affected("a", MISSING, Cause::Crash), Some(1)),
            (affected("b", MISSING, Cause::Image), Some(1)),
            (affected("c", MISSING, Cause::Image), Some(1)),
            (affected("d", MISSING, Cause::Image), None),
            (affected("e", MISSING, Cause::Image), Some(2)),
            (affected("f", "r.io/api:3", Cause::Image), Some(2)),
            (starts, Some(3)),
        ])
        .parts;
        let told = |part: PartNumber| {
            let problems = parts.get(&part).into_iter().flatten();
            let image =
                |one: &FoundProblem| one.shared.as_ref().map(|(_, value)| value.to_string());
            problems.map(|one| (one.cause, one.pods, image(one))).collect::<Vec<_>>()
        };
        let image = (Cause::Image, 2, Some(MISSING.to_owned()));
        assert_eq!(told(1), [image, (Cause::Crash, 1, None)]);
        // Its pods have different images.
        assert_eq!(told(2), [(Cause::Image, 2, None)]);
        assert!(!parts.contains_key(&3));
    }
}
