//! What is known of the capacity of pods that are or were unschedulable: one value for each of them that is starting
//! up, after its place among these pods in the section `pods`; and one for each record, after its number.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pods::{SharedTexts, give_at_places};
use super::section::{CAPACITY, ContentError, take};
use crate::inspect::records::KeptRecord;
use podinit_core::lifecycle::{PodInFlight, SavedCapacity, SavedPod};

/// The section.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Capacities {
    pods: Vec<(u64, SavedCapacity)>,
    records: BTreeMap<u64, SavedCapacity>,
}

impl Capacities {
    /// Adds the pod that is at this place among those that are starting up.
    pub(super) fn add_pod(&mut self, place: u64, pod: &PodInFlight) {
        self.pods.extend(pod.capacity().map(|saved| (place, saved)));
    }

    /// Adds records that are written.
    pub(super) fn add_records(&mut self, records: &[KeptRecord]) {
        let saved =
            records.iter().filter_map(|record| Some((record.number, record.startup.capacity()?)));
        self.records.extend(saved);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.records.is_empty()
    }

    /// The section that was read; nothing where it is missing.
    pub(super) fn read(
        bytes: Option<&[u8]>,
        texts: &mut SharedTexts,
    ) -> Result<Self, ContentError> {
        let impossible = |what| ContentError::Impossible(CAPACITY, what);
        let Some(mut bytes) = bytes else {
            return Ok(Self::default());
        };
        let mut read: Self = take(&mut bytes, CAPACITY)?;
        if !bytes.is_empty() {
            return Err(impossible("bytes are left over"));
        }
        let pods = read.pods.iter_mut().map(|(_, saved)| saved);
        for saved in pods.chain(read.records.values_mut()) {
            saved.check().map_err(impossible)?;
            texts.share_all(saved.text_mut());
        }
        Ok(read)
    }

    /// Gives the pods among `pods` that are starting up what was known of them. Returns what was known of records.
    pub(super) fn give(
        self,
        pods: &mut [SavedPod],
    ) -> Result<BTreeMap<u64, SavedCapacity>, ContentError> {
        give_at_places(CAPACITY, self.pods, pods, PodInFlight::take_capacity)?;
        Ok(self.records)
    }
}
