//! The budget of messages, and whose message is kept.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::kube_event::{EventOccurrence, SandboxWarning};
use crate::pod::{
    ContainerKind, ContainerSpec, ContainerState, NotScheduled, NotScheduledReason, PodUid,
    WaitingMessage, WaitingReason,
};

fn pod() -> PodSnapshot {
    PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod")
}

fn waiting(stage: Stage, cause: Cause) -> WaitReason {
    WaitReason::new(stage, cause).unwrap()
}

#[test]
fn messages_take_no_more_than_their_budget_and_give_it_back() {
    let long = "x".repeat(1_000);
    let room = 64 * MOST_BYTES_OF_ONE;
    // Other pods have said as much.
    let others = MOST_BYTES - room;
    let mut budget = MessageBudget(others);
    let most = room + MOST_BYTES_AT_ONCE;
    let mut messages: Vec<Option<Message>> = Vec::new();
    messages.resize_with(2 * most / MOST_BYTES_OF_ONE, || None);
    let said = |message: &Option<Message>| message.as_ref().map(|said| said.text.clone());
    let about = waiting(Stage::Network, Cause::Cni);
    let new = |text| Some(NewMessage { about, is_of_attachment: false, volume_image: None, text });
    for message in &mut messages {
        budget.replace(message, new(&long));
    }
    let kept = messages.iter().flatten();
    assert!(kept.clone().all(|message| message.text.len() == MOST_BYTES_OF_ONE));
    assert_eq!(kept.count(), most / MOST_BYTES_OF_ONE);
    assert!(budget.is_full());
    let last = messages.last_mut().unwrap();
    budget.replace(last, new("short"));
    assert_eq!(*last, None, "there is no room");
    budget.replace(&mut messages[0], new("other"));
    let last = messages.last_mut().unwrap();
    budget.replace(last, new("short"));
    assert_eq!(said(last).as_deref(), Some("short"));
    for message in &messages {
        budget.release(message.as_ref());
    }
    assert_eq!(budget.0, others);
}

#[test]
fn the_scheduler_speaks_while_the_pod_is_not_scheduled() {
    let mut pod = pod();
    assert_eq!(said_by_pod(&pod, waiting(Stage::Scheduling, Cause::Queue)), None);
    pod.not_scheduled = Some(Box::new(NotScheduled {
        is_false: true,
        reason: NotScheduledReason::Unschedulable,
        message: "0/3 nodes are available: 3 Insufficient cpu.".into(),
    }));
    let unschedulable = |cause| {
        let said = said_by_pod(&pod, waiting(Stage::Unschedulable, cause));
        said.map(|said| said.text)
    };
    let said = "0/3 nodes are available: 3 Insufficient cpu.";
    assert_eq!(unschedulable(Cause::Resources), Some(said));
    assert_eq!(unschedulable(Cause::Terminating), None);
    assert_eq!(said_by_pod(&pod, waiting(Stage::Readiness, Cause::ReadinessGate)), None);
}

#[test]
fn the_container_with_the_problem_speaks() {
    let mut pod = pod();
    let container = |name: &str, reason| ContainerSpec {
        state: ContainerState::Waiting(reason),
        ..ContainerSpec::new(name.into(), ContainerKind::Regular)
    };
    pod.containers = [
        container("a", WaitingReason::CrashLoopBackOff),
        container("b", WaitingReason::ImagePullBackOff),
        container("c", WaitingReason::ErrImagePull),
    ]
    .into();
    let message = |container, text: &str| WaitingMessage { container, text: text.into() };
    let messages = vec![message(0, "back-off"), message(1, "not found"), message(2, "denied")];
    pod.waiting_messages = Some(Box::new(messages));
    let said = |cause| {
        let said = said_by_pod(&pod, waiting(Stage::Containers, cause));
        said.map(|said| said.text)
    };
    assert_eq!(said(Cause::Image), Some("not found"));
    assert_eq!(said(Cause::Crash), Some("back-off"));
    assert_eq!(said(Cause::Probe), None);
}

#[test]
fn a_warning_speaks_of_the_network() {
    let mut event = KubeEvent {
        pod: None,
        from_kubelet: true,
        container: None,
        first: None,
        named: None,
        occurred: EventOccurrence::default(),
        reason: EventReason::Warning(SandboxWarning::FailedSandboxNetwork),
        message: Some("no address left".into()),
    };
    let about = waiting(Stage::Network, Cause::Cni);
    let text = "no address left";
    assert_eq!(
        said_by_event(&event),
        Some(NewMessage { about, is_of_attachment: false, volume_image: None, text })
    );
    event.message = Some("".into());
    assert_eq!(said_by_event(&event), None);
    event.message = Some(text.into());
    event.reason = EventReason::Other;
    assert_eq!(said_by_event(&event), None);
}
