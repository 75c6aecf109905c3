//! What else is remembered of pods: of those that are starting up whether a container has run, and of those that may
//! still relapse when they were Ready first.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::section::{ContentError, MARKS, append};
use podinit_core::lifecycle::{PodInFlight, SavedPod};
use podinit_core::timestamp::Timestamp;

/// The section.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Marks {
    /// Of each pod in flight, in the order of the section `pods`
    has_run: Vec<bool>,
    /// How many pods are between it and the one before of these, in the order of the section `pods`
    ready: Vec<(u64, Timestamp)>,
    /// How many pods have been added since the last of these
    #[serde(skip)]
    since_last: u64,
}

impl Marks {
    /// Adds the next pod.
    pub(super) fn add<P: Borrow<PodInFlight>>(&mut self, pod: &SavedPod<P>) {
        self.has_run.extend(pod.in_flight().map(PodInFlight::has_run));
        match pod.ready() {
            None => self.since_last += 1,
            Some(ready) => {
                let distance = std::mem::take(&mut self.since_last);
                self.ready.push((distance, ready));
            }
        }
    }

    /// The bytes of the section; `None` where there is nothing to say.
    pub(super) fn finish(&self) -> Option<Vec<u8>> {
        if self.has_run.is_empty() && self.ready.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        append(&mut out, self);
        Some(out)
    }

    /// Gives the pods what the section says of them.
    pub(super) fn give(self, pods: &mut [SavedPod]) -> Result<(), ContentError> {
        let impossible = |what| ContentError::Impossible(MARKS, what);
        let in_flight = pods.iter().filter(|pod| pod.in_flight().is_some());
        if in_flight.count() != self.has_run.len() {
            return Err(impossible("other pods in flight"));
        }
        let in_flight = pods.iter_mut().filter_map(SavedPod::in_flight_mut);
        for (pod, has_run) in in_flight.zip(self.has_run) {
            pod.take_has_run(Some(has_run));
        }
        let mut pods = pods.iter_mut();
        for (distance, ready) in self.ready {
            let distance = usize::try_from(distance).unwrap_or(usize::MAX);
            let pod = pods.nth(distance).ok_or(impossible("no such pod"))?;
            if !pod.take_ready(ready) {
                return Err(impossible("a pod in flight that was ready"));
            }
        }
        Ok(())
    }
}

/// Gives pods in flight what can be told without the section.
pub(super) fn give_none(pods: &mut [SavedPod]) {
    for pod in pods.iter_mut().filter_map(SavedPod::in_flight_mut) {
        pod.take_has_run(None);
    }
}
