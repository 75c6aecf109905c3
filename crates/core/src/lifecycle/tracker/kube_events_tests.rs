#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::kube_event::{
    CapacityState, EventContainer, EventOccurrence, EventReason, InvolvedPod, KubeEvent,
    PulledMessage, SandboxWarning, SuccessfulPull,
};
use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::judgement::Latency;
use crate::lifecycle::observation::{
    ImageSource, Observation, PodObservation, PodState, TrackerObservation,
};
use crate::lifecycle::saved::{SavedPod, read_back};
use crate::lifecycle::slo::SloRule;
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::lifecycle::sources::SourceSuccessor;
use crate::lifecycle::startup_sli_verdict::StartupSli;
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, PodPhase, PodSnapshot, PodUid,
    StatusCondition,
};

/// What a test looks at, as text: one line for each observation.
#[derive(Default)]
struct Seen {
    lines: Vec<String>,
    /// How many pods were discovered
    discovered: usize,
    /// How many had their event for the startup SLI
    judged: usize,
}

impl Seen {
    fn take(&mut self, observation: Observation<'_>) {
        match observation {
            Observation::Pod(_, PodObservation::StartupSli(_)) => self.judged += 1,
            Observation::Pod(_, PodObservation::Moved { from, .. }) => {
                self.discovered += usize::from(from == PodState::Undiscovered);
            }
            _ => {}
        }
        let line = match observation {
            Observation::Pod(pod, PodObservation::Measured { interval, latency }) => {
                format!("{} {} {}", pod.name, interval.as_str(), latency.as_seconds_f64())
            }
            Observation::Pod(pod, PodObservation::NetworkReady { evidence, .. }) => {
                format!("{} network by {}", pod.name, evidence.as_str())
            }
            Observation::Pod(pod, PodObservation::StartupSli(StartupSli::Observed(latency))) => {
                format!("{} sli {}", pod.name, latency.as_seconds_f64())
            }
            Observation::Pod(pod, PodObservation::StartupSli(StartupSli::Excluded(reason))) => {
                format!("{} no sli: {}", pod.name, reason.as_str())
            }
            Observation::Pod(pod, PodObservation::Moved { from, to }) => {
                let [before, after] = [from, to].map(state);
                if before == after {
                    return;
                }
                format!("{} in {after}", pod.name)
            }
            Observation::Pod(pod, PodObservation::Slo { verdict, .. }) => {
                let verdict = match verdict {
                    SloVerdict::Bad(_) => "Bad".to_owned(),
                    other => format!("{other:?}"),
                };
                format!("{} {verdict}", pod.name)
            }
            Observation::Gate(..) | Observation::Gates(..) | Observation::Node(_) => return,
            Observation::Pull(pod, pull) => {
                let seconds = |latency: Option<Latency>| latency.map(Latency::as_seconds_f64);
                format!(
                    "{} {} from {}: {:?} {:?} {:?}, {} before",
                    pod.name,
                    pull.source.map_or("failed", ImageSource::as_str),
                    pull.registry,
                    seconds(pull.duration),
                    seconds(pull.wait),
                    pull.bytes,
                    pull.earlier.len()
                )
            }
            Observation::Tracker(TrackerObservation::EventDropped(reason)) => {
                format!("dropped {}", reason.as_str())
            }
            Observation::Pod(..) | Observation::Tracker(_) => return,
        };
        self.lines.push(line);
    }
}

/// A state without the cause.
fn state(state: PodState) -> String {
    match state {
        PodState::InFlight(waiting, _) => format!("InFlight({:?})", waiting.stage()),
        other => format!("{other:?}"),
    }
}

struct World {
    tracker: Tracker,
    seen: Seen,
}

fn config(slos: Vec<SloRule>) -> TrackerConfig {
    TrackerConfig { slos: slos.into(), events: true, ..TrackerConfig::default() }
}

impl World {
    fn new(slos: Vec<SloRule>) -> Self {
        let mut world = Self { tracker: Tracker::new(config(slos)), seen: Seen::default() };
        let (pods, began) = (Vec::new(), at(0));
        world.deliver(0, PodEvent::Listed { pods: pods.into(), began });
        world
    }

    /// Delivers something at a second, and returns what is seen of it.
    fn deliver(&mut self, second: i64, event: PodEvent) -> Vec<String> {
        let seen = &mut self.seen;
        let mut sink = |_, observation: Observation<'_>| seen.take(observation);
        let delivery = delivery(SourceId(0), second, event);
        self.tracker.apply(delivery, &mut sink);
        std::mem::take(&mut self.seen.lines)
    }

    fn applied(&mut self, second: i64, pod: &PodSnapshot) -> Vec<String> {
        self.deliver(second, PodEvent::Applied(pod.clone()))
    }

    /// How many pods in flight have had no event for the startup SLI.
    fn undecided(&self) -> usize {
        let pods = self.tracker.saved_pods();
        pods.filter(|pod| matches!(pod, SavedPod::InFlight(pod) if !pod.has_startup_sli())).count()
    }

    /// Saves the tracker and goes on with a restored one.
    fn restart(&mut self) {
        let (saved, pods) = (self.tracker.saved(), read_back(&self.tracker));
        let slos = saved.rules.to_vec();
        let mut silent = |_, _: Observation<'_>| {};
        self.tracker =
            Tracker::restored(config(slos), saved, pods, SourceSuccessor::Same, &mut silent);
    }
}

/// A pod with an init container `i` and the regular containers `a` and `b`, created at second 0.
fn pod(name: &str) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
    pod.created = Some(at(0));
    let container = |name: &str, kind| ContainerSpec::new(name.into(), kind);
    pod.containers = [
        container("i", ContainerKind::Init),
        container("a", ContainerKind::Regular),
        container("b", ContainerKind::Regular),
    ]
    .into();
    pod.has_init_containers = true;
    pod
}

/// Sets a condition that is True since a second.
fn holds(pod: &mut PodSnapshot, kind: ConditionType, second: i64) {
    let condition =
        StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) };
    pod.conditions.insert(kind, condition);
}

fn event(pod: &str, container: &str, second: i64, reason: EventReason) -> PodEvent {
    PodEvent::Event(KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text(pod), "ns", pod)),
        from_kubelet: true,
        container: Some(EventContainer { name: container.into(), init: container == "i" }),
        first: Some(at(second)),
        named: None,
        occurred: EventOccurrence::default(),
        reason,
        message: None,
    })
}

fn present() -> EventReason {
    let registry = Arc::from("docker.io");
    EventReason::Pulled(Some(PulledMessage::Present { registry }))
}

fn pulled(duration: u64, with_wait: u64) -> EventReason {
    EventReason::Pulled(Some(PulledMessage::Pulled(SuccessfulPull {
        registry: "quay.io".into(),
        duration: Duration::from_secs(duration),
        with_wait: Some(Duration::from_secs(with_wait)),
        bytes: Some(7),
    })))
}

fn failed() -> EventReason {
    let registry = Arc::from("quay.io");
    EventReason::PullFailed { registry }
}

/// Kubernetes lets whoever may create Events in one namespace write any UID into them.
#[test]
fn an_event_with_the_names_of_another_pod_changes_nothing() {
    let pull = || SuccessfulPull {
        registry: "quay.io".into(),
        duration: Duration::from_secs(9),
        with_wait: None,
        bytes: Some(1),
    };
    let reasons = || {
        [
            EventReason::Pulling,
            EventReason::Pulled(Some(PulledMessage::Pulled(pull()))),
            EventReason::Created,
            EventReason::Started,
            EventReason::PullFailed { registry: "quay.io".into() },
            EventReason::Warning(SandboxWarning::FailedSandboxNetwork),
            EventReason::VolumeAttached,
            EventReason::Capacity { state: CapacityState::NoScaleUp, by: "attacker".into() },
        ]
    };
    let uid = PodUid::from_text("p");
    for (namespace, name) in [("attacker", "p"), ("ns", "q"), ("attacker", "q")] {
        let mut world = World::new(vec![rule("network", 60)]);
        let mut pod = pod("p");
        pod.started = Some(at(3));
        holds(&mut pod, ConditionType::PodScheduled, 3);
        world.applied(3, &pod);
        let before = world.tracker.in_flight(uid).map(|pod| pod.record());
        for reason in reasons() {
            let PodEvent::Event(mut planted) = event("p", "a", 4, reason) else {
                panic!("an Event");
            };
            planted.pod = Some(InvolvedPod::new(uid, namespace, name));
            planted.message = Some("all is well".into());
            let seen = world.deliver(4, PodEvent::Event(planted));
            assert_eq!(seen, ["dropped other"], "{namespace}/{name}");
        }
        let after = world.tracker.in_flight(uid).map(|pod| pod.record());
        assert_eq!(before, after, "{namespace}/{name}");
        // The kubelet's own Event counts as before.
        let seen = world.deliver(5, event("p", "a", 5, EventReason::Started));
        assert!(seen.contains(&"p network by event".to_owned()), "{seen:?}");
    }
}

/// One delivery of a random history.
#[derive(Clone, Debug)]
enum Act {
    Snapshot {
        pod: usize,
        /// By condition: since when it is True
        conditions: [Option<i64>; 5],
        started: [Option<i64>; 3],
        gated: bool,
        stateful: bool,
        phase: PodPhase,
        deleted: bool,
    },
    Event {
        pod: usize,
        container: usize,
        first: Option<i64>,
        reason: EventReason,
    },
    List,
    Restart,
}

const PODS: usize = 3;

fn act() -> impl Strategy<Value = Act> {
    let second = || prop::option::weighted(0.5, 1..30_i64);
    let rarely = || prop::bool::weighted(0.05);
    let phase = prop::sample::select(vec![
        PodPhase::Active,
        PodPhase::Active,
        PodPhase::Active,
        PodPhase::Active,
        PodPhase::Active,
        PodPhase::Succeeded,
        PodPhase::Failed,
    ]);
    let conditions = [second(), second(), second(), second(), second()];
    let ready_rarely = prop::bool::weighted(0.2);
    let started = [second(), second(), second()];
    let flags = (rarely(), rarely(), rarely(), phase);
    let snapshot = (0..PODS, conditions, ready_rarely, started, flags);
    let snapshot = snapshot.prop_map(|(pod, mut conditions, ready, started, flags)| {
        let (gated, stateful, deleted, phase) = flags;
        if !ready {
            conditions[4] = None;
        }
        Act::Snapshot { pod, conditions, started, gated, stateful, phase, deleted }
    });
    let reason = prop_oneof![
        Just(EventReason::Pulling),
        Just(present()),
        (0..9_u64, 0..9_u64).prop_map(|(duration, wait)| pulled(duration, duration + wait)),
        Just(EventReason::Pulled(None)),
        Just(failed()),
        Just(EventReason::Started),
        (1..30_i64).prop_map(|second| EventReason::Scheduled(at(second).plus_nanos(250_000_000))),
    ];
    let first = prop::option::weighted(0.9, 1..30_i64);
    let event = (0..PODS, 0..4_usize, first, reason);
    let event = event.prop_map(|(pod, container, first, reason)| Act::Event {
        pod,
        container,
        first,
        reason,
    });
    prop_oneof![
        4 => snapshot,
        6 => event,
        1 => Just(Act::List),
        1 => Just(Act::Restart),
    ]
}

/// The delivery that an act makes.
fn deliverable(act: &Act) -> Option<PodEvent> {
    match act {
        Act::Snapshot { pod: number, conditions, started, gated, stateful, phase, deleted } => {
            let mut snapshot = pod(&format!("p{number}"));
            snapshot.has_init_containers = *number > 0;
            let kinds = [
                ConditionType::PodScheduled,
                ConditionType::PodReadyToStartContainers,
                ConditionType::Initialized,
                ConditionType::ContainersReady,
                ConditionType::Ready,
            ];
            for (kind, second) in kinds.into_iter().zip(conditions) {
                if let Some(second) = second {
                    holds(&mut snapshot, kind, *second);
                }
            }
            let ran = started[0].map(i64::unsigned_abs).unwrap_or_default();
            snapshot.init_runs = Duration::from_secs(ran);
            for (container, second) in snapshot.containers.iter_mut().zip(started) {
                container.started = second.map(at);
            }
            snapshot.started = started[0].map(at);
            (snapshot.gated, snapshot.is_stateful, snapshot.phase) = (*gated, *stateful, *phase);
            Some(match deleted {
                true => PodEvent::Deleted(snapshot),
                false => PodEvent::Applied(snapshot),
            })
        }
        Act::Event { pod, container, first, reason } => {
            let container = ["i", "a", "b", "unknown"][*container];
            let PodEvent::Event(event) = event(&format!("p{pod}"), container, 1, reason.clone())
            else {
                return None;
            };
            let first = first.map(at);
            Some(PodEvent::Event(KubeEvent { first, ..event }))
        }
        Act::List => Some(PodEvent::Listed { pods: Vec::new().into(), began: at(40) }),
        Act::Restart => None,
    }
}

/// Runs a history, with its restarts or without them; what is seen, delivery by delivery and pod by
/// pod.
fn run(acts: &[Act], restarts: bool) -> Vec<Vec<String>> {
    let mut world = World::new(Vec::new());
    let seen = acts.iter().map(|act| {
        let mut seen = match deliverable(act) {
            Some(event) => world.deliver(40, event),
            None => Vec::new(),
        };
        if restarts && matches!(act, Act::Restart) {
            world.restart();
        }
        let Seen { discovered, judged, .. } = world.seen;
        assert_eq!(judged + world.undecided(), discovered, "after {act:?}");
        // A list ends the pods that are absent from it in no particular order.
        seen.sort_by_key(|line| line.split(' ').next().map(str::to_owned));
        seen
    });
    seen.collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        rng_seed: RngSeed::Fixed(0x706f_6469_6e69_7432),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Each pod has one event for the startup SLI, and has had it when it ends.
    #[test]
    fn every_pod_has_one_startup_sli_once_it_has_ended(acts in prop::collection::vec(act(), 1..60)) {
        let lines = run(&acts, true).concat();
        for number in 0..PODS {
            let mine = lines.iter().filter(|line| line.starts_with(&format!("p{number} ")));
            let (mut events, mut lives) = (0, 0);
            for line in mine {
                events += usize::from(line.contains(" sli"));
                if line.contains(" in Finished") {
                    lives += 1;
                    prop_assert_eq!(events, lives, "{}", line);
                }
            }
            prop_assert!(events == lives || events == lives + 1);
        }
    }

    #[test]
    fn a_restart_changes_nothing(acts in prop::collection::vec(act(), 1..60)) {
        prop_assert_eq!(run(&acts, true), run(&acts, false));
    }
}
