//! From a pod to its label set, within the caps, and without an allocation once both are known.

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::labels::{LabelSpec, OTHER, SeriesLabel};
use podinit_core::pod::PodInfo;

/// The number of a value of one label.
type ValueId = u32;

/// Every label has these two values from the start; neither counts towards the cap.
const EMPTY_ID: ValueId = 0;
const OTHER_ID: ValueId = 1;
/// How many those are.
const FIRST_ID: usize = 2;

/// Labels and label sets as they are kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLabels {
    /// In the order in which they are exposed
    pub labels: Vec<SavedLabel>,
    /// Each set as one number for each label: 0 is no value, 1 for [`OTHER`], and from 2 on
    /// for the values of the label in their order
    pub sets: Vec<Vec<u32>>,
}

/// A label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLabel {
    /// Its name
    pub name: String,
    /// The values that it has taken, in the order in which they were met
    pub values: Vec<Arc<str>>,
}

/// The values that one label has taken.
#[derive(Debug)]
pub(super) struct Values {
    spec: LabelSpec,
    ids: HashMap<Arc<str>, ValueId>,
    values: Vec<Arc<str>>,
}

impl Values {
    pub(super) fn new(spec: LabelSpec) -> Self {
        Self {
            spec,
            ids: HashMap::new(),
            values: vec![Arc::from(""), Arc::from(OTHER)],
        }
    }

    /// The number of the value for `pod`.
    fn resolve_for(&mut self, pod: &PodInfo) -> ValueId {
        let value = self.spec.value(pod);
        self.resolve(value)
    }

    /// The number of `value`, and the value that stands for it.
    pub(super) fn resolve_named(&mut self, value: &str) -> (usize, Arc<str>) {
        let id = self.resolve(value) as usize;
        (id, self.values[id].clone())
    }

    /// The values met so far, in the order in which they were met.
    pub(super) fn met(&self) -> Vec<Arc<str>> {
        self.values.get(FIRST_ID..).unwrap_or_default().to_vec()
    }

    /// The number of `value`, a new one if there is room, and that of [`OTHER`] if not.
    fn resolve(&mut self, value: &str) -> ValueId {
        if value.is_empty() {
            return EMPTY_ID;
        }
        if let Some(id) = self.ids.get(value) {
            return *id;
        }
        let Ok(id) = ValueId::try_from(self.values.len()) else {
            return OTHER_ID;
        };
        if self.ids.len() >= self.spec.max_values {
            return OTHER_ID;
        }
        let value: Arc<str> = Arc::from(value);
        self.ids.insert(value.clone(), id);
        self.values.push(value);
        id
    }
}

/// All label sets met so far. Owned by the recorder; scrapes see the sets, not this index.
#[derive(Debug)]
pub(super) struct LabelSets {
    labels: Vec<Values>,
    max_sets: usize,
    sets: HashMap<Box<[ValueId]>, usize>,
    /// The set of the pod in hand: one buffer for all pods.
    ids: Vec<ValueId>,
}

/// The label set of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    /// Its position; positions are given out in order, from 0 to the cap on sets.
    pub(super) set: usize,
    /// It was not known before.
    pub(super) new: bool,
    /// It lay past the cap on sets, and is the one with [`OTHER`] throughout.
    pub(super) overflow: bool,
}

impl LabelSets {
    pub(super) fn new(specs: Vec<LabelSpec>, max_sets: usize) -> Self {
        Self {
            ids: Vec::with_capacity(specs.len()),
            labels: specs.into_iter().map(Values::new).collect(),
            max_sets,
            sets: HashMap::new(),
        }
    }

    /// The labels and the sets met so far.
    pub(super) fn saved(&self) -> SavedLabels {
        let mut sets = vec![Vec::new(); self.sets.len()];
        for (ids, set) in &self.sets {
            if let Some(place) = sets.get_mut(*set) {
                *place = ids.to_vec();
            }
        }
        let labels = self.labels.iter().map(|label| SavedLabel {
            name: label.spec.name.clone(),
            values: label.met(),
        });
        SavedLabels {
            labels: labels.collect(),
            sets,
        }
    }

    /// Meets what was saved again, under the caps that hold now, and shows each new set with its
    /// values. Returns for each saved set which one it is now; `None` if the labels are others.
    pub(super) fn restore(
        &mut self,
        saved: &SavedLabels,
        mut show: impl FnMut(usize, Box<[Arc<str>]>),
    ) -> Option<Vec<usize>> {
        let names = self.labels.iter().map(|label| &label.spec.name);
        if !names.eq(saved.labels.iter().map(|label| &label.name)) {
            return None;
        }
        let labels = self.labels.iter_mut().zip(&saved.labels);
        let known: Vec<Vec<ValueId>> = labels
            .map(|(label, saved)| {
                let values = saved.values.iter().map(|value| label.resolve(value));
                [EMPTY_ID, OTHER_ID].into_iter().chain(values).collect()
            })
            .collect();
        let sets = saved.sets.iter().map(|ids| {
            let ids = known.iter().zip(ids);
            let ids = ids.map(|(known, id)| *known.get(*id as usize).unwrap_or(&OTHER_ID));
            self.ids.clear();
            self.ids.extend(ids);
            let resolved = self.resolve_ids();
            if resolved.new {
                show(resolved.set, self.values());
            }
            resolved.set
        });
        Some(sets.collect())
    }

    /// How many label sets there are.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The label set of `pod`.
    pub(super) fn resolve(&mut self, pod: &PodInfo) -> Resolved {
        self.ids.clear();
        for label in &mut self.labels {
            let id = label.resolve_for(pod);
            self.ids.push(id);
        }
        self.resolve_ids()
    }

    fn resolve_ids(&mut self) -> Resolved {
        if let Some(set) = self.known() {
            return set;
        }
        let overflow = self.sets.len() >= self.max_sets;
        if overflow {
            self.ids.fill(OTHER_ID);
            if let Some(set) = self.known() {
                return Resolved { overflow, ..set };
            }
        }
        let set = self.sets.len();
        self.sets.insert(self.ids.as_slice().into(), set);
        Resolved {
            set,
            new: true,
            overflow,
        }
    }

    /// Whether `pod`, before the labels that `is_new` chooses were known, was in the set that stands for those
    /// past the cap.
    pub(super) fn overflowed_without(
        &mut self,
        pod: &PodInfo,
        is_new: impl Fn(&SeriesLabel) -> bool,
    ) -> bool {
        self.ids.clear();
        for label in &mut self.labels {
            let id = match is_new(&label.spec.label) {
                true => EMPTY_ID,
                false => label.resolve_for(pod),
            };
            self.ids.push(id);
        }
        self.known().is_none()
    }

    /// Calls `dropped` with the position of each label whose value for `pod` lies past the cap, of
    /// those that `counts` chooses.
    pub(super) fn each_dropped(
        &mut self,
        pod: &PodInfo,
        counts: impl Fn(&SeriesLabel) -> bool,
        mut dropped: impl FnMut(usize),
    ) {
        for (position, label) in self.labels.iter_mut().enumerate() {
            let is_dropped = label.resolve_for(pod) == OTHER_ID;
            if counts(&label.spec.label) && is_dropped {
                dropped(position);
            }
        }
    }

    /// The position of `label` among the labels.
    pub(super) fn position_of(&self, label: &SeriesLabel) -> Option<usize> {
        let mut labels = self.labels.iter();
        labels.position(|carried| carried.spec.label == *label)
    }

    /// Whether one of the labels is among those that `chosen` chooses.
    pub(super) fn has_any(&self, chosen: impl Fn(&SeriesLabel) -> bool) -> bool {
        self.labels.iter().any(|label| chosen(&label.spec.label))
    }

    /// The values of the set that was resolved last.
    pub(super) fn values(&self) -> Box<[Arc<str>]> {
        let pairs = self.labels.iter().zip(&self.ids);
        pairs
            .map(|(label, id)| label.values[*id as usize].clone())
            .collect()
    }

    fn known(&self) -> Option<Resolved> {
        let set = *self.sets.get(self.ids.as_slice())?;
        Some(Resolved {
            set,
            new: false,
            overflow: false,
        })
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::metrics::labels::LabelConfig;
    use podinit_core::pod::{PodSnapshot, PodUid};

    fn pod(namespace: &str) -> PodInfo {
        PodSnapshot::bare(PodUid::from_text("u"), namespace, "p").info
    }

    fn sets(max_values: usize, max_sets: usize) -> LabelSets {
        let config = LabelConfig {
            max_values,
            ..LabelConfig::default()
        };
        LabelSets::new(config.specs().unwrap(), max_sets)
    }

    fn dropped(sets: &mut LabelSets, pod: &PodInfo) -> Vec<usize> {
        let mut positions = Vec::new();
        sets.each_dropped(pod, |_| true, |position| positions.push(position));
        positions
    }

    #[test]
    fn values_past_the_cap_share_one_set() {
        let mut sets = sets(2, 10);
        let resolve = |sets: &mut LabelSets, namespace| {
            let resolved = sets.resolve(&pod(namespace));
            let values: Vec<_> = sets.values().iter().map(ToString::to_string).collect();
            (resolved.set, resolved.new, values[0].clone())
        };
        assert_eq!(resolve(&mut sets, "a"), (0, true, "a".to_owned()));
        assert_eq!(resolve(&mut sets, "b"), (1, true, "b".to_owned()));
        assert_eq!(resolve(&mut sets, "c"), (2, true, OTHER.to_owned()));
        assert_eq!(resolve(&mut sets, "d"), (2, false, OTHER.to_owned()));
        assert_eq!(resolve(&mut sets, "a"), (0, false, "a".to_owned()));
        assert_eq!(resolve(&mut sets, ""), (3, true, String::new()));
        assert_eq!(dropped(&mut sets, &pod("d")), vec![0]);
        assert!(dropped(&mut sets, &pod("b")).is_empty());
    }

    #[test]
    fn sets_past_the_cap_become_one_more() {
        let mut sets = sets(10, 2);
        sets.resolve(&pod("a"));
        sets.resolve(&pod("b"));
        let third = sets.resolve(&pod("c"));
        assert_eq!((third.set, third.new, third.overflow), (2, true, true));
        assert_eq!(&*sets.values()[0], OTHER);
        let fourth = sets.resolve(&pod("d"));
        assert_eq!((fourth.set, fourth.new, fourth.overflow), (2, false, true));
        assert!(!sets.resolve(&pod("a")).overflow);
    }
}
