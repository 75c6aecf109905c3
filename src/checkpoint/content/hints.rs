//! What Events say of pods that are starting up and gives no cause, after the places of these pods in the section `pods`.

use super::pods::give_at_places;
use super::section::{ContentError, HINTS};
use podinit_core::lifecycle::{PodInFlight, SavedHints, SavedPod};

/// Gives the pods among `pods` that are starting up what was kept of them.
///
/// # Errors
/// If it says what no podinit writes.
pub(super) fn give(
    read: Vec<(u64, SavedHints)>,
    pods: &mut [SavedPod],
) -> Result<(), ContentError> {
    let impossible = |what| ContentError::Impossible(HINTS, what);
    for (_, saved) in &read {
        saved.check().map_err(impossible)?;
    }
    give_at_places(HINTS, read, pods, PodInFlight::take_hints)
}
