use std::time::Duration;

use super::fixtures::{at, delivery, rule};
use super::*;
use crate::lifecycle::cause::{Cause, WaitReason};
use crate::lifecycle::interval::Stage;
use crate::lifecycle::observation::{Observation, PodObservation};
use crate::pod::{ConditionStatus, ConditionType, StatusCondition, StatusConditions};

#[test]
fn a_finished_pod_takes_at_most_56_bytes_of_the_table() {
    assert!(size_of::<Option<(PodUid, RememberedPod)>>() <= 56);
}

#[test]
fn deadlines_of_pods_that_are_gone_do_not_pile_up() {
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule("slow", 3600)].into(),
        ..TrackerConfig::default()
    });
    let mut missed = 0;
    let mut sink = |_, observation: Observation<'_>| {
        let event = matches!(observation, Observation::Pod(_, PodObservation::Slo { .. }));
        missed += usize::from(event);
    };
    let mut deliver = |event| tracker.apply(delivery(SourceId(0), 0, event), &mut sink);
    for number in 0..2_000 {
        let uid = PodUid::from_text(&number.to_string());
        let mut pod = PodSnapshot::bare(uid, "ns", "pod");
        pod.created = Some(at(0));
        deliver(PodEvent::Applied(pod.clone()));
        // One in twenty stays.
        if number % 20 > 0 {
            deliver(PodEvent::Deleted(pod));
        }
    }
    let waiting = tracker.shared.timers.waiting();
    assert!((100..600).contains(&waiting), "{waiting}");
    tracker.advance(at(3601), &mut sink);
    assert_eq!(missed, 2_000);
}

fn ready_at(second: i64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
    pod.created = Some(at(0));
    let condition =
        StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) };
    pod.conditions.insert(ConditionType::Ready, condition);
    pod
}

#[test]
fn time_passes_once_per_delivery() {
    let mut tracker = Tracker::new(TrackerConfig::default());
    let mut passed = 0;
    let mut sink = |_, observation: Observation<'_>| {
        let advanced =
            matches!(observation, Observation::Tracker(TrackerObservation::Advanced { .. }));
        passed += usize::from(advanced);
    };
    for observed in [None, Some(at(1))] {
        let event = PodEvent::Applied(ready_at(1));
        let delivery = Delivery { observed, ..delivery(SourceId(0), 1, event) };
        tracker.apply(delivery, &mut sink);
    }
    assert_eq!(passed, 2);
}

/// The limit of `scheduling` is five minutes, strictly.
#[test]
fn a_pod_past_the_limit_of_its_stage_is_stuck_until_it_leaves_it() {
    let mut tracker = Tracker::new(TrackerConfig::default());
    let mut moves = Vec::new();
    let mut sink = |_, observation: Observation<'_>| {
        if let Observation::Pod(_, PodObservation::Stuck { from, to }) = observation {
            moves.push((from, to));
        }
    };
    let mut pod = ready_at(0);
    pod.conditions = StatusConditions::default();
    let apply = |pod: PodSnapshot, second| delivery(SourceId(0), second, PodEvent::Applied(pod));
    tracker.apply(apply(pod.clone(), 1), &mut sink);
    tracker.advance(at(300), &mut sink);
    tracker.advance(at(302), &mut sink);
    tracker.advance(at(303), &mut sink);
    pod.unschedulable = true;
    tracker.apply(apply(pod.clone(), 304), &mut sink);
    tracker.advance(at(3602), &mut sink);
    tracker.set_stuck_after(StuckAfter::of_each(|_| Duration::from_secs(7200)));
    tracker.advance(at(3603), &mut sink);
    tracker.advance(at(7202), &mut sink);
    tracker.apply(apply(ready_at(7202), 7203), &mut sink);
    let of = |stage| Some(WaitReason::otherwise(stage));
    let queued = WaitReason::new(Stage::Scheduling, Cause::Queue);
    let [unbound, other] = [queued, of(Stage::Unschedulable)];
    let stages = |moves: &[(Option<WaitReason>, Option<WaitReason>)]| {
        let stage = |waiting: Option<WaitReason>| waiting.map(WaitReason::stage);
        let pairs = moves.iter().map(|(from, to)| (stage(*from), stage(*to)));
        pairs.collect::<Vec<_>>()
    };
    let expected = [
        (None, unbound),
        (unbound, None),
        (None, other),
        (other, None),
        (None, other),
        (other, None),
    ];
    assert_eq!(stages(&moves), stages(&expected));
    assert_eq!(moves[0], (None, queued));
}
