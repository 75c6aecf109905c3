//! The nodes that an autoscaler adds. Each comes for a pod that fits on no other node: it registers, becomes Ready, and
//! is free for pods once its network agent has removed a startup taint. It goes when another one takes its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::component_fault::STARTUP_TAINT;
use super::infrastructure::{NodeProgress, node_object, put};
use super::node::SimulatedNode;
use super::object::{ObjectKey, StoredObject};
use super::rng::Rng;
use super::sim_clock::meta_time;
use super::store::ObjectStore;
use super::watch_event::at_version;
use podinit_core::timestamp::Timestamp;

/// What happens to a node that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeStartStep {
    /// Its kubelet registers it
    Register,
    /// Its kubelet reports that it is Ready
    BecomeReady,
    /// Its network agent removes the startup taint
    RemoveTaint,
}

/// The nodes that were added.
#[derive(Debug)]
pub(super) struct Autoscaler {
    store: Arc<ObjectStore>,
    seed: u64,
    added: u64,
    nodes: BTreeMap<&'static str, AddedNode>,
}

#[derive(Debug)]
struct AddedNode {
    uid: String,
    created: Option<Timestamp>,
    ready: Option<Timestamp>,
    is_tainted: bool,
}

impl Autoscaler {
    /// Adds nodes to `store`.
    pub(super) fn new(store: Arc<ObjectStore>, seed: u64) -> Self {
        Self { store, seed, added: 0, nodes: BTreeMap::new() }
    }

    /// Adds `node` at `now` for a pod that is to be bound at `bound`. Returns what happens to it, and when: nothing
    /// where a node of that name starts, or pods are on it (`is_in_use`).
    pub(super) fn add(
        &mut self,
        node: SimulatedNode,
        is_in_use: bool,
        (now, bound): (Timestamp, Timestamp),
    ) -> Vec<(Timestamp, NodeStartStep)> {
        if let Some(old) = self.nodes.get(node.name) {
            if is_in_use || old.is_tainted {
                return Vec::new();
            }
            let version = |object: &StoredObject, version| at_version(object, version);
            self.store.remove(&ObjectKey::new("", node.name), version);
        }
        self.added += 1;
        let added = AddedNode {
            uid: Rng::fork(!self.seed, self.added).uuid(),
            created: None,
            ready: None,
            is_tainted: true,
        };
        self.nodes.insert(node.name, added);
        let tenth = bound.nanos_since(now) / 10;
        let steps = [
            (3, NodeStartStep::Register),
            (8, NodeStartStep::BecomeReady),
            (9, NodeStartStep::RemoveTaint),
        ];
        let steps = steps.map(|(tenths, step)| (now.plus_nanos(tenths * tenth), step));
        steps.to_vec()
    }

    /// `step` happens to the node at `now`.
    pub(super) fn take(&mut self, node: SimulatedNode, step: NodeStartStep, now: Timestamp) {
        let Some(added) = self.nodes.get_mut(node.name) else {
            return;
        };
        match step {
            NodeStartStep::Register => added.created = Some(now),
            // By the clock of the node.
            NodeStartStep::BecomeReady => added.ready = Some(now.plus_nanos(node.skew)),
            NodeStartStep::RemoveTaint => added.is_tainted = false,
        }
        let Some(created) = added.created else {
            return;
        };
        let state = NodeProgress {
            uid: added.uid.clone(),
            created: meta_time(created),
            ready: added.ready.map(meta_time),
            taint: added.is_tainted.then_some(STARTUP_TAINT),
        };
        put(&self.store, node_object(&node, &state));
    }
}
