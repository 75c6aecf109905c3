//! Which label values the remembered pods have: a [`LabelHold`] names a label set, and the place of a namespace in
//! the series of SLOs.

use super::label_sets::LabelSets;
use super::label_values::{OTHER_ID, ValueId};
use super::namespaces::{NamespacePlaces, NamespaceSlot, OTHER_PLACE};
use super::saved_holds::SavedHold;
use hashbrown::HashMap;
use podinit_core::lifecycle::LabelHold;
use podinit_core::timestamp::Timestamp;

/// What a hold names, and how many pods have it.
#[derive(Clone, Debug)]
struct HoldCount {
    set: usize,
    ids: Box<[ValueId]>,
    place: NamespaceSlot,
    pods: u32,
}

impl HoldCount {
    /// Whether a value or the place is that of the rest.
    fn is_of_rest(&self) -> bool {
        self.place == OTHER_PLACE || self.ids.contains(&OTHER_ID)
    }
}

/// The holds of all pods. Owned by the recorder.
#[derive(Debug, Default)]
pub(super) struct PodHolds {
    numbers: HashMap<(usize, NamespaceSlot), u32>,
    /// By number, from 1 on
    held: Vec<HoldCount>,
    free: Vec<u32>,
    /// Pods whose label values are not known
    unknown: u64,
}

impl PodHolds {
    /// Whether a pod may have any value.
    pub(super) const fn may_have_any(&self) -> bool {
        self.unknown > 0
    }

    /// Whether one of the values of a hold is that of the rest.
    pub(super) fn is_of_rest(&self, hold: LabelHold) -> bool {
        let number = hold.get().checked_sub(1);
        let held = number.and_then(|number| self.held.get(number as usize));
        held.is_some_and(HoldCount::is_of_rest)
    }

    /// Whether pods have a value that is that of the rest.
    pub(super) fn has_rest(&self) -> bool {
        self.held.iter().any(|held| held.pods > 0 && held.is_of_rest())
    }

    /// A pod has the label set that `labels` has resolved last, and this place.
    pub(super) fn enter(
        &mut self,
        set: usize,
        place: NamespaceSlot,
        labels: &mut LabelSets,
        namespaces: &mut NamespacePlaces,
    ) -> LabelHold {
        if let Some(number) = self.numbers.get(&(set, place)) {
            if let Some(held) = self.held.get_mut(*number as usize) {
                held.pods += 1;
            }
            return LabelHold::new(number + 1);
        }
        if self.free.is_empty() && self.held.len() >= LabelHold::MAX as usize {
            return self.enter_unknown();
        }
        let number = self.free.pop().unwrap_or(self.held.len() as u32);
        let ids = labels.resolved_ids().into();
        self.enter_as(number, set, ids, place, labels, namespaces)
    }

    /// The first pod has this label set and place, which get this number.
    fn enter_as(
        &mut self,
        number: u32,
        set: usize,
        ids: Box<[ValueId]>,
        place: NamespaceSlot,
        labels: &mut LabelSets,
        namespaces: &mut NamespacePlaces,
    ) -> LabelHold {
        labels.enter(set, &ids);
        namespaces.enter(place);
        let held = HoldCount { set, ids, place, pods: 1 };
        match self.held.get_mut(number as usize) {
            Some(free) => *free = held,
            None => self.held.push(held),
        }
        self.numbers.insert((set, place), number);
        LabelHold::new(number + 1)
    }

    /// Takes back the next hold that was saved, under its number, with a pod. Where it names what an earlier one names,
    /// it is that one.
    pub(super) fn restore_next(
        &mut self,
        named: Option<(usize, &[ValueId], NamespaceSlot)>,
        labels: &mut LabelSets,
        namespaces: &mut NamespacePlaces,
    ) -> LabelHold {
        let next = self.held.len() as u32;
        let known = named.and_then(|(set, _, place)| self.numbers.get(&(set, place)));
        let (Some((set, ids, place)), None) = (named, known) else {
            let known = known.map_or(LabelHold::UNKNOWN, |number| LabelHold::new(number + 1));
            self.held.push(HoldCount { set: 0, ids: [].into(), place: 0, pods: 0 });
            self.free.push(next);
            return match known {
                LabelHold::UNKNOWN => known,
                known => self.enter_again(known),
            };
        };
        self.enter_as(next, set, ids.into(), place, labels, namespaces)
    }

    /// A pod more has the hold of another.
    pub(super) fn enter_again(&mut self, hold: LabelHold) -> LabelHold {
        let number = hold.get().checked_sub(1);
        match number.and_then(|number| self.held.get_mut(number as usize)) {
            None => self.enter_unknown(),
            Some(held) => {
                held.pods += 1;
                hold
            }
        }
    }

    /// A pod whose label values are not known.
    const fn enter_unknown(&mut self) -> LabelHold {
        self.unknown += 1;
        LabelHold::UNKNOWN
    }

    /// A pod less has this hold, from `now` on.
    pub(super) fn leave(
        &mut self,
        hold: LabelHold,
        now: Timestamp,
        labels: &mut LabelSets,
        namespaces: &mut NamespacePlaces,
    ) {
        let Some(number) = hold.get().checked_sub(1) else {
            self.unknown = self.unknown.saturating_sub(1);
            return;
        };
        let Some(held) = self.held.get_mut(number as usize) else {
            return;
        };
        held.pods = held.pods.saturating_sub(1);
        if held.pods == 0 && self.numbers.remove(&(held.set, held.place)).is_some() {
            labels.leave(held.set, &held.ids, now);
            namespaces.leave(held.place, now);
            self.free.push(number);
        }
    }

    /// What they name, where `position` gives the position of a label set among those saved.
    pub(super) fn saved(&self, position: impl Fn(usize) -> Option<u32>) -> Vec<SavedHold> {
        let held = self.held.iter().map(|held| {
            let position = position(held.set).filter(|_| held.pods > 0)?;
            // Places have the numbers of values.
            Some((position, held.place as u32))
        });
        held.collect()
    }
}
