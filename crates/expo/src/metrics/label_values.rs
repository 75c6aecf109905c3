//! The values of one label: a number for each, within the cap, and since when those have nothing that give their
//! places to others ([§7.5](crate::specification#s7-5)).

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::labels::OTHER;
use super::occupancy::{PlaceOccupancy, PlaceVacancies};
use podinit_core::timestamp::Timestamp;

/// The number of a value of one label.
pub(super) type ValueId = u32;

/// Every label has these two values from the start; neither counts towards the cap.
pub(super) const EMPTY_ID: ValueId = 0;
pub(super) const OTHER_ID: ValueId = 1;
/// How many those are.
pub(super) const FIRST_ID: usize = 2;

/// The values that one label has taken.
#[derive(Debug)]
pub(super) struct LabelValuePlaces {
    max_values: usize,
    ids: HashMap<Arc<str>, ValueId>,
    pub(super) values: Vec<Arc<str>>,
    /// By number
    places: Vec<PlaceOccupancy>,
    vacancies: PlaceVacancies,
    /// By number: the namespace whose pod took the place, where namespaces have shares
    owners: Vec<Option<Arc<str>>>,
    /// How many places each of these has taken
    owned: HashMap<Arc<str>, usize>,
}

/// A value with a place of its own as it is kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedPlace {
    pub value: String,
    /// Since when it has nothing, in nanoseconds since the Unix epoch; `None` where it has something or that is not known
    pub since: Option<i64>,
    /// The namespace whose pod took the place, where namespaces have shares
    pub namespace: Option<String>,
}

/// A value that was given a place.
pub(super) struct AssignedPlace {
    pub(super) id: ValueId,
    /// It had none before
    pub(super) is_new: bool,
    /// The value that ends: it had the place before
    pub(super) ended: Option<Arc<str>>,
}

impl LabelValuePlaces {
    pub(super) fn new(max_values: usize) -> Self {
        Self {
            max_values,
            ids: HashMap::new(),
            values: vec![Arc::from(""), Arc::from(OTHER)],
            places: vec![PlaceOccupancy::permanent(); FIRST_ID],
            vacancies: PlaceVacancies::default(),
            owners: vec![None; FIRST_ID],
            owned: HashMap::new(),
        }
    }

    /// The values met so far, in the order in which they were met.
    pub(super) fn met(&self) -> Vec<Arc<str>> {
        self.values.get(FIRST_ID..).unwrap_or_default().to_vec()
    }

    /// The number of `value`, a new one if there is room, and that of [`OTHER`] if not.
    pub(super) fn resolve(&mut self, value: &str) -> ValueId {
        if let Some(id) = self.known(value) {
            return id;
        }
        let Ok(id) = ValueId::try_from(self.values.len()) else {
            return OTHER_ID;
        };
        if self.is_full() {
            return OTHER_ID;
        }
        let value: Arc<str> = Arc::from(value);
        self.ids.insert(value.clone(), id);
        self.values.push(value);
        self.places.push(PlaceOccupancy::default());
        self.owners.push(None);
        id
    }

    /// The number of `value`, if it has one.
    pub(super) fn known(&self, value: &str) -> Option<ValueId> {
        match value {
            "" => Some(EMPTY_ID),
            OTHER => Some(OTHER_ID),
            value => self.ids.get(value).copied(),
        }
    }

    /// Gives `value` a place at `now`: its own, a free one, or that of a value that has had nothing for a day. `None`
    /// where the cap leaves none. A namespace that is given takes at most half of the places, and at least one.
    pub(super) fn give(
        &mut self,
        value: &str,
        namespace: Option<&Arc<str>>,
        now: Timestamp,
    ) -> Option<AssignedPlace> {
        if let Some(id) = self.known(value) {
            return (id != OTHER_ID).then_some(AssignedPlace { id, is_new: false, ended: None });
        }
        let share = (self.max_values / 2).max(1);
        let owned = namespace.and_then(|namespace| self.owned.get(namespace));
        let is_spent = owned.is_some_and(|owned| *owned >= share);
        let (id, ended) = if is_spent || self.is_full() {
            let mut place = self.vacancies.oldest(self.places.iter_mut().enumerate(), now)?;
            if is_spent {
                let owners = &self.owners;
                let places = self.places.iter_mut().enumerate();
                let own = places.filter(|(id, _)| owners[*id].as_ref() == namespace);
                place = PlaceVacancies::default().oldest(own, now)?;
            }
            let (id, ended) = self.replace(place, value)?;
            (id, Some(ended))
        } else {
            (self.resolve(value), None)
        };
        if id == OTHER_ID {
            return None;
        }
        self.own(id, namespace.cloned());
        Some(AssignedPlace { id, is_new: true, ended })
    }

    /// A pod of a namespace has taken the place.
    fn own(&mut self, id: ValueId, namespace: Option<Arc<str>>) {
        let before = std::mem::replace(&mut self.owners[id as usize], namespace.clone());
        if let Some(before) = before
            && let Some(owned) = self.owned.get_mut(&before)
        {
            *owned -= 1;
            if *owned == 0 {
                self.owned.remove(&before);
            }
        }
        if let Some(namespace) = namespace {
            *self.owned.entry(namespace).or_default() += 1;
        }
    }

    /// Whether something has the value of the rest.
    pub(super) fn has_rest(&self) -> bool {
        self.places[OTHER_ID as usize].is_taken_besides()
    }

    /// Whether there are as many values as the cap allows.
    pub(super) fn is_full(&self) -> bool {
        self.ids.len() >= self.max_values
    }

    /// Where the cap leaves no room for `value`, gives it the place of the value that has been without a pod for the
    /// longest time, if that is a day at `now`, and returns the number of both.
    pub(super) fn make_room(&mut self, value: &str, now: Timestamp) -> Option<ValueId> {
        if !self.is_full() || self.known(value).is_some() {
            return None;
        }
        let places = self.places.iter_mut().enumerate();
        let place = self.vacancies.oldest(places, now)?;
        self.replace(place, value).map(|(id, _)| id)
    }

    /// Gives a place to another value. Returns its number, and the value that ends.
    fn replace(&mut self, place: usize, value: &str) -> Option<(ValueId, Arc<str>)> {
        let id = ValueId::try_from(place).ok()?;
        let value: Arc<str> = Arc::from(value);
        let ended = std::mem::replace(&mut self.values[place], value.clone());
        self.ids.remove(&ended);
        self.ids.insert(value, id);
        self.places[place] = PlaceOccupancy::default();
        Some((id, ended))
    }

    /// A value has pods.
    pub(super) fn enter(&mut self, id: usize) {
        if let Some(place) = self.places.get_mut(id) {
            place.enter();
        }
    }

    /// A value has had pods until `now`.
    pub(super) fn leave(&mut self, id: usize, now: Timestamp) {
        if let Some(place) = self.places.get_mut(id) {
            place.leave(now);
        }
    }

    /// The values that have places of their own.
    pub(super) fn saved(&self) -> Vec<SavedPlace> {
        let places = self.values.iter().zip(&self.places).zip(&self.owners).skip(FIRST_ID);
        let saved = places.map(|((value, place), owner)| SavedPlace {
            value: value.to_string(),
            since: place.saved(),
            namespace: owner.as_ref().map(ToString::to_string),
        });
        saved.collect()
    }

    /// Since when the values met so far are without a pod.
    pub(super) fn saved_places(&self) -> Vec<Option<i64>> {
        let places = self.places.iter().skip(FIRST_ID);
        places.map(PlaceOccupancy::saved).collect()
    }

    /// Meets a value again, which a pod of this namespace has brought.
    pub(super) fn restore_saved(&mut self, saved: &SavedPlace) {
        let SavedPlace { value, since, namespace } = saved;
        let id = self.restore(value, *since);
        if id != OTHER_ID && id != EMPTY_ID {
            self.own(id, namespace.as_deref().map(Arc::from));
        }
    }

    /// Meets `value` again, which has been without a pod since then.
    pub(super) fn restore(&mut self, value: &str, since: Option<i64>) -> ValueId {
        let id = self.resolve(value);
        if id as usize >= FIRST_ID {
            self.places[id as usize] = PlaceOccupancy::vacant(since);
        }
        id
    }
}
