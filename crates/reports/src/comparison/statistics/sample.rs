//! The durations of one interval on one side of a comparison, and their quantiles.

use std::collections::BTreeSet;

use serde::Serialize;

/// The duration of one pod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedDuration {
    /// In nanoseconds
    pub nanos: u64,
    /// The minute in which the pod was created; pods whose creation is unknown share one
    pub minute: Option<i64>,
    /// How much it counts in quantiles; above 0
    pub weight: f64,
}

/// What a bootstrap draws ([§15.2](crate::specification#s15-2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resampled {
    /// The minutes in which pods were created
    Minutes,
    /// The pods
    Pods,
}

/// With fewer minutes on either side, pods are drawn.
const LEAST_MINUTES: usize = 10;

impl Resampled {
    /// What is drawn where the sides have so many minutes.
    pub fn from_counts(before: usize, after: usize) -> Self {
        match before.min(after) >= LEAST_MINUTES {
            true => Self::Minutes,
            false => Self::Pods,
        }
    }
}

/// Sums of weights are equal if they differ by less than this part of them: floating-point sums depend on
/// their order.
const PRECISION: f64 = 1e-12;

/// Whether a sum of weights has reached `percent` of all.
pub(super) fn reaches(sum: f64, percent: f64, all: f64) -> bool {
    sum * 100.0 >= percent * all * (1.0 - PRECISION)
}

/// The durations of some pods, the shortest first.
#[derive(Clone, Debug)]
pub struct DurationSample {
    observed: Vec<ObservedDuration>,
    minutes: usize,
}

impl DurationSample {
    /// Of these pods, in any order.
    pub fn new(observed: impl IntoIterator<Item = ObservedDuration>) -> Self {
        let mut observed: Vec<ObservedDuration> = observed.into_iter().collect();
        observed.sort_by_key(|one| one.nanos);
        let minutes: BTreeSet<_> = observed.iter().map(|one| one.minute).collect();
        Self { observed, minutes: minutes.len() }
    }

    /// Every pod, the one with the shortest duration first.
    pub fn observed(&self) -> &[ObservedDuration] {
        &self.observed
    }

    /// How many pods.
    pub fn count(&self) -> usize {
        self.observed.len()
    }

    /// In how many minutes they were created.
    pub const fn minutes(&self) -> usize {
        self.minutes
    }

    /// Every duration in nanoseconds, the shortest first.
    pub fn durations(&self) -> Vec<u64> {
        self.observed.iter().map(|one| one.nanos).collect()
    }

    /// The quantile by nearest rank, in nanoseconds: the shortest duration that pods with `percent` of the
    /// weight do not exceed; `None` without pods.
    pub fn quantile(&self, percent: f64) -> Option<u64> {
        let all: f64 = self.observed.iter().map(|one| one.weight).sum();
        let mut sum = 0.0;
        let mut pods = self.observed.iter();
        let at = pods.find(|one| {
            sum += one.weight;
            reaches(sum, percent, all)
        });
        at.or(self.observed.last()).map(|one| one.nanos)
    }

    /// The mean duration, in seconds; 0 without pods.
    pub fn mean(&self) -> f64 {
        let all: f64 = self.observed.iter().map(|one| one.weight).sum();
        let sum: f64 = self.observed.iter().map(|one| one.nanos as f64 * one.weight).sum();
        match all > 0.0 {
            true => sum / all / 1e9,
            false => 0.0,
        }
    }
}
