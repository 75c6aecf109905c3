//! What is remembered of a pod in flight to tell why it waits.

use super::containers::{self, ContainerEvidence, MOST_FOLLOWED};
use super::{Cause, Waiting, scheduler_message};
use crate::kube_event::{EventReason, KubeEvent, SandboxWarning};
use crate::lifecycle::interval::Stage;
use crate::pod::{DisruptionReason, NotScheduledReason, PodSnapshot, SandboxNotReady};

/// Why a pod waits, as its newest snapshot and its Events say, whatever stage it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lifecycle) struct WaitEvidence {
    /// `metadata.deletionTimestamp` is set
    pub terminating: bool,
    /// The cause while it is not scheduled
    pub scheduling: Cause,
    /// `status.startTime` is set
    pub acknowledged: bool,
    /// The warning about its sandbox that was delivered last
    pub warning: Option<SandboxWarning>,
    pub sandbox_not_ready: Option<SandboxNotReady>,
    /// Those that are followed
    pub containers: Box<[ContainerEvidence]>,
    /// It has more containers than are followed
    pub has_more_containers: bool,
    /// The condition `DisruptionTarget` is True ([§10.2](crate::specification#s10-2))
    pub disruption: Option<DisruptionReason>,
}

impl Default for WaitEvidence {
    /// Of a pod of which nothing was delivered.
    fn default() -> Self {
        Self {
            terminating: false,
            scheduling: Cause::Queue,
            acknowledged: false,
            warning: None,
            sandbox_not_ready: None,
            containers: Box::default(),
            has_more_containers: false,
            disruption: None,
        }
    }
}

impl WaitEvidence {
    /// Takes in the newest snapshot.
    pub(in crate::lifecycle) fn update(&mut self, snapshot: &PodSnapshot) {
        self.terminating = snapshot.terminating;
        self.scheduling = scheduling_cause(snapshot);
        self.acknowledged = snapshot.started.is_some();
        self.sandbox_not_ready = snapshot.sandbox_not_ready;
        self.disruption = snapshot.disruption;
        containers::update(&mut self.containers, &snapshot.containers);
        self.has_more_containers = snapshot.containers.len() > MOST_FOLLOWED;
    }

    /// Takes in an Event of the pod. Warnings count from any reporter, pulls only from a kubelet.
    pub(in crate::lifecycle) fn take_event(&mut self, event: &KubeEvent) {
        if let EventReason::Warning(warning) = event.reason {
            self.warning = Some(warning);
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

    /// Why the pod waits in `stage`.
    pub(in crate::lifecycle) fn waiting(&self, stage: Stage) -> Waiting {
        let cause = match self.terminating {
            true => Some(Cause::Terminating),
            false => self.cause(stage),
        };
        let waiting = cause.and_then(|cause| Waiting::new(stage, cause));
        waiting.unwrap_or(Waiting::otherwise(stage))
    }

    /// The cause in `stage`; `None` where only the last row of the stage fits.
    fn cause(&self, stage: Stage) -> Option<Cause> {
        match stage {
            Stage::Gated | Stage::Readiness => None,
            Stage::Scheduling | Stage::Unschedulable => Some(self.scheduling),
            Stage::Network => self.network_cause(),
            Stage::Init => containers::init_cause(&self.containers),
            Stage::Containers => containers::containers_cause(&self.containers),
        }
    }

    fn network_cause(&self) -> Option<Cause> {
        if !self.acknowledged {
            return Some(Cause::Acknowledge);
        }
        let warned = self.warning.map(|warning| match warning {
            SandboxWarning::FailedPrepareDynamicResources => Cause::Claim,
            SandboxWarning::FailedMount
            | SandboxWarning::FailedAttachVolume
            | SandboxWarning::FailedMapVolume => Cause::Volume,
            SandboxWarning::NetworkNotReady | SandboxWarning::FailedSandboxNetwork => Cause::Cni,
            SandboxWarning::FailedSandbox => Cause::Sandbox,
        });
        let stated = self.sandbox_not_ready.map(|not_ready| match not_ready {
            SandboxNotReady::NoSandbox => Cause::NoSandbox,
            SandboxNotReady::NoIp => Cause::NoIp,
        });
        warned.or(stated)
    }
}

/// The cause while the pod is not scheduled.
fn scheduling_cause(snapshot: &PodSnapshot) -> Cause {
    let Some(said) = snapshot.not_scheduled.as_deref() else {
        return Cause::Queue;
    };
    let by_reason = |reason| said.is_false && said.reason == reason;
    if by_reason(NotScheduledReason::SchedulingGated) {
        Cause::Queue
    } else if snapshot.has_scheduling_group && scheduler_message::names_pod_group(&said.message) {
        Cause::Gang
    } else if said.is_false && snapshot.has_nominated_node {
        Cause::Preempting
    } else if by_reason(NotScheduledReason::SchedulerError) {
        Cause::SchedulerError
    } else {
        scheduler_message::cause(&said.message)
    }
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
