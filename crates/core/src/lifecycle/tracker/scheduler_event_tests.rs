//! When the scheduler bound a pod, by its own Event ([§4.8](crate::specification#s4-8)).

#![allow(clippy::unwrap_used)]

use super::fixtures::at;
use super::{Tracker, TrackerConfig};
use crate::kube_event::{EventContainer, EventOccurrence, EventReason, InvolvedPod, KubeEvent};
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::estimate::TimestampMode;
use crate::lifecycle::interval::{Interval, Stage};
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::observation::{Observation, PodObservation};
use crate::lifecycle::record::{IntervalResult, MilestoneSource};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, PodSnapshot, PodUid,
    StatusCondition,
};
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

/// So many milliseconds after the beginning.
fn millis(millis: i64) -> Timestamp {
    at(0).plus_nanos(millis * NANOS_PER_MILLI)
}

fn event(reason: EventReason) -> KubeEvent {
    KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text("p"), "ns", "p")),
        from_kubelet: false,
        container: None,
        first: None,
        named: None,
        occurred: EventOccurrence::default(),
        reason,
        message: None,
    }
}

struct World {
    tracker: Tracker,
    config: TrackerConfig,
    lines: Vec<String>,
}

impl World {
    fn new(timestamps: TimestampMode) -> Self {
        let config = TrackerConfig { events: true, timestamps, ..TrackerConfig::default() };
        let tracker = Tracker::new(config.clone());
        let mut world = Self { tracker, config, lines: Vec::new() };
        // Deadlines pass only once the list is 5 s old.
        world.deliver(-9_000, PodEvent::Listed { pods: Vec::new().into(), began: at(-9) });
        world
    }

    /// What is measured by a delivery that arrives after so many milliseconds.
    fn deliver(&mut self, after: i64, event: PodEvent) -> Vec<String> {
        let (now, source) = (millis(after), SourceId(0));
        let lines = &mut self.lines;
        let mut sink = |_, observation: Observation<'_>| {
            if let Observation::Pod(_, PodObservation::Measured { interval, latency }) = observation
            {
                lines.push(format!("{} {}", interval.as_str(), latency.as_seconds_f64()));
            }
        };
        let delivery = Delivery { source, event, now, observed: Some(now), version: None };
        self.tracker.apply(delivery, &mut sink);
        std::mem::take(&mut self.lines)
    }

    fn shown(&mut self, after: i64, conditions: &[(ConditionType, i64)]) -> Vec<String> {
        let mut pod = PodSnapshot::bare(PodUid::from_text("p"), "ns", "p");
        pod.created = Some(at(0));
        pod.containers = [ContainerSpec::new("a".into(), ContainerKind::Regular)].into();
        for (kind, second) in conditions {
            let holds = StatusCondition {
                status: ConditionStatus::True,
                last_transition: Some(at(*second)),
            };
            pod.conditions.insert(*kind, holds);
        }
        self.deliver(after, PodEvent::Applied(pod))
    }

    fn bound(&mut self, after: i64, told: i64) -> Vec<String> {
        self.deliver(after, PodEvent::Event(event(EventReason::Scheduled(millis(told)))))
    }

    /// When the record says that the pod was scheduled, in milliseconds, by what, and how long it says that this took.
    fn recorded(&self) -> (i64, MilestoneSource, f64) {
        let record = self.tracker.in_flight(PodUid::from_text("p")).unwrap().record();
        let mut milestones = record.milestones.iter();
        let scheduled = milestones.find(|one| one.milestone == Milestone::Scheduled).unwrap();
        let mut intervals = record.intervals.iter();
        let scheduling = intervals.find(|one| one.interval == Interval::Stage(Stage::Scheduling));
        let seconds = match scheduling.unwrap().result {
            IntervalResult::Measured { seconds } => seconds.as_seconds_f64(),
            IntervalResult::Open | IntervalResult::Unobserved { .. } => f64::NAN,
        };
        let time = scheduled.time.unwrap().nanos_since(at(0)) / NANOS_PER_MILLI;
        (time, scheduled.source.unwrap(), seconds)
    }

    fn restart(&mut self) {
        let (saved, pods) = (self.tracker.saved(), read_back(&self.tracker));
        let mut silent = |_, _: Observation<'_>| {};
        let config = self.config.clone();
        self.tracker = Tracker::restored(config, saved, pods, SourceSuccessor::Same, &mut silent);
    }
}

const SCHEDULED: (ConditionType, i64) = (ConditionType::PodScheduled, 1);
const NETWORK: (ConditionType, i64) = (ConditionType::PodReadyToStartContainers, 3);

#[test]
fn what_is_told_before_gives_the_time_of_scheduled_also_after_a_restart() {
    for restarts in [false, true] {
        let mut world = World::new(TimestampMode::Fused);
        world.shown(250, &[]);
        assert!(world.bound(1_375, 1_250).is_empty());
        // Only the first is kept.
        assert!(world.bound(1_375, 1_125).is_empty());
        if restarts {
            world.restart();
        }
        assert_eq!(world.shown(1_500, &[SCHEDULED]), ["scheduling 1"]);
        assert_eq!(world.recorded(), (1_250, MilestoneSource::Event, 1.0));
        world.bound(1_625, 1_750);
        if restarts {
            world.restart();
        }
        assert_eq!(world.recorded(), (1_250, MilestoneSource::Event, 1.0));
        assert_eq!(world.shown(3_500, &[SCHEDULED, NETWORK]), ["network 2.25"]);
    }
}

#[test]
fn what_is_told_later_moves_what_begins_and_not_what_was_judged() {
    for restarts in [false, true] {
        let mut world = World::new(TimestampMode::Fused);
        assert_eq!(world.shown(1_500, &[SCHEDULED]), ["scheduling 1"]);
        assert_eq!(world.recorded(), (1_500, MilestoneSource::Condition, 1.0));
        assert!(world.bound(1_625, 1_250).is_empty());
        if restarts {
            world.restart();
        }
        assert_eq!(world.recorded(), (1_250, MilestoneSource::Event, 1.0));
        assert_eq!(world.shown(3_500, &[SCHEDULED, NETWORK]), ["network 2.25"]);
        // Too late: the network was judged by what was known.
        world.bound(3_625, 1_125);
        assert_eq!(world.recorded(), (1_250, MilestoneSource::Event, 1.0));
    }
}

#[test]
fn another_second_and_api_times_are_left_alone() {
    for (mode, told, time) in [
        (TimestampMode::Fused, 999, 1_500),
        (TimestampMode::Fused, 2_000, 1_500),
        (TimestampMode::Fused, 1_000, 1_000),
        (TimestampMode::Fused, 1_999, 1_999),
        (TimestampMode::Api, 1_250, 1_000),
    ] {
        let mut early = World::new(mode);
        early.shown(250, &[]);
        early.bound(1_375, told);
        early.shown(1_500, &[SCHEDULED]);
        assert_eq!(early.recorded().0, time, "{mode} {told}");
        let mut late = World::new(mode);
        late.shown(1_500, &[SCHEDULED]);
        late.bound(1_625, told);
        assert_eq!(late.recorded().0, time, "{mode} {told}");
    }
}

/// 4.6: a condition without a usable time has no second.
#[test]
fn a_scheduled_at_an_unknown_time_stays_so() {
    let mut world = World::new(TimestampMode::Fused);
    world.shown(250, &[]);
    world.bound(1_375, 1_250);
    // A later condition implies that the pod is scheduled.
    assert!(world.shown(3_500, &[NETWORK]).is_empty());
    world.bound(3_625, 1_250);
    let record = world.tracker.in_flight(PodUid::from_text("p")).unwrap().record();
    let mut milestones = record.milestones.iter();
    let scheduled = milestones.find(|one| one.milestone == Milestone::Scheduled).unwrap();
    assert_eq!((scheduled.time, scheduled.source), (None, None));
}

#[test]
fn evidence_of_the_network_that_was_kept_beside_it_counts_too() {
    let started = KubeEvent {
        from_kubelet: true,
        container: Some(EventContainer { name: "a".into(), init: false }),
        first: Some(at(3)),
        ..event(EventReason::Started)
    };
    for network_first in [false, true] {
        let mut world = World::new(TimestampMode::Fused);
        world.shown(250, &[]);
        if network_first {
            world.deliver(3_125, PodEvent::Event(started.clone()));
        }
        world.bound(3_125, 1_250);
        if !network_first {
            world.deliver(3_125, PodEvent::Event(started.clone()));
        }
        world.shown(3_250, &[]);
        assert_eq!(world.shown(3_500, &[SCHEDULED]), ["scheduling 1", "network 2.25"]);
        assert_eq!(world.recorded(), (1_250, MilestoneSource::Event, 1.0));
    }
}
