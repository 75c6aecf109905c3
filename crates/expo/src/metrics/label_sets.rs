//! From a pod to its label set, within the caps, and without an allocation once both are known
//! (but one for the workload's type, whose letters change).

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::label_values::{EMPTY_ID, LabelValuePlaces, OTHER_ID, ValueId};
use super::labels::{LabelSpec, SeriesLabel};
use super::occupancy::{PlaceOccupancy, PlaceVacancies};
use super::saved_holds::SavedHolds;
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;

/// Labels and label sets as they are kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedLabels {
    /// In the order in which they are exposed
    pub labels: Vec<SavedLabel>,
    /// Each set as one number for each label: 0 is no value, 1 for `_other`, and from 2 on
    /// for the values of the label in their order
    pub sets: Vec<Vec<u32>>,
}

/// A label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedLabel {
    /// Its name
    pub name: String,
    /// The values that it has taken, in the order in which they were met
    pub values: Vec<Arc<str>>,
}

/// Whether all values of a set stand for those past the cap.
fn is_other(ids: &[ValueId]) -> bool {
    ids.iter().all(|id| *id == OTHER_ID)
}

/// A label, and the values that it has taken.
#[derive(Debug)]
struct CountedLabel {
    spec: LabelSpec,
    values: LabelValuePlaces,
}

impl CountedLabel {
    /// The number of the value for `pod`.
    fn resolve_for(&mut self, pod: &PodInfo) -> ValueId {
        self.values.resolve(&self.spec.value(pod))
    }
}

/// All label sets met so far. Owned by the recorder; scrapes see the sets, not this index.
#[derive(Debug)]
pub(super) struct LabelSets {
    labels: Vec<CountedLabel>,
    max_sets: usize,
    sets: HashMap<Box<[ValueId]>, usize>,
    /// By position; `None` where there is no set
    places: Vec<Option<PlaceOccupancy>>,
    free: Vec<usize>,
    /// Whether there is one more than the cap allows, for those past it
    has_excess: bool,
    vacancies: PlaceVacancies,
    /// The set of the pod in hand: one buffer for all pods.
    ids: Vec<ValueId>,
}

/// The label set of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResolvedLabelSet {
    /// Its position, from 0 to the cap on sets
    pub(super) set: usize,
    /// It was not known before.
    pub(super) new: bool,
    /// It lay past the cap on sets, and is the one with [`OTHER`] throughout.
    pub(super) overflow: bool,
}

impl LabelSets {
    pub(super) fn new(specs: Vec<LabelSpec>, max_sets: usize) -> Self {
        let label =
            |spec: LabelSpec| CountedLabel { values: LabelValuePlaces::new(spec.max_values), spec };
        Self {
            ids: Vec::with_capacity(specs.len()),
            labels: specs.into_iter().map(label).collect(),
            max_sets,
            sets: HashMap::new(),
            places: Vec::new(),
            free: Vec::new(),
            has_excess: false,
            vacancies: PlaceVacancies::default(),
        }
    }

    /// The labels and the sets that there are, and the positions of these sets.
    pub(super) fn saved(&self) -> (SavedLabels, Vec<usize>) {
        let mut sets: Vec<_> = self.sets.iter().map(|(ids, set)| (*set, ids)).collect();
        sets.sort_unstable();
        let positions = sets.iter().map(|(set, _)| *set).collect();
        let sets = sets.into_iter().map(|(_, ids)| ids.to_vec()).collect();
        let labels = self
            .labels
            .iter()
            .map(|label| SavedLabel { name: label.spec.name.clone(), values: label.values.met() });
        let labels = labels.collect();
        (SavedLabels { labels, sets }, positions)
    }

    /// Since when the values of each label are without a pod, and the sets with these positions.
    pub(super) fn saved_places(&self, positions: &[usize]) -> SavedHolds {
        let sets = positions.iter().map(|set| self.places.get(*set));
        let sets = sets.map(|place| place?.as_ref()?.saved());
        SavedHolds {
            values: self.labels.iter().map(|label| label.values.saved_places()).collect(),
            sets: sets.collect(),
            ..SavedHolds::default()
        }
    }

    /// Meets what was saved again, under the caps that hold now, and shows each new set with its
    /// values. Returns for each saved set which one it is now; `None` if the labels are others.
    pub(super) fn restore(
        &mut self,
        saved: &SavedLabels,
        holds: &SavedHolds,
        mut show: impl FnMut(usize, Box<[Arc<str>]>),
    ) -> Option<Vec<usize>> {
        let names = self.labels.iter().map(|label| &label.spec.name);
        if !names.eq(saved.labels.iter().map(|label| &label.name)) {
            return None;
        }
        let labels = self.labels.iter_mut().zip(&saved.labels);
        let known: Vec<Vec<ValueId>> = (0..)
            .zip(labels)
            .map(|(position, (label, saved)): (usize, _)| {
                let since = |value| *holds.values.get(position)?.get(value)?;
                let values = saved.values.iter().enumerate();
                let values = values.map(|(index, value)| label.values.restore(value, since(index)));
                [EMPTY_ID, OTHER_ID].into_iter().chain(values).collect()
            })
            .collect();
        let sets = saved.sets.iter().enumerate().map(|(position, ids)| {
            let ids = known.iter().zip(ids);
            let ids = ids.map(|(known, id)| *known.get(*id as usize).unwrap_or(&OTHER_ID));
            self.ids.clear();
            self.ids.extend(ids);
            let resolved = self.resolve_ids();
            if resolved.new {
                show(resolved.set, self.values());
                let since = holds.sets.get(position).copied().flatten();
                if let Some(Some(place)) = self.places.get_mut(resolved.set)
                    && !is_other(&self.ids)
                {
                    *place = PlaceOccupancy::vacant(since);
                }
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
    pub(super) fn resolve(&mut self, pod: &PodInfo) -> ResolvedLabelSet {
        self.resolve_labels(pod);
        self.resolve_ids()
    }

    fn resolve_labels(&mut self, pod: &PodInfo) {
        self.ids.clear();
        for label in &mut self.labels {
            let id = label.resolve_for(pod);
            self.ids.push(id);
        }
    }

    fn resolve_ids(&mut self) -> ResolvedLabelSet {
        if let Some(set) = self.known() {
            return set;
        }
        let overflow = self.is_full();
        if overflow {
            self.ids.fill(OTHER_ID);
            if let Some(set) = self.known() {
                return ResolvedLabelSet { overflow, ..set };
            }
        }
        self.has_excess |= overflow;
        let place = match is_other(&self.ids) {
            true => PlaceOccupancy::permanent(),
            false => PlaceOccupancy::default(),
        };
        let set = match self.free.pop() {
            Some(set) => {
                self.places[set] = Some(place);
                set
            }
            None => {
                self.places.push(Some(place));
                self.places.len() - 1
            }
        };
        self.sets.insert(self.ids.as_slice().into(), set);
        ResolvedLabelSet { set, new: true, overflow }
    }

    /// Whether one of the labels has as many values as its cap allows, or there are as many sets.
    pub(super) fn has_full_label(&self) -> bool {
        self.is_full() || self.labels.iter().any(|label| label.values.is_full())
    }

    /// Whether the cap leaves no room for another set.
    fn is_full(&self) -> bool {
        self.sets.len() - usize::from(self.has_excess) >= self.max_sets
    }

    /// Makes room for the values of `pod` that have become known, of the labels that `chosen` chooses, and for its set.
    /// Values and sets that have been without a pod for a day give their places back, where a cap is reached, and end:
    /// `expired` is called with the position of a label whose value ends, or with `None` for a set, and `ended` with
    /// each set that ends.
    pub(super) fn make_room(
        &mut self,
        now: Timestamp,
        pod: &PodInfo,
        chosen: impl Fn(&SeriesLabel) -> bool,
        mut expired: impl FnMut(Option<usize>),
        mut ended: impl FnMut(usize),
    ) {
        for position in 0..self.labels.len() {
            let label = &mut self.labels[position];
            if !chosen(&label.spec.label) {
                continue;
            }
            let value = label.spec.value(pod);
            if let Some(id) = label.values.make_room(&value, now) {
                expired(Some(position));
                self.end_sets(|ids, _| ids.get(position) == Some(&id), &mut ended);
            }
        }
        if !self.is_full() {
            return;
        }
        self.resolve_labels(pod);
        if self.known().is_some() {
            return;
        }
        let places = self.places.iter_mut().enumerate();
        let places = places.filter_map(|(set, place)| Some((set, place.as_mut()?)));
        if let Some(oldest) = self.vacancies.oldest(places, now) {
            expired(None);
            self.end_sets(|_, set| set == oldest, &mut ended);
        }
    }

    /// Ends the sets that `ends` chooses. No pod has one of them.
    fn end_sets(
        &mut self,
        ends: impl Fn(&[ValueId], usize) -> bool,
        ended: &mut impl FnMut(usize),
    ) {
        let Self { sets, places, free, .. } = self;
        sets.retain(|ids, set| {
            let ends = ends(ids, *set);
            if ends {
                places[*set] = None;
                free.push(*set);
                ended(*set);
            }
            !ends
        });
    }

    /// The numbers of the values of the set that was resolved last.
    pub(super) fn resolved_ids(&self) -> &[ValueId] {
        &self.ids
    }

    /// The numbers of the values of each set, by its position.
    pub(super) fn ids_by_set(&self) -> HashMap<usize, Box<[ValueId]>> {
        let sets = self.sets.iter();
        sets.map(|(ids, set)| (*set, ids.clone())).collect()
    }

    /// A set with these values has pods.
    pub(super) fn enter(&mut self, set: usize, ids: &[ValueId]) {
        if let Some(Some(place)) = self.places.get_mut(set) {
            place.enter();
        }
        for (label, id) in self.labels.iter_mut().zip(ids) {
            label.values.enter(*id as usize);
        }
    }

    /// A set with these values has had pods until `now`.
    pub(super) fn leave(&mut self, set: usize, ids: &[ValueId], now: Timestamp) {
        if let Some(Some(place)) = self.places.get_mut(set) {
            place.leave(now);
        }
        for (label, id) in self.labels.iter_mut().zip(ids) {
            label.values.leave(*id as usize, now);
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
        pairs.map(|(label, id)| label.values.values[*id as usize].clone()).collect()
    }

    fn known(&self) -> Option<ResolvedLabelSet> {
        let set = *self.sets.get(self.ids.as_slice())?;
        Some(ResolvedLabelSet { set, new: false, overflow: false })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::metrics::labels::{LabelConfig, OTHER};
    use podinit_core::pod::{PodSnapshot, PodUid};

    fn pod(namespace: &str) -> PodInfo {
        PodSnapshot::bare(PodUid::from_text("u"), namespace, "p").info
    }

    fn sets(max_values: usize, max_sets: usize) -> LabelSets {
        let config = LabelConfig { max_values, ..LabelConfig::default() };
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
