//! How a pod that has ended, and its containers, say that they did.

use crate::timestamp::Timestamp;

/// How a pod ended, as its status says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Ending {
    /// When at the latest that is known: the last `finishedAt` of its containers, or without one the latest
    /// API time of the pod
    pub at: Option<Timestamp>,
    /// `status.reason`, such as Evicted
    pub reason: Option<Box<str>>,
    /// `status.message`
    pub message: Option<Box<str>>,
    /// Its containers that have terminated, in the order of the spec, init containers first
    pub containers: Vec<Termination>,
}

/// How a container ended: its `state.terminated`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Termination {
    /// Its position among [`PodSnapshot::containers`](super::PodSnapshot::containers)
    pub container: usize,
    pub started: Option<Timestamp>,
    pub finished: Option<Timestamp>,
    /// `None` where it is missing or below zero
    pub exit_code: Option<u64>,
    /// The signal that ended it, where the runtime states one
    pub signal: Option<u64>,
    /// Such as OOMKilled
    pub reason: Option<Box<str>>,
    pub message: Option<Box<str>>,
}

impl Termination {
    /// Whether it ended otherwise than with exit code 0.
    pub fn has_failed(&self) -> bool {
        self.exit_code != Some(0)
    }
}
