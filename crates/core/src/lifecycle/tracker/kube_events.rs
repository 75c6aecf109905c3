//! Events about pods ([§9.5](crate::specification#s9-5)). They change pods in flight only; every other
//! one is dropped and counted. None moves time or says how far a list-watch is.

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::kube_event::KubeEvent;
use crate::lifecycle::delivery::PodEvent;
use crate::lifecycle::observation::{EventDropReason, TimedObserver, TrackerObservation};
use crate::lifecycle::observer::Observer;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Accounts for Events, if they are a source of evidence. False if the delivery is none of Events.
    pub(super) fn apply_kube_events(
        &mut self,
        delivered: &PodEvent,
        now: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) -> bool {
        match delivered {
            PodEvent::Event(event) if self.shared.events => {
                self.apply_kube_event(event, now, reporter);
            }
            PodEvent::OtherShardEvents(count) if self.shared.events => {
                let other = TrackerObservation::EventDropped(EventDropReason::Other);
                (0..*count).for_each(|_| reporter.tracker(other));
            }
            PodEvent::Event(_) | PodEvent::OtherShardEvents(_) => {}
            _ => return false,
        }
        true
    }

    fn apply_kube_event(
        &mut self,
        event: &KubeEvent,
        now: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if let Some(uid) = event.uid() {
            self.pass_deadlines_of(uid, reporter);
        }
        let involved = event.pod.as_ref();
        let known = involved.and_then(|pod| Some((pod, self.pods.get_mut(pod.uid)?)));
        let reason = match known {
            Some((involved, RememberedPod::InFlight(pod))) if involved.has_names_of(&pod.info) => {
                pod.fold_event(event, self.timestamps, now, &mut self.shared, reporter);
                return;
            }
            // UIDs are no secret. Whoever may write Events in one namespace must not speak of pods in another.
            Some((_, RememberedPod::InFlight(_))) => EventDropReason::Other,
            Some((_, RememberedPod::Finished(_) | RememberedPod::Deleted { .. })) => {
                EventDropReason::Finished
            }
            None => EventDropReason::of_unknown_pod(event),
        };
        reporter.tracker(TrackerObservation::EventDropped(reason));
    }
}

#[cfg(test)]
#[path = "kube_events_tests.rs"]
mod tests;
