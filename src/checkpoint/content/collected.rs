//! What the records of pods in flight have collected: the names of stages and causes; then for each of
//! these pods, in the order of the section `pods`, one value and which list of images it has; and at last
//! these lists.

use std::collections::HashMap;
use std::sync::Arc;

use super::pods::SharedTexts;
use super::section::{COLLECTED, ContentError, append, take, unread};
use podinit_core::lifecycle::{
    SavedCollected, SavedInFlight, SavedPod, WaitingNames, WaitingTable,
};
use podinit_core::pod::MOST_FOLLOWED;

/// The images of a pod, which the pods of a workload have in common.
type Images = Arc<Vec<Arc<str>>>;

/// The section as it is written, pod by pod.
#[derive(Default)]
pub(super) struct CollectedWriter {
    out: Vec<u8>,
    lists: Vec<Images>,
    /// The place of each list
    places: HashMap<Images, usize>,
}

impl CollectedWriter {
    /// Adds the next pod in flight.
    pub(super) fn add(&mut self, pod: &SavedInFlight) {
        if self.out.is_empty() {
            append(&mut self.out, &WaitingNames::default());
        }
        append(&mut self.out, &pod.collected);
        let images = pod.info.images.as_ref().map(|images| self.place(images));
        append(&mut self.out, &images);
    }

    fn place(&mut self, images: &Images) -> usize {
        if let Some(place) = self.places.get(images) {
            return *place;
        }
        let place = self.lists.len();
        self.lists.push(Arc::clone(images));
        self.places.insert(Arc::clone(images), place);
        place
    }

    /// The section; `None` without any pod in flight.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        if self.out.is_empty() {
            return None;
        }
        append(&mut self.out, &self.lists);
        Some(self.out)
    }
}

fn in_flight(pods: &mut [SavedPod]) -> impl Iterator<Item = &mut SavedInFlight> {
    pods.iter_mut().filter_map(|pod| match pod {
        SavedPod::InFlight(pod) => Some(&mut **pod),
        SavedPod::Finished(..) => None,
    })
}

/// Reads the section into the pods in flight among `pods`.
pub(super) fn read(
    mut bytes: &[u8],
    pods: &mut [SavedPod],
    texts: &mut SharedTexts,
) -> Result<(), ContentError> {
    let impossible = |what| ContentError::Impossible(COLLECTED, what);
    let names: WaitingNames = take(&mut bytes, COLLECTED)?;
    let table = WaitingTable::from(names);
    let mut places: Vec<Option<usize>> = Vec::new();
    for pod in in_flight(pods) {
        let mut collected: SavedCollected = take(&mut bytes, COLLECTED)?;
        collected.check(pod.slos.len()).map_err(impossible)?;
        collected.translate(&table).map_err(unread(COLLECTED))?;
        pod.collected = collected;
        places.push(take(&mut bytes, COLLECTED)?);
    }
    let mut lists: Vec<Images> = take(&mut bytes, COLLECTED)?;
    for images in &mut lists {
        if images.len() > MOST_FOLLOWED {
            return Err(impossible("more images than are kept"));
        }
        if let Some(images) = Arc::get_mut(images) {
            texts.share_all(images);
        }
    }
    for (pod, place) in in_flight(pods).zip(places) {
        if let Some(place) = place {
            let images = lists.get(place).ok_or(impossible("no such images"))?;
            pod.info.images = Some(Arc::clone(images));
        }
    }
    match bytes {
        [] => Ok(()),
        _ => Err(impossible("bytes are left over")),
    }
}
