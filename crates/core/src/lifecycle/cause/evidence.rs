//! What the tracker remembers of a pod in flight to derive why it waits.

use serde::{Deserialize, Serialize};

use super::containers::{self, ContainerEvidence, MOST_FOLLOWED};
use super::detours::Detours;
use super::{Cause, PodStage, WaitReason, scheduler_message};
use crate::kube_event::{EventReason, KubeEvent, SandboxWarning};
use crate::lifecycle::interval::Stage;
use crate::pod::{
    ConditionType, DisruptionReason, NotScheduled, NotScheduledReason, PodSnapshot, SandboxNotReady,
};

/// Why a pod waits, as its newest snapshot and its Events say, whatever stage it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::lifecycle) struct WaitEvidence {
    /// `metadata.deletionTimestamp` is set
    pub terminating: bool,
    /// The cause while it is not scheduled, by its newest snapshot
    pub scheduling: Cause,
    /// The status has no condition PodScheduled
    pub is_untold: bool,
    /// What the last FailedScheduling Event says, while the status has no condition PodScheduled
    pub said_by_scheduler: Option<Cause>,
    /// Another pod of its revision is or was bound, as its newest snapshot was accounted for
    pub others_are_bound: bool,
    /// `status.startTime` is set
    pub acknowledged: bool,
    /// The warning about its sandbox that was delivered last
    pub warning: Option<SandboxWarning>,
    pub sandbox_not_ready: Option<SandboxNotReady>,
    /// Which rows of the table the newest snapshot asks
    pub(super) detours: Detours,
    /// How many nanoseconds its init containers have run, for the startup SLI: by the snapshot that reached
    /// ContainersStarted, until then by the newest
    pub init_runs: u64,
    /// The first [`MOST_FOLLOWED`](crate::pod::MOST_FOLLOWED) containers, in the order of the spec
    pub containers: Box<[ContainerEvidence]>,
    /// It has more containers than are followed
    pub(crate) has_more_containers: bool,
    /// The condition `DisruptionTarget` is True ([§10.2](crate::specification#s10-2))
    pub disruption: Option<DisruptionReason>,
}

impl Default for WaitEvidence {
    /// The evidence before the first delivery.
    fn default() -> Self {
        Self {
            terminating: false,
            scheduling: Cause::Queue,
            is_untold: false,
            said_by_scheduler: None,
            others_are_bound: false,
            acknowledged: false,
            warning: None,
            sandbox_not_ready: None,
            detours: Detours::default(),
            init_runs: 0,
            containers: Box::default(),
            has_more_containers: false,
            disruption: None,
        }
    }
}

impl WaitEvidence {
    /// Takes in the newest snapshot, and whether another pod of its revision is or was bound.
    pub(in crate::lifecycle) fn update(&mut self, snapshot: &PodSnapshot, others_are_bound: bool) {
        self.terminating = snapshot.terminating;
        self.others_are_bound = others_are_bound;
        self.scheduling = scheduling_cause(snapshot, others_are_bound);
        self.is_untold = snapshot.conditions.get(ConditionType::PodScheduled).is_none();
        self.said_by_scheduler = self.said_by_scheduler.filter(|_| self.is_untold);
        self.acknowledged = snapshot.started.is_some();
        self.sandbox_not_ready = snapshot.sandbox_not_ready;
        self.detours = Detours::from_snapshot(snapshot);
        self.disruption = snapshot.disruption;
        containers::update(&mut self.containers, &snapshot.containers);
        self.has_more_containers = snapshot.containers.len() > MOST_FOLLOWED;
    }

    /// Takes in an Event of the pod. Warnings count from any reporter, pulls only from a kubelet.
    pub(in crate::lifecycle) fn take_event(&mut self, event: &KubeEvent) {
        match event.reason {
            EventReason::Warning(warning) => self.warning = Some(warning),
            EventReason::VolumeAttached
                if self.warning == Some(SandboxWarning::FailedAttachVolume) =>
            {
                self.warning = None;
            }
            EventReason::FailedScheduling if self.is_untold => {
                self.said_by_scheduler = self.cause_said(event);
            }
            _ => {}
        }
        let container = event.container.as_ref().filter(|_| event.from_kubelet);
        let Some(container) =
            container.and_then(|name| containers::named(&mut self.containers, name))
        else {
            return;
        };
        match event.reason {
            EventReason::Pulling => container.pulling = true,
            EventReason::Pulled(_) => container.pulled = true,
            _ => {}
        }
    }

    /// The cause that a FailedScheduling Event states.
    pub(in crate::lifecycle) fn cause_said(&self, event: &KubeEvent) -> Option<Cause> {
        let said = event.message.as_deref()?;
        Some(cause_of_message(said, self.others_are_bound))
    }

    /// What of a scheduler's message is about nodes that were meant for the pod; `None` if all of it may be.
    pub(in crate::lifecycle) fn said_of_meant_nodes(&self, message: &str) -> Option<String> {
        self.others_are_bound.then(|| scheduler_message::of_meant_nodes(message)).flatten()
    }

    /// Whether the last warning is of this cause.
    pub(in crate::lifecycle) fn warns_of(&self, cause: Cause) -> bool {
        self.warning.map(cause_of_warning) == Some(cause)
    }

    /// Why the pod waits at `standing`.
    pub(in crate::lifecycle) fn waiting(&self, standing: PodStage) -> WaitReason {
        let (stage, rows) = (standing.stage, self.rows(standing));
        let cause = match self.terminating {
            true => Some(Cause::Terminating),
            // No gate holds it, and its containers are ready.
            false if rows == Stage::Readiness && !standing.has_readiness_gates => {
                Some(Cause::Unknown)
            }
            false => self.cause(rows),
        };
        let cause = cause.unwrap_or(WaitReason::otherwise(rows).cause());
        WaitReason::new(stage, cause).unwrap_or(WaitReason::otherwise(stage))
    }

    /// The stage whose rows give the cause of a pod at `standing`.
    fn rows(&self, standing: PodStage) -> Stage {
        let rows = match standing.stage {
            Stage::Network if self.detours.is_past_network() => standing.beyond_network,
            stage => stage,
        };
        match rows {
            Stage::Containers if self.detours.runs_init_again() => Stage::Init,
            rows => rows,
        }
    }

    /// The position of the container that gives a pod at `standing` this cause; `None` if no container does.
    pub(in crate::lifecycle) fn container_with(
        &self,
        cause: Cause,
        standing: PodStage,
    ) -> Option<usize> {
        containers::container_with(&self.containers, self.rows(standing), cause)
    }

    /// The cause in `stage`; `None` where only the last row of the stage fits.
    fn cause(&self, stage: Stage) -> Option<Cause> {
        match stage {
            Stage::Gated | Stage::Readiness => None,
            Stage::Scheduling | Stage::Unschedulable => {
                let said = self.said_by_scheduler.filter(|_| self.scheduling == Cause::Queue);
                Some(said.unwrap_or(self.scheduling))
            }
            Stage::Network => self.network_cause(),
            Stage::Init => containers::init_cause(&self.containers),
            Stage::Containers => containers::containers_cause(&self.containers),
        }
    }

    fn network_cause(&self) -> Option<Cause> {
        if !self.acknowledged {
            return Some(Cause::Acknowledge);
        }
        let warned = self.warning.map(cause_of_warning);
        let stated = self.sandbox_not_ready.map(|not_ready| match not_ready {
            SandboxNotReady::NoSandbox => Cause::NoSandbox,
            SandboxNotReady::NoIp => Cause::NoIp,
        });
        warned.or(stated)
    }
}

/// The cause of a pod in the stage `network` about which `warning` was the last one.
pub(in crate::lifecycle) const fn cause_of_warning(warning: SandboxWarning) -> Cause {
    match warning {
        SandboxWarning::FailedPrepareDynamicResources => Cause::Claim,
        SandboxWarning::FailedMount
        | SandboxWarning::FailedAttachVolume
        | SandboxWarning::FailedMapVolume
        | SandboxWarning::VolumePermissionChange => Cause::Volume,
        SandboxWarning::NetworkNotReady | SandboxWarning::FailedSandboxNetwork => Cause::Cni,
        SandboxWarning::FailedSandbox
        | SandboxWarning::FailedPodContainer
        | SandboxWarning::FailedPodDirectories => Cause::Sandbox,
    }
}

/// Whether the cause of a pod depends on whether others of its revision are bound. Of one without a condition
/// PodScheduled an Event may say so later.
pub(in crate::lifecycle) fn depends_on_others(snapshot: &PodSnapshot) -> bool {
    let said = snapshot.not_scheduled.as_deref();
    let may_depend = said.map_or_else(
        || snapshot.conditions.get(ConditionType::PodScheduled).is_none(),
        |said| scheduler_message::depends_on_others(&said.message),
    );
    !snapshot.is_bound && snapshot.revision.is_some() && may_depend
}

/// The cause that a scheduler's message states.
fn cause_of_message(message: &str, others_are_bound: bool) -> Cause {
    match scheduler_message::is_of_pod_group(message) {
        true => Cause::Gang,
        false => scheduler_message::cause(message, others_are_bound),
    }
}

/// The cause while the pod is not scheduled.
fn scheduling_cause(snapshot: &PodSnapshot, others_are_bound: bool) -> Cause {
    if is_left_alone(snapshot) {
        return Cause::Acknowledge;
    }
    if is_binding(snapshot) {
        return Cause::Binding;
    }
    let Some(said) = snapshot.not_scheduled.as_deref() else {
        return Cause::Queue;
    };
    if is_false_for(said, NotScheduledReason::SchedulingGated) {
        Cause::Queue
    } else if scheduler_message::is_of_pod_group(&said.message) {
        Cause::Gang
    } else if said.is_false && snapshot.has_nominated_node {
        Cause::Preempting
    } else if is_false_for(said, NotScheduledReason::SchedulerError) {
        match scheduler_message::is_of_volumes(&said.message) {
            true => Cause::Volume,
            false => Cause::SchedulerError,
        }
    } else {
        scheduler_message::cause(&said.message, others_are_bound)
    }
}

/// Whether the pod was created with a node, or bound without a word, and the kubelet there has not taken it: that is
/// who sets the condition then ([§1.8](crate::specification#s1-8)).
fn is_left_alone(snapshot: &PodSnapshot) -> bool {
    let has_condition = (snapshot.conditions.get(ConditionType::PodScheduled)).is_some();
    snapshot.is_bound && !has_condition && snapshot.started.is_none()
}

/// Whether the scheduler has found a node and waits for plugins. Where it has found victims of a preemption
/// instead, it sets the name together with a condition that says so.
fn is_binding(snapshot: &PodSnapshot) -> bool {
    let has_condition = snapshot.conditions.get(ConditionType::PodScheduled).is_some();
    snapshot.has_nominated_node
        && match snapshot.not_scheduled.as_deref() {
            None => !has_condition,
            Some(said) => {
                is_false_for(said, NotScheduledReason::SchedulerError)
                    || is_false_for(said, NotScheduledReason::Unschedulable)
                        && scheduler_message::tells_of_failed_preemption(&said.message)
            }
        }
}

fn is_false_for(said: &NotScheduled, reason: NotScheduledReason) -> bool {
    said.is_false && said.reason == reason
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
