//! The values of one label: a number for each, within the cap, and which of them have a pod.

use std::sync::Arc;

use hashbrown::HashMap;

use super::labels::{LabelSpec, OTHER};
use super::occupancy::{Occupancy, Vacancies};
use podinit_core::pod::PodInfo;
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
pub(super) struct Values {
    pub(super) spec: LabelSpec,
    ids: HashMap<Arc<str>, ValueId>,
    pub(super) values: Vec<Arc<str>>,
    /// By number
    places: Vec<Occupancy>,
    vacancies: Vacancies,
}

impl Values {
    pub(super) fn new(spec: LabelSpec) -> Self {
        Self {
            spec,
            ids: HashMap::new(),
            values: vec![Arc::from(""), Arc::from(OTHER)],
            places: vec![Occupancy::permanent(); FIRST_ID],
            vacancies: Vacancies::default(),
        }
    }

    /// The number of the value for `pod`.
    pub(super) fn resolve_for(&mut self, pod: &PodInfo) -> ValueId {
        let value = self.spec.value(pod);
        self.resolve(&value)
    }

    /// The values met so far, in the order in which they were met.
    pub(super) fn met(&self) -> Vec<Arc<str>> {
        self.values.get(FIRST_ID..).unwrap_or_default().to_vec()
    }

    /// The number of `value`, a new one if there is room, and that of [`OTHER`] if not.
    pub(super) fn resolve(&mut self, value: &str) -> ValueId {
        if value.is_empty() {
            return EMPTY_ID;
        }
        if let Some(id) = self.ids.get(value) {
            return *id;
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
        self.places.push(Occupancy::default());
        id
    }

    /// Whether there are as many values as the cap allows.
    pub(super) fn is_full(&self) -> bool {
        self.ids.len() >= self.spec.max_values
    }

    /// Where the cap leaves no room for `value`, gives it the place of the value that has been without a pod for the
    /// longest time, if that is a day at `now`, and returns the number of both.
    pub(super) fn make_room(&mut self, value: &str, now: Timestamp) -> Option<ValueId> {
        if !self.is_full() || value.is_empty() || self.ids.contains_key(value) {
            return None;
        }
        let places = self.places.iter_mut().enumerate();
        let place = self.vacancies.oldest(places, now)?;
        let id = ValueId::try_from(place).ok()?;
        let value: Arc<str> = Arc::from(value);
        let expired = std::mem::replace(&mut self.values[place], value.clone());
        self.ids.remove(&expired);
        self.ids.insert(value, id);
        self.places[place] = Occupancy::default();
        Some(id)
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

    /// Since when the values met so far are without a pod.
    pub(super) fn saved_places(&self) -> Vec<Option<i64>> {
        let places = self.places.iter().skip(FIRST_ID);
        places.map(Occupancy::saved).collect()
    }

    /// Meets `value` again, which has been without a pod since then.
    pub(super) fn restore(&mut self, value: &str, since: Option<i64>) -> ValueId {
        let id = self.resolve(value);
        if id as usize >= FIRST_ID {
            self.places[id as usize] = Occupancy::vacant(since);
        }
        id
    }
}
