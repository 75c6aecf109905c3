//! Since when a pod of one list has its cause, by a table.

#![allow(clippy::unwrap_used)]

use super::super::fixtures::{at, delivery};
use super::super::*;
use crate::kube_event::{
    EventContainer, EventOccurrence, EventReason, InvolvedPod, KubeEvent, SandboxWarning,
};
use crate::lifecycle::cause::Cause;
use crate::lifecycle::observation::Observation;
use crate::pod::{ConditionStatus, ConditionType, ContainerSpec, ContainerState, StatusCondition};
use crate::pod::{ContainerKind, WaitingReason};

const CNI: EventReason = EventReason::Warning(SandboxWarning::FailedSandboxNetwork);
const MOUNT: EventReason = EventReason::Warning(SandboxWarning::FailedMount);
const ATTACH: EventReason = EventReason::Warning(SandboxWarning::FailedAttachVolume);

/// The pod was scheduled in this second, which is that of its stage.
const ENTERED: i64 = 10;
/// The list is of this second.
const LISTED: i64 = 100;

fn event(reason: EventReason, first: i64) -> KubeEvent {
    KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text("a"), "ns", "pod")),
        from_kubelet: true,
        container: None,
        first: Some(at(first)),
        named: None,
        occurred: EventOccurrence { first: Some(at(first)), last: None },
        reason,
        message: None,
    }
}

fn pull(container: &str, first: i64) -> KubeEvent {
    KubeEvent {
        container: Some(EventContainer { name: container.into(), init: false }),
        ..event(EventReason::Pulling, first)
    }
}

fn snapshot(has_network: bool) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "pod");
    pod.created = Some(at(0));
    pod.started = Some(at(ENTERED));
    let kinds = [ConditionType::PodScheduled, ConditionType::PodReadyToStartContainers];
    for (kind, holds) in kinds.into_iter().zip([true, has_network]) {
        let status = match holds {
            true => ConditionStatus::True,
            false => ConditionStatus::False,
        };
        let last_transition = Some(at(ENTERED));
        let condition = StatusCondition { status, last_transition };
        pod.conditions.insert(kind, condition);
    }
    let waiting = |name: &str| ContainerSpec {
        state: ContainerState::Waiting(WaitingReason::ContainerCreating),
        ..ContainerSpec::new(name.into(), ContainerKind::Regular)
    };
    pod.containers = ["web", "log"].map(waiting).into();
    pod
}

/// The causes of the pod after one list, with the second in which each began.
fn causes(pod: PodSnapshot, events: &[KubeEvent]) -> Vec<(Cause, i64)> {
    let mut tracker = Tracker::new(TrackerConfig { events: true, ..TrackerConfig::default() });
    let mut sink = |_, _: Observation<'_>| {};
    let (uid, began) = (pod.uid, at(LISTED));
    let pods = vec![pod].into();
    let listed = delivery(SourceId(0), LISTED, PodEvent::Listed { pods, began });
    tracker.apply(listed, &mut sink);
    for event in events {
        let event = PodEvent::Event(event.clone());
        tracker.apply(delivery(SourceId(0), LISTED, event), &mut sink);
    }
    tracker.know_present_causes(events, at(LISTED));
    let record = tracker.in_flight(uid).unwrap().record();
    let second = |time: Timestamp| time.nanos_since(at(0)) / 1_000_000_000;
    let causes = record.causes.iter();
    causes.map(|one| (one.waiting.cause(), second(one.began))).collect()
}

#[test]
fn a_cause_began_when_the_events_that_give_it_happened_first() {
    let without_times = KubeEvent { occurred: EventOccurrence::default(), ..event(CNI, 50) };
    let of_other = KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text("a"), "other", "pod")),
        ..event(CNI, 20)
    };
    for (events, expected) in [
        (vec![], (Cause::Unknown, ENTERED)),
        (vec![event(CNI, 50)], (Cause::Cni, 50)),
        (vec![event(CNI, 60), event(CNI, 40)], (Cause::Cni, 40)),
        // Of another cause, which came before.
        (vec![event(MOUNT, 20), event(CNI, 50)], (Cause::Cni, 50)),
        (vec![event(MOUNT, 20), event(CNI, 50), event(MOUNT, 60)], (Cause::Volume, 20)),
        // Not before the stage, and not after the list.
        (vec![event(CNI, 5)], (Cause::Cni, ENTERED)),
        (vec![event(CNI, LISTED + 1)], (Cause::Cni, LISTED)),
        (vec![event(CNI, LISTED)], (Cause::Cni, LISTED)),
        (vec![without_times], (Cause::Cni, ENTERED)),
        (vec![of_other, event(CNI, 50)], (Cause::Cni, 50)),
        (
            vec![event(ATTACH, 20), event(EventReason::VolumeAttached, 30)],
            (Cause::Unknown, ENTERED),
        ),
        (
            vec![event(ATTACH, 20), event(EventReason::VolumeAttached, 30), event(MOUNT, 40)],
            (Cause::Volume, 20),
        ),
    ] {
        assert_eq!(causes(snapshot(false), &events), [expected], "{events:?}");
    }
}

#[test]
fn a_pull_began_with_what_is_being_pulled() {
    let network = ENTERED;
    for (events, expected) in [
        // A warning of a stage that is over gives nothing.
        (vec![event(CNI, 20)], (Cause::Create, network)),
        (vec![pull("log", 40), pull("web", 30)], (Cause::Pull, 30)),
        (vec![pull("other", 30)], (Cause::Create, network)),
        (
            vec![
                pull("web", 20),
                KubeEvent { reason: EventReason::Pulled(None), ..pull("web", 25) },
                pull("log", 30),
            ],
            (Cause::Pull, 30),
        ),
    ] {
        assert_eq!(causes(snapshot(true), &events), [expected], "{events:?}");
    }
}
