//! A pod's life: what the pod is, and what happens to it at which time.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::component_fault::{NoNode, SandboxFault, ScaleUp};
use super::container::{ContainerRef, KubeletReport, SimulatedContainer};
use super::image::{self, PullFault};
use super::kubelet::ConditionVerdict;
use super::node::{KubeletMinor, SimulatedNode};
use super::profile::LifeKind;
use super::sim_clock::MILLI;

/// The scheduling gate of pods that wait in a queue for their quota, as Kueue sets it.
pub const SCHEDULING_GATE: &str = "kueue.x-k8s.io/admission";
/// The readiness gate of pods behind a load balancer, as the controller of AWS injects it; also the type of its
/// condition.
pub const READINESS_GATE: &str = "target-health.elbv2.k8s.aws/k8s-shop-web";
/// The condition with which a model server says that it has its model. Nothing waits for it.
pub const MODEL_LOADED: &str = "example.com/ModelLoaded";
/// How long a kubelet takes to find an image that is on its node, in nanoseconds.
const IMAGE_FOUND: i64 = 80 * MILLI;

/// The whole life of one pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodLife {
    /// Which kind of life it is
    pub kind: LifeKind,
    /// What of the pod never changes
    pub manifest: PodManifest,
    /// What happens, in the order of time
    pub steps: Vec<LifeStep>,
    /// How many more times a pod of the same name is created once this one is gone
    pub recreations: u8,
    /// Never deleted to keep the population within bounds
    pub permanent: bool,
}

impl PodLife {
    /// No image has to be pulled: each that would be is found on the node, and all that follows happens sooner. Pulls
    /// that fail still do.
    pub(super) fn find_images(&mut self) {
        let (mut sooner, mut found) = (0, Vec::new());
        let mut steps = std::mem::take(&mut self.steps).into_iter().peekable();
        while let Some(LifeStep { after, change }) = steps.next() {
            let pulled = |next: &LifeStep| matches!(next.change, PodChange::Pulled(_));
            let step = match change {
                PodChange::Pull { container, .. } if steps.peek().is_some_and(pulled) => {
                    let takes = steps.next().map_or(0, |pulled| pulled.after - after);
                    sooner += (takes - IMAGE_FOUND).max(0);
                    LifeStep { after: after + takes, change: PodChange::FindImage(container) }
                }
                change => LifeStep { after, change },
            };
            found.push(LifeStep { after: step.after - sooner, ..step });
        }
        self.steps = found;
    }
}

/// One event of a life.
#[derive(Clone, Debug, PartialEq)]
pub struct LifeStep {
    /// Nanoseconds after the pod's creation
    pub after: i64,
    /// What happens
    pub change: PodChange,
}

/// What can happen to a pod.
#[derive(Clone, Debug, PartialEq)]
pub enum PodChange {
    /// The scheduler finds no node
    Unschedulable(NoNode),
    /// An autoscaler says whether it adds a node for the pod
    Autoscale(ScaleUp),
    /// This scheduling gate is removed
    Ungate(&'static str),
    /// The pod is bound to a node
    Bind {
        /// Where
        node: SimulatedNode,
        /// Whether `PodScheduled` becomes True, which it should (k/k#139602)
        stamped: bool,
    },
    /// The volumes are attached and mounted, before there is a sandbox
    Mount,
    /// A volume cannot be mounted
    FailMount,
    /// The sandbox cannot be made
    FailSandbox(SandboxFault),
    /// The sandbox and its network come up on the node. Only a [`Self::Report`] says so
    MakeSandbox,
    /// The kubelet begins to pull a container's image
    Pull {
        /// The container
        container: ContainerRef,
        /// Nanoseconds that the pull takes once its turn has come
        takes: i64,
    },
    /// That pull has succeeded
    Pulled(ContainerRef),
    /// The container's image was on the node already
    FindImage(ContainerRef),
    /// The pull of the container's image has failed
    FailPull(ContainerRef, PullFault),
    /// The kubelet waits before it pulls the image again
    BackOffPull(ContainerRef, PullFault),
    /// The container cannot be created: a secret that its environment needs is not there
    FailCreate(ContainerRef),
    /// The container is created and started on the node
    Start(ContainerRef),
    /// The kubelet writes the pod's status
    Report(KubeletReport),
    /// The kubelet rejects the pod: it ends as failed, before it has a sandbox
    Reject,
    /// A component that is not part of Kubernetes writes a condition: that of a readiness gate, or one of its own
    SetCondition {
        /// `type`
        kind: &'static str,
        /// What it says
        verdict: ConditionVerdict,
        /// Whose clock states when
        writer: ConditionWriter,
    },
    /// The controller manager has lost the node, and sets Ready to False
    LoseNode,
    /// The node's kubelet is replaced, and reports what it finds
    UpgradeKubelet(KubeletMinor),
    /// Somebody marks the pod for its deletion: `DisruptionTarget`, for this reason
    Disrupt(&'static str),
    /// A change of the pod's resources in place goes on, or is over
    Resize(Option<ResizeStep>),
    /// Somebody deletes the pod
    Terminate {
        /// `deletionGracePeriodSeconds`
        grace_seconds: i64,
    },
    /// The pod's object is removed
    Remove,
}

impl PodChange {
    /// Whether it changes the pod's object. The others happen on the node, and the next
    /// [`Self::Report`] shows them.
    pub const fn is_written(&self) -> bool {
        !matches!(
            self,
            Self::Autoscale(_)
                | Self::Mount
                | Self::FailMount
                | Self::FailSandbox(_)
                | Self::MakeSandbox
                | Self::Pull { .. }
                | Self::Pulled(_)
                | Self::FindImage(_)
                | Self::FailPull(..)
                | Self::BackOffPull(..)
                | Self::FailCreate(_)
                | Self::Start(_)
        )
    }
}

/// Who writes a condition that is not of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionWriter {
    /// A controller, whose clock is that of the API server
    Controller,
    /// The application in the pod, by the clock of its node
    Application,
}

/// How far a change of a pod's resources in place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeStep {
    /// The node has no room for it now
    Deferred,
    /// It is being carried out
    InProgress,
}

/// What of a pod never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct PodManifest {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.generateName`
    pub generate_name: Option<String>,
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.labels`, sorted by name
    pub labels: Vec<(String, String)>,
    /// The controlling owner
    pub owner: Option<OwnerReference>,
    /// `spec.initContainers`
    pub init_containers: Vec<SimulatedContainer>,
    /// `spec.containers`, of which the first is the main one
    pub containers: Vec<SimulatedContainer>,
    /// The persistentVolumeClaim of a volume `data`
    pub claim: Option<String>,
    /// `spec.schedulingGroup.podGroupName`
    pub pod_group: Option<String>,
    /// `spec.hostNetwork`
    pub host_network: bool,
    /// `spec.schedulingGates` at its creation, by name
    pub scheduling_gates: Vec<&'static str>,
    /// `spec.readinessGates`, by the types of their conditions
    pub readiness_gates: Vec<&'static str>,
    /// Created with `spec.nodeName`
    pub preset_node: Option<SimulatedNode>,
    /// `spec.restartPolicy: Never`, otherwise `Always`
    pub runs_once: bool,
    /// Has a readiness probe
    pub readiness_probe: bool,
    /// The mirror of a static pod: the kubelet's times lie before the creation
    pub mirror: bool,
}

/// The container of pods that need no other one.
pub(super) const APP: SimulatedContainer =
    SimulatedContainer { name: "app", image: image::APP, restartable: false };

impl Default for PodManifest {
    /// One container, and nothing that is not needed.
    fn default() -> Self {
        Self {
            namespace: String::new(),
            name: String::new(),
            generate_name: None,
            uid: String::new(),
            labels: Vec::new(),
            owner: None,
            init_containers: Vec::new(),
            containers: vec![APP],
            claim: None,
            pod_group: None,
            host_network: false,
            scheduling_gates: Vec::new(),
            readiness_gates: Vec::new(),
            preset_node: None,
            runs_once: false,
            readiness_probe: false,
            mirror: false,
        }
    }
}

impl PodManifest {
    /// What the kubelet sees at first.
    pub(super) fn first_report(&self) -> KubeletReport {
        KubeletReport::first(!self.init_containers.is_empty())
    }

    /// The container that `container` stands for, if there is one.
    pub fn container(&self, container: ContainerRef) -> Option<&SimulatedContainer> {
        match container {
            ContainerRef::Init(index) => self.init_containers.get(index),
            ContainerRef::Regular(index) => self.containers.get(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::super::profile::LifeSpeed;
    use super::super::rng::Rng;
    use super::*;

    #[test]
    fn images_that_are_present_are_found_and_the_rest_comes_sooner() {
        let container = ContainerRef::MAIN;
        let step = |after, change| LifeStep { after: after * MILLI, change };
        let takes = 2_000 * MILLI;
        let mut life = plan::life(LifeKind::Plain, LifeSpeed::Usual, &mut Rng::new(1));
        life.steps = vec![
            step(100, PodChange::MakeSandbox),
            step(100, PodChange::Pull { container, takes }),
            step(2_100, PodChange::Pulled(container)),
            step(2_200, PodChange::Start(container)),
            step(3_000, PodChange::Pull { container, takes }),
            step(3_500, PodChange::FailPull(container, PullFault::NotFound)),
        ];
        life.find_images();
        let found = [
            step(100, PodChange::MakeSandbox),
            step(180, PodChange::FindImage(container)),
            step(280, PodChange::Start(container)),
            step(1_080, PodChange::Pull { container, takes }),
            step(1_580, PodChange::FailPull(container, PullFault::NotFound)),
        ];
        assert_eq!(life.steps, found);
    }
}
