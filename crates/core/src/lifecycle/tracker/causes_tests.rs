//! Causes of missed deadlines, disruption, and changes in place, as deliveries bring them about.

use super::fixtures::{at, delivery, rule};
use super::*;
use crate::lifecycle::cause::{BadReason, Cause, WaitReason};
use crate::lifecycle::interval::Stage;
use crate::lifecycle::observation::ResizeResult;
use crate::lifecycle::observation::{Observation, PodObservation};
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::pod::{
    Condition, ConditionStatus, ConditionType, DisruptionReason, InPlaceChanges, Phase, Resize,
    ResizeState,
};

fn pod(version: u64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
    pod.resource_version = Some(version);
    pod.created = Some(at(0));
    pod
}

fn with(mut pod: PodSnapshot, kind: ConditionType, second: i64) -> PodSnapshot {
    let condition = Condition { status: ConditionStatus::True, last_transition: Some(at(second)) };
    pod.conditions.insert(kind, condition);
    pod
}

fn ready(version: u64, second: i64) -> PodSnapshot {
    with(pod(version), ConditionType::Ready, second)
}

/// What a tracker with one SLO of ten seconds reports, one event a second.
fn reported(events: Vec<PodEvent>) -> (Vec<PodObservation>, Vec<TrackerObservation>) {
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule("slow", 10)].into(),
        events: true,
        ..TrackerConfig::default()
    });
    let (mut pods, mut others) = (Vec::new(), Vec::new());
    let mut sink = |_, observation: Observation<'_>| match observation {
        Observation::Pod(_, observation) => pods.push(observation),
        Observation::Pull(..)
        | Observation::Node(_)
        | Observation::Tracker(TrackerObservation::Advanced { .. }) => {}
        Observation::Tracker(observation) => others.push(observation),
    };
    for (second, event) in (1..).zip(events) {
        let observed = matches!(event, PodEvent::Applied(_)).then(|| at(second));
        let delivery = Delivery { observed, ..delivery(SourceId(0), second, event) };
        tracker.apply(delivery, &mut sink);
    }
    tracker.advance(at(60), &mut sink);
    (pods, others)
}

fn verdicts(events: Vec<PodEvent>) -> Vec<SloVerdict> {
    let verdict = |observation| match observation {
        PodObservation::Slo { verdict, .. } => Some(verdict),
        _ => None,
    };
    reported(events).0.into_iter().filter_map(verdict).collect()
}

#[test]
fn a_missed_deadline_has_the_stage_and_cause_of_its_moment() {
    let bound = with(pod(2), ConditionType::PodScheduled, 2);
    let mut older = pod(1);
    older.terminating = true;
    let events = vec![PodEvent::Applied(bound), PodEvent::Applied(older)];
    let acknowledge = WaitReason::new(Stage::Network, Cause::Acknowledge);
    assert!(acknowledge.is_some());
    assert_eq!(verdicts(events), [SloVerdict::Bad(BadReason::of_known(acknowledge))]);
}

#[test]
fn an_interval_that_was_too_long_has_those_before_its_end_was_delivered() {
    let bound = with(pod(2), ConditionType::PodScheduled, 2);
    let events = vec![PodEvent::Applied(bound), PodEvent::Applied(ready(3, 11))];
    let acknowledge = WaitReason::new(Stage::Network, Cause::Acknowledge);
    assert_eq!(verdicts(events), [SloVerdict::Bad(BadReason::of_known(acknowledge))]);
    let at_once = vec![PodEvent::Applied(ready(3, 11))];
    assert_eq!(verdicts(at_once), [SloVerdict::Bad(BadReason::NotKnown)]);
}

fn disrupted(mut pod: PodSnapshot) -> PodSnapshot {
    pod.disruption = Some(DisruptionReason::EvictionByEvictionApi);
    pod
}

fn outcome(events: Vec<PodEvent>) -> (Option<Outcome>, usize) {
    let (pods, _) = reported(events);
    let finished = pods.iter().find_map(|observation| match observation {
        PodObservation::Moved { to: crate::lifecycle::PodState::Finished(outcome), .. } => {
            Some(*outcome)
        }
        _ => None,
    });
    let reason = DisruptionReason::EvictionByEvictionApi;
    let counted =
        pods.iter().filter(|observation| **observation == PodObservation::Disrupted(reason));
    (finished, counted.count())
}

#[test]
fn a_pod_that_was_marked_for_disruption_ends_as_disrupted_unless_it_succeeded_or_was_ready() {
    let ended = |phase| {
        let mut pod = disrupted(pod(2));
        pod.phase = phase;
        vec![PodEvent::Applied(pod)]
    };
    assert_eq!(outcome(ended(Phase::Failed)), (Some(Outcome::Disrupted), 1));
    assert_eq!(outcome(ended(Phase::Succeeded)), (Some(Outcome::Completed), 0));
    let was_ready = vec![PodEvent::Applied(disrupted(ready(2, 1)))];
    assert_eq!(outcome(was_ready), (Some(Outcome::Ready), 0));
    // The newest version counts, and that is not the one of the deletion.
    let deleted = vec![PodEvent::Applied(disrupted(pod(2))), PodEvent::Deleted(pod(1))];
    assert_eq!(outcome(deleted), (Some(Outcome::Disrupted), 1));
    let spared = vec![PodEvent::Applied(disrupted(pod(2))), PodEvent::Deleted(pod(3))];
    assert_eq!(outcome(spared), (Some(Outcome::Deleted), 0));
    let vanished = vec![
        PodEvent::Applied(disrupted(pod(2))),
        PodEvent::Listed { pods: Vec::new().into(), began: at(2) },
    ];
    assert_eq!(outcome(vanished), (Some(Outcome::Disrupted), 1));
}

fn resizing(mut pod: PodSnapshot) -> PodSnapshot {
    pod.in_place = Some(Box::new(InPlaceChanges {
        resize: Some(Resize { state: ResizeState::Deferred, since: Some(at(2)) }),
        update_ready: None,
    }));
    pod
}

fn resizes(events: Vec<PodEvent>) -> Vec<TrackerObservation> {
    reported(events).1
}

const OPENS: TrackerObservation =
    TrackerObservation::Resizing { from: None, to: Some(ResizeState::Deferred) };
const CLOSES: TrackerObservation =
    TrackerObservation::Resizing { from: Some(ResizeState::Deferred), to: None };

#[test]
fn a_resize_is_of_a_pod_whose_startup_is_over() {
    let starting = vec![PodEvent::Applied(resizing(pod(1)))];
    assert_eq!(resizes(starting), []);
    let whole = vec![
        PodEvent::Applied(ready(1, 1)),
        PodEvent::Applied(resizing(ready(3, 1))),
        // An older version.
        PodEvent::Applied(ready(2, 1)),
        PodEvent::Applied(ready(4, 1)),
    ];
    let completed = TrackerObservation::ResizeEnded(ResizeResult::Completed);
    let took = TrackerObservation::Resized(crate::lifecycle::Latency::from_nanos(2_000_000_000));
    assert_eq!(resizes(whole), [OPENS, CLOSES, completed, took]);
    let deleted = vec![
        PodEvent::Applied(ready(1, 1)),
        PodEvent::Applied(resizing(ready(3, 1))),
        PodEvent::Deleted(resizing(ready(4, 1))),
    ];
    let ended = TrackerObservation::ResizeEnded(ResizeResult::Ended);
    assert_eq!(resizes(deleted), [OPENS, CLOSES, ended]);
    let first_seen = vec![PodEvent::Applied(resizing(ready(3, 1))), PodEvent::Applied(ready(4, 1))];
    assert_eq!(resizes(first_seen), [OPENS, CLOSES]);
}
