//! Which label values have a pod: what the holds of pods name, and the hold of each finished pod.

use std::borrow::Borrow;

use serde::Deserialize;

use super::section::{ContentError, HOLDS, append};
use crate::metrics::{SavedHolds, saved::SavedMetrics};
use podinit_core::lifecycle::{LabelHold, PodInFlight, SavedPod};

/// Writes the section, pod by pod.
#[derive(Debug, Default)]
pub(super) struct HoldsWriter {
    /// How many finished pods there are
    finished: usize,
    /// The numbers of their holds, as they are saved: nearly all of them take a byte
    numbers: Vec<u8>,
}

impl HoldsWriter {
    /// Adds the next pod.
    pub(super) fn add<P: Borrow<PodInFlight>>(&mut self, pod: &SavedPod<P>) {
        if let Some(hold) = pod.hold() {
            append(&mut self.numbers, &hold.get());
            self.finished += 1;
        }
    }

    /// The bytes of the section, which are those of its names and of [`PodHolds`]; `None` where there is nothing to
    /// say.
    pub(super) fn finish(self, named: &SavedHolds) -> Option<Vec<u8>> {
        if named.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        append(&mut out, &(named, self.finished));
        out.extend(self.numbers);
        Some(out)
    }
}

/// The section, without what its holds name.
#[derive(Debug, Deserialize)]
pub(super) struct PodHolds {
    /// The number of the hold of each finished pod, in the order of the section `pods`
    numbers: Vec<u32>,
}

impl PodHolds {
    /// Gives the pods what the section says of them.
    fn give(self, holds: usize, pods: &mut [SavedPod]) -> Result<(), ContentError> {
        let impossible = |what| ContentError::Impossible(HOLDS, what);
        let finished = pods.iter_mut().filter_map(SavedPod::hold_mut);
        let mut numbers = self.numbers.into_iter();
        for hold in finished {
            let number = numbers.next().ok_or(impossible("other finished pods"))?;
            if number as usize > holds {
                return Err(impossible("no such hold"));
            }
            *hold = LabelHold::new(number);
        }
        match numbers.next() {
            None => Ok(()),
            Some(_) => Err(impossible("other finished pods")),
        }
    }
}

/// Gives what the section says.
pub(super) fn distribute(
    (named, of_pods): (SavedHolds, PodHolds),
    metrics: &mut SavedMetrics,
    pods: &mut [SavedPod],
) -> Result<(), ContentError> {
    of_pods.give(named.holds.len(), pods)?;
    metrics.holds = named;
    metrics.check_holds().map_err(|what| ContentError::Impossible(HOLDS, what))
}
