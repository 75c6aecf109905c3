//! Which values are looked at, and by which numbers ([§13.8](crate::specification#s13-8)).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::blocks::DistinctValues;
use super::texts::TextKind;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;

/// What pods share, where they share one thing.
pub(super) type SharedValue = Option<(Dimension, Arc<str>)>;

/// What makes some of the affected pods of a cause one problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ProblemIdentity {
    pub shared: SharedValue,
    /// Where they share no value
    pub fault: StatedFault,
}

/// Which of the faults of a cause pods without a value have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum StatedFault {
    /// It is not known, or does not matter
    #[default]
    Any,
    /// The one with this kind of text
    Of(TextKind),
    /// Several, or none that is known, beside those that are told
    Others,
}

impl StatedFault {
    /// A number that tells it from others; none where it does not matter.
    pub(super) const fn number(self) -> Option<u64> {
        match self {
            Self::Any => None,
            Self::Of(kind) => Some(kind),
            Self::Others => Some(u64::MAX),
        }
    }
}

impl ProblemIdentity {
    /// That of pods which share a value.
    pub(super) fn of_value(dimension: Dimension, value: Arc<str>) -> Self {
        Self { shared: Some((dimension, value)), fault: StatedFault::Any }
    }

    /// That of pods which share no value.
    pub(super) const fn of_fault(fault: StatedFault) -> Self {
        Self { shared: None, fault }
    }
}

/// So many values of each dimension are looked at, of the old and of the new pods of each cause
/// ([§13.8](crate::specification#s13-8)).
pub(super) const MOST_VALUES: usize = 500;

/// One for each dimension.
pub(super) type ByDimension<T> = [T; Dimension::ALL.len()];

/// At most one value in each dimension, by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct DimensionValues(ByDimension<u16>);

/// The number of no value: nothing is known.
const NO_VALUE: u16 = u16::MAX;
/// The number of each value that is not looked at.
const NOT_LOOKED_AT: u16 = NO_VALUE - 1;

// The values of the old and the new pods of all causes have numbers.
const _: () = assert!(2 * Cause::ALL.len() * MOST_VALUES < NOT_LOOKED_AT as usize);

impl Default for DimensionValues {
    fn default() -> Self {
        Self([NO_VALUE; Dimension::ALL.len()])
    }
}

impl DimensionValues {
    /// The value in a dimension, if it is looked at.
    pub(super) fn get(self, dimension: Dimension) -> Option<u16> {
        Some(self.0[dimension as usize]).filter(|number| *number < NOT_LOOKED_AT)
    }

    /// Whether there is no value in a dimension, looked at or not.
    pub(super) const fn lacks(self, dimension: Dimension) -> bool {
        self.0[dimension as usize] == NO_VALUE
    }

    /// Every value, with its dimension.
    pub(super) fn all(self) -> impl Iterator<Item = (Dimension, u16)> {
        let all = Dimension::ALL.into_iter();
        all.filter_map(move |dimension| Some((dimension, self.get(dimension)?)))
    }
}

/// The values of each dimension that many of some pods have: at most [`MOST_VALUES`], among them each that more than one
/// in so many pods has. It is the algorithm of Misra and Gries, which keeps no more than these.
#[derive(Debug, Default)]
pub(super) struct FrequentValues(ByDimension<HashMap<Box<str>, u32>>);

impl FrequentValues {
    /// Takes in a pod that has these.
    pub(super) fn add<'a>(&mut self, has: impl Iterator<Item = (Dimension, Cow<'a, str>)>) {
        for (dimension, value) in has {
            let counts = &mut self.0[dimension as usize];
            if let Some(count) = counts.get_mut(&*value) {
                *count += 1;
            } else if counts.len() < MOST_VALUES {
                counts.insert((*value).into(), 1);
            } else {
                // The pod, and one of each of these values, count no more.
                counts.retain(|_, count| {
                    *count -= 1;
                    *count > 0
                });
            }
        }
    }
}

/// The values that are looked at.
#[derive(Debug, Default)]
pub(super) struct ConsideredValues {
    dimensions: ByDimension<DistinctValues<str>>,
    /// How many pods have a value that is not
    incomplete: usize,
}

impl ConsideredValues {
    /// Looks at these values too. There are fewer than numbers of 16 bits.
    pub(super) fn take(&mut self, frequent: FrequentValues) {
        for (values, counts) in self.dimensions.iter_mut().zip(frequent.0) {
            for value in counts.into_keys() {
                values.number(&value.into());
            }
        }
    }

    /// The values of a pod that has these.
    pub(super) fn values<'a>(
        &mut self,
        has: impl Iterator<Item = (Dimension, Cow<'a, str>)>,
    ) -> DimensionValues {
        let mut found = DimensionValues::default();
        let mut is_complete = true;
        for (dimension, value) in has {
            let number = self.number(dimension, &value);
            is_complete &= number.is_some();
            found.0[dimension as usize] = number.unwrap_or(NOT_LOOKED_AT);
        }
        self.incomplete += usize::from(!is_complete);
        found
    }

    /// How many pods have a value that is not looked at.
    pub(super) const fn incomplete(&self) -> usize {
        self.incomplete
    }

    /// An entry for each value, by dimension and number.
    pub(super) fn table<T: Clone + Default>(&self) -> ByDimension<Vec<T>> {
        self.dimensions.each_ref().map(|values| vec![T::default(); values.len()])
    }

    /// The number of a value, if it is looked at.
    pub(super) fn number(&self, dimension: Dimension, value: &str) -> Option<u16> {
        self.dimensions[dimension as usize].find(value).map(|number| number as u16)
    }

    /// The value of a number that this gave.
    pub(super) fn value(&self, dimension: Dimension, number: u16) -> &Arc<str> {
        &self.dimensions[dimension as usize][u32::from(number)]
    }
}
