//! What the newest snapshots of pods in flight show that the section `pods` has no place for: one value for each
//! of these pods, in the order of that section.

use super::section::{ContentError, SHOWN, append, take};
use podinit_core::lifecycle::{SavedInFlight, SavedPod, SavedShown};

/// Adds the next pod in flight to the section.
pub(super) fn add(out: &mut Vec<u8>, pod: &SavedInFlight) {
    append(out, &pod.evidence.shown());
}

/// Reads the section into the pods in flight among `pods`; without it, they have what can be told of them.
pub(super) fn read(bytes: Option<&[u8]>, pods: &mut [SavedPod]) -> Result<(), ContentError> {
    let mut rest = bytes;
    for pod in pods {
        if let SavedPod::InFlight(pod) = pod {
            let shown = rest.as_mut().map(|rest| take::<SavedShown>(rest, SHOWN));
            pod.evidence.take_shown(shown.transpose()?);
        }
    }
    match rest {
        None | Some([]) => Ok(()),
        Some(_) => Err(ContentError::Impossible(SHOWN, "bytes are left over")),
    }
}
