//! Startups for tests of records, as deliveries bring them about.
#![allow(clippy::unwrap_used, clippy::panic)]

use podinit_core::lifecycle::{EndedStartup, PodEvent, TimestampMode, Tracker, TrackerConfig};
use podinit_core::pod::{
    ConditionStatus, ConditionType, PodPhase, PodSnapshot, PodUid, StatusCondition,
};
pub(super) use podinit_testing::records::{Ends, at, deliver};

/// A tracker that has had its first list.
pub(super) fn tracker() -> Tracker {
    let mut tracker =
        Tracker::new(TrackerConfig { timestamps: TimestampMode::Api, ..TrackerConfig::default() });
    let (pods, began) = (Vec::new(), at(-1_000_000));
    let listed = PodEvent::Listed { pods: pods.into(), began };
    deliver(&mut tracker, &mut Ends::default(), -1_000_000, listed);
    tracker
}

/// A pod that was created then.
pub(super) fn pod(name: &str, created: i64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
    pod.created = Some(at(created));
    pod
}

/// The startup of a pod that was created, bound and became ready then; it ended at `ended`.
pub(super) fn ended(name: &str, [created, bound, ready]: [i64; 3], ended: i64) -> EndedStartup {
    let (mut tracker, mut ends) = (tracker(), Ends::default());
    let mut pod = pod(name, created);
    let event = PodEvent::Applied(pod.clone());
    deliver(&mut tracker, &mut ends, ended, event);
    for (kind, second) in [(ConditionType::PodScheduled, bound), (ConditionType::Ready, ready)] {
        let condition =
            StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) };
        pod.conditions.insert(kind, condition);
    }
    deliver(&mut tracker, &mut ends, ended, PodEvent::Applied(pod));
    ends.0.pop().unwrap()
}

/// The startup of a pod that was created and failed at this second.
pub(super) fn failed(name: &str, second: i64) -> EndedStartup {
    let (mut tracker, mut ends) = (tracker(), Ends::default());
    let mut pod = pod(name, second);
    pod.phase = PodPhase::Failed;
    deliver(&mut tracker, &mut ends, second, PodEvent::Applied(pod));
    ends.0.pop().unwrap()
}
