//! What a finding keeps of a pod.

use std::sync::Arc;

use super::capacity::FoundCapacity;
use crate::lifecycle::{Progress, Record, WaitReason};
use crate::pod::{PodUid, Workload};
use crate::timestamp::Timestamp;

/// What is kept of a pod in flight: who it is, and how long it has waited.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPod {
    pub uid: PodUid,
    pub namespace: Arc<str>,
    pub name: Box<str>,
    /// The node that it is bound to
    pub node: Option<Arc<str>>,
    /// Its controller
    pub workload: Option<Arc<Workload>>,
    /// The stage that it is in, and why it waits there
    pub waiting: WaitReason,
    /// When it entered the stage
    pub entered: Timestamp,
    /// When it counts as stuck, if it is still in the stage then
    pub stuck_at: Timestamp,
    /// Whether it does
    pub is_stuck: bool,
    /// What an autoscaler says of it while it is unschedulable
    pub capacity: Option<FoundCapacity>,
}

impl FoundPod {
    /// The pod in flight that `record` is of; `None` of a startup that has ended.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let Progress::InFlight {
            waiting,
            entered,
            stuck_at,
            is_stuck,
        } = record.progress
        else {
            return None;
        };
        let pod = &record.pod;
        Some(Self {
            uid: record.uid,
            namespace: Arc::clone(&pod.namespace),
            name: pod.name.clone(),
            node: pod.node.clone(),
            workload: pod.workload.clone(),
            waiting,
            entered,
            stuck_at,
            is_stuck,
            capacity: FoundCapacity::of(record, waiting),
        })
    }
}
