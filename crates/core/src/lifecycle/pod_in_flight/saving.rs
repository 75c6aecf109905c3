//! A pod in flight that a checkpoint holds.

use std::sync::Arc;

use super::{PodInFlight, SharedState};
use crate::kube_event::CapacityState;
use crate::lifecycle::cause::{MOST_FOLLOWED, WaitReason};
use crate::lifecycle::gate::GatesEvent;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::observation::{ObservePod, TimedObserver};
use crate::lifecycle::slo::SloRule;
use crate::node::NodeLabels;
use crate::pod::{PodInfo, PodUid};

/// The parts of a pod in flight that many pods share, so that a checkpoint has each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedParts {
    /// The images of its containers
    pub images: Option<Arc<Vec<Arc<str>>>>,
    /// The labels of its node when they were first known
    pub node: Option<Arc<NodeLabels>>,
    /// The labels of its node when the startup ended
    pub node_at_end: Option<Arc<NodeLabels>>,
}

impl PodInFlight {
    /// The UID of the pod.
    pub const fn uid(&self) -> PodUid {
        self.uid
    }

    /// The names and labels of the pod.
    pub const fn info(&self) -> &PodInfo {
        &self.info
    }

    /// The names and labels of the pod, so that a reader can share equal texts.
    pub const fn info_mut(&mut self) -> &mut PodInfo {
        &mut self.info
    }

    /// The stage that it is in, and why it waits there.
    pub const fn waiting(&self) -> WaitReason {
        self.waiting
    }

    /// Whether it has had its event for the startup SLI, or can have none: it was adopted without Events.
    pub const fn has_startup_sli(&self) -> bool {
        self.sli.decided
    }

    /// The container names and registries, so that a reader can share equal texts.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        let containers = self.evidence.containers.iter_mut();
        let registries = self.images.0.iter_mut();
        (containers.map(|container| &mut container.name))
            .chain(registries.filter_map(|image| image.registry.as_mut()))
    }

    /// The parts that a checkpoint has once for many pods.
    pub fn shared_parts(&self) -> SharedParts {
        let node = self.startup.node.as_ref();
        SharedParts {
            images: self.info.images.clone(),
            node: self.info.node_labels.clone(),
            node_at_end: node.and_then(|node| node.labels.clone()),
        }
    }

    /// Restores the parts that a checkpoint has once for many pods.
    pub fn take_shared_parts(&mut self, parts: SharedParts) {
        self.info.images = parts.images;
        self.info.node_labels = parts.node;
        if let Some(node) = &mut self.startup.node {
            node.labels = parts.node_at_end;
        }
    }

    /// Drops the SLOs past the first `slos.len()`: this podinit cannot read the others of the checkpoint.
    pub fn keep_slos(&mut self, slos: &[SloRule]) {
        self.slos.keep_first(slos.len());
    }

    /// Checks what was read from a checkpoint.
    ///
    /// # Errors
    /// A value that no pod can have.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.uid == PodUid::default() {
            return Err("a pod without an identity");
        }
        let images = self.info.images.as_ref().map_or(0, |images| images.len());
        if self.images.0.len().max(self.evidence.containers.len()).max(images) > MOST_FOLLOWED {
            return Err("more containers than are followed");
        }
        Ok(())
    }

    /// The [conditional](Stage::is_conditional) stages that apply to it.
    pub fn conditional_stages(&self) -> impl Iterator<Item = Stage> {
        self.startup.conditional_stages()
    }

    /// Whether a node is on its way for it; it counts in the stage `unschedulable` only.
    pub fn capacity_state(&self) -> CapacityState {
        self.capacity.state()
    }

    /// Restores the pod of a checkpoint in the shared state. The caller sets its deadlines.
    pub(in crate::lifecycle) fn restore(
        &mut self,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        if self.info.node_labels.is_none() {
            shared.learn_node(self.uid, &mut self.info);
        }
        if let Some(named) = &mut self.startup.named {
            named.configure(&shared.milestones);
        }
        let restored = GatesEvent::Restored;
        self.startup.report_gates(restored, |gates| reporter.gates(&self.info, gates));
        self.startup.restore_gates(|gate| reporter.gate(&self.info, gate));
        self.count_texts(shared);
        self.capacity.restore(&mut shared.messages);
        self.update_wait(shared, reporter);
    }
}
