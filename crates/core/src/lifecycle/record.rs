//! Records ([§11](crate::specification#s11)): what is known of a single startup, as a plain value.
//!
//! A record is made when somebody asks for it. Of a startup that has ended, its [`EndedStartup`] is kept
//! until then; of one under way, the tracker has everything (see `Tracker::in_flight`).

mod ended_startup;
#[cfg(any(test, feature = "testing"))]
pub mod fixtures;
mod in_flight;
mod of_pod;

use std::sync::Arc;
use std::time::Duration;

pub use ended_startup::EndedStartup;
pub use in_flight::{InFlight, InFlightPosition};

use super::capacity::RecordedCapacity;
use super::cause::{Cause, WaitReason};
use super::interval::Interval;
use super::judgement::{Latency, UnobservedReason};
use super::milestone::Milestone;
use super::network_evidence::NetworkTime;
use super::outcome::Outcome;
use super::pod_node::{StartupCapacity, StartupImages};
use super::slo::Selection;
use super::slo_verdict::SloVerdict;
use crate::label_values;
use crate::node::NodeLabels;
use crate::pod::{ContainerKind, Ending, PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// What is known of one startup.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub uid: PodUid,
    /// Namespace, name, node, owner and the values of the chosen labels
    pub pod: PodInfo,
    /// When podinit first saw the pod, in accounted time
    pub discovered: Timestamp,
    pub progress: Progress,
    /// The milestones that were reached, in the order of [`Milestone::ALL`]
    pub milestones: Vec<RecordedMilestone>,
    /// Whether its node is younger than the pod; `None` before Scheduled is latched, and where nodes are no source of
    /// evidence ([§14.3](crate::specification#s14-3))
    pub startup_capacity: Option<StartupCapacity>,
    /// Whether its images were on the node, as far as Events have shown
    /// ([§14.4](crate::specification#s14-4))
    pub startup_images: StartupImages,
    /// What the newest version of its node states; of a startup that has ended, what it stated then
    pub node_labels: Option<Arc<NodeLabels>>,
    /// How far the time of NetworkReady can be from the truth, where that is known
    pub network_time: Option<NetworkTime>,
    /// The stages, end-to-end durations and steps that apply to the pod and have begun or ended
    pub intervals: Vec<RecordedInterval>,
    /// Its containers, those that are followed, in the order of its spec
    pub containers: Vec<RecordedContainer>,
    /// What Kubernetes says of why it waits, in its own words, at most 256 bytes of its beginning and end; of a
    /// startup that has ended, what it said last
    pub message: Option<Arc<str>>,
    /// How the pod ended, where its status says that and it is kept
    pub ending: Option<Box<Ending>>,
    /// Of a pod that is or was unschedulable while Events are a source: whether a node is on its way for it, as the last
    /// Event of an autoscaler says
    pub unschedulable: Option<RecordedCapacity>,
    /// How its images came to its node, as far as Events have shown, in the order of its containers
    pub pulls: Vec<RecordedPull>,
    /// Its last causes, at most [`MOST_CAUSES`], the oldest first; of a pod in flight the last one is the
    /// present one
    pub causes: Vec<RecordedCause>,
    /// The SLOs that match the pod
    pub slos: Vec<RecordedSlo>,
}

/// So many causes of a startup are kept, the newest.
pub const MOST_CAUSES: usize = 16;

/// How far a startup has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is under way
    InFlight {
        /// The stage that the pod is in, and why it waits there
        waiting: WaitReason,
        /// When it entered the stage
        entered: Timestamp,
        /// After how long in the stage it counts as stuck
        stuck_after: Duration,
        /// Whether it counts as stuck
        is_stuck: bool,
    },
    /// It is over
    Ended {
        outcome: Outcome,
        /// When podinit accounted for that
        at: Timestamp,
    },
}

label_values! {
    /// What gave the time of a milestone.
    pub enum MilestoneSource {
        /// `metadata.creationTimestamp`
        CreationTimestamp => "creation_timestamp",
        /// The arrival of the watch event that showed it; the API states no time
        Watch => "watch",
        /// The `lastTransitionTime` of a condition
        Condition => "condition",
        /// The start of a container
        Container => "container",
        /// An Event of the kubelet
        Event => "event",
        /// `status.startTime`
        StartTime => "start_time",
    }
}

/// A milestone that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMilestone {
    pub milestone: Milestone,
    /// When, and what says so; `None` where only a later milestone implies that it was reached, or where
    /// the time is missing or absurd
    pub time: Option<(Timestamp, MilestoneSource)>,
}

/// A stage, an end-to-end duration or a step of a startup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedInterval {
    pub interval: Interval,
    /// When it began, where that is known
    pub began: Option<Timestamp>,
    /// When it ended, where it has and that is known
    pub ended: Option<Timestamp>,
    pub result: IntervalResult,
}

/// What became of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalResult {
    /// It has begun and has not ended; of a startup that is over, it never will
    Open,
    /// It was observed
    Measured(Latency),
    /// It was not observed, or, of an end-to-end duration, would not have been
    Unobserved(UnobservedReason),
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedContainer {
    pub name: Arc<str>,
    pub kind: ContainerKind,
    /// Its image, as the spec names it, cut to 256 bytes
    pub image: Option<Arc<str>>,
    /// What keeps it from running: `image`, `config`, `crash` or `create`
    pub problem: Option<Cause>,
}

/// How the image of a container came to the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPull {
    /// The container's name
    pub container: Arc<str>,
    pub kind: ContainerKind,
    /// The image's registry
    pub registry: Arc<str>,
    /// A pull failed at least once
    pub has_failed: bool,
    pub image: RecordedImage,
}

/// How an image came to the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedImage {
    /// Not known (yet)
    Unknown,
    /// It was there already
    Present,
    /// It was pulled
    Pulled {
        /// When the pull ended
        ended: Option<Timestamp>,
        /// The pull itself, and the wait in the kubelet's queue
        with_wait: Duration,
    },
}

/// A cause for which a pod waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCause {
    /// The cause, and the stage in which it was
    pub waiting: WaitReason,
    /// When podinit first saw the pod wait for it, to the millisecond
    pub began: Timestamp,
    /// The position of the container that gave it, at last, where one did
    pub container: Option<u8>,
}

/// An SLO that matches a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSlo {
    /// The SLO's name
    pub slo: Arc<str>,
    /// When its deadline passes, once its interval has begun at a known time
    pub deadline: Option<Timestamp>,
    /// The pod's event for the SLO, once it has had it
    pub verdict: Option<SloVerdict>,
    /// The startups that count for the SLO
    pub selection: Selection,
}

impl Record {
    /// The duration of an interval, where it was observed.
    pub fn duration(&self, interval: Interval) -> Option<Latency> {
        let mut all = self.intervals.iter();
        all.find(|one| one.interval == interval)
            .and_then(|one| match one.result {
                IntervalResult::Measured(latency) => Some(latency),
                IntervalResult::Open | IntervalResult::Unobserved(_) => None,
            })
    }

    /// From when to when the pod was in an interval, where both are known. Of a pod in flight, an interval
    /// that has not ended lasts until `now`.
    pub fn span(
        &self,
        interval: Interval,
        now: Option<Timestamp>,
    ) -> Option<(Timestamp, Timestamp)> {
        let mut all = self.intervals.iter();
        let recorded = all.find(|one| one.interval == interval)?;
        let end = match self.progress {
            Progress::InFlight { .. } => recorded.ended.or(now),
            Progress::Ended { .. } => recorded.ended,
        };
        recorded.began.zip(end)
    }

    /// When a milestone was reached, where that is known.
    pub fn reached(&self, milestone: Milestone) -> Option<Timestamp> {
        let mut all = self.milestones.iter();
        let found = all.find(|reached| reached.milestone == milestone)?;
        found.time.map(|(at, _)| at)
    }

    /// The image that a pod is about: of the container whose image is its problem or could not be pulled,
    /// or else of the first regular one.
    pub fn image(&self) -> Option<&Arc<str>> {
        let failed = self.pulls.iter().find(|pull| pull.has_failed);
        let mut containers = self.containers.iter();
        let by_problem = containers.find(|one| one.problem == Some(Cause::Image));
        let mut containers = self.containers.iter();
        let by_pull = || {
            let failed = failed?;
            containers.find(|one| one.name == failed.container && one.kind == failed.kind)
        };
        let mut all = self.containers.iter();
        let found = by_problem.or_else(by_pull);
        let found = found.or_else(|| all.find(|one| one.kind == ContainerKind::Regular));
        found?.image.as_ref()
    }

    /// The outcome; `None` of a startup under way.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self.progress {
            Progress::InFlight { .. } => None,
            Progress::Ended { outcome, .. } => Some(outcome),
        }
    }
}

impl RecordedPull {
    /// From when to when the image was pulled, the wait in the kubelet's queue included, where it was and
    /// that is known.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let RecordedImage::Pulled {
            ended: Some(ended),
            with_wait,
        } = self.image
        else {
            return None;
        };
        let nanos = i64::try_from(with_wait.as_nanos()).unwrap_or(i64::MAX);
        Some((ended.plus_nanos(nanos.saturating_neg()), ended))
    }
}

#[cfg(test)]
mod tests;
