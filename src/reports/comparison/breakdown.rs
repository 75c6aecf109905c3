//! Where a difference lies: which node, image, workload or namespace accounts for it, with the care about chance
//! that rows have ([§15.6](crate::specification#s15-6)).

use std::collections::BTreeMap;

use serde::Serialize;

use super::parallel::in_parallel;
use super::row::{Drawn, LEAST_PODS, Margin, Row, Verdict};
use super::side::{ComparedPod, Side};
use super::statistics::{Sample, mann_whitney};
use podinit_core::lifecycle::Interval;

/// So many values of a dimension are looked at, those with the greatest share.
const MOST_VALUES: usize = 20;
/// So many values are named together.
const MOST_NAMED: usize = 5;
/// What values account for together, so that the difference lies with them alone.
const NEARLY_ALL: f64 = 0.9;
/// The share of the pods that such values may have at most, or they are most of what there is.
const MOST_OF_PODS: f64 = 0.75;

/// By what a difference is broken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    Node,
    Image,
    Workload,
    Namespace,
}

impl Dimension {
    const ALL: [Self; 4] = [Self::Node, Self::Image, Self::Workload, Self::Namespace];

    /// Its name in the singular.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Image => "image",
            Self::Workload => "workload",
            Self::Namespace => "namespace",
        }
    }

    /// The values of a pod, each once. Those of an image have no tag, which a release changes.
    fn values(self, pod: &ComparedPod) -> Vec<String> {
        match self {
            Self::Node => pod.node.iter().map(ToString::to_string).collect(),
            Self::Namespace => vec![pod.namespace.to_string()],
            Self::Workload => (pod.workload.iter())
                .map(|one| format!("{}/{one}", pod.namespace))
                .collect(),
            Self::Image => {
                let images = pod
                    .images
                    .iter()
                    .map(|image| super::untagged(image).to_owned());
                let mut images: Vec<String> = images.collect();
                images.sort_unstable();
                images.dedup();
                images
            }
        }
    }
}

/// A value of a dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    pub dimension: Dimension,
    pub value: String,
    /// The share of the difference in means that its pods account for
    pub share: f64,
    /// Its share of the observed pods after
    pub pods_after: f64,
    /// Fewer than 5 pods before had the value: its pods are compared with all pods before
    pub is_new: bool,
    /// Its pods as a row; the p-value is corrected over all values of all dimensions
    #[serde(flatten)]
    pub row: Row,
}

/// The breakdown of an interval that became slower or faster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    pub interval: &'static str,
    /// The difference of the means, in seconds
    pub mean_difference: f64,
    /// The values that account for nearly all of it, where few do
    pub only: Option<Only>,
    /// The values of each dimension, those with the greatest share first
    pub parts: Vec<Part>,
}

/// Values of one dimension that account for nearly all of a difference, and are not most of all pods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Only {
    pub dimension: Dimension,
    pub values: Vec<String>,
    /// What they account for together
    pub share: f64,
}

/// A value and its pods.
struct Candidate {
    dimension: Dimension,
    value: String,
    before: Sample,
    after: Sample,
    share: f64,
    pods_after: f64,
}

impl Breakdown {
    /// Of an interval whose row has this verdict, `slower` or `faster`.
    pub(super) fn of(
        (before, after): (&Side, &Side),
        interval: Interval,
        verdict: Verdict,
        margin: Margin,
    ) -> Self {
        let all = |side: &Side| side.sample(interval, |_, _| Some(1.0));
        let (one, other) = (all(before), all(after));
        let difference = other.mean() - one.mean();
        let mut candidates = Vec::new();
        for dimension in Dimension::ALL {
            let found = candidates_of(dimension, (before, after), interval, (&one, &other));
            candidates.extend(found);
        }
        let first_seed = 20_000 + 1_000 * interval.index() as u64;
        let seeded: Vec<(u64, Candidate)> = (first_seed + 1..).step_by(2).zip(candidates).collect();
        let mut parts = in_parallel(&seeded, |(seed, candidate)| {
            let (is_new, own) = match candidate.before.count() < LEAST_PODS {
                true => (true, Drawn::new(&one, first_seed)),
                false => (false, Drawn::new(&candidate.before, *seed)),
            };
            let later = Drawn::new(&candidate.after, seed + 1);
            let test = || mann_whitney(&own.sample.durations(), &later.sample.durations());
            Some(Part {
                dimension: candidate.dimension,
                value: candidate.value.clone(),
                share: candidate.share,
                pods_after: candidate.pods_after,
                is_new,
                row: Row::new(interval.as_str(), (&own, &later), test, margin)?,
            })
        });
        let mut parts: Vec<Part> = parts.drain(..).flatten().collect();
        Row::correct(parts.iter_mut().map(|part| &mut part.row));
        Self {
            interval: interval.as_str(),
            mean_difference: difference,
            only: only(&parts, verdict),
            parts,
        }
    }
}

/// The values of a dimension with enough pods after, those with the greatest share first.
fn candidates_of(
    dimension: Dimension,
    (before, after): (&Side, &Side),
    interval: Interval,
    (one, other): (&Sample, &Sample),
) -> Vec<Candidate> {
    let difference = other.mean() - one.mean();
    let before = samples(dimension, before, interval);
    let mut candidates: Vec<Candidate> = samples(dimension, after, interval)
        .into_iter()
        .filter(|(_, pods)| pods.count() >= LEAST_PODS)
        .map(|(value, pods)| {
            let own = before
                .get(&value)
                .cloned()
                .unwrap_or(Sample::new(Vec::new()));
            let base = match own.count() < LEAST_PODS {
                true => one.mean(),
                false => own.mean(),
            };
            let pods_after = pods.count() as f64 / other.count() as f64;
            Candidate {
                dimension,
                share: pods_after * (pods.mean() - base) / difference,
                pods_after,
                value,
                before: own,
                after: pods,
            }
        })
        .collect();
    candidates.sort_by(|one, other| other.share.total_cmp(&one.share));
    candidates.truncate(MOST_VALUES);
    candidates
}

fn samples(dimension: Dimension, side: &Side, interval: Interval) -> BTreeMap<String, Sample> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for pod in side.pods() {
        if let Some(observed) = pod.observed(interval, 1.0) {
            for value in dimension.values(pod) {
                found.entry(value).or_default().push(observed);
            }
        }
    }
    let samples = found.into_iter();
    samples
        .map(|(value, observed)| (value, Sample::new(observed)))
        .collect()
}

/// The fewest values of one dimension that account for nearly all of the difference, each no chance; `None` where
/// no few do.
fn only(parts: &[Part], verdict: Verdict) -> Option<Only> {
    let of = |dimension: Dimension| {
        let moved = parts.iter().filter(move |part| {
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
        is_only.then_some(Only {
            dimension,
            values,
            share,
        })
    };
    let found = Dimension::ALL.into_iter().filter_map(of);
    found.min_by_key(|only| only.values.len())
}
