//! What the pods of both sides have in common ([§15.4](crate::specification#s15-4)): the same workload, and the same
//! images without tags and digests.

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

/// By what pods match: namespace and name of the controller, and the images in order.
fn key(pod: &ComparedPod) -> (Option<(&str, &Workload)>, &[Arc<str>]) {
    (pod.workload.as_deref().map(|workload| (&*pod.namespace, workload)), &pod.untagged)
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
    /// How many workloads, each with its images, both sides have
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
        let (mut numbers, mut counts) = (HashMap::new(), Vec::new());
        let mut number = |side: usize, pods: &'a [ComparedPod]| -> Vec<usize> {
            let numbered = pods.iter().map(|pod| {
                let number = *numbers.entry(key(pod)).or_insert(counts.len());
                if number == counts.len() {
                    counts.push([0, 0]);
                }
                counts[number][side] += 1;
                number
            });
            numbered.collect()
        };
        Self { before: number(0, before.pods()), after: number(1, after.pods()), counts }
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
