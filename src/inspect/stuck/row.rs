//! One stuck pod.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::inspect::api::model::{InFlight, Startup, Unschedulable};
use crate::inspect::explain::{PodOnNode, next_command_of};
use podinit_core::lifecycle::{Stage, WaitReason};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;

/// A pod that is in its stage for longer than the limit. What is not known is left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StuckPod {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub stage: String,
    pub cause: String,
    /// When it entered the stage
    pub entered: String,
    /// When it began to count as stuck
    pub stuck_at: String,
    /// How long it has been in the stage
    pub wait_seconds: f64,
    /// The longest time in the stage after which a pod is not stuck yet
    pub limit_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The controlling owner, as kind and name
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The image that the pod is about: of the container whose image is its problem, or else of the first
    /// regular one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// What Kubernetes says of the cause
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Of an unschedulable pod, whether a node is on its way for it; left out where no Events are read
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<Unschedulable>,
    /// The registries of the images that are not known to be on the node
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub registries: Vec<String>,
    /// A command that shows more about the cause
    pub next_command: String,
}

impl StuckPod {
    /// The row of a startup at `now`; `None` if it is not stuck, or does not say since when.
    pub fn of(startup: &Startup, now: Timestamp) -> Option<Self> {
        let in_flight = startup.in_flight.as_ref().filter(|at| at.stuck)?;
        let entered = rfc3339::parse(&in_flight.entered)?;
        let stuck_at = rfc3339::parse(&in_flight.stuck_at)?;
        let owner = startup.workload.as_ref();
        let pod = PodOnNode {
            namespace: &startup.namespace,
            name: &startup.name,
            node: startup.node.as_deref(),
        };
        Some(Self {
            namespace: startup.namespace.clone(),
            name: startup.name.clone(),
            uid: startup.uid.clone(),
            stage: in_flight.stage.clone(),
            cause: in_flight.cause.clone(),
            entered: in_flight.entered.clone(),
            stuck_at: in_flight.stuck_at.clone(),
            wait_seconds: seconds_between(entered, now),
            limit_seconds: seconds_between(entered, stuck_at),
            node: startup.node.clone(),
            owner: owner.map(|owner| format!("{}/{}", owner.kind, owner.name)),
            image: startup.image.clone(),
            message: startup.message.clone(),
            unschedulable: (in_flight.stage == Stage::Unschedulable.as_str())
                .then(|| startup.unschedulable.clone())
                .flatten(),
            registries: registries(startup),
            next_command: next_command_of(pod, waiting(in_flight)),
        })
    }
}

fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    let nanos = to.as_nanos().saturating_sub(from.as_nanos()).max(0);
    nanos as f64 / 1e9
}

/// `None` for a stage or cause that only another version of podinit knows.
fn waiting(in_flight: &InFlight) -> Option<WaitReason> {
    WaitReason::ALL.into_iter().find(|waiting| {
        waiting.stage().as_str() == in_flight.stage && waiting.cause().as_str() == in_flight.cause
    })
}

fn registries(startup: &Startup) -> Vec<String> {
    let pulls = startup.pulls.iter();
    let missing = pulls.filter(|pull| pull.image == "unknown");
    let registries: BTreeSet<_> = missing.map(|pull| pull.registry.clone()).collect();
    registries.into_iter().collect()
}
