//! What the records of pods in flight have collected: the names of stages and causes; then for each of
//! these pods, in the order of the section `pods`, one value and which list of images it has; and at last
//! these lists. And what else their newest snapshots show, in a section of its own: one value for each of these
//! pods.

use std::collections::HashMap;
use std::sync::Arc;

use super::pods::SharedTexts;
use super::section::{COLLECTED, ContentError, SHOWN, append, take, unread};
use podinit_core::lifecycle::{
    PodInFlight, SavedCollected, SavedPod, SavedShown, WaitingNames, WaitingTable,
};
use podinit_core::pod::MOST_FOLLOWED;

/// The images of a pod, which the pods of a workload have in common.
type Images = Arc<Vec<Arc<str>>>;

/// The section as it is written, pod by pod.
#[derive(Debug, Default)]
pub(super) struct CollectedWriter {
    out: Vec<u8>,
    lists: Vec<Images>,
    /// The place of each list
    places: HashMap<Images, usize>,
}

impl CollectedWriter {
    /// Adds the next pod in flight.
    pub(super) fn add(&mut self, pod: &PodInFlight) {
        if self.out.is_empty() {
            append(&mut self.out, &WaitingNames::default());
        }
        append(&mut self.out, &pod.collected());
        let images = pod.info().images.as_ref().map(|images| self.place(images));
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

fn in_flight(pods: &mut [SavedPod]) -> impl Iterator<Item = &mut PodInFlight> {
    pods.iter_mut().filter_map(SavedPod::in_flight_mut)
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
        let collected: SavedCollected = take(&mut bytes, COLLECTED)?;
        collected.check(pod.slos()).map_err(impossible)?;
        pod.take_collected(collected, &table).map_err(unread(COLLECTED))?;
        places.push(take(&mut bytes, COLLECTED)?);
    }
    let mut lists: Vec<Images> = take(&mut bytes, COLLECTED)?;
    for images in &mut lists {
        if images.len() > MOST_FOLLOWED {
            return Err(impossible("more images than are kept"));
        }
        if let Some(images) = Arc::get_mut(images) {
            texts.share_all(images.iter_mut());
        }
    }
    for (pod, place) in in_flight(pods).zip(places) {
        if let Some(place) = place {
            let images = lists.get(place).ok_or(impossible("no such images"))?;
            pod.info_mut().images = Some(Arc::clone(images));
        }
    }
    match bytes {
        [] => Ok(()),
        _ => Err(impossible("bytes are left over")),
    }
}

/// Reads what else the newest snapshots of pods in flight show; without it, they have what can be told of them.
pub(super) fn read_shown(
    mut bytes: Option<&[u8]>,
    pods: &mut [SavedPod],
) -> Result<(), ContentError> {
    for pod in in_flight(pods) {
        let shown = bytes.as_mut().map(|bytes| take::<SavedShown>(bytes, SHOWN));
        pod.take_shown(shown.transpose()?);
    }
    match bytes {
        None | Some([]) => Ok(()),
        Some(_) => Err(ContentError::Impossible(SHOWN, "bytes are left over")),
    }
}
