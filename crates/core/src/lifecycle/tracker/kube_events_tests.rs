#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use crate::kube_event::{
    CapacityState, EventContainer, EventOccurrence, EventReason, InvolvedPod, KubeEvent,
    PulledMessage, SandboxWarning, SuccessfulPull,
};
use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::observation::{Observation, PodObservation, TrackerObservation};
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, PodSnapshot, PodUid,
    StatusCondition,
};

struct World {
    tracker: Tracker,
}

impl World {
    fn new() -> Self {
        let slos = [rule("network", 60)].into();
        let config = TrackerConfig { slos, events: true, ..TrackerConfig::default() };
        let mut world = Self { tracker: Tracker::new(config) };
        world.deliver(0, PodEvent::Listed { pods: Vec::new().into(), began: at(0) });
        world
    }

    /// Delivers something at a second, and returns what is said of it, as text.
    fn deliver(&mut self, second: i64, event: PodEvent) -> Vec<String> {
        let mut seen = Vec::new();
        let mut sink = |_, observation: Observation<'_>| match observation {
            Observation::Pod(pod, PodObservation::NetworkReady { evidence, .. }) => {
                seen.push(format!("{} network by {}", pod.name, evidence.as_str()));
            }
            Observation::Tracker(TrackerObservation::EventDropped(reason)) => {
                seen.push(format!("dropped {}", reason.as_str()));
            }
            Observation::Tracker(_) => {}
            other => seen.push(format!("{other:?}")),
        };
        self.tracker.apply(delivery(SourceId(0), second, event), &mut sink);
        seen
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
        let mut world = World::new();
        let mut pod = pod("p");
        pod.started = Some(at(3));
        holds(&mut pod, ConditionType::PodScheduled, 3);
        world.deliver(3, PodEvent::Applied(pod));
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
