//! The namespaces by which waiting pods and SLO events are counted, where `--slo-labels namespace` asks
//! for that. Without, there is one place for all pods.

use std::sync::{Arc, OnceLock};

use super::label_sets::Values;
use super::labels::{LabelSpec, OTHER};
use podinit_core::pod::PodInfo;

/// Where the pods of a namespace are counted: an index into [`NamespaceNames`].
pub(super) type NamespaceSlot = usize;

/// The place of all pods, or of those whose namespace is not known.
pub(super) const UNNAMED: NamespaceSlot = 0;

/// The namespaces that scrapes show, by place. A place is named when the first pod in it is met, and
/// keeps its name.
#[derive(Debug)]
pub(super) struct NamespaceNames {
    /// Whether series have the label
    pub(super) labelled: bool,
    names: Box<[OnceLock<Arc<str>>]>,
}

impl NamespaceNames {
    fn new(spec: Option<&LabelSpec>) -> Self {
        // Two places, no namespace and those past the cap, do not count towards it.
        let places = spec.map_or(1, |spec| spec.max_values.saturating_add(2));
        Self {
            labelled: spec.is_some(),
            names: (0..places).map(|_| OnceLock::new()).collect(),
        }
    }

    /// How many places there may be.
    pub(super) fn places(&self) -> usize {
        self.names.len()
    }

    /// The places that are shown, with the value of the label `namespace` if there is one.
    pub(super) fn shown(&self) -> impl Iterator<Item = (NamespaceSlot, Option<&str>)> {
        let places = self.names.iter().enumerate();
        places.filter_map(|(place, name)| match (self.labelled, name.get()) {
            (true, None) => None,
            (true, Some(name)) => Some((place, Some(&**name))),
            (false, _) => Some((place, None)),
        })
    }
}

/// From a pod to its place. The recorder owns it; scrapes see the names.
#[derive(Debug)]
pub(super) struct Namespaces {
    values: Option<Values>,
    pub(super) names: Arc<NamespaceNames>,
}

impl Namespaces {
    /// By the label of `spec`, if there is one.
    pub(super) fn new(spec: Option<LabelSpec>) -> Self {
        Self {
            names: Arc::new(NamespaceNames::new(spec.as_ref())),
            values: spec.map(Values::new),
        }
    }

    /// The place of `pod`, which is shown from now on.
    pub(super) fn place_of(&mut self, pod: &PodInfo) -> NamespaceSlot {
        self.place(&pod.namespace)
    }

    /// The place of the namespace `name`; empty text is none.
    pub(super) fn place(&mut self, name: &str) -> NamespaceSlot {
        let Some(values) = &mut self.values else {
            return UNNAMED;
        };
        let (place, name) = values.resolve_named(name);
        let place = if place < self.names.places() {
            place
        } else {
            UNNAMED
        };
        self.names.names[place].get_or_init(|| name);
        place
    }

    /// Whether the namespace of `pod` lies past the cap.
    pub(super) fn drops(&mut self, pod: &PodInfo) -> bool {
        let place = self.place_of(pod);
        let name = self.names.names[place].get();
        name.is_some_and(|name| **name == *OTHER) && *pod.namespace != *OTHER
    }

    /// The namespaces met so far, in the order in which they were met.
    pub(super) fn saved(&self) -> Vec<Arc<str>> {
        self.values.as_ref().map(Values::met).unwrap_or_default()
    }

    /// Meets again what was saved, under the cap that holds now.
    pub(super) fn restore(&mut self, saved: &[Arc<str>]) {
        for name in saved {
            self.place(name);
        }
    }
}
