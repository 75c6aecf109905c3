//! The pods in flight, for whoever asks about them ([§11](crate::specification#s11)).

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::clocks::NodeClock;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::nodes::{LateNode, NodeFaults};
use crate::lifecycle::record::{InFlightPosition, InFlightRecord};
use crate::lifecycle::slo::UnmatchedSlo;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

impl Tracker {
    /// The pods in flight after a place in their order, or all. Taking one costs the same wherever it
    /// is, so a reader can take a few, and go on later from the place of the last. A pod that has moved
    /// meanwhile may be missed, or come twice.
    pub fn in_flight_after(
        &self,
        after: Option<InFlightPosition>,
    ) -> impl Iterator<Item = (InFlightPosition, InFlightRecord<'_>)> {
        let first = after.map_or(Stage::ALL[0], |position| position.stage);
        let stages = Stage::ALL.into_iter().skip(first as usize);
        let positions = stages.flat_map(move |stage| {
            let after = after.filter(|position| position.stage == stage);
            let from = after.map(|position| (position.entered, position.uid));
            let entries = self.shared.order.entered_after(stage, from);
            entries.map(move |(entered, uid)| InFlightPosition { stage, entered, uid })
        });
        positions.filter_map(|position| Some((position, self.in_flight(position.uid)?)))
    }

    /// What is wrong with nodes now.
    pub fn node_faults(&self) -> NodeFaults {
        NodeFaults { clocks: self.clocks_off(), late: self.late_nodes() }
    }

    /// The nodes whose clocks are off, by name.
    pub(crate) fn clocks_off(&self) -> Vec<NodeClock> {
        self.shared.clocks.off(self.now.unwrap_or_default())
    }

    /// The clock of the node of this name, if it is off.
    pub fn clock_off(&self, node: &str) -> Option<NodeClock> {
        self.shared.clocks.off_of(node, self.now.unwrap_or_default())
    }

    /// By how many nanoseconds deliveries are late, if they are ([§4.10](crate::specification#s4-10)).
    pub fn late_by(&self) -> Option<i64> {
        self.shared.lags.late_by()
    }

    /// The nodes that are late to become schedulable, the oldest first.
    pub(crate) fn late_nodes(&self) -> Vec<LateNode> {
        let known = self.shared.nodes.as_ref().zip(self.now);
        known.map_or_else(Vec::new, |(nodes, now)| nodes.late(now))
    }

    /// The SLOs that have matched no pod, or that name a kind which no pod has had
    /// ([§6.13](crate::specification#s6-13)).
    pub fn unmatched_slos(&self) -> Vec<UnmatchedSlo> {
        self.now.map_or_else(Vec::new, |now| {
            let until = self.sources.judged_until(now);
            self.shared.matches.unmatched(&self.shared.rules, until)
        })
    }

    /// The pod, if it is in flight.
    pub fn in_flight(&self, uid: PodUid) -> Option<InFlightRecord<'_>> {
        match self.pods.get(uid)? {
            RememberedPod::InFlight(pod) => Some(InFlightRecord { pod, shared: &self.shared }),
            RememberedPod::Finished(_) | RememberedPod::Deleted { .. } => None,
        }
    }

    /// The pod of this name, if it is in flight; if podinit has not learnt yet that an earlier one is gone,
    /// the one that was created last. Found by an index: this takes the same however many pods there are.
    pub fn in_flight_named(&self, namespace: &str, name: &str) -> Option<InFlightRecord<'_>> {
        let slots = self.names.slots(namespace, name);
        let pods = slots.filter_map(|slot| match self.pods.at(slot)? {
            RememberedPod::InFlight(pod) => Some(&**pod),
            RememberedPod::Finished(_) | RememberedPod::Deleted { .. } => None,
        });
        let named = pods.filter(|pod| pod.names() == (namespace, name));
        let pod = named.max_by_key(|pod| (pod.last_seen.created, pod.discovered, pod.uid))?;
        let shared = &self.shared;
        Some(InFlightRecord { pod, shared })
    }

    /// Up to which instant everything was accounted for; `None` before the first delivery.
    pub const fn accounted_time(&self) -> Option<Timestamp> {
        self.now
    }
}
