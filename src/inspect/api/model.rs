//! The documents of the API. podinit reads them, too: `stuck` and `explain` ask a running exporter.
//!
//! Times are RFC 3339 in UTC, durations seconds. What is not known is left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::inspect::freshness::Freshness;

/// A page of startups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Up to which instant everything was accounted for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether the exporter knows the present
    #[serde(default)]
    pub fresh: bool,
    /// How far the answer can be trusted
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// The startups
    pub items: Vec<Startup>,
    /// The parameter `continue` of the next page; left out on the last one
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What is known of the startup of one pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Startup {
    pub uid: String,
    pub namespace: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The controlling owner
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// The chosen pod labels
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// When podinit first saw the pod
    pub discovered: String,
    /// Only of a startup under way
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlight>,
    /// Only of a startup that is over
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    pub milestones: Vec<Milestone>,
    /// What the node states besides its name, where nodes are a source of evidence
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_details: Option<NodeDetails>,
    /// What the startup had to wait for, where nodes or Events say so
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
    /// How far the time of PodReadyToStartContainers can be from the truth: `exact`, `bounded` or `late`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_time: Option<String>,
    pub intervals: Vec<Interval>,
    /// Init containers first, in the order of the spec
    #[serde(default)]
    pub containers: Vec<Container>,
    /// The image that the pod is about: of the container whose image is its problem or could not be pulled,
    /// or else of the first regular one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// What Kubernetes says of why the pod waits; of a startup that is over, what it said last
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Of a pod that is or was unschedulable, whether a node is on its way for it; left out where no Events are read
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<Unschedulable>,
    pub pulls: Vec<Pull>,
    /// The oldest first
    pub causes: Vec<Cause>,
    pub slos: Vec<Slo>,
}

/// What a node states. What it does not is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDetails {
    /// `_none` for a node without a pool
    pub pool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zone: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instance_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arch: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub capacity_type: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kubelet_version: String,
}

/// What a startup had to wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needed {
    /// `new`, `existing` or `unknown`: whether the node is younger than the pod; left out before the pod is scheduled
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<String>,
    /// `pulled`, `present` or `unknown`: whether the images were on the node
    pub images: String,
}

/// The owner of a pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    pub kind: String,
    pub name: String,
}

/// Where a pod in flight is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InFlight {
    pub stage: String,
    pub cause: String,
    /// When it entered the stage
    pub entered: String,
    /// When it counts as stuck
    pub stuck_at: String,
    /// Whether it does
    pub stuck: bool,
}

/// Whether a node is on its way for a pod that fits on none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unschedulable {
    /// `scaling_up`, `no_scale_up`, `nominated` or `unknown`
    pub capacity: String,
    /// Who says so, such as `cluster-autoscaler`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When podinit first heard that
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// In the words of the autoscaler
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How a startup ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub outcome: String,
    /// When podinit accounted for it
    pub time: String,
    /// What the status says of a pod that completed or failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Ending>,
}

/// What the status of a pod that ended says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// When the last of its containers finished
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// At most 8 that have terminated, those that failed before the others
    #[serde(default)]
    pub containers: Vec<Termination>,
}

/// How a container ended. What its status does not say is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Termination {
    /// Its position among the containers of the pod, init containers first
    pub container: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How often it had been restarted before
    pub restarts: u64,
}

/// A milestone that was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Milestone {
    pub milestone: String,
    /// Left out where it is not known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// What says so
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A stage, a step or an end-to-end duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub interval: String,
    /// `stage`, `step` or `whole`
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// `open`, `measured` or `unobserved`
    pub result: String,
    /// Of a measured one, how long it took
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Of an unobserved one, why
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A container of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    pub name: String,
    /// Whether it is an init container
    pub init: bool,
    /// Its image, as the spec names it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The registry of the image
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// What keeps it from running: `image`, `config`, `crash` or `create`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How the image of a container came to the node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    pub container: String,
    /// Whether it is an init container
    pub init: bool,
    pub registry: String,
    /// `pulled`, `present` or `unknown`
    pub image: String,
    /// Whether a pull failed at least once
    pub failed: bool,
    /// When the pull ended
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// How long the pull and the wait for it took
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A cause for which a pod waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub stage: String,
    pub cause: String,
    /// When podinit first saw it
    pub began: String,
}

/// An SLO that matches the pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slo {
    pub slo: String,
    /// `undecided`, `good`, `bad` or `excluded`
    pub result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Of a bad one, where the pod was then
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Of a bad one, why it waited there
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Of an excluded one, why
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `existing` where only startups on existing capacity count
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<String>,
    /// `present` where only startups whose images were present count
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<String>,
}

/// What is answered instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// One line that says what is wrong
    pub error: String,
}
