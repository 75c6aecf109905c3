//! What podinit needs to know of a Kubernetes `v1` Event about a pod ([§9](crate::specification#s9)).
//!
//! A [`KubeEvent`] is the only form in which an Event enters the core. The decoder reads the texts of
//! Events, so that the core knows what happened and not how a kubelet words it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::label_values;
use crate::pod::{PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// One Event, reduced to what podinit needs. An aggregated one is as its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeEvent {
    /// The pod that it is about; `None` where that is no pod, or one of another namespace than the Event's
    pub pod: Option<InvolvedPod>,
    /// Whether a kubelet reported it: `reportingComponent`, or where that is empty `source.component`
    pub from_kubelet: bool,
    /// The container that `involvedObject.fieldPath` names
    pub container: Option<EventContainer>,
    /// `firstTimestamp`; `None` when it is missing or absurd ([§4.6](crate::specification#s4-6))
    pub first: Option<Timestamp>,
    /// The instant in the Event's name: what follows the last dot, as hexadecimal Unix nanoseconds
    pub named: Option<Timestamp>,
    /// When it happened first and last, as one list states it
    pub occurred: EventOccurrence,
    pub reason: EventReason,
    /// Its message, of a warning that says why a pod waits, of a [`Hint`] and of what an autoscaler says; `None` where it
    /// was not asked for. That of [`EventReason::FailedScheduling`] gives a cause, and is always there
    pub message: Option<Box<str>>,
}

/// When an Event happened, as one list states it ([§13.2](crate::specification#s13-2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOccurrence {
    /// `firstTimestamp`, or else `eventTime`
    pub first: Option<Timestamp>,
    /// `lastTimestamp`, or else the last time of the series, or else `eventTime`
    pub last: Option<Timestamp>,
}

impl KubeEvent {
    /// The UID of the pod that it is about; `None` if it is about none.
    pub fn uid(&self) -> Option<PodUid> {
        self.pod.as_ref().map(|pod| pod.uid)
    }

    /// The hint of a kubelet's text, and the text; `None` of an Event without one.
    pub fn hint(&self) -> Option<(Hint, &str)> {
        let hint = match self.reason {
            EventReason::Hint(hint) => hint,
            EventReason::PullFailed { .. } => Hint::Pull,
            _ => return None,
        };
        // Only what belongs to the claims of a pod is told as such.
        let is_of_claim = matches!(hint, Hint::Claim | Hint::Provisioner);
        let text = self.message.as_deref().filter(|_| self.from_kubelet || is_of_claim)?;
        Some((hint, text))
    }
}

/// Puts `events` in the order in which they happened last, those of the same time as they are
/// ([§13.2](crate::specification#s13-2)).
pub fn in_order_of_time(events: &mut [KubeEvent]) {
    events.sort_by_key(|event| event.occurred.last);
}

/// The pod that an Event says it is about. Its author may write any UID, but only the namespace of the Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvolvedPod {
    /// `involvedObject.uid`, never empty
    pub uid: PodUid,
    /// The namespace that the Event and its `involvedObject` state; empty where neither does
    pub namespace: Arc<str>,
    /// `involvedObject.name`; empty where that is not stated
    pub name: Box<str>,
}

impl InvolvedPod {
    /// The pod of this UID, namespace and name.
    pub fn new(uid: PodUid, namespace: impl Into<Arc<str>>, name: impl Into<Box<str>>) -> Self {
        Self { uid, namespace: namespace.into(), name: name.into() }
    }

    /// Whether the names that it states are those of the pod with `info` ([§9.5](crate::specification#s9-5)).
    pub(super) fn has_names_of(&self, info: &PodInfo) -> bool {
        let is = |stated: &str, own: &str| stated.is_empty() || stated == own;
        is(&self.name, &info.name) && is(&self.namespace, &info.namespace)
    }
}

/// The container that an Event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventContainer {
    pub name: Arc<str>,
    /// `spec.initContainers{NAME}`, and not `spec.containers{NAME}`
    pub init: bool,
}

/// The meaning of an Event, as far as podinit reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventReason {
    /// `Pulling`
    Pulling,
    /// `Pulled`; `None` where its message cannot be read
    Pulled(Option<PulledMessage>),
    /// `Created`
    Created,
    /// `Started`
    Started,
    /// `Failed` with a message that begins `Failed to pull image`
    PullFailed {
        /// The image's registry
        registry: Arc<str>,
    },
    /// A warning that says why a pod waits for its network
    Warning(SandboxWarning),
    /// A text that gives no cause, but explains one
    Hint(Hint),
    /// `SuccessfulAttachVolume`
    VolumeAttached,
    /// `FailedScheduling`, whoever reports it but an autoscaler
    FailedScheduling,
    /// `Scheduled` with its `eventTime`, when a scheduler bound the pod ([§4.8](crate::specification#s4-8))
    Scheduled(Timestamp),
    /// What is said of a persistent volume claim
    OfClaim { claim: VolumeClaim, said: ClaimWord },
    /// What an autoscaler says of a pod that fits on no node ([§10.4](crate::specification#s10-4))
    Capacity {
        /// What that means; never [`CapacityState::Unknown`]
        state: CapacityState,
        /// Who reported it, at most [`LONGEST_REPORTER`] bytes; empty where that is not stated
        by: Arc<str>,
    },
    /// Anything else
    Other,
}

/// A persistent volume claim, by its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VolumeClaim {
    pub namespace: Arc<str>,
    pub name: Arc<str>,
}

/// The meaning of an Event about a persistent volume claim ([§10.1](crate::specification#s10-1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimWord {
    /// A warning; also `FailedBinding`, which is a Normal Event where the claim has no storage class
    Fails,
    /// `ExternalProvisioning`
    Waits,
    /// `ProvisioningSucceeded`: nothing that was said before holds
    Succeeds,
}

impl ClaimWord {
    /// What an Event of this reason and `type` says; `None` of what tells nothing.
    pub fn of_event(reason: &str, kind: Option<&str>) -> Option<Self> {
        match reason {
            "ExternalProvisioning" => Some(Self::Waits),
            "ProvisioningSucceeded" => Some(Self::Succeeds),
            "FailedBinding" => Some(Self::Fails),
            _ => (kind == Some("Warning")).then_some(Self::Fails),
        }
    }
}

/// The name of who reported an Event is cut to so many bytes, as many as the API server allows.
pub const LONGEST_REPORTER: usize = 128;

/// The message of a `Pulled` Event ([§9.3](crate::specification#s9-3)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PulledMessage {
    /// The image was on the node already
    Present {
        /// The image's registry
        registry: Arc<str>,
    },
    /// The kubelet pulled it
    Pulled(SuccessfulPull),
}

/// A pull that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuccessfulPull {
    /// The image's registry
    pub registry: Arc<str>,
    /// How long the pull itself took (D)
    pub duration: Duration,
    /// How long the pull took with the wait in the kubelet's queue (W); `None` where the message does not state it, so
    /// that W = D
    pub with_wait: Option<Duration>,
    /// The size of the image
    pub bytes: Option<u64>,
}

label_values! {
    /// Whether a node is on its way for a pod that fits on none ([§10.4](crate::specification#s10-4)).
    #[derive(Default)]
    pub enum CapacityState {
        /// `TriggeredScaleUp`
        ScalingUp => "scaling_up",
        /// `NotTriggerScaleUp`, or `FailedScheduling` of Karpenter
        NoScaleUp => "no_scale_up",
        /// `FailedScaleUp`
        ScaleUpFailed => "scale_up_failed",
        /// `Nominated`
        Nominated => "nominated",
        /// No Event says
        #[default]
        Unknown => "unknown",
    }
}

impl CapacityState {
    /// Whether no node comes, so that the words of the autoscaler say why.
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::NoScaleUp | Self::ScaleUpFailed)
    }
}

label_values! {
    /// The warnings that say why a pod's sandbox does not come up ([§10.1](crate::specification#s10-1)).
    pub enum SandboxWarning {
        FailedPrepareDynamicResources => "FailedPrepareDynamicResources",
        FailedMount => "FailedMount",
        FailedAttachVolume => "FailedAttachVolume",
        FailedMapVolume => "FailedMapVolume",
        NetworkNotReady => "NetworkNotReady",
        /// `FailedCreatePodSandBox` with a message about the network
        FailedSandboxNetwork => "FailedCreatePodSandBox (network)",
        /// `FailedCreatePodSandBox` with any other message
        FailedSandbox => "FailedCreatePodSandBox",
        /// The cgroup of a pod cannot be created
        FailedPodContainer => "FailedCreatePodContainer",
        /// `Failed` with a message about the pod's directories
        FailedPodDirectories => "Failed (pod data directories)",
        /// A kubelet changes the owners of a volume's files, which takes long
        VolumePermissionChange => "VolumePermissionChangeInProgress",
    }
}

/// What a kubelet's Event tells of a pod beside its cause ([§10.1](crate::specification#s10-1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hint {
    /// Why an image was not pulled: `Failed` with a message that begins `Failed to pull image`
    Pull,
    /// Why a container was not started: any other `Failed`
    Start,
    /// Which secrets for pulls are not there: `FailedToRetrieveImagePullSecret`
    PullSecret,
    /// How a probe failed: `Unhealthy`
    Unhealthy(ProbeKind),
    /// That a container is killed because a probe failed: `Killing`
    Killed(ProbeKind),
    /// Why a kubelet gave up for now: `FailedSync`
    Sync,
    /// What a warning says of a persistent volume claim of the pod
    Claim,
    /// Which provisioner a persistent volume claim of the pod waits for
    Provisioner,
}

label_values! {
    /// The probes of a container.
    pub enum ProbeKind {
        Startup => "startup",
        Liveness => "liveness",
        Readiness => "readiness",
    }
}
