//! The causes in one list ([§13.2](crate::specification#s13-2)): the present one of each pod. Everything in the list
//! shows one moment, so the cause of its Events is no second one behind the cause of the pod.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::kube_event::{CapacityState, EventReason, KubeEvent};
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Knows of the pods that were discovered at `now` no cause but the present one, since all that was delivered then
    /// shows one moment. Where some of `events`, which were among it, give that cause, it began when the first of these
    /// happened first: not before the stage, and not after `now`. Likewise for what an autoscaler says, by the last of
    /// them ([§10.4](crate::specification#s10-4)).
    pub fn know_present_causes(&mut self, events: &[KubeEvent], now: Timestamp) {
        let mut given = HashMap::<PodUid, Timestamp>::new();
        let mut capacity = HashMap::<PodUid, CapacityRun>::new();
        for event in events {
            let Some(involved) = &event.pod else {
                continue;
            };
            let first = event.occurred.first;
            let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(involved.uid) else {
                continue;
            };
            if pod.discovered != now || !involved.has_names_of(&pod.info) {
                continue;
            }
            if let Some(first) = first.filter(|_| pod.owes_cause_to(event)) {
                let earliest = given.entry(involved.uid).or_insert(first);
                *earliest = first.min(*earliest);
            }
            if let EventReason::Capacity { state, by } = &event.reason {
                let run = || CapacityRun { state: *state, by: Arc::clone(by), since: first };
                let known = capacity.entry(involved.uid).or_insert_with(run);
                match known.state == *state && known.by == *by {
                    true => known.since = known.since.into_iter().chain(first).min(),
                    false => *known = run(),
                }
            }
        }
        for (uid, run) in capacity {
            if let (Some(since), Some(RememberedPod::InFlight(pod))) =
                (run.since, self.pods.get_mut(uid))
            {
                pod.hold_capacity_since(since, now);
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

/// What autoscalers have said of a pod without a change.
struct CapacityRun {
    state: CapacityState,
    by: Arc<str>,
    /// When the first of these Events happened first
    since: Option<Timestamp>,
}

#[cfg(test)]
#[path = "one_list_tests.rs"]
mod tests;
