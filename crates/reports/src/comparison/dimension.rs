//! By what a difference is broken down ([§15.6](crate::specification#s15-6)).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::row::{LEAST_PODS, Row};
use podinit_core::dimension::{Dimension, grouped};

/// By these, in this order: of two that tell as much, the first is named. By the registry only pulls are broken down, and pods
/// that do not start.
pub(super) const DIMENSIONS: [Dimension; 7] = [
    Dimension::Node,
    Dimension::Nodepool,
    Dimension::Zone,
    Dimension::Image,
    Dimension::Registry,
    Dimension::Workload,
    Dimension::Namespace,
];

/// Whether the values of a dimension are groups of nodes.
pub(super) const fn is_of_nodes(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Nodepool | Dimension::Zone)
}

/// The name of a dimension in a sentence, in the singular.
pub(super) const fn name_of(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Nodepool => "pool",
        _ => dimension.as_str(),
    }
}

/// The values that enough pods after have, each with what `sum` makes of its pods before and after. `None` is of fewer
/// than 5 pods before. `values` gives those of a pod, each once.
pub(super) fn paired<'a, P: Copy, V: Iterator<Item = Cow<'a, str>>, T>(
    (before, after): (impl Iterator<Item = P>, impl Iterator<Item = P>),
    values: impl Fn(P) -> V,
    sum: impl Fn(Vec<P>) -> T,
) -> Vec<(String, Option<T>, T)> {
    let mut before: BTreeMap<Cow<'_, str>, Vec<P>> = grouped(before, &values);
    let after = grouped(after, values).into_iter().filter(|(_, pods)| pods.len() >= LEAST_PODS);
    let pairs = after.map(|(value, pods)| {
        let own = before.remove(&value).filter(|own| own.len() >= LEAST_PODS);
        (value.into_owned(), own.map(&sum), sum(pods))
    });
    pairs.collect()
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
