//! A pod in flight that a checkpoint holds.

use std::sync::Arc;

use super::{PodInFlight, SharedState};
use crate::kube_event::CapacityState;
use crate::lifecycle::cause::{MOST_FOLLOWED, WaitReason};
use crate::lifecycle::observation::{Observer, Reporter};
use crate::node::NodeLabels;
use crate::pod::{PodInfo, PodUid};

impl PodInFlight {
    /// Which pod.
    pub const fn uid(&self) -> PodUid {
        self.uid
    }

    /// Its names.
    pub const fn info(&self) -> &PodInfo {
        &self.info
    }

    /// Its names, to change them.
    pub const fn info_mut(&mut self) -> &mut PodInfo {
        &mut self.info
    }

    /// The stage that it is in, and why it waits there.
    pub const fn waiting(&self) -> WaitReason {
        self.waiting
    }

    /// It has had its event for the startup SLI, or was adopted while Events were no source, and is to
    /// have none.
    pub const fn has_startup_sli(&self) -> bool {
        self.sli.decided
    }

    /// The texts of it that other pods may have as well.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        let names = [&mut self.info.namespace].into_iter();
        let containers = self.evidence.containers.iter_mut();
        let registries = self.images.0.iter_mut();
        names
            .chain(&mut self.info.node)
            .chain(containers.map(|container| &mut container.name))
            .chain(registries.filter_map(|image| image.registry.as_mut()))
    }

    /// What its node states that other pods may have as well.
    pub fn node_labels_mut(&mut self) -> impl Iterator<Item = &mut Arc<NodeLabels>> {
        let at_end = self.startup.node.as_mut().and_then(|node| node.labels.as_mut());
        self.info.node_labels.as_mut().into_iter().chain(at_end)
    }

    /// Checks what was read from a checkpoint with `slos` SLOs.
    ///
    /// # Errors
    /// What it holds that no pod can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        if self.uid == PodUid::default() {
            return Err("a pod without an identity");
        }
        let images = self.info.images.as_ref().map_or(0, |images| images.len());
        if self.images.0.len().max(self.evidence.containers.len()).max(images) > MOST_FOLLOWED {
            return Err("more containers than are followed");
        }
        match self.slos.are_among(slos) {
            true => Ok(()),
            false => Err("no such SLO"),
        }
    }

    /// Whether a node is on its way for it; counted in the stage `unschedulable` only.
    pub fn capacity_state(&self) -> CapacityState {
        self.capacity.state()
    }

    /// Takes the pod, which was read, into what all pods in flight share. Its deadlines are still to be set.
    pub(in crate::lifecycle) fn restore(
        &mut self,
        shared: &mut SharedState,
        reporter: &mut Reporter<'_, impl Observer>,
    ) {
        if self.info.node_labels.is_none() {
            shared.learn_node(self.uid, &mut self.info);
        }
        self.count_texts(shared);
        self.capacity.restore(&mut shared.messages);
        self.update_wait(shared, reporter);
    }
}
