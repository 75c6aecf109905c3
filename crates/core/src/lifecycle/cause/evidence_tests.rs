use std::sync::Arc;

use super::*;
use crate::kube_event::{EventContainer, InvolvedPod, Occurred};
use crate::pod::{
    Condition, ConditionStatus, Container, ContainerKind, ContainerState, NotScheduled, PodUid,
    WaitingReason,
};
use crate::timestamp::Timestamp;

fn pod() -> PodSnapshot {
    PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod")
}

fn cause_in(stage: Stage, pod: &PodSnapshot, events: &[KubeEvent]) -> Cause {
    let beyond_network = Stage::Containers;
    cause_at(Standing { stage, beyond_network }, pod, events)
}

fn cause_at(standing: Standing, pod: &PodSnapshot, events: &[KubeEvent]) -> Cause {
    let mut evidence = WaitEvidence::default();
    evidence.update(pod);
    events.iter().for_each(|event| evidence.take_event(event));
    let waiting = evidence.waiting(standing);
    assert_eq!(waiting.stage(), standing.stage);
    waiting.cause()
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
        Some(Box::new(NotScheduled { is_false, reason, message }))
    };
    let full = "0/3 nodes are available: 3 Insufficient cpu.";
    let gang = "pod group \"a\" is not complete";
    let unhelpful = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No \
                     preemption victims found for incoming pod.";
    let kept = "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to terminating pod on \
                the nominated node.";
    let workload =
        "0/1 nodes are available: 1 gang. preemption: workload aware preemption found victims";
    let group =
        "0/1 nodes are available: 1 Too many pods. preemption: pod group preemption found victims";
    let volumes =
        "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";
    for (not_scheduled, nominated, expected) in [
        (None, true, Cause::Binding),
        (None, false, Cause::Queue),
        (said(true, SchedulingGated, gang), true, Cause::Queue),
        (said(true, Unschedulable, gang), true, Cause::Gang),
        (said(true, Unschedulable, gang), false, Cause::Gang),
        (said(true, Unschedulable, full), true, Cause::Preempting),
        (said(true, Unschedulable, unhelpful), true, Cause::Binding),
        (said(true, Unschedulable, unhelpful), false, Cause::Resources),
        (said(true, Unschedulable, kept), true, Cause::Preempting),
        (said(true, Unschedulable, workload), true, Cause::Gang),
        (said(true, Unschedulable, group), true, Cause::Gang),
        (said(true, SchedulerError, gang), false, Cause::Gang),
        (said(true, SchedulerError, gang), true, Cause::Binding),
        (said(true, SchedulerError, full), true, Cause::Binding),
        (said(true, SchedulerError, full), false, Cause::SchedulerError),
        (said(true, SchedulerError, volumes), false, Cause::Volume),
        (said(true, SchedulerError, "Binding Volumes"), false, Cause::Volume),
        (said(true, Other, unhelpful), true, Cause::Preempting),
        (said(true, Other, ""), false, Cause::Other),
        (said(false, Other, full), true, Cause::Resources),
        (said(false, Unschedulable, unhelpful), true, Cause::Resources),
        (said(false, SchedulerError, gang), true, Cause::Gang),
    ] {
        let mut pod = pod();
        pod.not_scheduled = not_scheduled;
        if let Some(said) = &pod.not_scheduled {
            let status = match said.is_false {
                true => ConditionStatus::False,
                false => ConditionStatus::Unknown,
            };
            state(&mut pod, ConditionType::PodScheduled, status);
        }
        pod.has_nominated_node = nominated;
        for stage in [Stage::Scheduling, Stage::Unschedulable] {
            assert_eq!(cause_in(stage, &pod, &[]), expected, "{pod:?}");
        }
    }
    let mut pod = pod();
    state(&mut pod, ConditionType::PodScheduled, ConditionStatus::True);
    pod.has_nominated_node = true;
    assert_eq!(cause_in(Stage::Scheduling, &pod, &[]), Cause::Queue);
}

fn state(pod: &mut PodSnapshot, kind: ConditionType, status: ConditionStatus) {
    let last_transition = None;
    let condition = Condition { status, last_transition };
    pod.conditions.insert(kind, condition);
}

fn event(from_kubelet: bool, container: Option<(&str, bool)>, reason: EventReason) -> KubeEvent {
    KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text("u"), "ns", "pod")),
        from_kubelet,
        container: container.map(|(name, init)| EventContainer { name: name.into(), init }),
        first: None,
        named: None,
        occurred: Occurred::default(),
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
    for (stated, expected) in
        [(SandboxNotReady::NoSandbox, Cause::NoSandbox), (SandboxNotReady::NoIp, Cause::NoIp)]
    {
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

#[test]
fn an_attached_volume_clears_the_warning_about_it_and_no_other() {
    let mut pod = pod();
    pod.started = Some(Timestamp::from_seconds(1));
    let warned = |warning| event(false, None, EventReason::Warning(warning));
    let attached = || event(false, None, EventReason::VolumeAttached);
    let cause = |events: &[KubeEvent]| cause_in(Stage::Network, &pod, events);
    let (attach, mount) = (SandboxWarning::FailedAttachVolume, SandboxWarning::FailedMount);
    assert_eq!(cause(&[warned(attach), attached()]), Cause::Unknown);
    assert_eq!(
        cause(&[warned(SandboxWarning::FailedSandbox), warned(attach), attached()]),
        Cause::Unknown,
        "no earlier one comes back"
    );
    for events in [[attached(), warned(attach)], [warned(mount), attached()]] {
        assert_eq!(cause(&events), Cause::Volume);
    }
    assert_eq!(cause(&[warned(attach), attached(), warned(attach)]), Cause::Volume);
}

fn container(name: &str, kind: ContainerKind, state: ContainerState, started: bool) -> Container {
    Container {
        state,
        started: started.then_some(Timestamp::from_seconds(1)),
        ..Container::new(Arc::from(name), kind)
    }
}

fn with(containers: &[Container]) -> PodSnapshot {
    PodSnapshot { containers: containers.into(), ..pod() }
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
    assert_eq!(cause(&[Running]), Cause::Probe);
    assert_eq!(cause(&[Running, Succeeded, NoStatus]), Cause::Exited);
    assert_eq!(cause(&[Succeeded, Failed]), Cause::Crash);
    assert_eq!(cause(&[Running, NoStatus]), Cause::Create);
    assert_eq!(cause(&[Waiting(Reason::Other)]), Cause::Create);
    assert_eq!(cause(&[Waiting(Reason::Other), Failed]), Cause::Crash);
    let crash = Waiting(Reason::CrashLoopBackOff);
    assert_eq!(cause(&[Succeeded, crash]), Cause::Crash);
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
    let sidecar = |state, has_started| Container {
        has_started,
        ..container("b", RestartableInit, state, true)
    };
    let last = container("c", Init, crash, false);
    let regular = container("d", Regular, image, false);
    let all = [done.clone(), sidecar(Running, true), last.clone(), regular.clone()];
    assert_eq!(init(&all), Cause::Crash);
    let waits = [done.clone(), sidecar(image, false), last, regular.clone()];
    assert_eq!(init(&waits), Cause::Image);
    let restarts = container("a", Init, Running, true);
    assert_eq!(init(&[restarts, sidecar(image, false)]), Cause::Run);
    let unknown = container("a", Init, NoStatus, false);
    assert_eq!(init(&[unknown]), Cause::Create);
    assert_eq!(init(&[done.clone(), regular]), Cause::Run);
    // A sidecar that runs has not started before its startup probe succeeds, and one that has crashed not again.
    assert_eq!(init(&[done.clone(), sidecar(Running, false)]), Cause::Run);
    assert_eq!(init(&[done, sidecar(crash, false)]), Cause::Crash);
}

#[test]
fn sidecars_belong_to_the_stage_of_the_containers_and_init_containers_do_not() {
    use ContainerKind::{Init, Regular, RestartableInit};
    let failed = |kind| container("a", kind, ContainerState::Failed, true);
    let web = container("web", Regular, ContainerState::Running, true);
    let containers = |one| cause_in(Stage::Containers, &with(&[one, web.clone()]), &[]);
    assert_eq!(containers(failed(Init)), Cause::Probe);
    assert_eq!(containers(failed(RestartableInit)), Cause::Crash);
    let succeeded = container("a", RestartableInit, ContainerState::Succeeded, true);
    assert_eq!(containers(succeeded), Cause::Probe, "it is no regular one");
}

#[test]
fn containers_show_the_network_where_no_condition_does() {
    use ContainerKind::{Init, Regular};
    use ContainerState::{NoStatus, Running, Waiting};
    use WaitingReason::{ContainerCreating, ImagePullBackOff, Other, PodInitializing, Unstated};
    let beyond = |beyond_network, pod: &PodSnapshot, events: &[KubeEvent]| {
        let standing = Standing { stage: Stage::Network, beyond_network };
        cause_at(standing, pod, events)
    };
    let one = |state, started| {
        let mut pod = with(&[container("a", Regular, state, started)]);
        pod.started = Some(Timestamp::from_seconds(1));
        pod
    };
    let cause = |pod: &PodSnapshot| beyond(Stage::Containers, pod, &[]);
    for (state, started, expected) in [
        (Running, true, Cause::Probe),
        (Waiting(ContainerCreating), true, Cause::Create),
        (Waiting(ImagePullBackOff), false, Cause::Image),
        (Waiting(Other), false, Cause::Create),
        (Waiting(ContainerCreating), false, Cause::Unknown),
        (Waiting(PodInitializing), false, Cause::Unknown),
        (Waiting(Unstated), false, Cause::Unknown),
        (NoStatus, false, Cause::Unknown),
    ] {
        assert_eq!(cause(&one(state, started)), expected, "{state:?}");
    }
    let ran = one(Running, true);
    assert_eq!(beyond(Stage::Readiness, &ran, &[]), Cause::ReadinessGate);
    let warned = event(false, None, EventReason::Warning(SandboxWarning::FailedMount));
    assert_eq!(beyond(Stage::Containers, &ran, &[warned]), Cause::Probe);
    let mut pod = with(&[container("a", Init, Running, true)]);
    pod.started = Some(Timestamp::from_seconds(1));
    assert_eq!(beyond(Stage::Init, &pod, &[]), Cause::Run);
    pod.terminating = true;
    assert_eq!(beyond(Stage::Init, &pod, &[]), Cause::Terminating);

    let mut unaccepted = ran.clone();
    unaccepted.started = None;
    assert_eq!(cause(&unaccepted), Cause::Acknowledge);
    for kind in [ConditionType::PodReadyToStartContainers, ConditionType::PodHasNetwork] {
        let mut stated = ran.clone();
        state(&mut stated, kind, ConditionStatus::Unknown);
        assert_eq!(cause(&stated), Cause::Unknown);
    }
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
    assert_eq!(cause(&[pulling("a"), pulled("a"), pulling("a")]), Cause::Create);
    assert_eq!(cause(&[pulling("a"), pulled("a"), pulling("b")]), Cause::Pull);
    assert_eq!(cause(&[pulling("c")]), Cause::Create);
    let of_init = event(true, Some(("a", true)), EventReason::Pulling);
    assert_eq!(cause(&[of_init]), Cause::Create);
    let by_another = event(false, Some(("a", false)), EventReason::Pulling);
    assert_eq!(cause(&[by_another]), Cause::Create);
    let started = with(&[container("a", Regular, waits, true)]);
    let events = [pulling("a")];
    assert_eq!(cause_in(Stage::Containers, &started, &events), Cause::Create);
}

#[test]
fn what_events_said_stays_when_the_next_snapshot_comes() {
    let waits = ContainerState::Waiting(WaitingReason::Other);
    let pod = with(&[container("a", ContainerKind::Regular, waits, false)]);
    let mut evidence = WaitEvidence::default();
    evidence.update(&pod);
    evidence.take_event(&event(true, Some(("a", false)), EventReason::Pulling));
    evidence.update(&pod);
    let standing = Standing { stage: Stage::Containers, beyond_network: Stage::Containers };
    assert_eq!(evidence.waiting(standing).cause(), Cause::Pull);
}

/// The kubelet of a node sets PodScheduled for pods that were created with a node, when it takes them.
#[test]
fn a_bound_pod_without_a_word_waits_for_the_kubelet_of_its_node() {
    let bound = PodSnapshot { is_bound: true, has_nominated_node: true, ..pod() };
    let cause = |pod: &PodSnapshot| {
        let causes =
            [Stage::Scheduling, Stage::Unschedulable].map(|stage| cause_in(stage, pod, &[]));
        assert_eq!(causes[0], causes[1]);
        causes[0]
    };
    assert_eq!(cause(&bound), Cause::Acknowledge);
    let deleted = PodSnapshot { terminating: true, ..bound.clone() };
    assert_eq!(cause(&deleted), Cause::Terminating);
    let free = PodSnapshot { is_bound: false, ..bound.clone() };
    assert_eq!(cause(&free), Cause::Binding);
    let taken = PodSnapshot { started: Some(Timestamp::from_seconds(1)), ..bound.clone() };
    assert_eq!(cause(&taken), Cause::Binding);
    let mut said = PodSnapshot { has_nominated_node: false, ..bound };
    state(&mut said, ConditionType::PodScheduled, ConditionStatus::True);
    assert_eq!(cause(&said), Cause::Queue);
}

#[test]
fn init_containers_that_run_again_in_a_new_sandbox_decide() {
    use ContainerKind::{Init, Regular, RestartableInit};
    use ContainerState::{Failed, NoStatus, Running, Succeeded, Waiting};
    let waits = Waiting(WaitingReason::PodInitializing);
    let image = Waiting(WaitingReason::ErrImagePull);
    let web = |state| container("web", Regular, state, true);
    let init = |state| container("init", Init, state, true);
    let cause = |containers: &[Container]| {
        let standing = Standing { stage: Stage::Network, beyond_network: Stage::Containers };
        let old = PodSnapshot { started: Some(Timestamp::from_seconds(1)), ..with(containers) };
        let cause = cause_in(Stage::Containers, &with(containers), &[]);
        assert_eq!(cause_at(standing, &old, &[]), cause);
        cause
    };
    let crash = Waiting(WaitingReason::CrashLoopBackOff);
    assert_eq!(cause(&[init(crash), web(waits)]), Cause::Crash);
    assert_eq!(cause(&[init(Failed), web(image)]), Cause::Crash);
    assert_eq!(cause(&[init(waits), web(image)]), Cause::Create);
    assert_eq!(cause(&[init(Running), web(waits)]), Cause::Run);
    // What ran before has ended; one that was started again ends what its init containers began.
    assert_eq!(cause(&[init(Running), web(Succeeded)]), Cause::Run);
    assert_eq!(cause(&[init(crash), web(Running)]), Cause::Probe);
    assert_eq!(cause(&[init(crash), web(waits), web(Running)]), Cause::Create);
    // No init container has to end that has, that the status does not name, or that is a sidecar.
    assert_eq!(cause(&[init(Succeeded), web(image)]), Cause::Image);
    assert_eq!(cause(&[init(NoStatus), web(image)]), Cause::Image);
    let sidecar = container("mesh", RestartableInit, crash, true);
    assert_eq!(cause(&[sidecar.clone(), init(Succeeded), web(waits)]), Cause::Crash);
    // The first of the stage `init` decides, though it is a sidecar.
    assert_eq!(cause(&[sidecar, init(waits), web(image)]), Cause::Crash);
    let first = |containers: &[Container]| {
        let mut evidence = WaitEvidence::default();
        evidence.update(&with(containers));
        let standing = Standing { stage: Stage::Containers, beyond_network: Stage::Containers };
        evidence.container_with(evidence.waiting(standing).cause(), standing)
    };
    assert_eq!(first(&[init(Succeeded), init(crash), web(crash)]), Some(1));
    assert_eq!(first(&[init(Succeeded), init(Succeeded), web(crash)]), Some(2));
}
