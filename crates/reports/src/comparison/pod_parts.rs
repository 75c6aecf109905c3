//! What the spec of a pod names, as far as a workload can be told to have changed by it
//! ([§15.4](crate::specification#s15-4)).

use std::sync::Arc;

use podinit_core::label_values;
use podinit_core::lifecycle::{GateKind, Record, RecordedContainer, RecordedGate};

label_values! {
    /// What can change in a workload, in the order in which it is told.
    pub enum WorkloadAspect {
        /// A regular container, by name
        Container => "container",
        /// An init container, by name
        InitContainer => "init_container",
        /// An init container with `restartPolicy: Always`, by name
        Sidecar => "sidecar",
        /// A gate of `spec.schedulingGates`
        SchedulingGate => "scheduling_gate",
        /// A condition type of `spec.readinessGates`
        ReadinessGate => "readiness_gate",
        /// The image of a container of the same name, without tag and digest
        Image => "image",
        /// `spec.schedulerName`, of recordings
        Scheduler => "scheduler",
        /// The pool of the node
        NodePool => "node_pool",
        /// The version of the node's kubelet
        KubeletVersion => "kubelet_version",
    }
}

/// What the spec of a pod names. Most pods of a workload share it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PodParts {
    containers: Box<[PodContainer]>,
    gates: Box<[(WorkloadAspect, Arc<str>)]>,
    /// The values that were read of it, that of the scheduler last
    values: Option<Arc<[Box<str>]>>,
}

/// A container as its spec names it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PodContainer {
    aspect: WorkloadAspect,
    name: Arc<str>,
    image: Option<Arc<str>>,
}

impl PodParts {
    /// Of a pod, and its scheduler if that was read.
    pub(super) fn new(record: &Record, reads_scheduler: bool) -> Self {
        let containers = record.containers.iter().map(|one| PodContainer {
            aspect: aspect_of_container(one),
            name: Arc::clone(&one.name),
            image: one.image.clone(),
        });
        let gates = record.gates.iter().map(|one| (aspect_of_gate(one), Arc::clone(&one.gate)));
        Self {
            containers: containers.collect(),
            gates: gates.collect(),
            values: reads_scheduler.then(|| Arc::clone(&record.pod.pod_labels)),
        }
    }

    /// Its containers and gates.
    pub(super) fn names(&self) -> impl Iterator<Item = (WorkloadAspect, &str)> {
        let containers = self.containers.iter().map(|one| (one.aspect, &*one.name));
        containers.chain(self.gates.iter().map(|(aspect, gate)| (*aspect, &**gate)))
    }

    /// The image of each container that has one, behind the container's name.
    pub(super) fn images(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.containers.iter().filter_map(|one| Some((&*one.name, one.image.as_ref()?)))
    }

    /// Its scheduler, where that is known.
    pub(super) fn scheduler(&self) -> Option<&str> {
        let last = self.values.as_ref()?.last()?;
        (!last.is_empty()).then_some(&**last)
    }
}

const fn aspect_of_container(container: &RecordedContainer) -> WorkloadAspect {
    match (container.init, container.is_sidecar) {
        (_, true) => WorkloadAspect::Sidecar,
        (true, false) => WorkloadAspect::InitContainer,
        (false, false) => WorkloadAspect::Container,
    }
}

const fn aspect_of_gate(gate: &RecordedGate) -> WorkloadAspect {
    match gate.kind {
        GateKind::Scheduling => WorkloadAspect::SchedulingGate,
        GateKind::Readiness => WorkloadAspect::ReadinessGate,
    }
}
