//! Records ([§11](crate::specification#s11)): what is known of a single startup, as a plain value.
//!
//! A record is made when somebody asks for it. Of a startup that has ended, its [`EndedStartup`] is kept
//! until then; of one under way, the tracker has everything (see `Tracker::in_flight`).

mod container;
mod ended_startup;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "`podinit-testing` has this file too")]
pub(crate) mod fixtures;
mod in_flight;
mod named;
mod of_pod;
mod timeline;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ended_startup::{EndedStartup, RecordAmendment};
pub use in_flight::{InFlightPosition, InFlightRecord};
pub use named::{GateState, RecordedCustomMilestone, RecordedGate};
pub use timeline::{StageSpans, TimelineSpan};

use super::capacity::RecordedCapacity;
use super::cause::{BadReason, Cause, WaitReason};
use super::interval::{Interval, Stage, StageOrStep};
use super::judgement::{Latency, UnobservedReason};
use super::milestone::Milestone;
use super::network_evidence::NetworkTime;
use super::outcome::Outcome;
use super::pod_node::{NodeAge, StartupImages};
use super::slo_verdict::{ExclusionReason, SloVerdict};
use crate::label_values;
use crate::node::NodeLabels;
use crate::pod::{Claims, Ending, PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// What is known of the startup of one pod: a record. What is not known is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "record")]
pub struct Record {
    /// `metadata.uid`
    pub uid: PodUid,
    // Namespace, name, node, owner and the values of the chosen labels; the document names no labels.
    #[serde(flatten, with = "pod_names")]
    #[schemars(with = "pod_names::PodNames")]
    pub pod: PodInfo,
    /// When podinit first saw the pod, in accounted time
    pub discovered: Timestamp,
    #[serde(flatten)]
    pub progress: Progress,
    /// The milestones that were reached
    pub milestones: Vec<RecordedMilestone>,
    /// Its gates by name, scheduling gates first, in the order of the spec
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<RecordedGate>,
    /// The milestones of your own whose conditions its status has had
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_milestones: Vec<RecordedCustomMilestone>,
    /// What the newest version of its node states besides its name; of a startup that has ended, what it stated then.
    /// Only where nodes are a source of evidence
    #[serde(rename = "node_details", skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<Arc<NodeLabels>>,
    /// What the startup had to wait for, as far as nodes and Events say so
    #[serde(default, skip_serializing_if = "Needed::is_unknown")]
    pub needed: Needed,
    /// How far the time of PodReadyToStartContainers can be from the truth, where that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_time: Option<NetworkTime>,
    /// The stages, end-to-end durations and steps that apply to the pod and have begun or ended
    pub intervals: Vec<RecordedInterval>,
    /// Those that are followed (64), init containers first, in the order of the spec
    #[serde(default)]
    pub containers: Vec<RecordedContainer>,
    /// The image that the pod is about: of the container whose image is its problem or could not be pulled, or else of
    /// the first regular one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Arc<str>>,
    /// What Kubernetes says of why the pod waits, in its own words, at most 256 bytes of its beginning and end; of a
    /// startup that is over, what it said last
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
    /// Whether a node is on its way for a pod that fits on none; only of a pod that is or was unschedulable, and where
    /// Events are read
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<RecordedCapacity>,
    /// How its images came to its node, as far as Events have shown, in the order of its containers
    pub pulls: Vec<RecordedPull>,
    /// Its last causes, at most 16, the oldest first; of a pod in flight the last one is the present one. Empty where
    /// podinit first saw the pod when its startup was over
    #[schemars(length(max = MOST_CAUSES))]
    pub causes: Vec<RecordedCause>,
    /// The SLOs that match the pod
    pub slos: Vec<RecordedSlo>,
    /// What the pod claims, for finding problems ([§13.4](crate::specification#s13-4)); no document has it
    #[serde(skip)]
    pub claims: Claims,
    /// That the pod crashes again, as its newest version shows; only of a startup that ended as ready
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relapse: Option<Box<RecordedRelapse>>,
}

/// A pod that has been ready has a regular or restartable init container that waits with CrashLoopBackOff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "relapse")]
pub struct RecordedRelapse {
    /// When podinit first saw it so
    pub since: Timestamp,
    /// The position of the first such container among the containers of the pod, init containers first
    pub container: usize,
    /// How the run before ended
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
}

/// How many causes of a startup are kept, the newest.
pub const MOST_CAUSES: usize = 16;

/// How far a startup has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Where the pod is; only of a startup under way
    InFlight {
        /// The stage that the pod is in, and why it waits there
        #[serde(flatten)]
        waiting: WaitReason,
        /// When it entered the stage
        entered: Timestamp,
        /// When it counts as stuck, if it is still in the stage then
        stuck_at: Timestamp,
        /// Whether it counts as stuck
        #[serde(rename = "stuck")]
        is_stuck: bool,
        /// A regular container has ended with exit code 0 and is not run again, so that the pod can never be Ready. It is
        /// stuck only while something fails
        #[serde(rename = "never_ready", default, skip_serializing_if = "is_false")]
        is_never_ready: bool,
    },
    /// How the startup ended; only of one that is over
    Ended {
        outcome: Outcome,
        /// When podinit accounted for the end
        #[serde(rename = "time")]
        at: Timestamp,
        /// What the status of a pod that completed or failed says, where that is kept
        #[serde(rename = "status", skip_serializing_if = "Option::is_none")]
        ending: Option<Box<Ending>>,
    },
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Progress {
    /// Whether the startup is under way and can never end with Ready ([§6.12](crate::specification#s6-12)).
    pub const fn is_never_ready(&self) -> bool {
        matches!(self, Self::InFlight { is_never_ready: true, .. })
    }
}

/// What a startup had to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "needed")]
pub struct Needed {
    /// Whether the node is younger than the pod; left out before the pod is scheduled, and where nodes are no source
    /// of evidence
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<NodeAge>,
    /// Whether the images were on the node
    pub images: StartupImages,
}

impl Needed {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

label_values! {
    /// What gave the time of a milestone.
    pub enum MilestoneSource {
        /// `metadata.creationTimestamp`
        CreationTimestamp => "creation_timestamp",
        /// The arrival of the watch event that showed it; the API states no time, or one that lies later
        Watch => "watch",
        /// The `lastTransitionTime` of a condition
        Condition => "condition",
        /// The start of a container
        Container => "container",
        /// An Event of the kubelet, or of a scheduler
        Event => "event",
        /// `status.startTime`
        StartTime => "start_time",
    }
}

/// A milestone that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "milestone")]
pub struct RecordedMilestone {
    pub milestone: Milestone,
    /// Left out where only a later milestone implies that it was reached, or where the time is missing or absurd
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// What says so
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<MilestoneSource>,
}

label_values! {
    /// What kind of interval it is.
    pub enum IntervalKind {
        Stage => "stage",
        Step => "step",
        /// An end-to-end duration
        Whole => "whole",
    }
}

impl IntervalKind {
    /// That of an interval.
    pub const fn from_interval(interval: Interval) -> Self {
        match interval.stage_or_step() {
            Some(StageOrStep::Stage(_)) => Self::Stage,
            Some(StageOrStep::Step(_)) => Self::Step,
            None => Self::Whole,
        }
    }
}

/// A stage, a step or an end-to-end duration that has begun, or that was not observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "interval")]
pub struct RecordedInterval {
    pub interval: Interval,
    pub kind: IntervalKind,
    /// When it began, where that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<Timestamp>,
    /// When it ended, where it has and that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    #[serde(flatten)]
    pub result: IntervalResult,
}

/// What became of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum IntervalResult {
    /// It has begun and has not ended; of a startup that is over, it never will
    Open,
    /// It was observed
    Measured {
        /// How long it took
        seconds: Latency,
    },
    /// It was not observed, or, of an end-to-end duration, would not have been
    Unobserved { reason: UnobservedReason },
}

/// A container of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "container")]
pub struct RecordedContainer {
    pub name: Arc<str>,
    /// Whether it is an init container
    pub init: bool,
    /// Whether it is a sidecar: an init container with `restartPolicy: Always`
    #[serde(rename = "sidecar", default, skip_serializing_if = "is_false")]
    pub is_sidecar: bool,
    /// Its image, as the spec names it when podinit first sees the pod, cut to 256 bytes
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Arc<str>>,
    /// The registry of the image
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<Arc<str>>,
    /// The image of a volume that it mounts, which cannot be pulled, where that keeps the pod from starting
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_image: Option<Arc<str>>,
    /// What keeps it from running: `image`, `config`, `crash` or `create`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Cause>,
}

/// How the image of a container came to the node, as Events have shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "pull")]
pub struct RecordedPull {
    /// The container's name
    pub container: Arc<str>,
    /// Whether it is an init container
    pub init: bool,
    /// The image's registry
    pub registry: Arc<str>,
    /// A pull failed at least once
    #[serde(rename = "failed")]
    pub has_failed: bool,
    #[serde(flatten)]
    pub image: RecordedImage,
}

/// How an image came to the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "image", rename_all = "snake_case")]
pub enum RecordedImage {
    /// Not known (yet)
    Unknown,
    /// It was there already
    Present,
    /// It was pulled
    Pulled {
        /// When the pull ended
        #[serde(skip_serializing_if = "Option::is_none")]
        ended: Option<Timestamp>,
        /// The pull itself, and the wait in the kubelet's queue
        #[serde(rename = "seconds")]
        with_wait: Latency,
    },
}

/// A cause for which a pod waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "cause")]
pub struct RecordedCause {
    /// The cause, and the stage in which it was
    #[serde(flatten)]
    pub waiting: WaitReason,
    /// When podinit first saw the pod wait for it, to the millisecond
    pub began: Timestamp,
    // The position of the container that gave it, at last, where one did.
    #[serde(skip)]
    pub container: Option<u8>,
}

/// An SLO that matches the pod, and the pod's event for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "slo")]
pub struct RecordedSlo {
    /// The SLO's name
    pub slo: Arc<str>,
    /// When its deadline passes, once its interval has begun at a known time
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    #[serde(flatten)]
    pub result: SloResult,
    /// `existing` where only startups on existing capacity count
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<NodeAge>,
    /// `present` where only startups whose images were present count
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<StartupImages>,
}

/// The pod's event for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum SloResult {
    /// It has not had it yet
    Undecided,
    Good,
    /// Where the pod was then, and why it did not get further, where that is known
    Bad {
        #[serde(flatten)]
        reason: BadReason,
    },
    Excluded {
        reason: ExclusionReason,
    },
}

impl SloResult {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::Good => "good",
            Self::Bad { .. } => "bad",
            Self::Excluded { .. } => "excluded",
        }
    }
}

impl From<Option<SloVerdict>> for SloResult {
    fn from(verdict: Option<SloVerdict>) -> Self {
        match verdict {
            None => Self::Undecided,
            Some(SloVerdict::Good) => Self::Good,
            Some(SloVerdict::Bad(reason)) => Self::Bad { reason },
            Some(SloVerdict::Excluded(reason)) => Self::Excluded { reason },
        }
    }
}

/// What a document says of a [`PodInfo`].
mod pod_names {
    use std::sync::Arc;

    use schemars::JsonSchema;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::pod::{PodInfo, Workload};

    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct PodNames {
        namespace: Arc<str>,
        name: Box<str>,
        /// Left out while the pod is not bound
        #[serde(skip_serializing_if = "Option::is_none")]
        node: Option<Arc<str>>,
        /// The controlling owner, by the name that lasts; a Deployment in place of its ReplicaSet
        #[serde(skip_serializing_if = "Option::is_none")]
        workload: Option<Arc<Workload>>,
    }

    pub(super) fn serialize<S: Serializer>(pod: &PodInfo, to: S) -> Result<S::Ok, S::Error> {
        let names = PodNames {
            namespace: Arc::clone(&pod.namespace),
            name: pod.name.clone(),
            node: pod.node.clone(),
            workload: pod.workload.clone(),
        };
        names.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PodInfo, D::Error> {
        let names = PodNames::deserialize(from)?;
        Ok(PodInfo {
            namespace: names.namespace,
            name: names.name,
            node: names.node,
            workload: names.workload,
            ..PodInfo::default()
        })
    }
}

impl Record {
    /// The duration of an interval, where it was observed.
    pub fn duration(&self, interval: Interval) -> Option<Latency> {
        let mut all = self.intervals.iter();
        all.find(|one| one.interval == interval).and_then(|one| match one.result {
            IntervalResult::Measured { seconds } => Some(seconds),
            IntervalResult::Open | IntervalResult::Unobserved { .. } => None,
        })
    }

    /// When a milestone was reached, where that is known.
    pub fn reached(&self, milestone: Milestone) -> Option<Timestamp> {
        let mut all = self.milestones.iter();
        all.find(|reached| reached.milestone == milestone)?.time
    }

    /// Whether podinit first saw the pod when its startup was over, so that nobody saw it wait.
    pub fn is_over_at_first_sight(&self) -> bool {
        self.causes.is_empty()
    }

    /// The outcome; `None` of a startup under way.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self.progress {
            Progress::InFlight { .. } => None,
            Progress::Ended { outcome, .. } => Some(outcome),
        }
    }

    /// How the pod ended, where its status says that and it is kept.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.progress {
            Progress::InFlight { .. } => None,
            Progress::Ended { ending, .. } => ending.as_deref(),
        }
    }
}

impl RecordedPull {
    /// The stage that it is inside of.
    pub const fn stage(&self) -> Stage {
        stage_of_containers(self.init)
    }

    /// From when to when the image was pulled, the wait in the kubelet's queue included, where it was and
    /// that is known.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let RecordedImage::Pulled { ended: Some(ended), with_wait } = self.image else {
            return None;
        };
        Some((with_wait.before(ended), ended))
    }
}

impl RecordedContainer {
    /// The stage in which it starts.
    pub const fn stage(&self) -> Stage {
        stage_of_containers(self.init)
    }
}

const fn stage_of_containers(init: bool) -> Stage {
    match init {
        true => Stage::Init,
        false => Stage::Containers,
    }
}

#[cfg(test)]
mod tests;
