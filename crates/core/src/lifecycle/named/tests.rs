#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::super::delivery::{Delivery, PodEvent, SourceId};
use super::super::observation::{Observation, PodObservation};
use super::super::record::{GateState, Record};
use super::super::saved::read_back;
use super::super::sources::SourceSuccessor;
use super::super::tracker::{Tracker, TrackerConfig};
use super::*;
use crate::pod::{ConditionStatus, ContainerKind, ContainerSpec, ContainerState, PodUid};

const CREATED: i64 = 1_000_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(CREATED + second)
}

fn condition(is_true: bool, second: i64) -> StatusCondition {
    let status = if is_true { ConditionStatus::True } else { ConditionStatus::False };
    StatusCondition { status, last_transition: Some(at(second)) }
}

/// A version of the pod: what has become True, and when.
#[derive(Default)]
struct Version {
    scheduling: &'static [&'static str],
    readiness: Vec<(&'static str, Option<StatusCondition>)>,
    milestones: Vec<Option<StatusCondition>>,
    containers_started: Option<i64>,
    containers_ready: Option<i64>,
    ready: Option<i64>,
}

fn snapshot(version: Version) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("pod"), "ns", "pod");
    pod.created = Some(at(0));
    pod.gated = !version.scheduling.is_empty();
    pod.has_readiness_gates = !version.readiness.is_empty();
    for (kind, time) in [
        (ConditionType::ContainersReady, version.containers_ready),
        (ConditionType::Ready, version.ready),
    ] {
        if let Some(time) = time {
            pod.conditions.insert(kind, condition(true, time));
        }
    }
    let mut container = ContainerSpec::new("main".into(), ContainerKind::Regular);
    container.started = version.containers_started.map(at);
    container.has_started = version.containers_started.is_some();
    if container.has_started {
        container.state = ContainerState::Running;
    }
    pod.containers = [container].into();
    let gates = GateNames {
        scheduling: version.scheduling.iter().map(|name| Arc::from(*name)).collect(),
        readiness: version.readiness.iter().map(|(name, _)| Arc::from(*name)).collect(),
    };
    let named = NamedConditions {
        gates: (!gates.is_empty()).then(|| Arc::new(gates)),
        readiness: version.readiness.iter().map(|(_, condition)| *condition).collect(),
        milestones: version.milestones.into(),
    };
    pod.named = (named != NamedConditions::default()).then(|| Box::new(named));
    pod
}

fn milestones(names: &[&str]) -> CustomMilestones {
    let all = names.iter().map(|name| CustomMilestone {
        name: Arc::from(*name),
        condition: format!("example.com/{name}").into(),
    });
    Arc::new(all.collect())
}

/// A tracker, and a line for each thing that it observes of gates and milestones of your own.
struct Run {
    tracker: Tracker,
    lines: Vec<String>,
}

impl Run {
    fn new(config: TrackerConfig) -> Self {
        let mut run = Self { tracker: Tracker::new(config), lines: Vec::new() };
        run.deliver(-1, PodEvent::Listed { pods: Vec::new().into(), began: at(-1) }, None);
        run
    }

    fn deliver(&mut self, second: i64, event: PodEvent, observed: Option<i64>) {
        let observed = observed.map(at);
        let source = SourceId(0);
        let delivery = Delivery { source, event, now: at(second), observed, version: None };
        let lines = &mut self.lines;
        self.tracker.apply(delivery, &mut |_, observation: Observation<'_>| {
            lines.extend(line(&observation));
        });
    }

    fn show(&mut self, second: i64, version: Version) -> Vec<String> {
        self.deliver(second, PodEvent::Applied(snapshot(version)), Some(second));
        std::mem::take(&mut self.lines)
    }

    fn record(&self) -> Record {
        self.tracker.in_flight(PodUid::from_text("pod")).unwrap().record()
    }

    fn restarted(&mut self, milestones: &CustomMilestones) {
        let config =
            TrackerConfig { milestones: Arc::clone(milestones), ..TrackerConfig::default() };
        let (saved, pods) = (self.tracker.saved(), read_back(&self.tracker));
        let lines = &mut self.lines;
        self.tracker = Tracker::restored(
            config,
            saved,
            pods,
            SourceSuccessor::Same,
            &mut |_, observation: Observation<'_>| {
                lines.extend(line(&observation));
            },
        );
    }
}

fn line(observation: &Observation<'_>) -> Option<String> {
    match observation {
        Observation::Gate(_, GateObservation { kind, gate, event }) => {
            let event = match event {
                GateEvent::Held => "held".to_owned(),
                GateEvent::Released => "released".to_owned(),
                GateEvent::Moved { .. } => return None,
                GateEvent::Passed(latency) => format!("passed {}", latency.as_seconds_f64()),
            };
            Some(format!("{} {gate} {event}", kind.as_str()))
        }
        Observation::Pod(_, PodObservation::CustomMeasured { interval, latency }) => {
            let (from, seconds) = (interval.from.as_str(), latency.as_seconds_f64());
            Some(format!("{} {from} {seconds}", interval.milestone))
        }
        Observation::Pod(_, PodObservation::CustomUnobserved { milestone, reason }) => {
            Some(format!("{milestone} {}", reason.as_str()))
        }
        _ => None,
    }
}

#[test]
fn scheduling_gates_are_passed_one_by_one_by_the_watch() {
    let mut run = Run::new(TrackerConfig::default());
    let lines = run.show(1, Version { scheduling: &["a", "b"], ..Version::default() });
    assert_eq!(lines, ["scheduling a held", "scheduling b held"]);
    let lines = run.show(7, Version { scheduling: &["b"], ..Version::default() });
    assert_eq!(lines, ["scheduling a passed 7", "scheduling a released"]);
    let gates = run.record().gates;
    let states: Vec<_> = gates.iter().map(|gate| (&*gate.gate, gate.state, gate.since)).collect();
    assert_eq!(states, [("a", GateState::Passed, None), ("b", GateState::Holding, Some(at(0)))]);
    // One that comes back, which Kubernetes does not let happen, holds again and is not passed twice.
    assert_eq!(
        run.show(8, Version { scheduling: &["a", "b"], ..Version::default() }),
        ["scheduling a held"]
    );
    let lines = run.show(9, Version::default());
    assert_eq!(lines, ["scheduling b passed 9", "scheduling a released", "scheduling b released"]);
    assert!(run.show(10, Version::default()).is_empty());
}

#[test]
fn readiness_gates_hold_up_from_containers_ready_on() {
    let mut run = Run::new(TrackerConfig::default());
    let open = |name| (name, Some(condition(false, 0)));
    let version =
        |readiness, containers_ready| Version { readiness, containers_ready, ..Version::default() };
    let lines = run.show(1, version(vec![open("a"), ("b", None), open("c")], None));
    assert!(lines.is_empty(), "{lines:?}");
    assert!(run.record().gates.iter().all(|gate| gate.state == GateState::Waiting));
    let a = ("a", Some(condition(true, 3)));
    assert!(run.show(4, version(vec![a, ("b", None), open("c")], None)).is_empty());
    // What was passed before has held nothing up.
    let lines = run.show(11, version(vec![a, ("b", None), open("c")], Some(10)));
    assert_eq!(lines, ["readiness a passed 0", "readiness b held", "readiness c held"]);
    let b = ("b", Some(condition(true, 14)));
    let lines = run.show(15, version(vec![a, b, open("c")], Some(10)));
    assert_eq!(lines, ["readiness b passed 4", "readiness b released"]);
    // It is latched once, and holds the pod again.
    let fallen = ("b", Some(condition(false, 20)));
    assert_eq!(run.show(21, version(vec![a, fallen, open("c")], Some(10))), ["readiness b held"]);
    let states = run.record().gates;
    let since: Vec<_> = states.iter().map(|gate| (gate.state, gate.since, gate.passed)).collect();
    assert_eq!(
        since,
        [
            (GateState::Passed, None, Some(at(3))),
            (GateState::Holding, None, Some(at(14))),
            (GateState::Holding, Some(at(10)), None)
        ]
    );
    let c = ("c", Some(condition(true, 40)));
    let ready = Version { ready: Some(40), ..version(vec![a, b, c], Some(10)) };
    let lines = run.show(41, ready);
    assert_eq!(lines, ["readiness c passed 30", "readiness b released", "readiness c released"]);
}

#[test]
fn a_restart_keeps_what_is_known_by_name() {
    let before = milestones(&["x", "y"]);
    let config = TrackerConfig { milestones: Arc::clone(&before), ..TrackerConfig::default() };
    let mut run = Run::new(config);
    let version = |milestones, scheduling| Version { milestones, scheduling, ..Version::default() };
    let x = Some(condition(true, 3));
    run.show(4, version(vec![x, Some(condition(false, 0))], &["a", "b"]));
    run.show(5, version(vec![x, Some(condition(false, 0))], &["b"]));
    let known = run.record();
    assert_eq!(Named::from(SavedNamed::from(named(&run))), named(&run));
    run.restarted(&before);
    assert_eq!(std::mem::take(&mut run.lines), ["scheduling b held"]);
    assert_eq!(run.record().custom_milestones, known.custom_milestones);
    assert_eq!(run.record().gates, known.gates);
    // Another order, and one that is new.
    run.restarted(&milestones(&["z", "x"]));
    run.lines.clear();
    let record = run.record();
    let names: Vec<_> = record.custom_milestones.iter().map(|one| &*one.milestone).collect();
    assert_eq!((names, record.custom_milestones[0].time), (vec!["x"], Some(at(3))));
    let lines = run.show(9, version(vec![Some(condition(true, 8)), x], &[]));
    assert_eq!(lines, ["scheduling b passed 9", "scheduling b released", "0 created 8"]);
}

fn named(run: &Run) -> Named {
    let pods = read_back(&run.tracker);
    let pod = pods.iter().find_map(|pod| pod.in_flight()).unwrap();
    Named::clone(pod.startup.named.as_ref().unwrap())
}

/// A pod with a gate may take 72 bytes more, and one without takes none.
#[test]
fn gates_and_milestones_take_little_room() {
    let mut run = Run::new(TrackerConfig::default());
    let open = |name| (name, None);
    let readiness = vec![open("a"), open("b"), open("c")];
    run.show(1, Version { readiness, ..Version::default() });
    let named = named(&run);
    assert_eq!(size_of::<Named>() + size_of_val(&*named.times), 64);
}
