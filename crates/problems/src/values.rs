//! What a pod has in each dimension ([§13.3](crate::specification#s13-3)).

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use podinit_core::image_registry;
use podinit_core::label_values;
use podinit_core::lifecycle::{Cause, Record};
use podinit_core::node::NodeLabels;
use podinit_core::pod::Workload;

label_values! {
    /// What pods can share, in the order of the specification's table.
    pub enum SharedDimension {
        /// The image of the container that has the cause
        Image => "image",
        /// The registry of that image
        Registry => "registry",
        /// The first gate that holds the pod
        Gate => "gate",
        /// The controller, as NAMESPACE/KIND/NAME
        Workload => "workload",
        /// The node that the pod is bound to
        Node => "node",
        /// The pool of that node
        Nodepool => "nodepool",
        /// The zone of that node
        Zone => "zone",
        /// The namespace
        Namespace => "namespace",
    }
}

/// What pods share, where they share one thing.
pub(super) type SharedValue = Option<(SharedDimension, Arc<str>)>;

/// So many values of each dimension are looked at, of the old and of the new pods of each cause
/// ([§13.8](crate::specification#s13-8)).
pub(super) const MOST_VALUES: usize = 500;

/// At most one value in each dimension, by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct DimensionValues([u16; SharedDimension::ALL.len()]);

/// The number of no value: nothing is known.
const NO_VALUE: u16 = u16::MAX;
/// The number of each value that is not looked at.
const NOT_LOOKED_AT: u16 = NO_VALUE - 1;

// The values of the old and the new pods of all causes have numbers.
const _: () = assert!(2 * Cause::ALL.len() * MOST_VALUES < NOT_LOOKED_AT as usize);

impl Default for DimensionValues {
    fn default() -> Self {
        Self([NO_VALUE; SharedDimension::ALL.len()])
    }
}

impl DimensionValues {
    /// The value in a dimension, if it is looked at.
    pub(super) fn get(self, dimension: SharedDimension) -> Option<u16> {
        Some(self.0[dimension as usize]).filter(|number| *number < NOT_LOOKED_AT)
    }

    /// Whether there is no value in a dimension, looked at or not.
    pub(super) const fn lacks(self, dimension: SharedDimension) -> bool {
        self.0[dimension as usize] == NO_VALUE
    }

    /// Every value, with its dimension.
    pub(super) fn all(self) -> impl Iterator<Item = (SharedDimension, u16)> {
        let all = SharedDimension::ALL.into_iter();
        all.filter_map(move |dimension| Some((dimension, self.get(dimension)?)))
    }
}

/// The values of each dimension that many of some pods have: at most [`MOST_VALUES`], among them each that more than one
/// in so many pods has. It is the algorithm of Misra and Gries, which keeps no more than these.
#[derive(Debug, Default)]
pub(super) struct FrequentValues([HashMap<Box<str>, u32>; SharedDimension::ALL.len()]);

impl FrequentValues {
    /// Takes in a pod that has this.
    pub(super) fn add(&mut self, has: &PodValues<'_>) {
        for (dimension, value) in has.all() {
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
    dimensions: [OfDimension; SharedDimension::ALL.len()],
    /// How many pods have a value that is not
    incomplete: usize,
}

#[derive(Debug, Default)]
struct OfDimension {
    values: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u16>,
}

impl ConsideredValues {
    /// Looks at these values too.
    pub(super) fn take(&mut self, frequent: FrequentValues) {
        for (of_dimension, counts) in self.dimensions.iter_mut().zip(frequent.0) {
            for value in counts.into_keys() {
                of_dimension.take(value.into());
            }
        }
    }

    /// The values of a pod that has this.
    pub(super) fn values(&mut self, has: &PodValues<'_>) -> DimensionValues {
        let mut found = DimensionValues::default();
        let mut is_complete = true;
        for (dimension, value) in has.all() {
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

    /// How many values of a dimension there are.
    pub(super) fn count(&self, dimension: SharedDimension) -> usize {
        self.dimensions[dimension as usize].values.len()
    }

    /// The number of a value, if it is looked at.
    pub(super) fn number(&self, dimension: SharedDimension, value: &str) -> Option<u16> {
        self.dimensions[dimension as usize].numbers.get(value).copied()
    }

    /// The value of a number that this gave.
    pub(super) fn value(&self, dimension: SharedDimension, number: u16) -> &Arc<str> {
        &self.dimensions[dimension as usize].values[usize::from(number)]
    }
}

impl OfDimension {
    fn take(&mut self, value: Arc<str>) {
        // There are fewer than numbers of 16 bits.
        let number = self.values.len() as u16;
        if let Entry::Vacant(vacant) = self.numbers.entry(Arc::clone(&value)) {
            vacant.insert(number);
            self.values.push(value);
        }
    }
}

/// What a pod has, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PodValues<'a> {
    pub namespace: &'a str,
    pub node: Option<&'a str>,
    pub workload: Option<&'a Workload>,
    pub labels: Option<&'a NodeLabels>,
    pub image: Option<&'a str>,
    /// Whether its registry counts
    pub(super) has_registry: bool,
    pub gate: Option<&'a str>,
}

impl<'a> PodValues<'a> {
    /// Every value, with its dimension.
    pub(super) fn all(&self) -> impl Iterator<Item = (SharedDimension, Cow<'a, str>)> + use<'a> {
        let has = *self;
        let all = SharedDimension::ALL.into_iter();
        all.filter_map(move |dimension| Some((dimension, has.value(dimension)?)))
    }

    fn value(&self, dimension: SharedDimension) -> Option<Cow<'a, str>> {
        let text: &str = match dimension {
            SharedDimension::Image => self.image?,
            SharedDimension::Registry => {
                image_registry::registry_of(self.image.filter(|_| self.has_registry)?)
            }
            SharedDimension::Gate => self.gate?,
            SharedDimension::Workload => {
                let Workload { kind, name } = self.workload?;
                return Some(format!("{}/{kind}/{name}", self.namespace).into());
            }
            SharedDimension::Node => self.node?,
            SharedDimension::Nodepool => &self.labels?.pool,
            SharedDimension::Zone => Some(&*self.labels?.zone).filter(|zone| !zone.is_empty())?,
            SharedDimension::Namespace => self.namespace,
        };
        Some(text.into())
    }
}

/// The workload as NAMESPACE/KIND/NAME; `None` of a pod without a controller.
pub(super) fn workload(record: &Record) -> Option<String> {
    let workload = record.pod.workload.as_ref()?;
    let namespace = &record.pod.namespace;
    Some(format!("{namespace}/{}/{}", workload.kind, workload.name))
}
