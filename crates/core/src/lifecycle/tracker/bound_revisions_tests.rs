//! Whether a selector counts beside a fault depends on what is known of other pods of the revision.

use super::fixtures::{at, delivery};
use super::*;
use crate::kube_event::{EventOccurrence, EventReason, InvolvedPod, KubeEvent};
use crate::lifecycle::cause::Cause;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::observation::Observation;
use crate::lifecycle::record::Progress;
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::pod::{
    ConditionStatus, ConditionType, LastingName, NotScheduled, NotScheduledReason, Revision,
    StatusCondition,
};

const SAID: &str = "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match Pod's node \
                    affinity/selector. preemption: 0/4 nodes are available.";
const OF_MEANT_NODES: &str =
    "0/4 nodes are available: 1 node(s) were unschedulable, … preemption: 0/4 nodes are available.";

fn pod(uid: &str, workload: &str) -> PodSnapshot {
    let workload = LastingName::new("StatefulSet", workload, &[]);
    PodSnapshot {
        revision: Some(Revision::new("shop", &workload, "7c9d")),
        created: Some(at(0)),
        ..PodSnapshot::bare(PodUid::from_text(uid), "shop", uid)
    }
}

fn bound(workload: &str) -> PodSnapshot {
    PodSnapshot { is_bound: true, ..pod("bound", workload) }
}

fn unschedulable() -> PodSnapshot {
    let mut pod = pod("a", "web");
    let condition =
        StatusCondition { status: ConditionStatus::False, last_transition: Some(at(1)) };
    pod.conditions.insert(ConditionType::PodScheduled, condition);
    pod.unschedulable = true;
    let reason = NotScheduledReason::Unschedulable;
    pod.not_scheduled =
        Some(Box::new(NotScheduled { is_false: true, reason, message: SAID.into() }));
    pod
}

fn config() -> TrackerConfig {
    TrackerConfig { events: true, ..TrackerConfig::default() }
}

fn apply(tracker: &mut Tracker, events: Vec<PodEvent>) {
    for (second, event) in (2..).zip(events) {
        tracker.apply(delivery(SourceId(0), second, event), &mut |_, _: Observation<'_>| {});
    }
}

/// Where the pod `a` waits, why, and what is said of it.
fn waits(tracker: &Tracker) -> Option<(Stage, Cause, Option<String>)> {
    let record = tracker.in_flight(PodUid::from_text("a"))?.record();
    let Progress::InFlight { waiting, .. } = record.progress else {
        return None;
    };
    assert_eq!(record.causes.len(), 1, "{:?}", record.causes);
    Some((waiting.stage(), waiting.cause(), record.message.map(|said| said.to_string())))
}

fn after(events: Vec<PodEvent>) -> Option<(Stage, Cause, Option<String>)> {
    let mut tracker = Tracker::new(config());
    apply(&mut tracker, events);
    waits(&tracker)
}

fn list(pods: Vec<PodSnapshot>) -> PodEvent {
    PodEvent::Listed { pods: pods.into(), began: at(1) }
}

#[test]
fn a_selector_counts_unless_another_pod_of_the_revision_is_or_was_bound() {
    use PodEvent::{Applied, Deleted};
    let selector = Some((Stage::Unschedulable, Cause::Affinity, Some(SAID.to_owned())));
    let cordon = Some((Stage::Unschedulable, Cause::Taint, Some(OF_MEANT_NODES.to_owned())));
    let waiting = || Applied(unschedulable());
    assert_eq!(after(vec![waiting()]), selector);
    assert_eq!(after(vec![Applied(bound("web")), waiting()]), cordon);
    assert_eq!(after(vec![Applied(bound("api")), waiting()]), selector);
    assert_eq!(after(vec![Applied(pod("b", "web")), waiting()]), selector);
    let gone = vec![Applied(bound("web")), Deleted(bound("web")), waiting()];
    assert_eq!(after(gone), cordon);
    // What counts is what is known with the newest version of the pod ...
    assert_eq!(after(vec![waiting(), Applied(bound("web"))]), selector);
    // ... and all of a list is known with each of its pods.
    assert_eq!(after(vec![list(vec![unschedulable(), bound("web")])]), cordon);
    assert_eq!(after(vec![list(vec![unschedulable(), bound("api")])]), selector);
}

#[test]
fn a_checkpoint_keeps_which_revisions_are_bound() {
    let mut before = Tracker::new(config());
    let bound = bound("web");
    apply(&mut before, vec![PodEvent::Applied(bound.clone()), PodEvent::Deleted(bound)]);
    let (saved, pods) = (before.saved(), read_back(&before));
    let mut sink = |_, _: Observation<'_>| {};
    let mut tracker = Tracker::restored(config(), saved, pods, SourceSuccessor::Same, &mut sink);
    apply(&mut tracker, vec![PodEvent::Applied(unschedulable())]);
    assert_eq!(waits(&tracker).map(|(_, cause, _)| cause), Some(Cause::Taint));
}

#[test]
fn a_scheduler_speaks_in_events_while_the_status_has_no_condition() {
    use PodEvent::Applied;
    let event = |message: &str| {
        PodEvent::Event(KubeEvent {
            pod: Some(InvolvedPod::new(PodUid::from_text("a"), "shop", "a")),
            from_kubelet: false,
            container: None,
            first: None,
            named: None,
            occurred: EventOccurrence::default(),
            reason: EventReason::FailedScheduling,
            message: Some(message.into()),
        })
    };
    let told = |events: Vec<PodEvent>| {
        let mut tracker = Tracker::new(config());
        apply(&mut tracker, events);
        let record = tracker.in_flight(PodUid::from_text("a"))?.record();
        let Progress::InFlight { waiting, .. } = record.progress else {
            return None;
        };
        Some((waiting.stage(), waiting.cause(), record.message.map(|said| said.to_string())))
    };
    let fargate = "Fargate capacity is unavailable at this time";
    let waiting = || Applied(pod("a", "web"));
    let scheduling = |cause, said: &str| Some((Stage::Scheduling, cause, Some(said.to_owned())));
    assert_eq!(told(vec![waiting(), event(fargate)]), scheduling(Cause::Other, fargate));
    let again = vec![waiting(), event(fargate), waiting(), event(SAID)];
    assert_eq!(told(again), scheduling(Cause::Affinity, SAID));
    let others = vec![Applied(bound("web")), waiting(), event(SAID)];
    assert_eq!(told(others), scheduling(Cause::Taint, OF_MEANT_NODES));
    // The condition says more.
    let conditioned = vec![waiting(), event(fargate), Applied(unschedulable()), event(fargate)];
    let expected = (Stage::Unschedulable, Cause::Affinity, Some(SAID.to_owned()));
    assert_eq!(told(conditioned), Some(expected));
}
