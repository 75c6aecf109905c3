//! What is known of the capacity of one pod.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::kube_event::{EventOccurrence, InvolvedPod, KubeEvent};
use crate::lifecycle::Record;
use crate::lifecycle::delivery::PodEvent;
use crate::lifecycle::record_fixtures::{Ends, at, deliver};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::pod::{
    ConditionStatus, ConditionType, NotScheduled, NotScheduledReason, PodSnapshot, PodUid,
    StatusCondition,
};

fn config() -> TrackerConfig {
    TrackerConfig { events: true, ..TrackerConfig::default() }
}

fn pod() -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text("a"), "ns", "a");
    pod.created = Some(at(0));
    pod
}

/// The pod with its condition PodScheduled.
fn scheduled(status: ConditionStatus) -> PodSnapshot {
    let mut pod = pod();
    let condition = StatusCondition { status, last_transition: Some(at(1)) };
    pod.conditions.insert(ConditionType::PodScheduled, condition);
    if status != ConditionStatus::True {
        pod.unschedulable = true;
        pod.not_scheduled = Some(Box::new(NotScheduled {
            is_false: true,
            reason: NotScheduledReason::Unschedulable,
            message: "0/1 nodes are available: 1 Too many pods.".into(),
        }));
    }
    pod
}

fn said(state: CapacityState, by: &str, message: &str) -> PodEvent {
    PodEvent::Event(KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text("a"), "ns", "a")),
        from_kubelet: false,
        container: None,
        first: None,
        named: None,
        occurred: EventOccurrence::default(),
        reason: EventReason::Capacity { state, by: by.into() },
        message: (!message.is_empty()).then(|| message.into()),
    })
}

fn record(tracker: &Tracker) -> Record {
    tracker.in_flight(PodUid::from_text("a")).unwrap().record()
}

/// State, who says so, since which second, and in what words.
type Said<'a> = (CapacityState, Option<&'a str>, Option<i64>, Option<&'a str>);

/// What the record says.
fn capacity(record: &Record) -> Option<Said<'_>> {
    let found = record.unschedulable.as_ref()?;
    let since = found.since.map(|since| since.nanos_since(at(0)) / 1_000_000_000);
    let message = found.message.as_deref();
    Some((found.state, found.by.as_deref(), since, message))
}

#[test]
fn a_record_has_the_state_that_the_last_event_gave() {
    use CapacityState::{NoScaleUp, ScalingUp, Unknown};
    let (mut tracker, mut sink) = (Tracker::new(config()), Ends::default());
    deliver(&mut tracker, &mut sink, 1, PodEvent::Applied(pod()));
    deliver(&mut tracker, &mut sink, 2, said(NoScaleUp, "karpenter", "no limit is left"));
    assert_eq!(capacity(&record(&tracker)), None, "it is not unschedulable");
    let full = PodEvent::Applied(scheduled(ConditionStatus::False));
    deliver(&mut tracker, &mut sink, 3, full);
    let none = Some((NoScaleUp, Some("karpenter"), Some(2), Some("no limit is left")));
    assert_eq!(capacity(&record(&tracker)), none);
    deliver(&mut tracker, &mut sink, 5, said(NoScaleUp, "karpenter", "nothing fits"));
    let again = Some((NoScaleUp, Some("karpenter"), Some(2), Some("nothing fits")));
    assert_eq!(capacity(&record(&tracker)), again, "it says so since then");
    deliver(&mut tracker, &mut sink, 6, said(NoScaleUp, "", ""));
    let nameless = Some((NoScaleUp, None, Some(6), None));
    assert_eq!(capacity(&record(&tracker)), nameless, "somebody else says so");
    deliver(&mut tracker, &mut sink, 7, said(ScalingUp, "cluster-autoscaler", "3->4"));
    let adds = Some((ScalingUp, Some("cluster-autoscaler"), Some(7), Some("3->4")));
    assert_eq!(capacity(&record(&tracker)), adds);

    let (saved, pods) = (tracker.saved(), read_back(&tracker));
    let mut tracker = Tracker::restored(config(), saved, pods, SourceSuccessor::Same, &mut sink);
    assert_eq!(capacity(&record(&tracker)), adds, "a restart changes nothing");
    let bound = PodEvent::Applied(scheduled(ConditionStatus::True));
    deliver(&mut tracker, &mut sink, 9, bound);
    assert_eq!(capacity(&record(&tracker)), adds, "it keeps the last one");
    deliver(&mut tracker, &mut sink, 10, PodEvent::Deleted(scheduled(ConditionStatus::True)));
    assert_eq!(capacity(&sink.0[0].record()), adds);

    let mut tracker = Tracker::new(config());
    let full = PodEvent::Applied(scheduled(ConditionStatus::False));
    deliver(&mut tracker, &mut sink, 1, full);
    assert_eq!(capacity(&record(&tracker)), Some((Unknown, None, None, None)));
}

#[test]
fn without_events_no_record_has_a_state() {
    let mut tracker = Tracker::new(TrackerConfig::default());
    let mut sink = Ends::default();
    let full = PodEvent::Applied(scheduled(ConditionStatus::False));
    deliver(&mut tracker, &mut sink, 1, full);
    let news = said(CapacityState::ScalingUp, "cluster-autoscaler", "");
    deliver(&mut tracker, &mut sink, 2, news);
    assert_eq!(capacity(&record(&tracker)), None);
}

#[test]
fn messages_take_room_until_the_pod_is_gone() {
    let mut budget = MessageBudget::default();
    let mut capacity = PodCapacity::default();
    let event = |message: String| match said(CapacityState::Nominated, "karpenter", &message) {
        PodEvent::Event(event) => event,
        other => unreachable!("{other:?}"),
    };
    let first = budget.exchange(None, Some("x"));
    capacity.take_event(&event("y".repeat(1_000)), at(1), &mut budget);
    assert_eq!(
        capacity.message().map(str::len),
        Some(crate::lifecycle::messages::MOST_BYTES_OF_ONE)
    );
    capacity.take_event(&event("z".to_owned()), at(2), &mut budget);
    capacity.release(&mut budget);
    budget.exchange(first.as_deref(), None);
    assert_eq!(budget, MessageBudget::default());
}

#[test]
fn the_name_of_a_chosen_node_is_that_of_its_claim() {
    for (message, chosen) in [
        ("Pod should schedule on: nodeclaim/default-x7k2p", Some(("default-x7k2p", None))),
        (
            "Pod should schedule on: nodeclaim/default-x7k2p, node/ip-10-0-0-1.ec2.internal",
            Some(("default-x7k2p", Some("ip-10-0-0-1.ec2.internal"))),
        ),
        ("Pod should schedule on: machine/default-x7k2p", Some(("default-x7k2p", None))),
        ("Pod should schedule on: node/ip-10-0-0-1", Some(("ip-10-0-0-1", None))),
        ("Pod should schedule on ip-10-0-0-1", Some(("ip-10-0-0-1", None))),
        ("", None),
    ] {
        assert_eq!(chosen_node(message), chosen, "{message}");
    }
}

#[test]
fn choices_count_within_half_an_hour_and_are_bounded() {
    use CapacityState::{NoScaleUp, Nominated};
    let mut known = PodCapacity::default();
    let mut budget = MessageBudget::default();
    let mut say = |state, name: &str, second: i64| {
        let PodEvent::Event(event) = said(state, "karpenter", &format!("nodeclaim/{name}")) else {
            unreachable!()
        };
        known.take_event(&event, at(second), &mut budget);
        known.choices(None).map(|choices| choices.chosen)
    };
    assert_eq!(say(Nominated, "a", 0), None);
    assert_eq!(say(Nominated, "b", 600), None);
    assert_eq!(say(Nominated, "a", 1_200), None, "the same again");
    assert_eq!(say(Nominated, "c", 2_400), Some(3));
    assert_eq!(say(NoScaleUp, "", 2_410), None, "it helps no more");
    assert_eq!(say(Nominated, "d", 2_900), Some(3), "one of the four is too long ago");
    for number in 0..100 {
        say(Nominated, &number.to_string(), 3_010);
    }
    assert_eq!(say(Nominated, "e", 3_020), Some(MOST_CHOICES));
}
