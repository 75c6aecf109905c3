//! What a finding keeps of a pod.

use std::sync::Arc;

use super::capacity::FoundCapacity;
use podinit_core::lifecycle::{Outcome, Progress, Record, WaitReason};
use podinit_core::pod::{PodUid, Workload};
use podinit_core::timestamp::Timestamp;

/// The identity of a pod, and how far its startup has come.
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
        /// Whether it counts as stuck
        is_stuck: bool,
    },
    /// It is over: the pod was rejected or failed, or crashes after it was ready
    Ended {
        outcome: Outcome,
        /// When it ended
        at: Timestamp,
    },
}

impl FoundState {
    /// How far the startup of `record` has come.
    pub(super) fn from_record(record: &Record) -> Self {
        match record.progress {
            Progress::InFlight { waiting, entered, stuck_at, is_stuck, .. } => {
                Self::InFlight { waiting, entered, stuck_at, is_stuck }
            }
            Progress::Ended { outcome, at, .. } => Self::Ended { outcome, at },
        }
    }

    /// The stage that it is in, and why it waits there; `None` of a startup that is over.
    pub const fn waiting(&self) -> Option<WaitReason> {
        match self {
            Self::InFlight { waiting, .. } => Some(*waiting),
            Self::Ended { .. } => None,
        }
    }

    /// When it entered its stage, or ended.
    pub const fn entered(&self) -> Timestamp {
        match self {
            Self::InFlight { entered, .. } => *entered,
            Self::Ended { at, .. } => *at,
        }
    }

    /// Whether it counts as stuck. A startup that is over never does.
    pub const fn is_stuck(&self) -> bool {
        matches!(self, Self::InFlight { is_stuck: true, .. })
    }

    /// How it ended; `None` of one under way.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::InFlight { .. } => None,
            Self::Ended { outcome, .. } => Some(*outcome),
        }
    }

    /// Whether it was rejected or failed.
    pub fn has_failed(&self) -> bool {
        self.outcome().is_some_and(Outcome::is_failure)
    }
}

impl FoundPod {
    /// The stage that it is in, and why it waits there; `None` of a startup that is over.
    pub const fn waiting(&self) -> Option<WaitReason> {
        self.state.waiting()
    }

    /// When it entered its stage, or ended.
    pub const fn entered(&self) -> Timestamp {
        self.state.entered()
    }

    /// Whether it counts as stuck. A startup that is over never does.
    pub const fn is_stuck(&self) -> bool {
        self.state.is_stuck()
    }

    /// How its startup ended; `None` of one under way.
    pub const fn outcome(&self) -> Option<Outcome> {
        self.state.outcome()
    }
    /// Whether its startup was rejected or failed.
    pub fn has_failed(&self) -> bool {
        self.state.has_failed()
    }
}
