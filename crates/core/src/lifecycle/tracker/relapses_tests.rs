use super::*;
use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::observation::Observation;
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::Successor;
use crate::lifecycle::tracker::TrackerConfig;
use crate::lifecycle::tracker::fixtures::{at, delivery};
use crate::pod::{
    Condition, ConditionStatus, ConditionType, Container, ContainerKind, ContainerState, PodUid,
    WaitingReason,
};

fn pod(ready: Option<i64>, kind: ContainerKind, state: ContainerState) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
    pod.created = Some(at(0));
    let condition = Condition {
        status: match ready {
            Some(_) => ConditionStatus::True,
            None => ConditionStatus::False,
        },
        last_transition: ready.map(at),
    };
    pod.conditions.insert(ConditionType::Ready, condition);
    let container = Container { state, ..Container::new("c".into(), kind) };
    pod.containers = [container].into();
    pod
}

fn ready(second: i64) -> PodSnapshot {
    pod(Some(second), ContainerKind::Regular, ContainerState::Running)
}

const BACKS_OFF: ContainerState = ContainerState::Waiting(WaitingReason::CrashLoopBackOff);

fn crashing(kind: ContainerKind) -> PodSnapshot {
    pod(None, kind, BACKS_OFF)
}

fn crashes() -> PodEvent {
    PodEvent::Applied(crashing(ContainerKind::Regular))
}

/// How many relapses are told of events at seconds, with a restart after each.
fn told(events: Vec<(i64, PodEvent)>) -> usize {
    let mut told = 0;
    let mut sink = |_, observation: Observation<'_>| {
        told += usize::from(observation == Observation::Tracker(TrackerObservation::Relapsed));
    };
    let mut tracker = Tracker::new(TrackerConfig::default());
    for (second, event) in events {
        tracker.apply(delivery(SourceId(0), second, event), &mut sink);
        let (saved, pods) = (tracker.saved(), read_back(&tracker));
        let config = TrackerConfig::default();
        tracker = Tracker::restored(config, saved, pods, Successor::Same, &mut sink);
    }
    told
}

#[test]
fn a_pod_falls_back_once() {
    let events = vec![
        (5, PodEvent::Applied(ready(4))),
        (6, crashes()),
        (7, crashes()),
        (17, PodEvent::Applied(ready(16))),
        (18, crashes()),
        (603, crashes()),
        (604, crashes()),
        (605, PodEvent::Applied(ready(605))),
        (606, crashes()),
    ];
    assert_eq!(told(events), 1);
}

#[test]
fn ten_minutes_after_its_first_ready_a_pod_is_an_old_one() {
    for (ready_at, second, expected) in [
        (Some(4), 603, 1),
        (Some(4), 604, 0),
        // A Ready without a time counts from the end.
        (None, 604, 1),
        (None, 605, 0),
    ] {
        let mut first = ready(4);
        if ready_at.is_none() {
            first.conditions = Default::default();
            let condition = Condition { status: ConditionStatus::True, last_transition: None };
            first.conditions.insert(ConditionType::Ready, condition);
        }
        let events = vec![(5, PodEvent::Applied(first)), (second, crashes())];
        assert_eq!(told(events), expected, "{ready_at:?} {second}");
    }
}

#[test]
fn only_containers_that_are_to_stay_up_and_pods_that_were_seen_ready_count() {
    for (kind, falls_back) in [
        (ContainerKind::Regular, true),
        (ContainerKind::RestartableInit, true),
        (ContainerKind::Init, false),
    ] {
        let crashes = PodEvent::Applied(crashing(kind));
        let events = vec![(5, PodEvent::Applied(ready(4))), (6, crashes)];
        assert_eq!(told(events), usize::from(falls_back));
    }
    let listed = PodEvent::Listed { pods: vec![ready(4)].into(), began: at(5) };
    assert_eq!(told(vec![(5, listed), (6, crashes())]), 0);
    assert_eq!(told(vec![(5, crashes()), (6, crashes())]), 0);
    // The snapshot that ends the startup counts.
    let both = pod(Some(4), ContainerKind::Regular, BACKS_OFF);
    assert_eq!(told(vec![(5, PodEvent::Applied(both))]), 1);
}

#[test]
fn the_object_of_a_deletion_counts() {
    let deleted = PodEvent::Deleted(crashing(ContainerKind::Regular));
    let events = vec![(5, PodEvent::Applied(ready(4))), (6, deleted)];
    assert_eq!(told(events), 1);
}
