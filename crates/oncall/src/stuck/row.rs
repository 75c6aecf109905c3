//! One stuck pod.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::explain::next_command;
use podinit_core::lifecycle::{
    Cause, GateKind, Progress, Record, RecordedCapacity, RecordedGate, RecordedImage, Stage,
    WaitReason,
};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::since;

/// A pod that is in its stage for longer than the limit. What is not known is left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StuckPod {
    pub namespace: Arc<str>,
    pub name: Box<str>,
    pub uid: PodUid,
    #[serde(flatten)]
    pub waiting: WaitReason,
    /// When it entered the stage
    pub entered: Timestamp,
    /// When it began to count as stuck
    pub stuck_at: Timestamp,
    /// How long it has been in the stage
    pub(super) wait_seconds: f64,
    /// The longest time in the stage after which a pod is not stuck yet
    pub(super) limit_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    /// The controlling owner, as kind and name
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The image that the pod is about: of the container whose image is its problem, or else of the first
    /// regular one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Arc<str>>,
    /// The gates that hold it, of a pod that waits for one
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<RecordedGate>,
    /// What Kubernetes says of the cause
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
    /// Of an unschedulable pod, whether a node is on its way for it; left out where no Events are read
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<RecordedCapacity>,
    /// The registries of the images that are not known to be on the node
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub registries: BTreeSet<Arc<str>>,
    /// A command that shows more about the cause
    pub next_command: String,
}

impl StuckPod {
    /// The row of a startup at `now`; `None` if it is not stuck.
    pub fn from_record(record: &Record, now: Timestamp) -> Option<Self> {
        let Progress::InFlight { waiting, entered, stuck_at, is_stuck: true, .. } = record.progress
        else {
            return None;
        };
        let pod = &record.pod;
        let capacity = record.unschedulable.as_ref();
        let missing = record.pulls.iter();
        let missing = missing.filter(|pull| pull.image == RecordedImage::Unknown);
        Some(Self {
            namespace: Arc::clone(&pod.namespace),
            name: pod.name.clone(),
            uid: record.uid,
            waiting,
            entered,
            stuck_at,
            wait_seconds: since(entered, now),
            limit_seconds: since(entered, stuck_at),
            node: pod.node.clone(),
            owner: pod.workload.as_ref().map(ToString::to_string),
            image: record.image.clone(),
            gates: held_by(record, waiting),
            message: record.message.clone(),
            unschedulable: capacity.filter(|_| waiting.stage() == Stage::Unschedulable).cloned(),
            registries: missing.map(|pull| Arc::clone(&pull.registry)).collect(),
            next_command: next_command(record),
        })
    }
}

/// The gates that hold a pod which waits for them.
fn held_by(record: &Record, waiting: WaitReason) -> Vec<RecordedGate> {
    let kind = match waiting.cause() {
        Cause::Gate => GateKind::Scheduling,
        Cause::ReadinessGate => GateKind::Readiness,
        _ => return Vec::new(),
    };
    record.holding_gates().filter(|gate| gate.kind == kind).cloned().collect()
}
