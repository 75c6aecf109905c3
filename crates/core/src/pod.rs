//! What podinit needs to know of a pod, as the Kubernetes API states it.
//!
//! A [`PodSnapshot`] is the only form in which a pod enters the core. The decoder turns every unknown
//! value, null or missing field into an `Option` or a variant here, so the core handles no malformed
//! input.

mod claims;
mod container;
mod named;
pub mod packed;
mod probes;
mod revision;
mod status;
pub mod text;
mod uid;
mod workload;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::claims::Claims;
pub use self::container::{
    ContainerKind, ContainerSpec, ContainerState, MOST_FOLLOWED, WaitingMessage, WaitingReason,
};
pub use self::named::{GateList, GateNames, MOST_GATES, MOST_OWN_MILESTONES, NamedConditions};
pub use self::probes::{ContainerProbe, ContainerProbes};
pub use self::revision::Revision;
pub use self::status::{
    DisruptionReason, Ending, InPlaceChanges, NotScheduled, NotScheduledReason, PodResize,
    ResizeState, SandboxNotReady, Termination,
};
pub use self::uid::PodUid;
pub use self::workload::is_generated;
pub use self::workload::{HashedBy, LastingName, TemplateHash, Workload, generated_word};
use crate::label_values;
use crate::node::NodeLabels;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

label_values! {
    /// The condition types that podinit reads, as Kubernetes spells them.
    pub enum ConditionType {
        PodScheduled => "PodScheduled",
        /// The name since Kubernetes 1.28 (KEP-3085)
        PodReadyToStartContainers => "PodReadyToStartContainers",
        /// The name in Kubernetes 1.25 to 1.27 of the same milestone
        PodHasNetwork => "PodHasNetwork",
        Initialized => "Initialized",
        ContainersReady => "ContainersReady",
        Ready => "Ready",
    }
}

/// `status` of a condition. Everything that is neither `True` nor `False` is `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ConditionStatus {
    /// `True`
    True,
    /// `False`
    False,
    /// `Unknown`, or a value that Kubernetes does not define
    #[default]
    Unknown,
}

/// One condition of a pod's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StatusCondition {
    /// Its `status`.
    pub status: ConditionStatus,
    /// Its `lastTransitionTime`; `None` when it is missing or absurd (unparsable, or in
    /// 1970 or before; [§4.6](crate::specification#s4-6)).
    pub last_transition: Option<Timestamp>,
}

impl StatusCondition {
    /// Whether the condition holds.
    pub fn is_true(self) -> bool {
        self.status == ConditionStatus::True
    }
}

/// The conditions of one pod that podinit reads; at most one of each type, the first if the status has
/// a type twice.
///
/// Stored by field and not as [`StatusCondition`]s, which would take half as much memory again: the list of a
/// large cluster holds many of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StatusConditions {
    statuses: [Option<ConditionStatus>; ConditionType::ALL.len()],
    transitions: [Option<Timestamp>; ConditionType::ALL.len()],
}

impl StatusConditions {
    /// The condition of the given type, if it is in the status.
    pub fn get(&self, kind: ConditionType) -> Option<StatusCondition> {
        let last_transition = self.transitions[kind as usize];
        self.statuses[kind as usize].map(|status| StatusCondition { status, last_transition })
    }

    /// Adds a condition unless there is one of its type already.
    pub fn insert(&mut self, kind: ConditionType, condition: StatusCondition) {
        let status = &mut self.statuses[kind as usize];
        if status.is_none() {
            *status = Some(condition.status);
            self.transitions[kind as usize] = condition.last_transition;
        }
    }

    /// The condition of the given type, if it is in the status and True.
    pub fn holding(&self, kind: ConditionType) -> Option<StatusCondition> {
        self.get(kind).filter(|condition| condition.is_true())
    }
}

/// `status.phase`. Everything that is not terminal is `Active`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PodPhase {
    /// `Pending`, `Running`, `Unknown`, absent, or a value that Kubernetes does not define
    #[default]
    Active,
    /// `Succeeded`
    Succeeded,
    /// `Failed`
    Failed,
}

/// What labels and exemplars say about a pod. None of it decides what is counted, except that SLOs
/// match pods by namespace and workload.
///
/// The decoder fills `node`, `workload` and `pod_labels` only where a label or a record needs them,
/// `images` only for records and reports, and `probes` only for reports on recordings. A checkpoint
/// never holds `probes`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PodInfo {
    /// `metadata.namespace`
    pub namespace: Arc<str>,
    /// `metadata.name`
    pub name: Box<str>,
    /// `spec.nodeName`; `None` while the pod is not bound
    pub node: Option<Arc<str>>,
    /// The controlling owner, `None` for a bare pod
    pub workload: Option<Arc<Workload>>,
    /// What the node states that was first known of it while the pod was bound to it; `None` before, and where nodes
    /// are no source of evidence. Saved beside it (see [`SharedParts`](crate::lifecycle::SharedParts))
    #[serde(skip)]
    pub node_labels: Option<Arc<NodeLabels>>,
    /// `spec.hostNetwork`
    pub host_network: bool,
    /// The values of the chosen pod labels in the order in which they were chosen, and then those of the
    /// chosen fields of the spec; empty text where the pod has no such label or field. Shared with the other pods that have the same values
    pub pod_labels: Arc<[Box<str>]>,
    /// The probes of `spec.containers`, in the order of the spec, of those that have any; shared with
    /// the other pods of the workload. `None` where no container has one
    #[serde(skip)]
    pub probes: Option<Arc<Vec<ContainerProbes>>>,
    /// The images of the first [`MOST_FOLLOWED`] containers, in the order of the containers, as the spec
    /// names them at first sight; shared with the other pods of the workload. `None` where they were not
    /// asked for. Saved beside it (see [`SharedParts`](crate::lifecycle::SharedParts))
    #[serde(skip)]
    pub images: Option<Arc<Vec<Arc<str>>>>,
}

/// One version of one pod, reduced to what podinit needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSnapshot {
    /// `metadata.uid`
    pub uid: PodUid,
    /// `metadata.resourceVersion` as a decimal integer; `None` when it is missing or is none
    pub resource_version: Option<u64>,
    pub info: PodInfo,
    /// The revision of its workload; `None` without a controller or a label that names it
    pub revision: Option<Revision>,
    /// `metadata.creationTimestamp`; `None` when it is missing or absurd
    pub created: Option<Timestamp>,
    /// `status.startTime`; `None` when it is missing or absurd
    pub started: Option<Timestamp>,
    /// The latest API time anywhere in the pod ([§4.1](crate::specification#s4-1): creationTimestamp,
    /// startTime and the lastTransitionTime of any condition)
    pub latest_api_time: Option<Timestamp>,
    /// `status.phase`
    pub phase: PodPhase,
    pub conditions: StatusConditions,
    /// `PodScheduled=False` with reason `Unschedulable`
    pub unschedulable: bool,
    /// The condition `PodScheduled`, where it is there and not True
    pub not_scheduled: Option<Box<NotScheduled>>,
    /// `spec.nodeName` is set, whether [`PodInfo::node`] is wanted or not
    pub is_bound: bool,
    /// `status.nominatedNodeName` is set
    pub has_nominated_node: bool,
    /// Why the sandbox is not ready, where the kubelet says so
    pub sandbox_not_ready: Option<SandboxNotReady>,
    /// Its gates by name, and the conditions that only they and milestones of your own need
    pub named: Option<Box<NamedConditions>>,
    /// What the condition of the first readiness gate says that is not True, or else what Ready=False says of gates, with
    /// their names; `None` where neither says anything. Of a pod without gates whose containers are ready, what Ready=False
    /// says
    pub said_of_ready: Option<Box<str>>,
    /// The reason of the condition `DisruptionTarget`, where that is True, or that its end states without it
    /// ([§10.2](crate::specification#s10-2))
    pub disruption: Option<DisruptionReason>,
    /// What is changed in place, where anything says so
    pub in_place: Option<Box<InPlaceChanges>>,
    /// `metadata.deletionTimestamp` is set
    pub terminating: bool,
    /// When its deletion was asked for: `metadata.deletionTimestamp` less `metadata.deletionGracePeriodSeconds`
    pub deletion_asked: Option<Timestamp>,
    /// `metadata.deletionTimestamp`, if it is usable: when the grace period is over
    pub deletion_due: Option<Timestamp>,
    /// Its terminal phase is what its deletion came to ([§5.9](crate::specification#s5-9))
    pub ended_by_deletion: bool,
    /// `spec.schedulingGates` is not empty
    pub gated: bool,
    /// `spec.initContainers` is not empty (restartable ones count)
    pub has_init_containers: bool,
    /// How long init containers have run that are not restartable, as their statuses state: the sum over
    /// `state.terminated` and `lastState.terminated` of `finishedAt` less `startedAt`, 0 where one is missing or absurd
    /// or the end is the earlier
    pub init_runs: Duration,
    /// Every container of the spec, init containers first, in the order of the spec
    pub containers: Box<[ContainerSpec]>,
    /// One of them has a start, or is `terminated` in its `state` or `lastState`; or the kubelet has evicted the pod for
    /// its own limits, so that one had run ([§5.9](crate::specification#s5-9))
    pub has_run: bool,
    /// Why containers wait that have a problem, in the words of Kubernetes; `None` where nothing says so,
    /// or where it was not asked for
    pub waiting_messages: Option<Box<Vec<WaitingMessage>>>,
    /// How it ended; `None` of a pod that has not, or where it was not asked for
    pub ending: Option<Box<Ending>>,
    /// It has a volume that is no secret, configMap, downwardAPI, emptyDir or projected one
    /// ([§9.4](crate::specification#s9-4))
    pub is_stateful: bool,
    /// The images that are its volumes, at most 16, as the spec names them; `None` if it has none, or if nobody
    /// asked for them
    pub volume_images: Option<Arc<[Arc<str>]>>,
    pub claims: Claims,
    /// The names of the persistent volume claims of its volumes, at most 16; `None` if it has none or is ready, or if nobody
    /// asked for them
    pub claim_names: Option<Arc<[Arc<str>]>>,
    /// `spec.readinessGates` is not empty
    pub has_readiness_gates: bool,
    /// It is a static pod: it has the annotation `kubernetes.io/config.mirror`, or a `kubernetes.io/config.source` other
    /// than the API server ([§1.14](crate::specification#s1-14))
    pub is_static: bool,
}

/// A Ready=False that is younger than the pod's start by more than this was not set at the start:
/// the pod has been Ready before.
const READY_BEFORE_NANOS: i64 = 5 * NANOS_PER_SECOND;

impl PodSnapshot {
    /// A pod with only its identity and name; a base for decoders and tests.
    pub fn bare(uid: PodUid, namespace: impl Into<Arc<str>>, name: impl Into<Box<str>>) -> Self {
        Self {
            uid,
            resource_version: None,
            info: PodInfo { namespace: namespace.into(), name: name.into(), ..PodInfo::default() },
            revision: None,
            created: None,
            started: None,
            latest_api_time: None,
            phase: PodPhase::default(),
            conditions: StatusConditions::default(),
            unschedulable: false,
            not_scheduled: None,
            is_bound: false,
            has_nominated_node: false,
            sandbox_not_ready: None,
            named: None,
            said_of_ready: None,
            disruption: None,
            in_place: None,
            terminating: false,
            deletion_asked: None,
            deletion_due: None,
            ended_by_deletion: false,
            gated: false,
            has_init_containers: false,
            init_runs: Duration::ZERO,
            containers: Box::default(),
            has_run: false,
            waiting_messages: None,
            ending: None,
            is_stateful: false,
            volume_images: None,
            claims: Claims::default(),
            claim_names: None,
            has_readiness_gates: false,
            is_static: false,
        }
    }

    /// The position of the first regular container that waits with CrashLoopBackOff, or else of the first restartable
    /// init container that does ([§13.11](crate::specification#s13-11)).
    pub fn crashing_container(&self) -> Option<usize> {
        let crashes = ContainerState::Waiting(WaitingReason::CrashLoopBackOff);
        let first = |kind: ContainerKind| {
            let mut containers = self.containers.iter();
            containers.position(|one| one.state == crashes && one.kind == kind)
        };
        first(ContainerKind::Regular).or_else(|| first(ContainerKind::RestartableInit))
    }

    /// What Kubernetes says of why the container at a position waits.
    pub fn waiting_message(&self, container: usize) -> Option<&str> {
        let mut messages = self.waiting_messages.iter().flat_map(|all| all.iter());
        let message = messages.find(|one| one.container == container)?;
        Some(&message.text)
    }

    /// Whether one of its regular containers has ended for good, so that the pod can never be Ready any more
    /// ([§6.12](crate::specification#s6-12)).
    pub(super) fn can_never_be_ready(&self) -> bool {
        let mut containers = self.containers.iter();
        containers.any(|one| one.ends_for_good && one.state == ContainerState::Succeeded)
    }

    /// Whether the pod has been Ready or has ended: its startup is over
    /// ([§5.2](crate::specification#s5-2)).
    pub fn has_started_up(&self) -> bool {
        let Some(ready) = self.conditions.get(ConditionType::Ready) else {
            return self.phase != PodPhase::Active;
        };
        ready.is_true() || self.was_ready_before() || self.phase != PodPhase::Active
    }

    /// Whether the pod is not Ready, and its Ready=False was not set at its start.
    pub(crate) fn was_ready_before(&self) -> bool {
        let ready = self.conditions.get(ConditionType::Ready);
        let unready = ready.filter(|ready| ready.status == ConditionStatus::False);
        let times = unready.and_then(|unready| unready.last_transition.zip(self.started));
        times.is_some_and(|(unready, started)| unready.nanos_since(started) > READY_BEFORE_NANOS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_condition_of_a_type_counts() {
        let mut conditions = StatusConditions::default();
        let holds = StatusCondition { status: ConditionStatus::True, last_transition: None };
        conditions.insert(ConditionType::Ready, StatusCondition::default());
        conditions.insert(ConditionType::Ready, holds);
        assert_eq!(conditions.holding(ConditionType::Ready), None);
        assert!(conditions.get(ConditionType::Ready).is_some());
    }
}
