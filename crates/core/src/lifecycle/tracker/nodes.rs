//! Deliveries of nodes ([§14](crate::specification#s14)). Like Events, none moves time or says how far a
//! list-watch of pods is.

use std::sync::Arc;

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::delivery::{Delivery, PodEvent};
use crate::lifecycle::nodes::{NodeContext, NodeEvent};
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::node::NodeLabels;
use crate::timestamp::Timestamp;

impl Tracker {
    /// What the newest version of a node states; `None` where nodes are no source of evidence.
    pub fn node_labels(&self, node: &str) -> Option<&Arc<NodeLabels>> {
        self.shared.nodes.as_ref()?.labels(node)
    }

    /// Takes an update of a node that changes nothing and moves no time, after which nothing is left to do. False for
    /// every other delivery.
    pub(super) fn repeats_node(&mut self, delivery: &Delivery) -> bool {
        let PodEvent::Nodes(event) = &delivery.event else {
            return false;
        };
        let moves_time = self.now.is_none_or(|now| now < delivery.now);
        let nodes = self.shared.nodes.as_mut().filter(|_| !moves_time);
        nodes.is_some_and(|nodes| nodes.repeats(event))
    }

    /// Accounts for a delivery of nodes, if they are a source of evidence.
    pub(super) fn apply_nodes(
        &mut self,
        event: NodeEvent,
        now: Timestamp,
        observed: Option<Timestamp>,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let Some(nodes) = &mut self.shared.nodes else {
            return;
        };
        let context = NodeContext { mode: self.timestamps, now, observed };
        let pods = nodes.apply(event, context, &mut |observation| {
            reporter.node(observation);
        });
        for uid in pods {
            self.pass_deadlines_of(uid, reporter);
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.node_became_known(&mut self.shared, reporter);
                Self::hold_again(pod, reporter);
            }
        }
    }
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;
