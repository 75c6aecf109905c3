//! Pods that the kubelet rejects ([§5.9](crate::specification#s5-9), [§6.11](crate::specification#s6-11)).

use super::fixtures::{at, delivery, rule};
use super::*;
use crate::lifecycle::cause::BadReason;
use crate::lifecycle::interval::{Interval, Stage, Step};
use crate::lifecycle::observation::{Observation, PodObservation, PodState};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::slo_verdict::{ExclusionReason, SloVerdict};
use crate::lifecycle::sources::Successor;
use crate::pod::{Condition, ConditionStatus, ConditionType, DisruptionReason, Phase};

fn pod(version: u64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
    pod.resource_version = Some(version);
    pod.created = Some(at(0));
    pod
}

fn with(mut pod: PodSnapshot, kind: ConditionType) -> PodSnapshot {
    let condition = Condition { status: ConditionStatus::True, last_transition: Some(at(1)) };
    pod.conditions.insert(kind, condition);
    pod
}

fn failed(mut pod: PodSnapshot) -> PodSnapshot {
    pod.phase = Phase::Failed;
    pod.is_bound = true;
    pod
}

fn config() -> TrackerConfig {
    let of = |interval| SloRule { interval, ..rule("any", 10) };
    let intervals = [
        Interval::CreatedToReady,
        Interval::ScheduledToReady,
        Interval::Stage(Stage::Scheduling),
        Interval::Stage(Stage::Network),
        Interval::Stage(Stage::Containers),
        Interval::Step(Step::Acknowledge),
    ];
    TrackerConfig { slos: intervals.into_iter().map(of).collect(), ..TrackerConfig::default() }
}

#[derive(Default)]
struct Told {
    outcome: Option<Outcome>,
    /// By SLO
    verdicts: Vec<Option<SloVerdict>>,
}

impl Told {
    fn tell(&mut self, observation: Observation<'_>) {
        match observation {
            Observation::Pod(_, PodObservation::Slo { slo, verdict }) => {
                self.verdicts.resize(6, None);
                assert_eq!(self.verdicts[usize::from(slo.0)].replace(verdict), None);
            }
            Observation::Pod(_, PodObservation::Moved { to: PodState::Finished(outcome), .. }) => {
                self.outcome = Some(outcome)
            }
            _ => {}
        }
    }
}

fn told(events: Vec<PodEvent>) -> Told {
    let mut tracker = Tracker::new(config());
    let mut told = Told::default();
    for (second, event) in (1..).zip(events) {
        let delivery = delivery(SourceId(0), second, event);
        tracker.apply(delivery, &mut |_, observation: Observation<'_>| told.tell(observation));
    }
    told
}

fn outcome(events: Vec<PodEvent>) -> Option<Outcome> {
    told(events).outcome
}

const BAD: Option<SloVerdict> = Some(SloVerdict::Bad(BadReason::Rejected(Stage::Network)));
const TIME: Option<SloVerdict> = Some(SloVerdict::Excluded(ExclusionReason::Time));
const NOT_ENTERED: Option<SloVerdict> = Some(SloVerdict::Excluded(ExclusionReason::NotEntered));

#[test]
fn a_pod_that_failed_on_a_node_without_a_run_was_rejected_and_misses_what_had_begun() {
    let mut refused = failed(pod(2));
    refused.started = Some(at(1));
    let found = told(vec![PodEvent::Applied(pod(1)), PodEvent::Applied(refused.clone())]);
    assert_eq!(found.outcome, Some(Outcome::Rejected));
    // Scheduled is reached at an unknown time.
    let expected = [BAD, BAD, TIME, BAD, NOT_ENTERED, TIME];
    assert_eq!(found.verdicts, expected);
    // Also where it is known for the first time.
    assert_eq!(told(vec![PodEvent::Applied(refused)]).verdicts, expected);
}

#[test]
fn a_rejected_pod_with_a_condition_is_judged_by_it() {
    let bound = with(pod(1), ConditionType::PodScheduled);
    let good = Some(SloVerdict::Good);
    let expected = [BAD, BAD, good, BAD, NOT_ENTERED, BAD];
    for last in [failed(with(pod(2), ConditionType::PodScheduled)), failed(pod(2))] {
        let events = vec![PodEvent::Applied(bound.clone()), PodEvent::Applied(last)];
        assert_eq!(told(events).verdicts, expected);
    }
    let network = failed(with(pod(2), ConditionType::PodReadyToStartContainers));
    let found = told(vec![PodEvent::Applied(network)]);
    let bad = Some(SloVerdict::Bad(BadReason::Rejected(Stage::Containers)));
    assert_eq!(found.verdicts, [bad, bad, TIME, TIME, bad, BAD_ACKNOWLEDGE]);
}

const BAD_ACKNOWLEDGE: Option<SloVerdict> =
    Some(SloVerdict::Bad(BadReason::Rejected(Stage::Containers)));

#[test]
fn what_has_run_or_was_never_bound_has_failed() {
    let mut unbound = failed(pod(1));
    unbound.is_bound = false;
    assert_eq!(outcome(vec![PodEvent::Applied(unbound)]), Some(Outcome::Failed));
    let mut ran = pod(1);
    ran.has_run = true;
    let events = vec![PodEvent::Applied(ran.clone()), PodEvent::Applied(failed(pod(2)))];
    assert_eq!(outcome(events), Some(Outcome::Failed));
    // An older version shows nothing.
    let events =
        vec![PodEvent::Applied(pod(2)), PodEvent::Applied(ran), PodEvent::Applied(failed(pod(3)))];
    assert_eq!(outcome(events), Some(Outcome::Rejected));
}

#[test]
fn other_ends_come_first() {
    let mut disrupted = failed(pod(1));
    disrupted.disruption = Some(DisruptionReason::TerminationByKubelet);
    let found = told(vec![PodEvent::Applied(disrupted)]);
    assert_eq!(found.outcome, Some(Outcome::Disrupted));
    let excluded = SloVerdict::Excluded(ExclusionReason::Ended(Outcome::Disrupted));
    assert!(found.verdicts.contains(&Some(excluded)));
    let ready = failed(with(pod(1), ConditionType::Ready));
    assert_eq!(outcome(vec![PodEvent::Applied(ready)]), Some(Outcome::Ready));
    let listed = PodEvent::Listed { pods: vec![failed(pod(1))].into(), began: at(1) };
    assert_eq!(outcome(vec![listed]), Some(Outcome::Preexisting));
}

#[test]
fn the_object_of_a_deletion_counts_unless_it_is_older() {
    let deleted =
        |version| vec![PodEvent::Applied(pod(2)), PodEvent::Deleted(failed(pod(version)))];
    assert_eq!(outcome(deleted(3)), Some(Outcome::Rejected));
    assert_eq!(outcome(deleted(1)), Some(Outcome::Deleted));
    let absent =
        vec![PodEvent::Applied(pod(2)), PodEvent::Listed { pods: Vec::new().into(), began: at(2) }];
    assert_eq!(outcome(absent), Some(Outcome::Vanished));
}

#[test]
fn a_restart_keeps_that_a_container_has_run() {
    for has_run in [false, true] {
        let mut before = Tracker::new(config());
        let mut running = pod(1);
        running.has_run = has_run;
        let mut silent = |_, _: Observation<'_>| {};
        let event = delivery(SourceId(0), 1, PodEvent::Applied(running));
        before.apply(event, &mut silent);
        let (saved, pods) = (before.saved(), read_back(&before));
        let mut after = Tracker::restored(config(), saved, pods, Successor::Same, &mut silent);
        let mut told = Told::default();
        let event = delivery(SourceId(0), 2, PodEvent::Applied(failed(pod(2))));
        after.apply(event, &mut |_, observation: Observation<'_>| told.tell(observation));
        let expected = [Outcome::Rejected, Outcome::Failed][usize::from(has_run)];
        assert_eq!(told.outcome, Some(expected));
    }
}

/// What a pod in flight takes is multiplied by the pods of an outage.
#[test]
fn what_has_run_takes_no_room() {
    assert_eq!(size_of::<PodInFlight>(), 392);
}
