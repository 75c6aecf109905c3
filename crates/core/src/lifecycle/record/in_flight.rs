//! The pods in flight, for whoever asks about them: in an order that allows to go on later.

use std::sync::Arc;
use std::time::Duration;

use super::{EndedStartup, Record};
use crate::lifecycle::cause::WaitReason;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::{PodInFlight, SharedState};
use crate::pod::{Ending, PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// A place in the order of the pods in flight: by stage, then by when they entered it, then by UID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InFlightPosition {
    pub stage: Stage,
    pub entered: Timestamp,
    pub uid: PodUid,
}

impl InFlightPosition {
    /// The place after every pod of a stage.
    pub const fn last_of(stage: Stage) -> Self {
        Self {
            stage,
            entered: Timestamp::from_nanos(i64::MAX),
            uid: PodUid::from_words([u64::MAX; 2]),
        }
    }
}

/// A pod in flight, as the tracker knows it at this moment.
#[derive(Clone, Copy, Debug)]
pub struct InFlightRecord<'a> {
    pub(in crate::lifecycle) pod: &'a PodInFlight,
    pub(in crate::lifecycle) shared: &'a SharedState,
}

impl InFlightRecord<'_> {
    /// The UID of the pod.
    pub const fn uid(&self) -> PodUid {
        self.pod.uid
    }

    /// The names and labels of the pod.
    pub const fn pod(&self) -> &PodInfo {
        &self.pod.info
    }

    /// The stage that it is in, and why it waits there.
    pub const fn waiting(&self) -> WaitReason {
        self.pod.waiting
    }

    /// Whether it counts as stuck.
    pub const fn is_stuck(&self) -> bool {
        self.pod.stuck.is_some()
    }

    /// Whether it has been in its stage for longer than the limit, also if it can never be Ready and nothing fails. The
    /// late pods of a stage are those that entered it first.
    pub fn is_late(&self) -> bool {
        let entry = self.pod.entry();
        entry.is_some_and(|(stage, entered)| self.shared.stuck.is_stuck(stage, entered))
    }

    /// Its record as of now.
    pub fn record(&self) -> Record {
        self.pod.record_in_flight(self.shared)
    }
}

impl SharedState {
    /// After how long in `stage` a pod counts as stuck.
    pub(in crate::lifecycle) fn stuck_after(&self, stage: Stage) -> Duration {
        self.stuck.after(stage)
    }

    /// The startup of this pod as one that ended at `at`.
    pub(in crate::lifecycle) fn ended(
        &self,
        pod: Box<PodInFlight>,
        outcome: Outcome,
        at: Timestamp,
        ending: Option<&Ending>,
    ) -> EndedStartup {
        let mut ended = EndedStartup::new(pod, outcome, at, Arc::clone(&self.rules));
        ended.take_ending(ending);
        ended
    }
}
