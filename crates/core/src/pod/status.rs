//! What a pod's status says besides its conditions: why it is not scheduled, why its sandbox is not ready, why
//! Kubernetes is about to end it, what is changed in place, and how it ended.

use schemars::JsonSchema;
use serde::Deserialize;

use super::StatusCondition;
use crate::documents::serialize_what_is_known;
use crate::label_values;
use crate::timestamp::Timestamp;

label_values! {
    /// The reasons of a `PodScheduled` condition that is not True, as Kubernetes spells them. `Other`
    /// is any other reason, or none.
    pub enum NotScheduledReason {
        /// No node fits
        Unschedulable => "Unschedulable",
        /// The pod has scheduling gates
        SchedulingGated => "SchedulingGated",
        /// The scheduler failed
        SchedulerError => "SchedulerError",
        Other => "",
    }
}

/// A `PodScheduled` condition that is not True.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotScheduled {
    /// Whether its `status` is False
    pub is_false: bool,
    pub reason: NotScheduledReason,
    /// Its `message`; empty where there is none, and where the reason says all
    pub message: Box<str>,
}

label_values! {
    /// What the message of `PodReadyToStartContainers=False` with reason `PodSandboxNotReady` says.
    pub enum SandboxNotReady {
        /// It contains `no pod sandbox`
        NoSandbox => "no pod sandbox",
        /// It contains `no IP`
        NoIp => "no IP",
    }
}

impl SandboxNotReady {
    /// What `message` says; `None` for anything else.
    pub fn parse(message: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|said| message.contains(said.as_str()))
    }
}

label_values! {
    /// The reasons of the condition `DisruptionTarget`, as Kubernetes spells them; `Other` is any
    /// other reason, or none.
    pub enum DisruptionReason {
        /// A pod of higher priority takes its place
        PreemptionByScheduler => "PreemptionByScheduler",
        /// Its node has a NoExecute taint that it does not tolerate
        DeletionByTaintManager => "DeletionByTaintManager",
        /// One of its devices has a NoExecute taint that it does not tolerate
        DeletionByDeviceTaintManager => "DeletionByDeviceTaintManager",
        /// The eviction API, as in `kubectl drain`
        EvictionByEvictionApi => "EvictionByEvictionAPI",
        /// Its node is gone
        DeletionByPodGc => "DeletionByPodGC",
        /// The kubelet: the node is short of resources, or shuts down
        TerminationByKubelet => "TerminationByKubelet",
        Other => "other",
    }
}

label_values! {
    /// The state of a native resize ([§10.3](crate::specification#s10-3)).
    pub enum ResizeState {
        /// `PodResizePending` with reason `Infeasible`: the node can never grant it
        Infeasible => "infeasible",
        /// `PodResizePending` with any other reason, which is `Deferred`: the node cannot grant it now
        Deferred => "deferred",
        /// `PodResizeInProgress` with reason `Error`
        Error => "error",
        /// `PodResizeInProgress` with any other reason, or none
        InProgress => "in_progress",
    }
}

/// A native resize that is open: `PodResizePending` or `PodResizeInProgress` is True.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodResize {
    /// By `PodResizePending` where both are True
    pub state: ResizeState,
    /// The earlier lastTransitionTime of those that are True; `None` where none is usable
    pub since: Option<Timestamp>,
}

/// What the conditions say of changes in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InPlaceChanges {
    /// The native resize that is open
    pub resize: Option<PodResize>,
    /// The condition `InPlaceUpdateReady` of a pod that has the readiness gate of this name
    pub update_ready: Option<StatusCondition>,
}

/// How many containers of an ended pod are kept.
pub(super) const MOST_TERMINATIONS: usize = 8;

/// How a pod ended, as its status says.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ending")]
pub struct Ending {
    /// When at the latest that is known: the last `finishedAt` of its containers, or without one the latest
    /// API time of the pod
    #[serde(rename = "time", skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// `status.reason`, such as Evicted
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
    /// `status.message`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<str>>,
    /// Its containers that have terminated, in the order of the spec, init containers first. A record has at most 8,
    /// those that failed before the others
    #[serde(default)]
    #[schemars(required, length(max = MOST_TERMINATIONS))]
    pub containers: Vec<Termination>,
}

/// How a container ended: its `state.terminated`. What its status does not say is left out.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[schemars(rename = "termination")]
pub struct Termination {
    /// Its position among the containers of the pod, init containers first
    pub container: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<Timestamp>,
    /// Left out where it is missing or below zero
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u64>,
    /// The signal that ended it, where the runtime states one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<u64>,
    /// Such as OOMKilled
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<str>>,
    /// How often it had been restarted before
    pub restarts: u64,
}

serialize_what_is_known!(
    Ending: at as "time", reason as "reason", message as "message", containers as "containers"
);
serialize_what_is_known!(
    Termination: container as "container", started as "started", finished as "finished",
    exit_code as "exit_code", signal as "signal", reason as "reason", message as "message",
    restarts as "restarts"
);

impl Ending {
    /// As much as a record keeps: `MOST_TERMINATIONS` containers, those that failed before the others.
    pub fn kept(&self) -> Self {
        let mut kept = self.clone();
        kept.containers.sort_by_key(|one| !one.has_failed());
        kept.containers.truncate(MOST_TERMINATIONS);
        kept.containers.sort_by_key(|one| one.container);
        kept
    }

    /// Why the pod failed, in the words of its status: of the pod itself, such as `OutOfcpu: Node didn't have enough
    /// resource`, or else of the first container that failed. `None` where neither says anything.
    pub fn in_words(&self) -> Option<String> {
        let own = [self.reason.as_deref(), self.message.as_deref()];
        let own: Vec<&str> = own.into_iter().flatten().collect();
        if !own.is_empty() {
            return Some(own.join(": "));
        }
        let mut containers = self.containers.iter();
        let words = containers.find(|one| one.has_failed())?.in_words();
        (!words.is_empty()).then_some(words)
    }
}

impl Termination {
    /// Whether it ended otherwise than with exit code 0.
    pub fn has_failed(&self) -> bool {
        self.exit_code != Some(0)
    }

    /// How a container ended, without what it wrote: `OOMKilled, exit code 137, 3 restarts`. May be empty.
    pub fn facts(
        reason: Option<&str>,
        exit_code: Option<u64>,
        signal: Option<u64>,
        restarts: u64,
    ) -> String {
        // The kubelet says Error wherever it knows nothing better.
        let reason = reason.filter(|reason| *reason != "Error");
        let facts = [
            reason.map(str::to_owned),
            exit_code.map(|code| format!("exit code {code}")),
            signal.map(|signal| format!("signal {signal}")),
            match restarts {
                0 => None,
                1 => Some("1 restart".to_owned()),
                restarts => Some(format!("{restarts} restarts")),
            },
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// How it ended in the words that the message of a crash has: `OOMKilled, exit code 137, 3 restarts: no memory`.
    /// Empty where its status says nothing.
    pub fn in_words(&self) -> String {
        let facts = Self::facts(self.reason.as_deref(), self.exit_code, self.signal, self.restarts);
        let lines = self.message.as_deref().unwrap_or_default().lines();
        let last = lines.map(str::trim).rfind(|line| !line.is_empty());
        let facts = Some(facts).filter(|facts| !facts.is_empty());
        let both = [facts, last.map(str::to_owned)];
        both.into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}
