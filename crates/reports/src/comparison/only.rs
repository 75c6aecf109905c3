//! The few values that account for nearly all of a difference ([§15.6](crate::specification#s15-6)).

use serde::Serialize;

use super::dimension::{DIMENSIONS, Part, is_of_nodes, paired};
use super::row::{LEAST_PODS, Verdict};
use super::side::{ComparedPod, ComparisonSide, ObservedPod, sample};
use super::statistics::DurationSample;
use super::timed::PodDuration;
use podinit_core::dimension::Dimension;

/// So many values are named together.
const MOST_NAMED: usize = 5;
/// What values account for together, so that the difference lies with them alone.
const NEARLY_ALL: f64 = 0.9;
/// The share of the pods that such values may have at most, or they are most of what there is.
const MOST_OF_PODS: f64 = 0.75;

/// Values of one dimension that account for nearly all of a difference, and are not most of all pods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Only {
    #[serde(flatten)]
    pub place: Place,
    /// What they account for together
    pub share: f64,
    /// Of pools the zones that have the same pods after, of zones the pools: the difference may be theirs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) same_pods: Option<Place>,
}

/// Values of one dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    pub dimension: Dimension,
    pub values: Vec<String>,
}

impl Place {
    pub(super) fn has(&self, pod: &ComparedPod) -> bool {
        pod.values(self.dimension).any(|value| self.values.iter().any(|own| *own == value))
    }

    /// The first few values of a dimension that account for nearly all of a difference, and how much of it. Most of all
    /// `pods` must not have them. Each value comes with its share of the difference and its pods.
    pub(super) fn of_few<'a>(
        dimension: Dimension,
        parts: impl Iterator<Item = (&'a String, f64, f64)>,
        pods: f64,
    ) -> Option<(Self, f64)> {
        let (mut share, mut with, mut values) = (0.0, 0.0, Vec::new());
        for (value, own_share, own_pods) in parts.take(MOST_NAMED) {
            share += own_share;
            with += own_pods;
            values.push(value.clone());
            if share >= NEARLY_ALL {
                break;
            }
        }
        let is_only = share >= NEARLY_ALL && with <= MOST_OF_PODS * pods;
        is_only.then_some((Self { dimension, values }, share))
    }

    /// The fewest values of one dimension that `is_slower` holds for, that most pods do not have, and whose means grew by twice
    /// as much as those of the others; `None` where there are none, or more than a few. The means of all pods differ by
    /// `difference`.
    pub(super) fn alone(
        parts: &[Part],
        compared: ComparedPods<'_>,
        difference: f64,
        is_slower: impl Fn(&Part) -> bool,
    ) -> Option<Self> {
        let found = DIMENSIONS.into_iter().filter_map(|dimension| {
            let slower = parts.iter().filter(|part| part.dimension == dimension && is_slower(part));
            let slower: Vec<&Part> = slower.collect();
            let pods: f64 = slower.iter().map(|part| part.pods_after).sum();
            let growth = |part: &&Part| part.row.after.mean - part.row.before.mean;
            let own: f64 = slower.iter().map(|part| part.pods_after * growth(part)).sum();
            let of_others = (difference - own) / (1.0 - pods);
            let is_few = (1..=MOST_NAMED).contains(&slower.len())
                && pods <= MOST_OF_PODS
                && of_others < own / pods / 2.0;
            let values = slower.iter().map(|part| part.value.clone()).collect();
            is_few.then_some(Self { dimension, values })
        });
        found.filter(|place| place.moves_as_one(compared)).min_by_key(|place| place.values.len())
    }

    /// Whether each pool or zone moved as a whole: where only some of its nodes did, it is they.
    fn moves_as_one(&self, compared: ComparedPods<'_>) -> bool {
        let Self { dimension, values } = self;
        let moves = |value: &String| {
            compared.moves_as_one(&Self { dimension: *dimension, values: vec![value.clone()] })
        };
        !is_of_nodes(*dimension) || values.iter().all(moves)
    }
}

/// Whether the pods of a place moved with it, but for a tenth of them at most. Each of these nodes comes with its pods, and
/// whether it did not.
pub(super) fn moved_as_one(nodes: impl Iterator<Item = (usize, bool)>) -> bool {
    let (mut pods, mut exceptions) = (0, 0);
    for (count, is_exception) in nodes {
        pods += count;
        exceptions += if is_exception { count } else { 0 };
    }
    exceptions as f64 <= (1.0 - NEARLY_ALL) * pods as f64
}

/// What is broken down.
#[derive(Clone, Copy)]
pub(super) struct ComparedPods<'a> {
    pub(super) before: &'a ComparisonSide,
    pub(super) after: &'a ComparisonSide,
    pub(super) timed: &'a PodDuration,
}

impl Only {
    /// The fewest values of one dimension that account for nearly all of the difference, each no chance; `None` where no
    /// few do.
    pub(super) fn from_parts(
        parts: &[Part],
        verdict: Verdict,
        compared: ComparedPods<'_>,
    ) -> Option<Self> {
        let found = DIMENSIONS.into_iter().filter_map(|dimension| {
            let moved = parts.iter().filter(|part| {
                part.dimension == dimension && part.row.verdict == verdict && part.share > 0.0
            });
            let moved = moved.map(|part| (&part.value, part.share, part.pods_after));
            let (place, share) = Place::of_few(dimension, moved, 1.0)?;
            Some(Self { place, share, same_pods: None })
        });
        let found: Vec<Self> = found.filter(|only| only.place.moves_as_one(compared)).collect();
        let fewest = found.iter().min_by_key(|only| only.place.values.len())?;
        let same = found.iter().find(|other| {
            let both = [fewest.place.dimension, other.place.dimension];
            both[0] != both[1]
                && both.into_iter().all(is_of_nodes)
                && compared.same_pods(&fewest.place, &other.place)
        });
        Some(Self { same_pods: same.map(|other| other.place.clone()), ..fewest.clone() })
    }
}

impl<'a> ComparedPods<'a> {
    fn same_pods(self, one: &Place, other: &Place) -> bool {
        let mut pods = self.after.pods().iter();
        pods.all(|pod| pod.duration_of(self.timed).is_none() || one.has(pod) == other.has(pod))
    }

    /// Whether at most a tenth of the pods of a pool or zone are on nodes that did not move with it. Such a node has 5
    /// pods or more, and its difference is by more than two standard errors below half of that of the whole.
    fn moves_as_one(self, place: &Place) -> bool {
        let of_place = |side: &'a ComparisonSide| {
            let is_there = move |(pod, _): &ObservedPod<'_>| place.has(pod);
            side.observed(self.timed).filter(is_there)
        };
        let before = || self.before.observed(self.timed);
        let mut own = sample(of_place(self.before));
        if own.count() < LEAST_PODS {
            own = sample(before());
        }
        let half = (sample(of_place(self.after)).mean() - own.mean()) / 2.0;
        let sides = (before(), of_place(self.after));
        let nodes = paired(sides, |(pod, _)| pod.values(Dimension::Node), sample).into_iter();
        moved_as_one(nodes.map(|(_, before, after)| {
            let base = before.as_ref().unwrap_or(&own);
            let difference = after.mean() - base.mean();
            let error = error_of_mean(base).hypot(error_of_mean(&after));
            let is_below = (half - difference) * half.signum() > 2.0 * error;
            (after.count(), is_below)
        }))
    }
}

/// The standard error of the mean, in seconds, of samples with equal weights.
pub(super) fn error_of_mean(sample: &DurationSample) -> f64 {
    let (mean, count) = (sample.mean(), sample.count() as f64);
    let durations = sample.durations().into_iter();
    let squares = durations.map(|nanos| (nanos as f64 / 1e9 - mean).powi(2));
    (squares.sum::<f64>() / (count - 1.0) / count).sqrt()
}
