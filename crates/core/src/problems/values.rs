//! What a pod has in each dimension ([§13.3](crate::specification#s13-3)).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::image_registry;
use crate::label_values;
use crate::lifecycle::Record;
use crate::node::NodeLabels;
use crate::pod::Workload;

label_values! {
    /// What pods can share, in the order of the specification's table.
    pub enum Dimension {
        /// The image of the container that has the cause
        Image => "image",
        /// The registry of that image
        Registry => "registry",
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
pub(super) type Shared = Option<(Dimension, Arc<str>)>;

/// So many values of each dimension are looked at ([§13.8](crate::specification#s13-8)).
const MOST_VALUES: usize = 1_000;

/// At most one value in each dimension, by number; what is not known, or not looked at, is no value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values([u16; Dimension::ALL.len()]);

/// The number of no value.
const NO_VALUE: u16 = u16::MAX;

impl Default for Values {
    fn default() -> Self {
        Self([NO_VALUE; Dimension::ALL.len()])
    }
}

impl Values {
    pub(super) fn get(self, dimension: Dimension) -> Option<u16> {
        Some(self.0[dimension as usize]).filter(|number| *number != NO_VALUE)
    }

    /// Every value, with its dimension.
    pub(super) fn all(self) -> impl Iterator<Item = (Dimension, u16)> {
        let all = Dimension::ALL.into_iter();
        all.filter_map(move |dimension| Some((dimension, self.get(dimension)?)))
    }
}

/// The values that are looked at: of each dimension the first that are taken.
#[derive(Debug, Default)]
pub(super) struct LookedAt([OfDimension; Dimension::ALL.len()]);

#[derive(Debug, Default)]
struct OfDimension {
    values: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u16>,
}

impl LookedAt {
    /// The values of a pod that has this; takes those that are new, as long as there are few enough.
    pub(super) fn take(&mut self, has: &Has<'_>) -> Values {
        let mut taken = Values::default();
        for (dimension, value) in has.all() {
            let OfDimension { values, numbers } = &mut self.0[dimension as usize];
            let known = numbers.get(&*value).copied();
            if known.is_none() && values.len() == MOST_VALUES {
                continue;
            }
            taken.0[dimension as usize] = known.unwrap_or_else(|| {
                let value: Arc<str> = (&*value).into();
                // There are fewer than numbers of 16 bits.
                let number = values.len() as u16;
                values.push(Arc::clone(&value));
                numbers.insert(value, number);
                number
            });
        }
        taken
    }

    /// How many values of a dimension there are.
    pub(super) fn count(&self, dimension: Dimension) -> usize {
        self.0[dimension as usize].values.len()
    }

    /// The number of a value, if it is looked at.
    pub(super) fn number(&self, dimension: Dimension, value: &str) -> Option<u16> {
        self.0[dimension as usize].numbers.get(value).copied()
    }

    /// The value of a number that this gave.
    pub(super) fn value(&self, dimension: Dimension, number: u16) -> &Arc<str> {
        &self.0[dimension as usize].values[usize::from(number)]
    }
}

/// What a pod has, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Has<'a> {
    pub namespace: &'a str,
    pub node: Option<&'a str>,
    pub workload: Option<&'a Workload>,
    pub labels: Option<&'a NodeLabels>,
    pub image: Option<&'a str>,
    /// Whether its registry counts
    pub has_registry: bool,
}

impl<'a> Has<'a> {
    /// Every value, with its dimension.
    pub(super) fn all(&self) -> impl Iterator<Item = (Dimension, Cow<'a, str>)> + use<'a> {
        let has = *self;
        let all = Dimension::ALL.into_iter();
        all.filter_map(move |dimension| Some((dimension, has.value(dimension)?)))
    }

    fn value(&self, dimension: Dimension) -> Option<Cow<'a, str>> {
        let text: &str = match dimension {
            Dimension::Image => self.image?,
            Dimension::Registry => image_registry::of(self.image.filter(|_| self.has_registry)?),
            Dimension::Workload => {
                let Workload { kind, name } = self.workload?;
                return Some(format!("{}/{kind}/{name}", self.namespace).into());
            }
            Dimension::Node => self.node?,
            Dimension::Nodepool => &self.labels?.pool,
            Dimension::Zone => Some(&*self.labels?.zone).filter(|zone| !zone.is_empty())?,
            Dimension::Namespace => self.namespace,
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
