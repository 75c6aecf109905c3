//! What speaks for a value ([§13.4](crate::specification#s13-4)). Shares are compared as fractions, without
//! rounding.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use super::affected::{Affected, Class};
use super::background::{Background, is_of_images};
use super::values::Dimension;
use crate::lifecycle::Cause;

/// A registry is at fault only where pods with so many images say so.
const IMAGES_OF_REGISTRY: usize = 3;
/// Fewer pods make no value stand out.
const LEAST_PODS: usize = 3;

/// A value that some of the affected pods of a cause have.
#[derive(Clone, Debug)]
pub(super) struct Weighed {
    pub dimension: Dimension,
    pub value: Arc<str>,
    /// Whether all of the pods are about it
    pub explains: bool,
    /// Whether those that have it are
    pub stands_out: bool,
    /// How many of the pods have it
    with: u128,
    /// *k*
    others: u128,
    /// |S| + 4h
    weight: u128,
    /// Its place among dimensions where all else ties
    rank: usize,
}

/// *S*: the affected pods among which a value is weighed.
#[derive(Clone, Copy, Debug)]
pub(super) struct All {
    pub cause: Cause,
    pub pods: usize,
    /// Some of them were rejected or failed
    pub has_failed: bool,
}

impl Weighed {
    /// Weighs a value that `with` of the pods of `all` have. `with` is not empty.
    pub(super) fn new(
        (dimension, value): (Dimension, Arc<str>),
        with: &[&Affected],
        all: All,
        background: &Background,
    ) -> Self {
        let cause = all.cause;
        let mut times: Vec<_> = with.iter().map(|pod| pod.since).collect();
        times.sort_unstable();
        let median = times[times.len() / 2];
        let wide = |count: usize| count as u128;
        let (a, s) = (wide(with.len()), wide(all.pods));
        let n = wide(background.count());
        let k = wide(background.with(dimension, &value));
        let h = background.healthy(cause, (dimension, &value), median, all.has_failed);
        let h = wide(h);
        let of_images = is_of_images(cause, dimension);
        let is_possible = 2 * h <= a && has_enough_images(dimension, with);
        // a / s is at least `times` the background (k + 1) / (n + 2), in halves.
        let exceeds = |halves: u128| 2 * a * (n + 2) >= halves * s * (k + 1);
        let least = match Class::of(cause) {
            Class::Waiting => 2 * a >= s,
            _ => 5 * a >= s,
        };
        Self {
            explains: is_possible && 10 * a >= 9 * s && (of_images || exceeds(3)),
            stands_out: is_possible
                && with.len() >= LEAST_PODS
                && least
                && (of_images && 2 * a >= s || exceeds(8)),
            with: a,
            others: k,
            weight: s + 4 * h,
            rank: rank(cause, dimension),
            dimension,
            value,
        }
    }

    /// The one to take comes first.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let covers = (other.with * self.weight).cmp(&(self.with * other.weight));
        covers
            .then_with(|| self.others.cmp(&other.others))
            .then_with(|| self.rank.cmp(&other.rank))
            .then_with(|| self.value.as_bytes().cmp(other.value.as_bytes()))
    }
}

fn has_enough_images(dimension: Dimension, with: &[&Affected]) -> bool {
    if dimension != Dimension::Registry {
        return true;
    }
    let images = with
        .iter()
        .filter_map(|pod| pod.values.get(Dimension::Image));
    images.collect::<HashSet<_>>().len() >= IMAGES_OF_REGISTRY
}

/// For causes that are not about images, an image is the last that is held to be at fault.
const fn rank(cause: Cause, dimension: Dimension) -> usize {
    match (cause, dimension) {
        (Cause::Image | Cause::Pull, _) => dimension as usize,
        (_, Dimension::Image) => Dimension::ALL.len(),
        _ => dimension as usize,
    }
}
