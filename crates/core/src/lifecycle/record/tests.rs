//! Records of startups as deliveries bring them about.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use super::fixtures::{Ends, at};
use super::*;
use crate::lifecycle::cause::Cause;
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::estimate::TimestampMode;
use crate::lifecycle::interval::{Stage, Step};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::slo::{Namespaces, Selection, SloRule};
use crate::lifecycle::stuck::StuckAfter;
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, NotScheduled,
    NotScheduledReason, PodPhase, PodSnapshot, StatusCondition, WaitingMessage, WaitingReason,
};

struct Fixture {
    tracker: Tracker,
    ends: Ends,
    version: u64,
}

impl Fixture {
    fn new() -> Self {
        let slo = SloRule {
            name: "quick".into(),
            interval: Interval::CreatedToReady.into(),
            threshold: Duration::from_secs(30),
            grace: Duration::from_secs(5),
            namespaces: Namespaces::All,
            owner_kinds: Vec::new(),
            selection: Selection::default(),
        };
        let tracker = Tracker::new(TrackerConfig {
            timestamps: TimestampMode::Api,
            slos: [slo].into(),
            stuck_after: StuckAfter::of_each(|_| Duration::from_secs(20)),
            ..TrackerConfig::default()
        });
        let mut fixture = Self { tracker, ends: Ends::default(), version: 0 };
        let (pods, began) = (Vec::new(), at(-100));
        fixture.deliver(-100, PodEvent::Listed { pods: pods.into(), began });
        fixture
    }

    fn deliver(&mut self, second: i64, event: PodEvent) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: at(second),
            observed: Some(at(second)),
            version: None,
        };
        self.tracker.apply(delivery, &mut self.ends);
    }

    fn apply(&mut self, second: i64, pod: &PodSnapshot) {
        self.version += 1;
        let mut pod = pod.clone();
        pod.resource_version = Some(self.version);
        self.deliver(second, PodEvent::Applied(pod));
    }

    fn in_flight(&self) -> Vec<Record> {
        let pods = self.tracker.in_flight_after(None);
        pods.map(|(_, pod)| pod.record()).collect()
    }
}

fn pod(name: &str) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
    pod.created = Some(at(0));
    pod
}

fn holds(pod: &mut PodSnapshot, kind: ConditionType, second: i64) {
    let condition =
        StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) };
    pod.conditions.insert(kind, condition);
}

#[test]
fn a_pod_in_flight_has_the_record_of_this_moment() {
    let mut fixture = Fixture::new();
    let mut one = pod("one");
    fixture.apply(1, &one);
    holds(&mut one, ConditionType::PodScheduled, 2);
    one.info.node = Some("node-a".into());
    fixture.apply(3, &one);
    fixture.tracker.advance(at(23), &mut fixture.ends);
    let [record] = &fixture.in_flight()[..] else {
        panic!("one pod is in flight");
    };
    assert_eq!(record.uid, PodUid::from_text("one"));
    assert_eq!(record.pod.node.as_deref(), Some("node-a"));
    assert_eq!((record.discovered, record.outcome()), (at(1), None));
    let waiting = |stage, cause| WaitReason::new(stage, cause).unwrap();
    let acknowledge = waiting(Stage::Network, Cause::Acknowledge);
    let progress = Progress::InFlight {
        waiting: acknowledge,
        entered: at(2),
        stuck_at: at(22),
        is_stuck: true,
        is_never_ready: false,
    };
    assert_eq!(record.progress, progress);
    let causes = [(waiting(Stage::Scheduling, Cause::Queue), at(1)), (acknowledge, at(3))];
    assert_eq!(
        record.causes,
        causes.map(|(waiting, began)| RecordedCause { waiting, began, container: None })
    );
    let milestones = [
        (Milestone::Created, at(0), MilestoneSource::CreationTimestamp),
        (Milestone::Scheduled, at(2), MilestoneSource::Condition),
    ];
    let expected = milestones.map(|(milestone, at, source)| RecordedMilestone {
        milestone,
        time: Some(at),
        source: Some(source),
    });
    assert_eq!(record.milestones, expected);
    let result = |interval| {
        let mut all = record.intervals.iter();
        all.find(|one| one.interval == interval).map(|one| (one.began, one.ended, one.result))
    };
    let measured = IntervalResult::Measured { seconds: Latency::from_nanos(2_000_000_000) };
    let scheduling = Some((Some(at(0)), Some(at(2)), measured));
    assert_eq!(result(Interval::Stage(Stage::Scheduling)), scheduling);
    let network = Some((Some(at(2)), None, IntervalResult::Open));
    assert_eq!(result(Interval::Stage(Stage::Network)), network);
    assert_eq!(result(Interval::Stage(Stage::Containers)), None);
    assert_eq!(record.slos.len(), 1);
    assert_eq!(record.slos[0].deadline, Some(at(35)));
    assert_eq!(record.slos[0].result, SloResult::Undecided);
}

#[test]
fn a_pod_that_is_first_seen_in_a_later_stage_has_waited_in_no_earlier_one() {
    let mut fixture = Fixture::new();
    let mut one = pod("one");
    holds(&mut one, ConditionType::PodScheduled, 2);
    fixture.apply(3, &one);
    let records = fixture.in_flight();
    let waiting = WaitReason::new(Stage::Network, Cause::Acknowledge).unwrap();
    let began = at(3);
    assert_eq!(records[0].causes, [RecordedCause { waiting, began, container: None }]);
}

#[test]
fn a_startup_that_ends_leaves_its_record() {
    let mut fixture = Fixture::new();
    let mut one = pod("one");
    one.containers = [ContainerSpec {
        state: ContainerState::Running,
        started: Some(at(5)),
        ..ContainerSpec::new("main".into(), ContainerKind::Regular)
    }]
    .into();
    fixture.apply(1, &pod("one"));
    for (kind, second) in [
        (ConditionType::PodScheduled, 2),
        (ConditionType::PodReadyToStartContainers, 6),
        (ConditionType::Initialized, 2),
        (ConditionType::ContainersReady, 9),
        (ConditionType::Ready, 9),
    ] {
        holds(&mut one, kind, second);
    }
    one.started = Some(at(3));
    fixture.apply(10, &one);
    let [ended] = &fixture.ends.0[..] else {
        panic!("one startup has ended");
    };
    assert_eq!((ended.outcome(), ended.ended()), (Outcome::Ready, at(10)));
    assert!(ended.had_cause(Cause::Queue) && !ended.had_cause(Cause::Pull));
    let record = ended.record();
    let seconds = |interval| record.duration(interval).map(Latency::as_seconds_f64);
    assert_eq!(seconds(Interval::CreatedToReady), Some(9.0));
    assert_eq!(seconds(Interval::ScheduledToReady), Some(7.0));
    assert_eq!(seconds(Interval::Stage(Stage::Network)), Some(3.0));
    assert_eq!(seconds(Interval::Step(Step::Probe)), Some(4.0));
    assert_eq!(ended.duration(Interval::CreatedToReady), record.duration(Interval::CreatedToReady));
    let source = |milestone| {
        let mut all = record.milestones.iter();
        let found = all.find(|one| one.milestone == milestone)?;
        found.time.zip(found.source)
    };
    let container = Some((at(5), MilestoneSource::Container));
    assert_eq!(source(Milestone::NetworkReady), container);
    assert_eq!(source(Milestone::ContainersStarted), container);
    assert_eq!(record.network_time, Some(NetworkTime::Bounded));
    let start_time = Some((at(3), MilestoneSource::StartTime));
    assert_eq!(source(Milestone::Acknowledged), start_time);
    assert_eq!(record.slos[0].result, SloResult::Good);
    assert_eq!(fixture.in_flight(), []);
}

#[test]
fn what_a_startup_lacks_has_the_reason_that_is_counted() {
    let mut fixture = Fixture::new();
    fixture.apply(1, &pod("one"));
    let mut one = pod("one");
    holds(&mut one, ConditionType::Ready, 9);
    fixture.apply(9, &one);
    let mut two = pod("two");
    fixture.apply(10, &two);
    two.phase = PodPhase::Failed;
    fixture.apply(11, &two);
    let records: Vec<Record> = fixture.ends.0.iter().map(EndedStartup::record).collect();
    let result = |record: &Record, stage| {
        let mut all = record.intervals.iter();
        all.find(|one| one.interval == Interval::Stage(stage)).map(|one| one.result)
    };
    let absent = IntervalResult::Unobserved { reason: UnobservedReason::ConditionAbsent };
    assert_eq!(result(&records[0], Stage::Network), Some(absent));
    // A later milestone implies that the pod was scheduled, and does not say when.
    let scheduled = records[0].milestones.get(1);
    let implied = RecordedMilestone { milestone: Milestone::Scheduled, time: None, source: None };
    assert_eq!(scheduled, Some(&implied));
    assert_eq!(records[1].outcome(), Some(Outcome::Failed));
    let open = Some(IntervalResult::Open);
    assert_eq!(result(&records[1], Stage::Scheduling), open);
    assert_eq!(result(&records[1], Stage::Network), None);
}

#[test]
fn pods_in_flight_come_by_stage_and_time_from_any_place() {
    let mut fixture = Fixture::new();
    for number in 0..30 {
        let mut pod = pod(&number.to_string());
        pod.created = Some(at(number % 7));
        if number % 3 == 0 {
            holds(&mut pod, ConditionType::PodScheduled, 10 - number % 5);
        }
        fixture.apply(10, &pod);
    }
    let all: Vec<_> = fixture.tracker.in_flight_after(None).collect();
    let positions: Vec<InFlightPosition> = all.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions.len(), 30);
    assert!(positions.is_sorted());
    for (taken, position) in positions.iter().enumerate() {
        let rest = fixture.tracker.in_flight_after(Some(*position));
        let rest: Vec<_> = rest.map(|(position, _)| position).collect();
        assert_eq!(rest, positions[taken + 1..]);
    }
    let none = InFlightPosition::last_of(Stage::Readiness);
    assert!(fixture.tracker.in_flight_after(Some(none)).next().is_none());
}

/// In its own words, as long as they are about the present cause.
#[test]
fn a_record_has_the_images_and_what_kubernetes_says() {
    let mut fixture = Fixture::new();
    let mut one = pod("one");
    one.info.images = Some(Arc::new(vec!["ghcr.io/shop/init:1".into(), "nginx".into()]));
    let container = |name: &str, kind, reason| ContainerSpec {
        state: ContainerState::Waiting(reason),
        ..ContainerSpec::new(name.into(), kind)
    };
    one.containers = [
        ContainerSpec::new("i".into(), ContainerKind::Init),
        container("c", ContainerKind::Regular, WaitingReason::ImagePullBackOff),
    ]
    .into();
    one.not_scheduled = Some(Box::new(NotScheduled {
        is_false: true,
        reason: NotScheduledReason::Unschedulable,
        message: format!("0/3 nodes are available: {}", "é".repeat(200)).into(),
    }));
    fixture.apply(1, &one);
    let said = |fixture: &Fixture| fixture.in_flight()[0].message.clone();
    let message = said(&fixture).unwrap();
    assert!(message.starts_with("0/3 nodes") && (255..=256).contains(&message.len()));
    one.not_scheduled = None;
    for (kind, second) in [
        (ConditionType::PodScheduled, 2),
        (ConditionType::PodReadyToStartContainers, 3),
        (ConditionType::Initialized, 3),
    ] {
        holds(&mut one, kind, second);
    }
    one.waiting_messages = Some(Box::new(vec![WaitingMessage {
        container: 1,
        text: "Back-off pulling image \"nginx\"".into(),
    }]));
    fixture.apply(4, &one);
    let record = &fixture.in_flight()[0];
    assert_eq!(record.message.as_deref(), Some("Back-off pulling image \"nginx\""));
    assert_eq!(record.image.as_deref(), Some("nginx"));
    let [init, regular] = &record.containers[..] else {
        panic!("two containers");
    };
    assert_eq!(init.image.as_deref(), Some("ghcr.io/shop/init:1"));
    assert_eq!((init.problem, regular.problem), (Some(Cause::Create), Some(Cause::Image)));
    // Nothing is said any more of the same cause: what was said last stays.
    one.waiting_messages = None;
    fixture.apply(5, &one);
    assert!(said(&fixture).is_some());
    // Another cause, of which nothing is said.
    one.containers[1].state = ContainerState::Running;
    fixture.apply(6, &one);
    assert_eq!(said(&fixture), None);
}

/// Pods of few names that come, become ready, are deleted and vanish, with restarts in between.
#[test]
fn a_pod_in_flight_is_found_by_its_name_and_no_other() {
    let mut fixture = Fixture::new();
    let mut state = 1_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % bound
    };
    let (mut found, mut twice) = (0, 0);
    for second in 1..1_500 {
        let (number, name) = (below(60), below(20));
        let uid = PodUid::from_text(&number.to_string());
        let mut snapshot = PodSnapshot::bare(uid, format!("ns-{}", name % 3), name.to_string());
        // Where a younger pod has the name, the older one vanishes.
        snapshot.created = Some(at(1_500 - second));
        match below(10) {
            0 => holds(&mut snapshot, ConditionType::Ready, second),
            1 => {
                fixture.deliver(second, PodEvent::Deleted(snapshot));
                continue;
            }
            2 if second % 100 == 0 => {
                let (pods, began) = (vec![snapshot], at(second));
                fixture.deliver(second, PodEvent::Listed { pods: pods.into(), began });
                continue;
            }
            3 => {
                let before = &fixture.tracker;
                let (saved, pods) = (before.saved(), read_back(before));
                let config = TrackerConfig::default();
                let successor = crate::lifecycle::SourceSuccessor::Same;
                fixture.tracker =
                    Tracker::restored(config, saved, pods, successor, &mut fixture.ends);
                continue;
            }
            _ => {}
        }
        fixture.apply(second, &snapshot);
        let in_flight = fixture.in_flight();
        for name in 0..20 {
            let (namespace, name) = (format!("ns-{}", name % 3), name.to_string());
            let named =
                |record: &&Record| *record.pod.name == *name && *record.pod.namespace == *namespace;
            let expected: Vec<&Record> = in_flight.iter().filter(named).collect();
            let pod = fixture.tracker.in_flight_named(&namespace, &name);
            let record = pod.map(|pod| pod.record());
            assert_eq!(record.is_some(), !expected.is_empty(), "{namespace}/{name}");
            assert!(record.iter().all(|record| expected.contains(&record)));
            found += expected.len();
            twice += usize::from(expected.len() > 1);
        }
        assert!(fixture.tracker.in_flight_named("ns-0", "1").is_none());
    }
    assert!(found > 1_000 && twice > 10, "{found} {twice}");
}

#[test]
fn startups_that_were_over_at_first_sight_leave_no_record() {
    let mut fixture = Fixture::new();
    let mut old = pod("old");
    holds(&mut old, ConditionType::Ready, -50);
    let (pods, began) = (vec![old], at(0));
    let mut tracker = Tracker::default();
    let delivery = Delivery {
        source: SourceId(0),
        event: PodEvent::Listed { pods: pods.into(), began },
        now: at(1),
        observed: None,
        version: None,
    };
    tracker.apply(delivery, &mut fixture.ends);
    assert_eq!(tracker.remembered(), 1);
    assert!(fixture.ends.0.is_empty());
}

/// Nobody saw it wait, even where it was created in the second in which it was seen.
#[test]
fn a_startup_that_was_over_at_first_sight_has_no_causes() {
    let causes = |first: PodPhase| {
        let mut fixture = Fixture::new();
        let mut one = pod("one");
        one.is_bound = true;
        for phase in [first, PodPhase::Failed] {
            one.phase = phase;
            fixture.apply(1, &one);
        }
        let ended = fixture.ends.0.pop().unwrap();
        let has_one = Cause::ALL.into_iter().any(|cause| ended.had_cause(cause));
        assert_eq!(has_one, first == PodPhase::Active);
        ended.record().causes.len()
    };
    assert_eq!((causes(PodPhase::Failed), causes(PodPhase::Active)), (0, 1));
}
