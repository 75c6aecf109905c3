use std::sync::Arc;

use super::*;
use crate::pod::{
    ConditionStatus, ContainerKind, ContainerSpec, ContainerState, NotScheduled, PodUid,
    StatusCondition, WaitingReason,
};
use crate::timestamp::Timestamp;

fn pod() -> PodSnapshot {
    PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod")
}

fn cause_in(stage: Stage, pod: &PodSnapshot, events: &[KubeEvent]) -> Cause {
    let beyond_network = Stage::Containers;
    cause_at(PodStage { stage, beyond_network, has_readiness_gates: true }, pod, events)
}

fn cause_at(standing: PodStage, pod: &PodSnapshot, events: &[KubeEvent]) -> Cause {
    let mut evidence = WaitEvidence::default();
    evidence.update(pod, false);
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
    let condition = StatusCondition { status, last_transition };
    pod.conditions.insert(kind, condition);
}

fn container(
    name: &str,
    kind: ContainerKind,
    state: ContainerState,
    started: bool,
) -> ContainerSpec {
    ContainerSpec {
        state,
        started: started.then_some(Timestamp::from_seconds(1)),
        ..ContainerSpec::new(Arc::from(name), kind)
    }
}

fn with(containers: &[ContainerSpec]) -> PodSnapshot {
    PodSnapshot { containers: containers.into(), ..pod() }
}

#[test]
fn a_pod_of_very_many_containers_is_followed_in_part() {
    let one = container("web", ContainerKind::Regular, ContainerState::Running, true);
    for (containers, followed) in [(1, 1), (64, 64), (65, 64), (5000, 64)] {
        let mut evidence = WaitEvidence::default();
        evidence.update(&with(&vec![one.clone(); containers]), false);
        assert_eq!(evidence.containers.len(), followed);
        assert_eq!(evidence.has_more_containers, containers > followed);
    }
    assert_eq!(size_of::<ContainerEvidence>(), 24);
}

#[test]
fn init_containers_that_run_again_in_a_new_sandbox_decide() {
    use ContainerKind::{Init, Regular, RestartableInit};
    use ContainerState::{Failed, NoStatus, Running, Succeeded, Waiting};
    let waits = Waiting(WaitingReason::PodInitializing);
    let image = Waiting(WaitingReason::ErrImagePull);
    let web = |state| container("web", Regular, state, true);
    let init = |state| container("init", Init, state, true);
    let cause = |containers: &[ContainerSpec]| {
        let standing = PodStage {
            stage: Stage::Network,
            beyond_network: Stage::Containers,
            has_readiness_gates: true,
        };
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
    let first = |containers: &[ContainerSpec]| {
        let mut evidence = WaitEvidence::default();
        evidence.update(&with(containers), false);
        let standing = PodStage {
            stage: Stage::Containers,
            beyond_network: Stage::Containers,
            has_readiness_gates: true,
        };
        evidence.container_with(evidence.waiting(standing).cause(), standing)
    };
    assert_eq!(first(&[init(Succeeded), init(crash), web(crash)]), Some(1));
    assert_eq!(first(&[init(Succeeded), init(Succeeded), web(crash)]), Some(2));
}
