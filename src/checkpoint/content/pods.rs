//! Reading the pods: one value after the other, until the section ends.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use super::section::{ContentError, PODS, take};
use podinit_core::lifecycle::{PodInFlight, SavedPod};
use podinit_core::pod::Workload;

/// Reads the pods of a checkpoint with `slos` SLOs.
pub(super) fn read(
    mut bytes: &[u8],
    slos: usize,
    texts: &mut SharedTexts,
) -> Result<Vec<SavedPod>, ContentError> {
    let mut pods = Vec::new();
    while !bytes.is_empty() {
        let mut pod: SavedPod = take(&mut bytes, PODS)?;
        if let Some(pod) = pod.in_flight_mut() {
            pod.check(slos).map_err(|what| ContentError::Impossible(PODS, what))?;
            texts.share(pod);
        }
        pods.push(pod);
    }
    Ok(pods)
}

/// What many pods have in common, held once.
#[derive(Default)]
pub(super) struct SharedTexts {
    texts: HashSet<Arc<str>>,
    workloads: HashSet<Arc<Workload>>,
}

impl SharedTexts {
    /// Replaces texts of the pod by equal ones of pods before it.
    pub(super) fn share(&mut self, pod: &mut PodInFlight) {
        self.share_all(pod.texts_mut());
        if let Some(workload) = &mut pod.info_mut().workload {
            share(&mut self.workloads, workload);
        }
    }

    /// Replaces texts by equal ones of pods before.
    pub(super) fn share_all<'a>(&mut self, texts: impl IntoIterator<Item = &'a mut Arc<str>>) {
        for text in texts {
            share(&mut self.texts, text);
        }
    }
}

/// Replaces `value` by an equal one in `known`, or adds it there.
fn share<T: ?Sized + Eq + Hash>(known: &mut HashSet<Arc<T>>, value: &mut Arc<T>) {
    match known.get(&**value) {
        Some(first) => *value = Arc::clone(first),
        None => _ = known.insert(Arc::clone(value)),
    }
}

/// Gives pods among `pods` that are starting up what a section says of them, by their places among these, in order.
///
/// # Errors
/// If there is no such pod, or a place does not follow the one before.
pub(super) fn give_at_places<T>(
    section: u32,
    read: Vec<(u64, T)>,
    pods: &mut [SavedPod],
    give: impl Fn(&mut PodInFlight, T),
) -> Result<(), ContentError> {
    let mut in_flight = pods.iter_mut().filter_map(SavedPod::in_flight_mut);
    let mut next = 0;
    for (place, saved) in read {
        let skipped = place.checked_sub(next);
        let skipped = skipped.and_then(|pods| usize::try_from(pods).ok());
        let pod = skipped.and_then(|pods| in_flight.nth(pods));
        let pod = pod.ok_or(ContentError::Impossible(section, "no such pod"))?;
        give(pod, saved);
        next = place + 1;
    }
    Ok(())
}

#[cfg(test)]
#[path = "pods_tests.rs"]
mod tests;
