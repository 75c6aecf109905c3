//! Pods of which a regular container has ended for good ([§6.12](crate::specification#s6-12)).

use std::time::Duration;

use super::fixtures::{at, delivery, rule};
use super::*;
use crate::lifecycle::cause::{Cause, WaitReason};
use crate::lifecycle::interval::{Interval, Stage, Step};
use crate::lifecycle::observation::{Observation, PodObservation};
use crate::lifecycle::slo_verdict::{ExclusionReason, SloVerdict};
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, StatusCondition,
    WaitingReason,
};

/// A pod of the steps of a build, of which these have ended, at this version. It was created, scheduled and got its
/// network at once.
fn build(version: u64, states: [ContainerState; 2]) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "build");
    pod.resource_version = Some(version);
    (pod.created, pod.started) = (Some(at(0)), Some(at(0)));
    for (kind, status) in [
        (ConditionType::PodScheduled, ConditionStatus::True),
        (ConditionType::PodReadyToStartContainers, ConditionStatus::True),
        (ConditionType::ContainersReady, ConditionStatus::False),
        (ConditionType::Ready, ConditionStatus::False),
    ] {
        let condition = StatusCondition { status, last_transition: Some(at(0)) };
        pod.conditions.insert(kind, condition);
    }
    let containers = states.map(|state| ContainerSpec {
        state,
        started: Some(at(1)),
        ends_for_good: true,
        ..ContainerSpec::new("step".into(), ContainerKind::Regular)
    });
    pod.containers = containers.into();
    pod
}

use ContainerState::{Running, Succeeded};

/// The SLOs of the tests, each of ten seconds but the last.
fn slos() -> Arc<[SloRule]> {
    let of = |interval: Interval| SloRule { interval: interval.into(), ..rule("slo", 10) };
    [
        of(Interval::Stage(Stage::Containers)),
        of(Interval::ScheduledToReady),
        of(Interval::CreatedToReady),
        of(Interval::Step(Step::Probe)),
        // Ends with another milestone, or has ended.
        of(Interval::Step(Step::Acknowledge)),
        SloRule { threshold: Duration::from_secs(3), ..of(Interval::CreatedToReady) },
    ]
    .into()
}

/// What becomes of the SLOs, and the stuck pod, with these snapshots at their seconds.
fn reported(
    snapshots: &[(i64, PodSnapshot)],
) -> (Vec<Option<SloVerdict>>, Vec<Option<WaitReason>>) {
    let slos = slos();
    let mut verdicts = vec![None; slos.len()];
    let mut stuck = Vec::new();
    let mut tracker = Tracker::new(TrackerConfig {
        slos,
        stuck_after: StuckAfter::of_each(|_| Duration::from_secs(60)),
        ..TrackerConfig::default()
    });
    let mut sink = |_, observation: Observation<'_>| match observation {
        Observation::Pod(_, PodObservation::Slo { slo, verdict }) => {
            let earlier = verdicts[usize::from(slo.0)].replace(verdict);
            assert_eq!(earlier, None, "a second event");
        }
        Observation::Pod(_, PodObservation::Stuck { to, .. }) => stuck.push(to),
        _ => {}
    };
    for (second, snapshot) in snapshots {
        let delivery = Delivery {
            observed: Some(at(*second)),
            ..delivery(SourceId(0), *second, PodEvent::Applied(snapshot.clone()))
        };
        tracker.apply(delivery, &mut sink);
    }
    tracker.advance(at(200), &mut sink);
    (verdicts, stuck)
}

const COMPLETED: Option<SloVerdict> =
    Some(SloVerdict::Excluded(ExclusionReason::Ended(Outcome::Completed)));
const GOOD: Option<SloVerdict> = Some(SloVerdict::Good);

#[test]
fn it_is_final_and_only_a_failing_cause_makes_it_stuck() {
    let crash = ContainerState::Waiting(WaitingReason::CrashLoopBackOff);
    let lives = [
        (1, build(1, [Succeeded, Running])),
        (2, build(2, [Running, Running])),
        (100, build(3, [Running, crash])),
        (110, build(4, [Running, Running])),
        (120, build(3, [Running, crash])),
    ];
    let (verdicts, stuck) = reported(&lives);
    assert_eq!(verdicts, [COMPLETED, COMPLETED, COMPLETED, COMPLETED, GOOD, COMPLETED]);
    let crashes = WaitReason::new(Stage::Containers, Cause::Crash);
    assert_eq!(stuck, [crashes, None]);
}
