//! The images and registries that are not at fault, although pods cannot pull them
//! ([§15.7](crate::specification#s15-7)).

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::together::KnownStart;
use podinit_core::dimension::{Dimension, PodValues, grouped};
use podinit_core::timestamp::Timestamp;

/// A registry is at fault only if so many of its images cannot be pulled.
const IMAGES_OF_REGISTRY: usize = 3;

/// Images and registries that pods cannot pull, and that are not at fault.
pub(super) struct ClearedImages<'a>(BTreeSet<(&'static str, Cow<'a, str>)>);

impl<'a> ClearedImages<'a> {
    /// Those that later pods pulled, and registries of which few images cannot be pulled, by the pods after.
    pub(super) fn from_pods(after: &[KnownStart<'a>]) -> Self {
        let failing = || after.iter().copied().filter(|told| told.pull_fails_since().is_some());
        let pulled = || after.iter().filter_map(|told| told.pulled());
        let mut cleared = BTreeSet::new();
        for dimension in [Dimension::Image, Dimension::Registry] {
            let pulls = grouped(pulled(), |(_, images)| {
                PodValues { images, ..PodValues::default() }.values(dimension)
            });
            for (value, pods) in grouped(failing(), |told| told.values(dimension)) {
                let pulls = pulls.get(&value).map_or(&[][..], Vec::as_slice);
                if is_refuted(&pods, pulls.iter().map(|(ready, _)| *ready))
                    || dimension == Dimension::Registry && images(&pods) < IMAGES_OF_REGISTRY
                {
                    cleared.insert((dimension.as_str(), value));
                }
            }
        }
        Self(cleared)
    }

    /// The values of a pod, without one that it cannot pull and that is not at fault.
    pub(super) fn values_without<'b>(
        &self,
        told: KnownStart<'b>,
        dimension: Dimension,
    ) -> impl Iterator<Item = Cow<'b, str>> {
        let cannot_pull = told.pull_fails_since().is_some();
        told.values(dimension).filter(move |value| {
            !(cannot_pull && self.0.contains(&(dimension.as_str(), value.clone())))
        })
    }
}

/// Whether more pods pulled it than half of those that cannot, later than at the median of when these first could not
/// ([§13.4](crate::specification#s13-4)).
fn is_refuted(failing: &[KnownStart<'_>], pulled: impl Iterator<Item = Timestamp>) -> bool {
    let mut since: Vec<_> = failing.iter().filter_map(|told| told.pull_fails_since()).collect();
    since.sort_unstable();
    let median = since.get(since.len() / 2);
    let later = pulled.filter(|ready| Some(ready) > median).count();
    2 * later > since.len()
}

/// How many images these pods cannot pull.
fn images(failing: &[KnownStart<'_>]) -> usize {
    let images = failing.iter().flat_map(|told| told.values(Dimension::Image));
    images.collect::<BTreeSet<_>>().len()
}
