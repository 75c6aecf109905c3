//! What a finding keeps of a pod.

use std::sync::Arc;

use super::capacity::FoundCapacity;
use crate::lifecycle::{Outcome, Progress, Record, WaitReason};
use crate::pod::{PodUid, Workload};
use crate::timestamp::Timestamp;

/// What is kept of a pod: who it is, and how far its startup has come.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPod {
    pub uid: PodUid,
    pub namespace: Arc<str>,
    pub name: Box<str>,
    /// The node that it is bound to
    pub node: Option<Arc<str>>,
    /// Its controller
    pub workload: Option<Arc<Workload>>,
    pub state: FoundState,
    /// What an autoscaler says of it while it is unschedulable
    pub capacity: Option<FoundCapacity>,
}

/// How far the startup of a pod has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundState {
    /// It is under way
    InFlight {
        /// The stage that it is in, and why it waits there
        waiting: WaitReason,
        /// When it entered the stage
        entered: Timestamp,
        /// When it counts as stuck, if it is still in the stage then
        stuck_at: Timestamp,
        /// Whether it does
        is_stuck: bool,
    },
    /// It is over: the pod was rejected or failed, or crashes after it was ready
    Ended {
        outcome: Outcome,
        /// When it ended
        at: Timestamp,
    },
}

impl FoundPod {
    /// The pod that `record` is of.
    pub(super) fn of(record: &Record) -> Self {
        let pod = &record.pod;
        let (state, capacity) = match record.progress {
            Progress::InFlight {
                waiting,
                entered,
                stuck_at,
                is_stuck,
            } => {
                let state = FoundState::InFlight {
                    waiting,
                    entered,
                    stuck_at,
                    is_stuck,
                };
                (state, FoundCapacity::of(record, waiting))
            }
            Progress::Ended { outcome, at, .. } => (FoundState::Ended { outcome, at }, None),
        };
        Self {
            uid: record.uid,
            namespace: Arc::clone(&pod.namespace),
            name: pod.name.clone(),
            node: pod.node.clone(),
            workload: pod.workload.clone(),
            state,
            capacity,
        }
    }

    /// The stage that it is in, and why it waits there; `None` of a startup that is over.
    pub const fn waiting(&self) -> Option<WaitReason> {
        match self.state {
            FoundState::InFlight { waiting, .. } => Some(waiting),
            FoundState::Ended { .. } => None,
        }
    }

    /// Since when it is as it is: in its stage, or over.
    pub const fn entered(&self) -> Timestamp {
        match self.state {
            FoundState::InFlight { entered, .. } => entered,
            FoundState::Ended { at, .. } => at,
        }
    }

    /// Whether it counts as stuck. A startup that is over never does.
    pub const fn is_stuck(&self) -> bool {
        matches!(self.state, FoundState::InFlight { is_stuck: true, .. })
    }

    /// How its startup ended; `None` of one under way.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self.state {
            FoundState::InFlight { .. } => None,
            FoundState::Ended { outcome, .. } => Some(outcome),
        }
    }

    /// Whether its startup was rejected or failed.
    pub fn has_failed(&self) -> bool {
        self.outcome().is_some_and(Outcome::is_failure)
    }
}
