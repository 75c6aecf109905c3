//! The workloads, by place and by name.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::workload_pods::{RolloutWorkload, WorkloadPods};

/// So many workloads have a part at one time. A place has 16 bits.
const MOST_WORKLOADS: usize = 50_000;

/// The workloads that have pods, or had some lately.
#[derive(Debug, Default)]
pub(super) struct WorkloadTable {
    index: HashTable<u16>,
    places: Vec<Option<WorkloadPods>>,
    free: Vec<u16>,
    hasher: DefaultHashBuilder,
}

impl WorkloadTable {
    pub(super) fn get(&self, place: u16) -> Option<&WorkloadPods> {
        self.places.get(usize::from(place))?.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: u16) -> Option<&mut WorkloadPods> {
        self.places.get_mut(usize::from(place))?.as_mut()
    }

    /// Where a workload is.
    pub(super) fn place_of(&self, name: &RolloutWorkload) -> Option<u16> {
        let hash = self.hasher.hash_one(name);
        let found =
            self.index.find(hash, |place| self.get(*place).is_some_and(|one| one.name == *name));
        found.copied()
    }

    /// Adds a workload that is not there. `None` if there are too many.
    pub(super) fn insert(&mut self, workload: WorkloadPods) -> Option<u16> {
        if self.index.len() >= MOST_WORKLOADS {
            return None;
        }
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                let place = u16::try_from(self.places.len()).ok()?;
                self.places.push(None);
                place
            }
        };
        self.put(place, workload);
        Some(place)
    }

    /// Puts a workload of a checkpoint back where it was, if no other is there and the place can be.
    pub(super) fn restore(&mut self, place: u16, workload: WorkloadPods) {
        let end = usize::from(place);
        if end >= MOST_WORKLOADS || self.get(place).is_some() {
            return;
        }
        while self.places.len() <= end {
            self.free.push(self.places.len() as u16);
            self.places.push(None);
        }
        self.free.retain(|free| *free != place);
        self.put(place, workload);
    }

    fn put(&mut self, place: u16, workload: WorkloadPods) {
        let hash = self.hasher.hash_one(&workload.name);
        self.places[usize::from(place)] = Some(workload);
        let Self { index, places, hasher, .. } = self;
        index.insert_unique(hash, place, |place| {
            let workload = places.get(usize::from(*place)).and_then(Option::as_ref);
            workload.map_or(0, |workload| hasher.hash_one(&workload.name))
        });
    }

    /// Forgets a workload.
    pub(super) fn remove(&mut self, place: u16) {
        let Some(workload) = self.places.get_mut(usize::from(place)).and_then(Option::take) else {
            return;
        };
        let hash = self.hasher.hash_one(&workload.name);
        if let Ok(found) = self.index.find_entry(hash, |other| *other == place) {
            found.remove();
        }
        self.free.push(place);
    }

    /// Every workload with its place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, &WorkloadPods)> {
        let places = (0..).zip(&self.places);
        places.filter_map(|(place, workload)| Some((place, workload.as_ref()?)))
    }
}
