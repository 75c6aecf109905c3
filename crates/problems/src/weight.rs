//! The weight of a value ([§13.4](crate::specification#s13-4)). Shares are compared as fractions, without rounding.

use std::cmp::Ordering;

use super::affected::AffectedPod;
use super::background::{ProblemBackground, is_of_images};
use super::values::ConsideredValues;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, CauseClass};
use podinit_core::timestamp::Timestamp;

/// A registry is at fault only if pods with this many images fail.
const IMAGES_OF_REGISTRY: usize = 3;
/// A place needs at least this many other pods.
const LEAST_OTHERS: usize = 10;
/// A value needs at least this many pods to stand out.
const LEAST_PODS: usize = 3;

/// A value that some of the affected pods of a cause have.
#[derive(Clone, Debug)]
pub(super) struct WeighedValue {
    pub dimension: Dimension,
    pub value: u16,
    /// Whether the value explains all of the pods
    pub(super) explains: bool,
    /// Whether it stands out among the pods
    pub(super) stands_out: bool,
    /// It is a registry with a quarter of the pods, which is enough if their texts are of a kind of their own
    pub(super) is_quarter_of_registry: bool,
    /// Whether no pod with the value starts well: *h* is 0
    pub(super) is_unrefuted: bool,
    /// How many of the pods have it
    with: u128,
    /// *k*: how many of the other pods have it
    others: u128,
    /// |S| + 4h
    weight: u128,
    /// Its place among dimensions where all else ties
    rank: usize,
}

/// *S*: the affected pods among which a value is weighed.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeighedPods {
    pub cause: Cause,
    pub pods: usize,
    /// Some of them were rejected or failed
    pub has_failed: bool,
}

/// The affected pods that have a value.
#[derive(Clone, Debug, Default)]
pub(super) struct PodsWithValue {
    /// *a*: how many they are
    pub pods: usize,
    /// How many of them have passed
    passed: usize,
    /// When the one in the middle first had the cause
    median: Timestamp,
    /// Different images of them, as many as a registry needs
    images: Vec<u16>,
}

impl PodsWithValue {
    /// Adds a pod. Pods come in the order of when they first had the cause.
    pub(super) fn pass(&mut self, pod: &AffectedPod) {
        if self.passed == self.pods / 2 {
            self.median = pod.since;
        }
        self.passed += 1;
        if self.images.len() < IMAGES_OF_REGISTRY
            && let Some(image) = pod.values.get(Dimension::Image)
            && !self.images.contains(&image)
        {
            self.images.push(image);
        }
    }
}

impl WeighedValue {
    /// Weighs a value that `with` of the pods of `all` have, of which there is at least one.
    pub(super) fn new(
        (dimension, value): (Dimension, u16),
        with: &PodsWithValue,
        all: WeighedPods,
        background: &ProblemBackground<'_>,
    ) -> Self {
        let cause = all.cause;
        let wide = |count: usize| count as u128;
        let (a, s) = (wide(with.pods), wide(all.pods));
        let n = wide(background.count());
        let k = wide(background.with(dimension, value));
        let h = background.healthy(cause, (dimension, value), with.median, all.has_failed);
        let h = wide(h);
        // What the API says holds a pod is no guess.
        let is_named = is_of_images(cause, dimension) || dimension == Dimension::Gate;
        let has_images =
            dimension != Dimension::Registry || with.images.len() == IMAGES_OF_REGISTRY;
        let is_known = background.count() >= LEAST_OTHERS || !is_place(dimension);
        let is_possible = 2 * h <= a && has_images && is_known;
        // a / s is at least `times` the background (k + 1) / (n + 2), in halves.
        let exceeds = |halves: u128| 2 * a * (n + 2) >= halves * s * (k + 1);
        let least = match CauseClass::from_cause(cause) {
            CauseClass::Waiting => 2 * a >= s,
            _ => 5 * a >= s,
        };
        Self {
            explains: is_possible && 10 * a >= 9 * s && (is_named || exceeds(3)),
            stands_out: is_possible
                && with.pods >= LEAST_PODS
                && least
                && (is_named && 2 * a >= s || exceeds(8)),
            is_quarter_of_registry: is_possible
                && dimension == Dimension::Registry
                && is_named
                && with.pods >= LEAST_PODS
                && 4 * a >= s,
            is_unrefuted: h == 0,
            with: a,
            others: k,
            weight: s + 4 * h,
            rank: rank(cause, dimension),
            dimension,
            value,
        }
    }

    /// The one to take comes first.
    pub(super) fn order(&self, other: &Self, looked_at: &ConsideredValues) -> Ordering {
        let covers = (other.with * self.weight).cmp(&(self.with * other.weight));
        let text = |one: &Self| looked_at.value(one.dimension, one.value).as_bytes();
        covers
            .then_with(|| self.others.cmp(&other.others))
            .then_with(|| self.rank.cmp(&other.rank))
            .then_with(|| text(self).cmp(text(other)))
    }
}

/// Whether the dimension is a place. In a small list without other pods, all pods share their places.
const fn is_place(dimension: Dimension) -> bool {
    match dimension {
        Dimension::Node | Dimension::Nodepool | Dimension::Zone | Dimension::Namespace => true,
        Dimension::Image | Dimension::Registry | Dimension::Gate | Dimension::Workload => false,
    }
}

/// The rank of a dimension on a tie. An image comes last for causes that are not about images.
const fn rank(cause: Cause, dimension: Dimension) -> usize {
    match (cause, dimension) {
        (Cause::Image | Cause::Pull, _) => dimension as usize,
        (_, Dimension::Image) => Dimension::ALL.len(),
        _ => dimension as usize,
    }
}
