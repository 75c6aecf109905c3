//! The few values that account for nearly all of a difference ([§15.6](crate::specification#s15-6)).

use std::collections::BTreeMap;

use serde::Serialize;

use super::dimension::{Dimension, Part};
use super::row::{LEAST_PODS, Verdict};
use super::side::{ComparedPod, ComparisonSide};
use super::statistics::DurationSample;
use podinit_core::lifecycle::Interval;

/// So many values are named together.
const MOST_NAMED: usize = 5;
/// What values account for together, so that the difference lies with them alone.
pub(super) const NEARLY_ALL: f64 = 0.9;
/// The share of the pods that such values may have at most, or they are most of what there is.
pub(super) const MOST_OF_PODS: f64 = 0.75;

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
        let mut values = self.dimension.values(pod).into_iter();
        values.any(|value| self.values.contains(&value))
    }
}

/// What is broken down.
#[derive(Clone, Copy)]
pub(super) struct ComparedPods<'a> {
    pub(super) before: &'a ComparisonSide,
    pub(super) after: &'a ComparisonSide,
    pub(super) interval: Interval,
}

impl Only {
    /// The fewest values of one dimension that account for nearly all of the difference, each no chance; `None` where no
    /// few do.
    pub(super) fn from_parts(
        parts: &[Part],
        verdict: Verdict,
        compared: ComparedPods<'_>,
    ) -> Option<Self> {
        let of = |dimension| Self::of_dimension(dimension, parts, verdict);
        let found = Dimension::ALL.into_iter().filter_map(of);
        let found: Vec<Self> = found.filter(|only| only.moves_as_one(compared)).collect();
        let fewest = found.iter().min_by_key(|only| only.place.values.len())?;
        let same = found.iter().find(|other| {
            let both = [fewest.place.dimension, other.place.dimension];
            both[0] != both[1]
                && both.into_iter().all(Dimension::is_of_nodes)
                && compared.same_pods(&fewest.place, &other.place)
        });
        Some(Self { same_pods: same.map(|other| other.place.clone()), ..fewest.clone() })
    }

    fn of_dimension(dimension: Dimension, parts: &[Part], verdict: Verdict) -> Option<Self> {
        let moved = parts.iter().filter(|part| {
            part.dimension == dimension && part.row.verdict == verdict && part.share > 0.0
        });
        let (mut share, mut pods, mut values) = (0.0, 0.0, Vec::new());
        for part in moved.take(MOST_NAMED) {
            share += part.share;
            pods += part.pods_after;
            values.push(part.value.clone());
            if share >= NEARLY_ALL {
                break;
            }
        }
        let is_only = share >= NEARLY_ALL && pods <= MOST_OF_PODS;
        is_only.then_some(Self { place: Place { dimension, values }, share, same_pods: None })
    }

    /// Whether each pool or zone moved as a whole: where only some of its nodes did, it is they.
    fn moves_as_one(&self, compared: ComparedPods<'_>) -> bool {
        let Place { dimension, values } = &self.place;
        let moves = |value: &String| {
            compared.moves_as_one(&Place { dimension: *dimension, values: vec![value.clone()] })
        };
        !dimension.is_of_nodes() || values.iter().all(moves)
    }
}

impl ComparedPods<'_> {
    fn same_pods(self, one: &Place, other: &Place) -> bool {
        let mut pods = self.after.pods().iter();
        pods.all(|pod| pod.duration(self.interval).is_none() || one.has(pod) == other.has(pod))
    }

    /// Whether at most a tenth of the pods of a pool or zone are on nodes that did not move with it. Such a node has 5
    /// pods or more, and its difference is by more than two standard errors below half of that of the whole.
    fn moves_as_one(self, place: &Place) -> bool {
        let all = self.before.sample(self.interval, |_, _| Some(1.0));
        let of_place = |_: usize, pod: &ComparedPod| place.has(pod).then_some(1.0);
        let (own, after) = (
            self.before.sample(self.interval, of_place),
            self.after.sample(self.interval, of_place),
        );
        let own = or_of_more(&own, &all);
        let half = (after.mean() - own.mean()) / 2.0;
        let (mut pods, mut exceptions) = (0, 0);
        let before = self.by_node(self.before, |_| true);
        for (node, after) in self.by_node(self.after, |pod| place.has(pod)) {
            if after.count() < LEAST_PODS {
                continue;
            }
            let base = or_of_more(before.get(node).unwrap_or(own), own);
            let difference = after.mean() - base.mean();
            let error = error_of_mean(base).hypot(error_of_mean(&after));
            let is_below = (half - difference) * half.signum() > 2.0 * error;
            pods += after.count();
            exceptions += if is_below { after.count() } else { 0 };
        }
        exceptions as f64 <= (1.0 - NEARLY_ALL) * pods as f64
    }

    fn by_node(
        self,
        side: &ComparisonSide,
        counts: impl Fn(&ComparedPod) -> bool,
    ) -> BTreeMap<&str, DurationSample> {
        let mut nodes: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for pod in side.pods().iter().filter(|pod| counts(pod)) {
            if let (Some(node), Some(observed)) = (&pod.node, pod.observed(self.interval, 1.0)) {
                nodes.entry(node).or_default().push(observed);
            }
        }
        let nodes = nodes.into_iter();
        nodes.map(|(node, observed)| (node, DurationSample::new(observed))).collect()
    }
}

/// The sample, or where it has too few pods the other one.
fn or_of_more<'a>(sample: &'a DurationSample, other: &'a DurationSample) -> &'a DurationSample {
    match sample.count() < LEAST_PODS {
        true => other,
        false => sample,
    }
}

/// The standard error of the mean, in seconds, of samples with equal weights.
fn error_of_mean(sample: &DurationSample) -> f64 {
    let (mean, count) = (sample.mean(), sample.count() as f64);
    let durations = sample.durations().into_iter();
    let squares = durations.map(|nanos| (nanos as f64 / 1e9 - mean).powi(2));
    (squares.sum::<f64>() / (count - 1.0) / count).sqrt()
}
