//! Pods that crash after they were ready, as deliveries bring them about.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::record::fixtures::Ends;
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::lifecycle::tracker::fixtures::{at, delivery};
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, PodSnapshot,
    PodUid, StatusCondition, WaitingMessage, WaitingReason,
};

/// A pod that became ready at second 10, with a container in this state.
fn pod(version: u64, state: ContainerState, kind: ContainerKind) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "web");
    pod.resource_version = Some(version);
    pod.created = Some(at(0));
    let mut container = ContainerSpec::new(Arc::from("app"), kind);
    container.state = state;
    let first = ContainerSpec::new(Arc::from("first"), ContainerKind::Init);
    pod.containers = [first, container].into();
    let status = match state {
        ContainerState::Running => ConditionStatus::True,
        _ => ConditionStatus::False,
    };
    let last_transition = Some(at(10));
    let ready = StatusCondition { status, last_transition };
    pod.conditions.insert(ConditionType::Ready, ready);
    let text = "exit code 1".into();
    pod.waiting_messages = Some(Box::new(vec![WaitingMessage { container: 1, text }]));
    pod
}

const CRASHES: ContainerState = ContainerState::Waiting(WaitingReason::CrashLoopBackOff);

fn snapshot_of(version: u64, state: ContainerState) -> PodSnapshot {
    pod(version, state, ContainerKind::Regular)
}

/// A tracker of the pod, after these snapshots of it.
fn after(snapshots: Vec<(i64, PodSnapshot)>) -> (Tracker, Ends) {
    let (mut tracker, mut ends) = (Tracker::new(TrackerConfig::default()), Ends::default());
    tracker.begin_without_list(SourceId(0), None);
    for (second, snapshot) in snapshots {
        let event = PodEvent::Applied(snapshot);
        tracker.apply(delivery(SourceId(0), second, event), &mut ends);
    }
    (tracker, ends)
}

fn since(tracker: &Tracker) -> Option<i64> {
    let relapse = tracker.relapse(PodUid::from_text("a"))?;
    Some(relapse.since.nanos_since(at(0)) / 1_000_000_000)
}

#[test]
fn it_lasts_while_the_newest_snapshot_shows_it_and_began_with_the_first() {
    let running = |version| snapshot_of(version, ContainerState::Running);
    let (mut tracker, ends) = after(vec![(11, running(1)), (20, snapshot_of(2, CRASHES))]);
    assert_eq!(since(&tracker), Some(20));
    let record = tracker.record_of(&ends.0[0]);
    let relapse = record.relapse.unwrap();
    assert_eq!((ends.0[0].outcome(), relapse.container), (Outcome::Ready, 1));
    assert_eq!(relapse.message.as_deref(), Some("exit code 1"));
    let mut apply = |second, snapshot: PodSnapshot| {
        let event = PodEvent::Applied(snapshot);
        tracker.apply(delivery(SourceId(0), second, event), &mut Ends::default());
        since(&tracker)
    };
    assert_eq!(apply(30, running(3)), None);
    assert_eq!(apply(35, snapshot_of(2, CRASHES)), None, "an older version");
    assert_eq!(apply(40, snapshot_of(4, CRASHES)), Some(20));
    let other = ContainerState::Waiting(WaitingReason::ImagePullBackOff);
    assert_eq!(apply(50, snapshot_of(5, other)), None);
    assert_eq!(apply(60, pod(6, CRASHES, ContainerKind::RestartableInit)), Some(20));
    assert_eq!(apply(70, pod(7, CRASHES, ContainerKind::Init)), None);
    assert_eq!(apply(609, snapshot_of(8, CRASHES)), Some(20));
    assert_eq!(apply(610, snapshot_of(9, CRASHES)), None, "ten minutes after it was ready");
}

#[test]
fn a_pod_that_is_gone_crashes_no_longer() {
    let both =
        || vec![(11, snapshot_of(1, ContainerState::Running)), (20, snapshot_of(2, CRASHES))];
    let (mut tracker, _) = after(both());
    let deleted = PodEvent::Deleted(snapshot_of(3, CRASHES));
    tracker.apply(delivery(SourceId(0), 30, deleted), &mut Ends::default());
    assert_eq!(since(&tracker), None);
    let (mut tracker, _) = after(both());
    let listed = PodEvent::Listed { pods: Vec::new().into(), began: at(30) };
    tracker.apply(delivery(SourceId(0), 30, listed), &mut Ends::default());
    assert_eq!(since(&tracker), None);
}

#[test]
fn a_restart_forgets_neither_who_crashes_nor_who_was_ready_before() {
    let restarted = |tracker: &Tracker, ends: &Ends| {
        let (saved, pods) = (tracker.saved(), read_back(tracker));
        let config = TrackerConfig::default();
        let sink = &mut Ends::default();
        let mut after = Tracker::restored(config, saved, pods, SourceSuccessor::Same, sink);
        after.look_after(ends.0.iter());
        after
    };
    let (tracker, ends) = after(vec![(11, snapshot_of(1, ContainerState::Running))]);
    let mut calm = restarted(&tracker, &ends);
    let event = PodEvent::Applied(snapshot_of(2, CRASHES));
    calm.apply(delivery(SourceId(0), 30, event), &mut Ends::default());
    assert_eq!(since(&calm), Some(30));
    let again = restarted(&calm, &ends);
    assert_eq!(since(&again), Some(30));
    assert_eq!(again.saved().crashes, calm.saved().crashes);
}

#[test]
fn only_the_pods_that_became_ready_last_are_looked_at() {
    let (mut tracker, mut ends) = after(vec![(11, snapshot_of(1, ContainerState::Running))]);
    for number in 0..1_000 {
        let mut other = snapshot_of(1, ContainerState::Running);
        other.uid = PodUid::from_text(&number.to_string());
        let event = PodEvent::Applied(other);
        tracker.apply(delivery(SourceId(0), 12, event), &mut ends);
    }
    let event = PodEvent::Applied(snapshot_of(2, CRASHES));
    tracker.apply(delivery(SourceId(0), 20, event), &mut ends);
    assert_eq!(since(&tracker), None);
}
