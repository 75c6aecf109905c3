//! Which label values have a pod: what the holds of pods name, and the hold of each finished pod.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::section::{ContentError, HOLDS, append};
use crate::metrics::{SavedHolds, saved::SavedMetrics};
use podinit_core::lifecycle::{LabelHold, PodInFlight, SavedPod};

/// The section, without what its holds name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PodHolds {
    /// The number of the hold of each finished pod, in the order of the section `pods`
    numbers: Vec<u32>,
}

impl PodHolds {
    /// Adds the next pod.
    pub(super) fn add<P: Borrow<PodInFlight>>(&mut self, pod: &SavedPod<P>) {
        self.numbers.extend(pod.hold().map(LabelHold::get));
    }

    /// The bytes of the section; `None` where there is nothing to say.
    pub(super) fn finish(&self, named: &SavedHolds) -> Option<Vec<u8>> {
        if named.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        append(&mut out, &(named, self));
        Some(out)
    }

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
    metrics
        .check_holds()
        .map_err(|what| ContentError::Impossible(HOLDS, what))
}
