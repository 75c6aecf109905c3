//! The namespaces by which waiting pods and SLO events are counted, where `--slo-labels namespace` asks
//! for that. Without, there is one place for all pods.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::RwLock;

use super::label_values::{LabelValuePlaces, OTHER_ID};
use super::labels::LabelSpec;
use podinit_core::lifecycle::WaitReason;
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;

/// Where the pods of a namespace are counted: an index into [`NamespaceNames`].
pub(super) type NamespaceSlot = usize;

/// The place of all pods, or of those whose namespace is not known.
pub(super) const UNNAMED: NamespaceSlot = 0;

/// The place of pods whose namespace lies past the cap, where places are named.
pub(super) const OTHER_PLACE: NamespaceSlot = OTHER_ID as usize;

/// The namespaces that scrapes show, by place. A place is named when the first pod in it is met, and
/// named anew when it is given to another namespace.
#[derive(Debug)]
pub(super) struct NamespaceNames {
    /// Whether series have the label
    pub(super) labelled: bool,
    names: Box<[RwLock<Option<Arc<str>>>]>,
}

impl NamespaceNames {
    fn new(spec: Option<&LabelSpec>) -> Self {
        // Two places, no namespace and those past the cap, do not count towards it.
        let places = spec.map_or(1, |spec| spec.max_values.saturating_add(2));
        Self { labelled: spec.is_some(), names: (0..places).map(|_| RwLock::new(None)).collect() }
    }

    /// How many places there may be.
    pub(super) fn places(&self) -> usize {
        self.names.len()
    }

    /// The places that are shown, with the value of the label `namespace` if there is one.
    pub(super) fn shown(&self) -> impl Iterator<Item = (NamespaceSlot, Option<Arc<str>>)> {
        let places = self.names.iter().enumerate();
        places.filter_map(|(place, name)| match self.labelled {
            false => Some((place, None)),
            true => Some((place, Some(read(name)?))),
        })
    }

    /// Whether a place is still that of the namespace as which it was shown.
    pub(super) fn is_still(&self, place: NamespaceSlot, name: Option<&Arc<str>>) -> bool {
        let now = self.names.get(place).and_then(read);
        match (now, name) {
            (Some(now), Some(name)) => Arc::ptr_eq(&now, name),
            (_, name) => name.is_none(),
        }
    }

    fn name(&self, place: NamespaceSlot, name: Option<Arc<str>>) {
        if let Some(lock) = self.names.get(place) {
            *lock.write() = name;
        }
    }
}

fn read(name: &RwLock<Option<Arc<str>>>) -> Option<Arc<str>> {
    name.read().clone()
}

/// The pods in flight of one namespace that lies past the cap, by stage and cause: those that wait, and those that are
/// stuck.
#[derive(Debug, Default)]
pub(super) struct OtherPods {
    pub(super) waiting: WaitCounts,
    pub(super) stuck: WaitCounts,
}

/// Counts that are not 0, by stage and cause.
#[derive(Debug, Default)]
pub(super) struct WaitCounts(pub(super) Vec<(WaitReason, u64)>);

impl WaitCounts {
    fn move_pod(&mut self, from: Option<WaitReason>, to: Option<WaitReason>) {
        if let Some(from) = from
            && let Some(place) = self.0.iter().position(|(reason, _)| *reason == from)
        {
            self.0[place].1 -= 1;
            if self.0[place].1 == 0 {
                self.0.swap_remove(place);
            }
        }
        if let Some(to) = to {
            match self.0.iter_mut().find(|(reason, _)| *reason == to) {
                Some((_, pods)) => *pods += 1,
                None => self.0.push((to, 1)),
            }
        }
    }
}

/// From a pod to its place. The recorder owns it; scrapes see the names.
#[derive(Debug)]
pub(super) struct NamespacePlaces {
    values: Option<LabelValuePlaces>,
    /// Of those past the cap that have pods in flight; these move where their namespace gets a place
    others: HashMap<Arc<str>, OtherPods>,
    /// Whether a place has its name
    named: Vec<bool>,
    pub(super) names: Arc<NamespaceNames>,
}

impl NamespacePlaces {
    /// By the label of `spec`, if there is one.
    pub(super) fn new(spec: Option<LabelSpec>) -> Self {
        let names = NamespaceNames::new(spec.as_ref());
        Self {
            named: vec![false; names.places()],
            names: Arc::new(names),
            others: HashMap::new(),
            values: spec.map(|spec| LabelValuePlaces::new(spec.max_values)),
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
        let place = values.resolve(name) as usize;
        self.show(place)
    }

    /// Shows a place.
    fn show(&mut self, place: NamespaceSlot) -> NamespaceSlot {
        let Some(values) = &self.values else {
            return UNNAMED;
        };
        let Some(named) = self.named.get_mut(place) else {
            return UNNAMED;
        };
        if !*named {
            *named = true;
            let name = values.values.get(place).cloned();
            self.names.name(place, name);
        }
        place
    }

    /// Whether the namespace of `pod` lies past the cap.
    pub(super) fn drops(&mut self, pod: &PodInfo) -> bool {
        self.values.is_some() && self.place_of(pod) == OTHER_PLACE
    }

    /// A pod in flight with this place waits for another stage or cause.
    pub(super) fn move_waiting(
        &mut self,
        place: NamespaceSlot,
        pod: &PodInfo,
        from: Option<WaitReason>,
        to: Option<WaitReason>,
    ) {
        self.move_other(place, pod, |other| other.waiting.move_pod(from, to));
    }

    /// A pod in flight with this place is stuck for another stage or cause.
    pub(super) fn move_stuck(
        &mut self,
        place: NamespaceSlot,
        pod: &PodInfo,
        from: Option<WaitReason>,
        to: Option<WaitReason>,
    ) {
        self.move_other(place, pod, |other| other.stuck.move_pod(from, to));
    }

    /// Changes what is counted of the pods in flight of the namespace of `pod`, if that lies past the cap.
    fn move_other(
        &mut self,
        place: NamespaceSlot,
        pod: &PodInfo,
        change: impl FnOnce(&mut OtherPods),
    ) {
        if place != OTHER_PLACE || self.values.is_none() {
            return;
        }
        let other = self.others.entry(Arc::clone(&pod.namespace)).or_default();
        change(other);
        if other.waiting.0.is_empty() && other.stuck.0.is_empty() {
            self.others.remove(&pod.namespace);
        }
    }

    /// Gives the namespace of `pod` the place of one that has been without a pod for a day, if it is new and the cap
    /// leaves no room. `end` is called with the place, which is not shown then. Returns it, and the pods in flight of
    /// the namespace, which have been counted past the cap.
    pub(super) fn make_room(
        &mut self,
        pod: &PodInfo,
        now: Timestamp,
        end: impl FnOnce(NamespaceSlot),
    ) -> Option<(NamespaceSlot, OtherPods)> {
        let values = self.values.as_mut()?;
        let place = values.make_room(&pod.namespace, now)? as usize;
        self.names.name(place, None);
        if let Some(named) = self.named.get_mut(place) {
            *named = false;
        }
        end(place);
        self.show(place);
        let others = self.others.remove(&pod.namespace);
        Some((place, others.unwrap_or_default()))
    }

    /// Whether there are as many namespaces as the cap allows.
    pub(super) fn is_full(&self) -> bool {
        self.values.as_ref().is_some_and(LabelValuePlaces::is_full)
    }

    /// The namespace with this place has pods.
    pub(super) fn enter(&mut self, place: NamespaceSlot) {
        if let Some(values) = &mut self.values {
            values.enter(place);
        }
    }

    /// The namespace with this place has had pods until `now`.
    pub(super) fn leave(&mut self, place: NamespaceSlot, now: Timestamp) {
        if let Some(values) = &mut self.values {
            values.leave(place, now);
        }
    }

    /// The namespaces met so far, in the order in which they were met.
    pub(super) fn saved(&self) -> Vec<Arc<str>> {
        self.values.as_ref().map(LabelValuePlaces::met).unwrap_or_default()
    }

    /// Since when these are without a pod.
    pub(super) fn saved_places(&self) -> Vec<Option<i64>> {
        let values = self.values.as_ref();
        values.map(LabelValuePlaces::saved_places).unwrap_or_default()
    }

    /// Meets again what was saved, under the cap that holds now, and since when each was without a pod. Returns the
    /// places, by those that were saved.
    pub(super) fn restore(
        &mut self,
        saved: &[Arc<str>],
        since: &[Option<i64>],
    ) -> Vec<NamespaceSlot> {
        let mut places = vec![UNNAMED, OTHER_PLACE];
        for (index, name) in saved.iter().enumerate() {
            places.push(match &mut self.values {
                None => UNNAMED,
                Some(values) => {
                    let since = since.get(index).copied().flatten();
                    let place = values.restore(name, since) as usize;
                    self.show(place)
                }
            });
        }
        places
    }
}
