//! What the records of pods in flight have collected: the names of stages and causes, and then one value
//! for each of these pods, in the order of the section `pods`.

use super::section::{COLLECTED, ContentError, append, take, unread};
use crate::lifecycle::{SavedCollected, SavedPod, WaitingNames, WaitingTable};

/// Appends what the record of the next pod has collected.
pub(super) fn write(out: &mut Vec<u8>, collected: &SavedCollected) {
    if out.is_empty() {
        append(out, &WaitingNames::default());
    }
    append(out, collected);
}

/// Reads the section into the pods in flight among `pods`.
pub(super) fn read(mut bytes: &[u8], pods: &mut [SavedPod]) -> Result<(), ContentError> {
    let names: WaitingNames = take(&mut bytes, COLLECTED)?;
    let table = WaitingTable::from(names);
    for pod in pods {
        let SavedPod::InFlight(pod) = pod else {
            continue;
        };
        let mut collected: SavedCollected = take(&mut bytes, COLLECTED)?;
        let impossible = |what| ContentError::Impossible(COLLECTED, what);
        collected.check(pod.slos.len()).map_err(impossible)?;
        collected.translate(&table).map_err(unread(COLLECTED))?;
        pod.collected = collected;
    }
    match bytes {
        [] => Ok(()),
        _ => Err(ContentError::Impossible(COLLECTED, "bytes are left over")),
    }
}
