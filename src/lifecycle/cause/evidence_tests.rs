use std::sync::Arc;

use super::*;
use crate::kube_event::EventContainer;
use crate::pod::{Container, ContainerKind, ContainerState, NotScheduled, PodUid, WaitingReason};
use crate::timestamp::Timestamp;

fn pod() -> PodSnapshot {
    PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod")
}

fn cause_in(stage: Stage, pod: &PodSnapshot, events: &[KubeEvent]) -> Cause {
    let mut evidence = WaitEvidence::default();
    evidence.update(pod);
    events.iter().for_each(|event| evidence.take_event(event));
    evidence.waiting(stage).cause()
}

#[test]
fn a_pod_that_is_being_deleted_is_terminating_in_every_stage() {
    let mut pod = pod();
    for stage in Stage::ALL {
        assert_ne!(cause_in(stage, &pod, &[]), Cause::Terminating);
    }
    pod.terminating = true;
    for stage in Stage::ALL {
        assert_eq!(cause_in(stage, &pod, &[]), Cause::Terminating);
    }
}

#[test]
fn the_rows_of_the_scheduler_count_in_their_order() {
    use NotScheduledReason::{Other, SchedulerError, SchedulingGated, Unschedulable};
    let said = |is_false, reason, message: &str| {
        let message = message.into();
        Some(Box::new(NotScheduled {
            is_false,
            reason,
            message,
        }))
    };
    let full = "0/3 nodes are available: 3 Insufficient cpu.";
    let gang = "pod group \"a\" is not complete";
    for (not_scheduled, group, nominated, expected) in [
        (None, true, true, Cause::Queue),
        (said(true, SchedulingGated, gang), true, true, Cause::Queue),
        (said(true, Unschedulable, gang), true, true, Cause::Gang),
        (
            said(true, Unschedulable, gang),
            false,
            true,
            Cause::Preempting,
        ),
        (said(true, SchedulerError, gang), true, false, Cause::Gang),
        (
            said(true, SchedulerError, full),
            true,
            true,
            Cause::Preempting,
        ),
        (
            said(true, SchedulerError, full),
            true,
            false,
            Cause::SchedulerError,
        ),
        (
            said(true, Unschedulable, full),
            true,
            false,
            Cause::Resources,
        ),
        (said(true, Other, ""), false, false, Cause::Other),
        (said(false, Other, full), false, true, Cause::Resources),
        (said(false, SchedulerError, gang), true, true, Cause::Gang),
    ] {
        let mut pod = pod();
        pod.not_scheduled = not_scheduled;
        pod.has_scheduling_group = group;
        pod.has_nominated_node = nominated;
        for stage in [Stage::Scheduling, Stage::Unschedulable] {
            assert_eq!(cause_in(stage, &pod, &[]), expected, "{pod:?}");
        }
    }
}

fn event(from_kubelet: bool, container: Option<(&str, bool)>, reason: EventReason) -> KubeEvent {
    KubeEvent {
        pod: Some(PodUid::from_text("u")),
        from_kubelet,
        container: container.map(|(name, init)| EventContainer {
            name: name.into(),
            init,
        }),
        first: None,
        named: None,
        reason,
        message: None,
    }
}

#[test]
fn the_last_warning_says_why_the_network_is_not_ready() {
    let mut pod = pod();
    let network = |pod: &PodSnapshot, warnings: &[SandboxWarning]| {
        let warned = |warning: &SandboxWarning| event(false, None, EventReason::Warning(*warning));
        let events: Vec<_> = warnings.iter().map(warned).collect();
        cause_in(Stage::Network, pod, &events)
    };
    use SandboxWarning as Warning;
    assert_eq!(network(&pod, &[Warning::FailedMount]), Cause::Acknowledge);
    pod.started = Some(Timestamp::from_seconds(1));
    assert_eq!(network(&pod, &[]), Cause::Unknown);
    for (stated, expected) in [
        (SandboxNotReady::NoSandbox, Cause::NoSandbox),
        (SandboxNotReady::NoIp, Cause::NoIp),
    ] {
        pod.sandbox_not_ready = Some(stated);
        assert_eq!(network(&pod, &[]), expected);
    }
    for (warning, expected) in [
        (Warning::FailedPrepareDynamicResources, Cause::Claim),
        (Warning::FailedMount, Cause::Volume),
        (Warning::FailedAttachVolume, Cause::Volume),
        (Warning::FailedMapVolume, Cause::Volume),
        (Warning::NetworkNotReady, Cause::Cni),
        (Warning::FailedSandboxNetwork, Cause::Cni),
        (Warning::FailedSandbox, Cause::Sandbox),
    ] {
        assert_eq!(network(&pod, &[Warning::FailedMount, warning]), expected);
    }
}

fn container(name: &str, kind: ContainerKind, state: ContainerState, started: bool) -> Container {
    Container {
        name: Arc::from(name),
        kind,
        state,
        started: started.then_some(Timestamp::from_seconds(1)),
        has_restarted: false,
    }
}

fn with(containers: &[Container]) -> PodSnapshot {
    PodSnapshot {
        containers: containers.into(),
        ..pod()
    }
}

#[test]
fn a_pod_of_very_many_containers_is_followed_in_part() {
    let one = container("web", ContainerKind::Regular, ContainerState::Running, true);
    for (containers, followed) in [(1, 1), (64, 64), (65, 64), (5000, 64)] {
        let mut evidence = WaitEvidence::default();
        evidence.update(&with(&vec![one.clone(); containers]));
        assert_eq!(evidence.containers.len(), followed);
        assert_eq!(evidence.has_more_containers, containers > followed);
    }
    assert_eq!(size_of::<ContainerEvidence>(), 24);
}

#[test]
fn the_worst_container_of_the_stage_decides() {
    use ContainerState::{Failed, NoStatus, Running, Succeeded, Waiting};
    use WaitingReason as Reason;
    let regular = |state| container("a", ContainerKind::Regular, state, false);
    let cause = |states: &[ContainerState]| {
        let containers: Vec<_> = states.iter().map(|state| regular(*state)).collect();
        cause_in(Stage::Containers, &with(&containers), &[])
    };
    assert_eq!(cause(&[]), Cause::Probe);
    assert_eq!(cause(&[Running, Succeeded]), Cause::Probe);
    assert_eq!(cause(&[Running, NoStatus]), Cause::Create);
    assert_eq!(cause(&[Waiting(Reason::Other)]), Cause::Create);
    assert_eq!(cause(&[Waiting(Reason::Other), Failed]), Cause::Crash);
    let crash = Waiting(Reason::CrashLoopBackOff);
    assert_eq!(cause(&[NoStatus, crash]), Cause::Crash);
    let config = Waiting(Reason::CreateContainerConfigError);
    assert_eq!(cause(&[crash, config]), Cause::Config);
    let image = Waiting(Reason::ImagePullBackOff);
    assert_eq!(cause(&[crash, config, image]), Cause::Image);
}

#[test]
fn the_first_init_container_that_is_not_done_decides() {
    use ContainerKind::{Init, Regular, RestartableInit};
    use ContainerState::{NoStatus, Running, Succeeded, Waiting};
    let image = Waiting(WaitingReason::ErrImagePull);
    let crash = Waiting(WaitingReason::CrashLoopBackOff);
    let init = |containers: &[Container]| cause_in(Stage::Init, &with(containers), &[]);
    let done = container("a", Init, Succeeded, true);
    let sidecar = |state, started| container("b", RestartableInit, state, started);
    let last = container("c", Init, crash, false);
    let regular = container("d", Regular, image, false);
    let all = [
        done.clone(),
        sidecar(Running, true),
        last.clone(),
        regular.clone(),
    ];
    assert_eq!(init(&all), Cause::Crash);
    let waits = [done.clone(), sidecar(image, false), last, regular.clone()];
    assert_eq!(init(&waits), Cause::Image);
    let restarts = container("a", Init, Running, true);
    assert_eq!(init(&[restarts, sidecar(image, false)]), Cause::Run);
    let unknown = container("a", Init, NoStatus, false);
    assert_eq!(init(&[unknown]), Cause::Create);
    assert_eq!(init(&[done, regular]), Cause::Run);
}

#[test]
fn sidecars_belong_to_the_stage_of_the_containers_and_init_containers_do_not() {
    use ContainerKind::{Init, RestartableInit};
    let failed = |kind| container("a", kind, ContainerState::Failed, true);
    let containers = |one| cause_in(Stage::Containers, &with(&[one]), &[]);
    assert_eq!(containers(failed(Init)), Cause::Probe);
    assert_eq!(containers(failed(RestartableInit)), Cause::Crash);
}

#[test]
fn a_pull_is_one_that_the_kubelet_began_and_has_not_ended() {
    use ContainerKind::{Init, Regular};
    let waits = ContainerState::Waiting(WaitingReason::Other);
    let pod = with(&[
        container("a", Init, ContainerState::Succeeded, true),
        container("a", Regular, waits, false),
        container("b", Regular, ContainerState::NoStatus, false),
    ]);
    let pulling = |name| event(true, Some((name, false)), EventReason::Pulling);
    let pulled = |name| event(true, Some((name, false)), EventReason::Pulled(None));
    let cause = |events: &[KubeEvent]| cause_in(Stage::Containers, &pod, events);
    assert_eq!(cause(&[]), Cause::Create);
    assert_eq!(cause(&[pulling("a")]), Cause::Pull);
    assert_eq!(cause(&[pulling("a"), pulled("a")]), Cause::Create);
    assert_eq!(
        cause(&[pulling("a"), pulled("a"), pulling("a")]),
        Cause::Create
    );
    assert_eq!(
        cause(&[pulling("a"), pulled("a"), pulling("b")]),
        Cause::Pull
    );
    assert_eq!(cause(&[pulling("c")]), Cause::Create);
    let of_init = event(true, Some(("a", true)), EventReason::Pulling);
    assert_eq!(cause(&[of_init]), Cause::Create);
    let by_another = event(false, Some(("a", false)), EventReason::Pulling);
    assert_eq!(cause(&[by_another]), Cause::Create);
    let started = with(&[container("a", Regular, waits, true)]);
    let events = [pulling("a")];
    assert_eq!(
        cause_in(Stage::Containers, &started, &events),
        Cause::Create
    );
}

#[test]
fn what_events_said_stays_when_the_next_snapshot_comes() {
    let waits = ContainerState::Waiting(WaitingReason::Other);
    let pod = with(&[container("a", ContainerKind::Regular, waits, false)]);
    let mut evidence = WaitEvidence::default();
    evidence.update(&pod);
    evidence.take_event(&event(true, Some(("a", false)), EventReason::Pulling));
    evidence.update(&pod);
    assert_eq!(evidence.waiting(Stage::Containers).cause(), Cause::Pull);
}
