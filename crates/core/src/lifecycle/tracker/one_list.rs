//! The causes in one list ([§13.2](crate::specification#s13-2)): the present one of each pod. Everything in the list
//! shows one moment, so the cause of its Events is no second one behind the cause of the pod.

use std::collections::HashMap;

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::kube_event::KubeEvent;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Knows of the pods that were discovered at `now` no cause but the present one, since all that was delivered then
    /// shows one moment. Where some of `events`, which were among it, give that cause, it began when the first of these
    /// happened first: not before the stage, and not after `now`.
    pub fn know_present_causes(&mut self, events: &[KubeEvent], now: Timestamp) {
        let mut given = HashMap::<PodUid, Timestamp>::new();
        for event in events {
            let (Some(involved), Some(first)) = (&event.pod, event.occurred.first) else {
                continue;
            };
            let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(involved.uid) else {
                continue;
            };
            if pod.discovered == now && involved.has_names_of(&pod.info) && pod.owes_cause_to(event)
            {
                let earliest = given.entry(involved.uid).or_insert(first);
                *earliest = first.min(*earliest);
            }
        }
        let in_flight = self.in_flight_after(None).map(|(_, pod)| pod.pod);
        let of_list = in_flight.filter(|pod| pod.discovered == now);
        let of_list: Vec<PodUid> = of_list.map(|pod| pod.uid).collect();
        for uid in of_list {
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.know_present_cause(given.get(&uid).copied(), now);
            }
        }
    }
}

#[cfg(test)]
#[path = "one_list_tests.rs"]
mod tests;
