//! Deliveries of nodes ([§14](crate::specification#s14)). Like Events, none moves time or says how far a
//! list-watch of pods is.

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::nodes::{NodeContext, NodeEvent};
use crate::lifecycle::observation::Reporter;
use crate::lifecycle::sink::Sink;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Accounts for a delivery of nodes, if they are a source of evidence.
    pub(super) fn apply_nodes(
        &mut self,
        event: NodeEvent,
        now: Timestamp,
        observed: Option<Timestamp>,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let Some(nodes) = &mut self.shared.nodes else {
            return;
        };
        let context = NodeContext {
            mode: self.timestamps,
            now,
            observed,
        };
        let pods = nodes.apply(event, context, &mut |observation| {
            reporter.node(observation);
        });
        for uid in pods {
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.node_became_known(&mut self.shared, reporter);
            }
        }
    }
}
