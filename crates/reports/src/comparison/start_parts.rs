//! Where pods do not start: which node, pool, zone, image, registry, workload or namespace has more of them
//! ([§15.7](crate::specification#s15-7)).

use std::iter;

use serde::Serialize;

use super::cleared_images::ClearedImages;
use super::dimension::{DIMENSIONS, is_of_nodes, paired};
use super::not_started::{MARGIN, OF_STARTS, SideCounts};
use super::only::{Place, moved_as_one};
use super::statistics::{Proportion, fisher, holm};
use super::together::KnownStart;
use podinit_core::dimension::Dimension;

/// So many values of a dimension are stated.
const MOST_VALUES: usize = 5;

/// The pods of a value of a dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StartPart {
    pub dimension: Dimension,
    pub value: String,
    pub before: Proportion,
    pub after: Proportion,
    /// Corrected over all values of all dimensions
    pub corrected_p_value: f64,
}

impl StartPart {
    /// The values of every dimension of which a larger share did not start, the largest growth first.
    pub(super) fn from_sides([before, after]: [&SideCounts<'_>; 2]) -> Vec<Self> {
        let cleared = ClearedImages::from_pods(&after.pods);
        let mut found = Vec::new();
        for dimension in DIMENSIONS {
            let sides = (before.each(), after.each());
            let values = |told| cleared.values_without(told, dimension);
            let parts = paired(sides, values, KnownStart::sum).into_iter();
            let parts = parts.map(|(value, own, after)| {
                // A new value is compared with all pods before, as those of durations are.
                let before = own.unwrap_or(before.starts.pods);
                let corrected_p_value = fisher(before, after);
                Self { dimension, value, before, after, corrected_p_value }
            });
            found.extend(parts);
        }
        let p_values: Vec<f64> = found.iter().map(|part| part.corrected_p_value).collect();
        for (part, corrected) in found.iter_mut().zip(holm(&p_values)) {
            part.corrected_p_value = corrected;
        }
        let mut stated = Vec::new();
        for dimension in DIMENSIONS {
            let grown =
                found.iter().filter(|part| part.dimension == dimension && part.growth() > 0.0);
            let mut grown: Vec<&Self> = grown.collect();
            grown.sort_by(|one, other| other.growth().total_cmp(&one.growth()));
            stated.extend(grown.into_iter().take(MOST_VALUES).cloned());
        }
        stated
    }

    /// The fewest values of one dimension that account for nearly all of a growth by so many pods. Of images and registries
    /// those that most pods have are only named where nothing else is.
    pub(super) fn only(parts: &[Self], growth: f64, sides: [&SideCounts<'_>; 2]) -> Option<Place> {
        let named = |dimensions: &[Dimension], most_pods: f64| {
            let places = dimensions.iter().filter_map(|dimension| {
                let grown = parts.iter().filter(|part| part.dimension == *dimension);
                let grown = grown.filter(|part| part.is_no_chance());
                let grown =
                    grown.map(|part| (&part.value, part.growth() / growth, part.after.of as f64));
                Place::of_few(*dimension, grown, most_pods).map(|(place, _)| place)
            });
            let places = places.filter(|place| grew_as_one(place, sides));
            places.min_by_key(|place| place.values.len())
        };
        let has_others = |place: &Place| {
            let mut values = sides[1].each().flat_map(|told| told.pod.values(place.dimension));
            values.any(|value| !place.values.iter().any(|own| *own == value))
        };
        named(&DIMENSIONS, sides[1].starts.pods.of as f64).or_else(|| {
            named(&[Dimension::Image, Dimension::Registry], f64::INFINITY).filter(has_others)
        })
    }

    /// By how many more pods it has that did not start than as many pods before had.
    fn growth(&self) -> f64 {
        (self.after.share() - self.before.share()) * self.after.of as f64
    }

    /// Whether its pods do not start more often, beyond chance.
    pub(super) fn is_no_chance(&self) -> bool {
        let growth = self.after.share() - self.before.share();
        growth >= MARGIN && self.corrected_p_value < OF_STARTS
    }
}

/// Whether at most a tenth of the pods of a pool or zone are on nodes whose share grew by less than half of what that of
/// all of them did.
fn grew_as_one(place: &Place, [before, after]: [&SideCounts<'_>; 2]) -> bool {
    if !is_of_nodes(place.dimension) {
        return true;
    }
    let [earlier, later] = [before, after]
        .map(|side| side.each().filter(|told| place.has(told.pod)).collect::<Vec<_>>());
    let [one, other] = [&earlier, &later].map(|pods| KnownStart::sum(pods.clone()).share());
    let sides = (iter::empty(), later.into_iter());
    let nodes = paired(sides, |told| told.values(Dimension::Node), KnownStart::sum).into_iter();
    moved_as_one(
        nodes.map(|(_, _, pods)| (pods.of as usize, pods.share() - one < (other - one) / 2.0)),
    )
}
