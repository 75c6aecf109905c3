//! The oldest messages make room for new ones ([§11](crate::specification#s11)): old ones of many pods must not keep
//! out why others begin to fail.

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::record::InFlightPosition;

/// How many pods in flight one step visits: more than one delivery fills, and few enough to take no time.
const PODS_OF_A_STEP: usize = 64;

impl Tracker {
    /// Lets go of messages where there are too many, stage by stage, in each that of the pod which has been there
    /// longest, and goes on from there the next time.
    pub(super) fn make_room_for_messages(&mut self) {
        if !self.shared.messages.is_full() {
            return;
        }
        let after = self.messages_forgotten;
        let looked_at = self.in_flight_after(after).take(PODS_OF_A_STEP);
        let looked_at: Vec<InFlightPosition> = looked_at.map(|(position, _)| position).collect();
        // After the last pod the first is next.
        self.messages_forgotten = None;
        for position in looked_at {
            if !self.shared.messages.is_full() {
                return;
            }
            self.messages_forgotten = Some(position);
            if let Some(RememberedPod::InFlight(pod)) = self.pods.get_mut(position.uid) {
                pod.forget_message(&mut self.shared);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{at, delivery};
    use super::super::{Tracker, TrackerConfig};
    use crate::lifecycle::delivery::{PodEvent, SourceId};
    use crate::lifecycle::observation::Observation;
    use crate::pod::{
        ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, PodSnapshot,
        PodUid, StatusCondition, WaitingMessage, WaitingReason,
    };

    /// A pod that cannot pull its image, and says so at length.
    fn pod(number: u32) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text(&number.to_string()), "ns", "pod");
        pod.created = Some(at(0));
        pod.is_bound = true;
        for kind in [
            ConditionType::PodScheduled,
            ConditionType::PodReadyToStartContainers,
            ConditionType::Initialized,
        ] {
            let condition =
                StatusCondition { status: ConditionStatus::True, last_transition: Some(at(1)) };
            pod.conditions.insert(kind, condition);
        }
        pod.containers = [ContainerSpec {
            state: ContainerState::Waiting(WaitingReason::ErrImagePull),
            ..ContainerSpec::new("main".into(), ContainerKind::Regular)
        }]
        .into();
        let text = format!("{number}: {}", "connection refused ".repeat(20));
        let message = WaitingMessage { container: 0, text: text.into() };
        pod.waiting_messages = Some(Box::new(vec![message]));
        pod
    }

    #[test]
    fn what_is_new_is_told_beside_more_old_messages_than_are_kept() {
        let mut tracker = Tracker::new(TrackerConfig::default());
        let mut ignore = |_, _: Observation<'_>| {};
        for number in 0..20_000 {
            let event = PodEvent::Applied(pod(number));
            let second = 10 + i64::from(number) / 100;
            tracker.apply(delivery(SourceId(0), second, event), &mut ignore);
            let uid = PodUid::from_text(&number.to_string());
            let message = (tracker.in_flight(uid)).and_then(|pod| pod.record().message);
            let begins = message.is_some_and(|said| said.starts_with(&format!("{number}: ")));
            assert!(begins, "{number}");
        }
        let told = tracker.in_flight_after(None);
        let told = told.filter(|(_, pod)| pod.record().message.is_some());
        let told = told.count();
        assert!((16_000..17_000).contains(&told), "{told}");
    }
}
