//! The pods, one after the other, each behind what it is; and then what they have in common.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::section::{ContentError, PODS, TypedFile, append, corrupt};
use super::shared::{Numbers, Shared, SharedTexts, SharedWriter};
use crate::shape::SavedType;
use podinit_core::lifecycle::{PodInFlight, SavedFinished, SavedPod, SloRule};

const FINISHED: u8 = 0;
const IN_FLIGHT: u8 = 1;
const SHARED: u8 = 2;

/// A pod in flight.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InFlight<P = Box<PodInFlight>> {
    pod: P,
    #[serde(default)]
    shared: Numbers,
}

impl SavedType for InFlight {
    const NAME: &'static str = "InFlight";

    fn check(&self) -> Result<(), &'static str> {
        self.pod.check()
    }
}

impl SavedType for SavedFinished {
    const NAME: &'static str = "SavedFinished";
}

/// Writes the section.
#[derive(Debug, Default)]
pub(super) struct PodsWriter(SharedWriter);

impl PodsWriter {
    /// Appends the next pod.
    pub(super) fn append<P: Borrow<PodInFlight>>(&mut self, out: &mut Vec<u8>, pod: &SavedPod<P>) {
        match pod {
            SavedPod::Finished(finished) => {
                out.push(FINISHED);
                append(out, finished);
            }
            SavedPod::InFlight(pod) => {
                let pod = pod.borrow();
                out.push(IN_FLIGHT);
                append(out, &InFlight { pod, shared: self.0.numbers(pod) });
            }
        }
    }

    /// Ends the section.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        out.push(SHARED);
        append(out, &self.0.finish());
    }
}

/// After so many pods it is told how far the reading is.
const TOLD_AFTER: usize = 1_024;

/// Reads the pods of a checkpoint with these SLOs, and how much of them was skipped. Tells how many percent of them.
pub(super) fn read(
    file: &TypedFile<'_>,
    slos: &[SloRule],
    texts: &mut SharedTexts,
    mut tell: impl FnMut(u64),
) -> Result<(Vec<SavedPod>, u64), ContentError> {
    let impossible = |what| ContentError::Impossible(PODS, what);
    let mut values = file.values(PODS)?;
    let all = values.left() as u64;
    let mut pods = Vec::new();
    let mut numbers = Vec::new();
    let mut shared = Shared::default();
    while !values.is_at_end() {
        if pods.len().is_multiple_of(TOLD_AFTER) {
            tell(100 - values.left() as u64 * 100 / all);
        }
        match values.plain().map_err(corrupt(PODS))? {
            FINISHED => {
                let read: Option<SavedFinished> = values.next().map_err(corrupt(PODS))?;
                let Some(mut finished) = read else { continue };
                if let Some(followed) = &mut finished.followed {
                    followed.keep_slos(slos);
                    texts.share_names(followed.info_mut());
                }
                pods.push(SavedPod::Finished(finished));
            }
            IN_FLIGHT => {
                let read: Option<InFlight> = values.next().map_err(corrupt(PODS))?;
                let Some(InFlight { mut pod, shared }) = read else { continue };
                pod.keep_slos(slos);
                texts.share(&mut pod);
                pods.push(SavedPod::InFlight(pod));
                numbers.push(shared);
            }
            SHARED => shared = values.next().map_err(corrupt(PODS))?.unwrap_or_default(),
            _ => return Err(impossible("no such kind of pod")),
        }
    }
    shared.share(texts);
    let in_flight = pods.iter_mut().filter_map(SavedPod::in_flight_mut);
    for (pod, numbers) in in_flight.zip(numbers) {
        pod.take_shared_parts(shared.parts(numbers));
    }
    Ok((pods, values.skipped()))
}
