//! What the tracker reports: plain values, one for each event that is counted.

use super::cause::WaitReason;
use super::custom_milestone::{CustomInterval, CustomUnobservedReason};
use super::delivery::SourceId;
use super::eviction::{EvictedCounts, RefusalReason};
use super::gate::{GateObservation, GatesObservation};
use super::interval::{Interval, Stage, StageOrStep};
use super::judgement::{AnomalyKind, Latency, UnobservedReason};
use super::lost_startup::LostStartup;
use super::milestone::Milestone;
use super::network_evidence::{NetworkEvidence, NetworkTime};
use super::nodes::NodeObservation;
use super::outcome::Outcome;
use super::pod_node::{NodeAge, StartupImages};
use super::rollouts::{RolloutObservation, RolloutWorkload};
use super::slo_verdict::{SloId, SloVerdict};
use super::startup_sli_verdict::StartupSli;
use std::sync::Arc;

use crate::kube_event::{CapacityState, KubeEvent};
use crate::label_values;
use crate::pod::{DisruptionReason, PodInfo, PodUid, ResizeState};
use crate::timestamp::Timestamp;

label_values! {
    /// How an image came to the node of a pod ([§9.3](crate::specification#s9-3)).
    pub enum ImageSource {
        /// It was pulled
        Pulled => "pulled",
        /// It was there already
        Present => "present",
    }
}

label_values! {
    /// How a native resize ended.
    pub enum ResizeResult {
        /// Its conditions are gone
        Completed => "completed",
        /// The pod is gone
        Ended => "ended",
    }
}

label_values! {
    /// Why an Event was of no use ([§9.5](crate::specification#s9-5)).
    pub enum EventDropReason {
        /// It is about a pod that is remembered and not in flight
        Finished => "finished",
        /// It is about no pod, about one of another shard, or has the UID of one pod and the names of another
        Other => "other",
        /// It is about a pod that is not remembered
        Unknown => "unknown",
    }
}

impl EventDropReason {
    /// Why an Event is dropped that is about no pod that is remembered.
    pub const fn of_unknown_pod(event: &KubeEvent) -> Self {
        match &event.pod {
            Some(_) => Self::Unknown,
            None => Self::Other,
        }
    }
}

/// The state in which a pod is counted ([§5.7](crate::specification#s5-7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PodState {
    /// Not known yet
    Undiscovered,
    /// Starting up, in this stage and for this cause, and in this state of capacity, which counts in the stage
    /// `unschedulable` only
    InFlight(WaitReason, CapacityState),
    /// Its startup is over
    Finished(Outcome),
}

/// One event of one pod that is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PodObservation {
    /// The pod changed its state. `discovered = Σ finished + in flight` holds if each move is counted
    /// as a whole.
    Moved { from: PodState, to: PodState },
    /// The pod that has been in `stage` longest entered it at `entered`; `None` if no pod is in the
    /// stage. Reported whenever it changes.
    OldestInFlight { stage: Stage, entered: Option<Timestamp> },
    /// The pod's node became known after the pod had been discovered without one
    Bound,
    /// What the pod's node states became known after the pod was bound
    NodeKnown,
    /// A [conditional](Stage::is_conditional) stage applies to the pod. Reported when the pod is discovered, for
    /// `unschedulable` also when it is first seen so, and again whenever labels of the pod become known
    /// ([§7.2](crate::specification#s7-2))
    Applies(Stage),
    /// An interval ended with a usable duration
    Measured { interval: Interval, latency: Latency },
    /// Created → Ready ended with a usable duration, and nodes or Events are a source of evidence
    /// ([§14.5](crate::specification#s14-5))
    Startup { node_age: NodeAge, images: StartupImages, latency: Latency },
    /// A stage or step was not observed
    Unobserved { stage: StageOrStep, reason: UnobservedReason },
    /// A milestone of your own was reached after a usable duration ([§16.6](crate::specification#s16-6))
    CustomMeasured { interval: CustomInterval, latency: Latency },
    /// The milestone of your own at this position was not observed, as Created → NAME
    CustomUnobserved { milestone: u8, reason: CustomUnobservedReason },
    /// NetworkReady was latched. `time` is `None` where its time is unknown. If Scheduled → NetworkReady
    /// is measured, that follows before anything else is observed of another pod.
    NetworkReady {
        /// What gave its time
        evidence: NetworkEvidence,
        time: Option<NetworkTime>,
    },
    /// It has become stuck in its stage, is stuck for another cause, or is stuck no longer
    Stuck { from: Option<WaitReason>, to: Option<WaitReason> },
    /// A condition became True again
    Reentered(Milestone),
    /// A time was unusable, or had to be corrected
    Anomaly(AnomalyKind),
    /// It is not observed as if it had been watched, because its status no longer says when it started up
    SetAside { uid: PodUid, lost: LostStartup },
    /// The one event of the pod for an SLO
    Slo { slo: SloId, verdict: SloVerdict },
    /// The pod ended as [`Outcome::Disrupted`], for this reason
    Disrupted(DisruptionReason),
    /// The one event of the pod for the startup SLI
    StartupSli(StartupSli),
    /// A snapshot of an unknown pod was refused, so that the pod is not discovered
    Refused(RefusalReason),
    /// A watch event was the first to show its binding, this long after the time that the API states
    Delivered(Latency),
}

/// An image that a container of a pod needed, as an Event shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullObservation<'a> {
    /// How it came to the node; `None` where it could not be pulled, which is observed besides
    pub source: Option<ImageSource>,
    /// The image's registry
    pub registry: &'a Arc<str>,
    /// How long the pull took
    pub duration: Option<Latency>,
    /// How long it waited before that, where that is stated
    pub wait: Option<Latency>,
    /// The size of the image, where it is stated
    pub bytes: Option<u64>,
    /// The registries of the images of the pod that were counted before
    pub earlier: &'a [Arc<str>],
}

/// One event of the tracker as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerObservation {
    /// Accounted time has reached the instant of the observation. The last observation of every
    /// delivery and of every [`Tracker::advance`](super::Tracker::advance).
    Advanced {
        /// How many pods are remembered now, in whatever state
        remembered: usize,
        /// Until when the deadlines of every source have passed ([§6.7](crate::specification#s6-7))
        judged: Timestamp,
        /// How late deliveries are, in nanoseconds, where that is known ([§4.10](crate::specification#s4-10))
        lag: Option<i64>,
    },
    /// A list has closed a gap: for so many nanoseconds its source was not known to be complete, and
    /// pods may have been created and deleted unseen.
    GapClosed { nanos: u64 },
    /// A pod has the name of one in flight whose deletion this list-watch has not delivered
    DeletionLost(SourceId),
    /// A pod whose startup is over has a native resize in another state than before; `None` where none
    /// is open ([§10.3](crate::specification#s10-3))
    Resizing { from: Option<ResizeState>, to: Option<ResizeState> },
    /// A pod that ended as ready has fallen back less than ten minutes after its first Ready
    /// ([§5.10](crate::specification#s5-10)); once for a pod at most
    Relapsed,
    /// A native resize ended that was not open at first sight
    ResizeEnded(ResizeResult),
    /// A native resize took so long
    Resized(Latency),
    /// An update by OpenKruise took so long
    UpdatedInPlace(Latency),
    /// Finished or deleted pods were forgotten because the cap on remembered pods was reached.
    Evicted(EvictedCounts),
    /// An Event was of no use
    EventDropped(EventDropReason),
}

/// What the tracker reports. It is the only output, so an observer that counts handles each variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observation<'a> {
    /// Something happened to the pod that the [`PodInfo`] names
    Pod(&'a PodInfo, PodObservation),
    /// An image of the pod was pulled, or could not be, or was there
    Pull(&'a PodInfo, PullObservation<'a>),
    /// Something happened to a gate of the pod
    Gate(&'a PodInfo, GateObservation<'a>),
    /// Something happened to all gates of the pod
    Gates(&'a PodInfo, GatesObservation<'a>),
    /// Something happened to a node
    Node(NodeObservation<'a>),
    /// Something happened to the rollouts of a workload
    Rollout(&'a RolloutWorkload, RolloutObservation),
    /// Something happened to the tracker as a whole
    Tracker(TrackerObservation),
}

/// The part of an [`Observer`](super::observer::Observer) that the state of a pod needs.
pub(super) trait ObservePod {
    /// Takes one observation, made at the accounted time `now`.
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>);
}

/// An observer, with the time at which the tracker makes its observations.
pub(super) struct TimedObserver<'a, S> {
    now: Timestamp,
    pub(super) observer: &'a mut S,
}

impl<'a, S: ObservePod> TimedObserver<'a, S> {
    /// Observations are made at `now`.
    pub(super) const fn new(now: Timestamp, observer: &'a mut S) -> Self {
        Self { now, observer }
    }

    /// When the observations are made.
    pub(super) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Reports something that happened to `pod`.
    pub(super) fn pod(&mut self, pod: &PodInfo, observation: PodObservation) {
        self.observer.observe(self.now, Observation::Pod(pod, observation));
    }

    /// Reports an image of `pod`.
    pub(super) fn pull(&mut self, pod: &PodInfo, pull: PullObservation<'_>) {
        self.observer.observe(self.now, Observation::Pull(pod, pull));
    }

    /// Reports something that happened to a gate of `pod`.
    pub(super) fn gate(&mut self, pod: &PodInfo, gate: GateObservation<'_>) {
        self.observer.observe(self.now, Observation::Gate(pod, gate));
    }

    /// Reports something that happened to all gates of `pod`.
    pub(super) fn gates(&mut self, pod: &PodInfo, gates: GatesObservation<'_>) {
        self.observer.observe(self.now, Observation::Gates(pod, gates));
    }

    /// Reports something that happened to a node.
    pub(super) fn node(&mut self, observation: NodeObservation<'_>) {
        self.observer.observe(self.now, Observation::Node(observation));
    }

    /// Reports something that happened to the tracker as a whole.
    pub(super) fn tracker(&mut self, observation: TrackerObservation) {
        self.observer.observe(self.now, Observation::Tracker(observation));
    }
}
