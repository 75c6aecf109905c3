//! What the pods of both sides have in common ([§15.4](crate::specification#s15-4)): the same workload, and the same
//! images without tags and digests. Where those of a workload changed, it matches as a whole.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::row::{DrawnSample, QuantileMargin, Row};
use super::side::{ComparedPod, ComparisonSide};
use super::statistics::van_elteren;
use super::timed::PodDuration;
use podinit_core::pod::Workload;

/// An image without tag and digest.
pub(super) fn untagged(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(name, _)| name);
    let path = image.rfind('/').map_or(0, |slash| slash + 1);
    match image[path..].find(':') {
        Some(colon) => &image[..path + colon],
        None => image,
    }
}

/// A workload, with its namespace.
pub(super) type WorkloadKey<'a> = (&'a str, &'a Workload);

/// The workload of a pod; `None` of a pod without a controller.
pub(super) fn workload_of(pod: &ComparedPod) -> Option<WorkloadKey<'_>> {
    pod.workload.as_deref().map(|workload| (&*pod.namespace, workload))
}

/// By what pods match: their workload, and the images in order.
type MatchKey<'a> = (Option<WorkloadKey<'a>>, &'a [Arc<str>]);

/// The pods of a workload.
struct WorkloadPods {
    /// How many there are before and after
    counts: [usize; 2],
    /// The first key of one of them
    first: usize,
    /// One of them has no match by images
    is_changed: bool,
}

/// For each key its match: that of its workload as a whole, where the images of the workload changed, or else its own.
/// `counts` has the pods of each key on both sides.
fn matches_of(keys: &HashMap<MatchKey<'_>, usize>, counts: &[[usize; 2]]) -> Vec<usize> {
    let of_workloads = || keys.iter().filter_map(|((of, _), number)| Some(((*of)?, *number)));
    let mut workloads: HashMap<WorkloadKey<'_>, WorkloadPods> = HashMap::new();
    for (workload, number) in of_workloads() {
        let none = WorkloadPods { counts: [0, 0], first: number, is_changed: false };
        let pods = workloads.entry(workload).or_insert(none);
        pods.counts = [0, 1].map(|side| pods.counts[side] + counts[number][side]);
        pods.first = pods.first.min(number);
        pods.is_changed |= counts[number].contains(&0);
    }
    let mut matches: Vec<usize> = (0..counts.len()).collect();
    for (workload, number) in of_workloads() {
        let pods = &workloads[&workload];
        if pods.is_changed && !pods.counts.contains(&0) {
            matches[number] = pods.first;
        }
    }
    matches
}

/// The match of each pod, by a number that both sides share.
pub(super) struct PodMatches {
    before: Vec<usize>,
    after: Vec<usize>,
    /// How many pods there are of each match, before and after
    counts: Vec<[usize; 2]>,
}

/// How far the mixes of both sides agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mix {
    /// The share of the observed pods before that have a match after; 0 without pods
    pub before: f64,
    /// The share of the observed pods after that have a match before
    pub after: f64,
    /// How many matches there are
    pub matches: usize,
    /// At least half of either side has a match
    pub(super) same_workloads: bool,
}

impl Mix {
    /// Whether every observed pod has a match, so that the matched pods say nothing more.
    pub(super) fn is_all(&self) -> bool {
        self.before >= 1.0 && self.after >= 1.0
    }
}

impl PodMatches {
    /// Of the pods of both sides.
    pub(crate) fn from_sides<'a>(before: &'a ComparisonSide, after: &'a ComparisonSide) -> Self {
        let (mut keys, mut of_keys) = (HashMap::new(), Vec::new());
        let mut number = |side: usize, pods: &'a [ComparedPod]| -> Vec<usize> {
            let numbered = pods.iter().map(|pod| {
                let key = (workload_of(pod), &*pod.untagged);
                let number = *keys.entry(key).or_insert(of_keys.len());
                if number == of_keys.len() {
                    of_keys.push([0, 0]);
                }
                of_keys[number][side] += 1;
                number
            });
            numbered.collect()
        };
        let mut numbers = [number(0, before.pods()), number(1, after.pods())];
        let matches = matches_of(&keys, &of_keys);
        for number in numbers.iter_mut().flatten() {
            *number = matches[*number];
        }
        let mut counts = vec![[0, 0]; of_keys.len()];
        for ([earlier, later], matched) in of_keys.into_iter().zip(matches) {
            counts[matched][0] += earlier;
            counts[matched][1] += later;
        }
        let [before, after] = numbers;
        Self { before, after, counts }
    }

    /// How far the mixes agree.
    pub(crate) fn mix(&self) -> Mix {
        let both = || self.counts.iter().filter(|[one, other]| *one > 0 && *other > 0);
        let share = |side: usize, all: usize| {
            let matched: usize = both().map(|counts| counts[side]).sum();
            matched as f64 / all.max(1) as f64
        };
        let (before, after) = (share(0, self.before.len()), share(1, self.after.len()));
        Mix {
            before,
            after,
            matches: both().count(),
            same_workloads: before >= 0.5 && after >= 0.5,
        }
    }

    /// Whether a pod of a side, by its position there, has a match on the other.
    pub(super) fn has_match(&self, side: usize, index: usize) -> bool {
        let number = [&self.before, &self.after][side][index];
        self.counts[number].iter().all(|pods| *pods > 0)
    }

    /// What the pods of each side weigh that are counted: one before, and one after (pods before) / (pods after) of its match;
    /// `None` where its match has none on a side.
    pub(super) fn weights(
        &self,
        sides: [&ComparisonSide; 2],
        is_counted: impl Fn(&ComparedPod) -> bool,
    ) -> [Vec<Option<f64>>; 2] {
        let mut counts = vec![[0_u32; 2]; self.counts.len()];
        let numbers = [&self.before, &self.after];
        for side in [0, 1] {
            let pods = sides[side].pods().iter().zip(numbers[side]);
            for (_, number) in pods.filter(|(pod, _)| is_counted(pod)) {
                counts[*number][side] += 1;
            }
        }
        [0, 1].map(|side| {
            let weight = |number: &usize| match counts[*number] {
                [before, after] if before > 0 && after > 0 => {
                    Some(if side == 0 { 1.0 } else { f64::from(before) / f64::from(after) })
                }
                _ => None,
            };
            numbers[side].iter().map(weight).collect()
        })
    }

    /// The row of a duration for the matched pods alone, each match weighted as before.
    pub(super) fn row(
        &self,
        (before, after): (&ComparisonSide, &ComparisonSide),
        timed: &PodDuration,
        seeds: [u64; 2],
        margin: QuantileMargin,
    ) -> Option<Row> {
        let weights = self.weights([before, after], |pod| pod.duration_of(timed).is_some());
        let mut strata: BTreeMap<usize, [Vec<u64>; 2]> = BTreeMap::new();
        let sides = [(before, &self.before), (after, &self.after)];
        for (index, (side, numbers)) in sides.into_iter().enumerate() {
            for (pod, number) in side.pods().iter().zip(numbers) {
                if let Some(latency) = pod.duration_of(timed) {
                    strata.entry(*number).or_default()[index].push(latency.as_nanos());
                }
            }
        }
        strata.retain(|_, sides| sides.iter().all(|durations| !durations.is_empty()));
        for durations in strata.values_mut().flatten() {
            durations.sort_unstable();
        }
        let [one, other] = [(before, &weights[0]), (after, &weights[1])]
            .map(|(side, weights)| side.sample_of(timed, |index| weights[index]));
        let [first, second] = seeds;
        let drawn = (&DrawnSample::new(&one, first), &DrawnSample::new(&other, second));
        let pairs = strata.values().map(|[one, other]| (one.as_slice(), other.as_slice()));
        Row::new(timed.name(), drawn, || van_elteren(pairs), margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_loses_tag_and_digest_and_keeps_its_port() {
        for (image, name) in [
            ("nginx", "nginx"),
            ("nginx:1.27", "nginx"),
            ("ghcr.io/org/app@sha256:0123", "ghcr.io/org/app"),
            ("registry:5000/app", "registry:5000/app"),
            ("registry:5000/app:v1@sha256:0123", "registry:5000/app"),
            ("", ""),
        ] {
            assert_eq!(untagged(image), name);
        }
    }
}
