//! What Events say of pods that are starting up and gives no cause, after the places of these pods in the section `pods`.

use super::section::{ContentError, HINTS};
use podinit_core::lifecycle::{SavedHints, SavedPod};

/// Gives the pods among `pods` that are starting up what was kept of them.
///
/// # Errors
/// If it says what no podinit writes.
pub(super) fn give(
    read: Vec<(u64, SavedHints)>,
    pods: &mut [SavedPod],
) -> Result<(), ContentError> {
    let impossible = |what| ContentError::Impossible(HINTS, what);
    let mut in_flight = pods.iter_mut().filter_map(SavedPod::in_flight_mut);
    let mut next = 0;
    for (place, saved) in read {
        saved.check().map_err(impossible)?;
        let skipped = place.checked_sub(next);
        let skipped = skipped.and_then(|pods| usize::try_from(pods).ok());
        let pod = skipped.and_then(|pods| in_flight.nth(pods));
        pod.ok_or(impossible("no such pod"))?.take_hints(saved);
        next = place + 1;
    }
    Ok(())
}
