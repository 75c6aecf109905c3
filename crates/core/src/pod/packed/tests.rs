use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::bytes::{put_number, put_signed};
use super::*;
use crate::pod::{
    Claims, ConditionStatus, ConditionType, ContainerKind, ContainerProbes, ContainerSpec,
    ContainerState, DisruptionReason, Ending, GateNames, InPlaceChanges, NamedConditions,
    NotScheduled, NotScheduledReason, PodInfo, PodPhase, PodResize, ResizeState, Revision,
    SandboxNotReady, StatusCondition, StatusConditions, WaitingMessage, WaitingReason, Workload,
};
use crate::timestamp::Timestamp;

/// Mostly whole seconds, as the API states times.
fn time() -> impl Strategy<Value = Option<Timestamp>> {
    let seconds = || (-3i64..2_000_000_000).prop_map(Timestamp::from_seconds);
    let any = any::<i64>().prop_map(Timestamp::from_nanos);
    option::of(prop_oneof![40 => seconds(), 1 => any])
}

fn conditions() -> impl Strategy<Value = StatusConditions> {
    let status =
        select(vec![ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown]);
    let one = (select(ConditionType::ALL.to_vec()), status, time());
    vec(one, 0..7).prop_map(|all| {
        let mut conditions = StatusConditions::default();
        for (kind, status, last_transition) in all {
            let condition = StatusCondition { status, last_transition };
            conditions.insert(kind, condition);
        }
        conditions
    })
}

fn container() -> impl Strategy<Value = ContainerSpec> {
    let kind =
        select(vec![ContainerKind::Init, ContainerKind::RestartableInit, ContainerKind::Regular]);
    let waiting = select(WaitingReason::ALL.to_vec()).prop_map(ContainerState::Waiting);
    let other = select(vec![
        ContainerState::NoStatus,
        ContainerState::Running,
        ContainerState::Succeeded,
        ContainerState::Failed,
    ]);
    let state = prop_oneof![waiting, other];
    ("[a-c]", kind, state, time(), any::<[bool; 4]>()).prop_map(
        |(name, kind, state, started, [has_started, has_restarted, ready, ends])| ContainerSpec {
            name: name.into(),
            kind,
            state,
            started,
            has_started: has_started && kind == ContainerKind::RestartableInit,
            has_restarted,
            is_ready: ready && state == ContainerState::Running,
            ends_for_good: ends && kind == ContainerKind::Regular,
        },
    )
}

fn info() -> impl Strategy<Value = PodInfo> {
    let workload = ("[a-b]", "[a-b]")
        .prop_map(|(kind, name)| Workload { kind: kind.into(), name: name.into() });
    let probes = |name: String| {
        Arc::new(vec![ContainerProbes {
            container: name.into(),
            startup: None,
            readiness: None,
            liveness: None,
        }])
    };
    let images = |images: Vec<String>| Arc::new(images.into_iter().map(Arc::from).collect());
    (
        ("[a-b]", ".{0,20}", option::of("[a-b]"), any::<bool>()),
        option::of(workload.prop_map(Arc::new)),
        vec("[a-b]", 0..3),
        option::weighted(0.1, "[a-b]".prop_map(probes)),
        option::of(vec("[a-b]", 0..3).prop_map(images)),
    )
        .prop_map(|(named, workload, pod_labels, probes, images)| {
            let (namespace, name, node, host_network) = named;
            PodInfo {
                node_labels: None,
                namespace: namespace.into(),
                name: name.into(),
                node: node.map(Arc::from),
                workload,
                host_network,
                pod_labels: pod_labels.into_iter().map(Box::from).collect(),
                probes,
                images,
            }
        })
}

/// What only few pods have: each is there in a tenth of the snapshots.
fn rare() -> impl Strategy<Value = [bool; 6]> {
    prop::array::uniform6(prop::bool::weighted(0.1))
}

fn named() -> impl Strategy<Value = Box<NamedConditions>> {
    let names = || vec("[a-b]", 0..3);
    let gates = (names(), names()).prop_map(|(scheduling, readiness)| {
        let list = |names: Vec<String>| names.into_iter().collect();
        Arc::new(GateNames { scheduling: list(scheduling), readiness: list(readiness) })
    });
    let condition = || {
        let status = select(vec![ConditionStatus::True, ConditionStatus::False]);
        let condition = (status, time());
        option::of(
            condition
                .prop_map(|(status, last_transition)| StatusCondition { status, last_transition }),
        )
    };
    (option::of(gates), vec(condition(), 0..3), vec(condition(), 0..3)).prop_map(
        |(gates, readiness, milestones)| {
            let (readiness, milestones) = (readiness.into(), milestones.into());
            Box::new(NamedConditions { gates, readiness, milestones })
        },
    )
}

/// Mostly whole seconds.
fn runs() -> impl Strategy<Value = Duration> {
    let seconds = any::<u64>().prop_map(Duration::from_secs);
    prop_oneof![20 => Just(Duration::ZERO), 20 => seconds, 1 => Just(Duration::from_millis(1_500))]
}

fn snapshot() -> impl Strategy<Value = PodSnapshot> {
    let phase = select(vec![PodPhase::Active, PodPhase::Succeeded, PodPhase::Failed]);
    (
        (0u64..6, option::of(any::<u64>()), info(), phase),
        [time(), time(), time()],
        (conditions(), vec(container(), 0..4), runs()),
        (any::<[bool; 10]>(), 0..=Claims::BITS, rare(), option::weighted(0.3, named())),
    )
        .prop_map(
            |(named, [created, started, latest], status, (is, claims, rare, named_conditions))| {
                let (uid, resource_version, info, phase) = named;
                let (conditions, containers, init_runs) = status;
                PodSnapshot {
                    uid: PodUid::from_words([uid, 1 << 63 | uid]),
                    resource_version,
                    info,
                    revision: Revision::of_number(if is[9] { u32::MAX } else { 0 }),
                    created,
                    started,
                    latest_api_time: latest,
                    deletion_asked: created,
                    deletion_due: started,
                    phase,
                    conditions,
                    unschedulable: is[0],
                    not_scheduled: rare[0].then(|| {
                        Box::new(NotScheduled {
                            is_false: true,
                            reason: NotScheduledReason::Unschedulable,
                            message: "0/3 nodes are available".into(),
                        })
                    }),
                    is_bound: is[8],
                    has_nominated_node: is[1],
                    sandbox_not_ready: rare[1].then_some(SandboxNotReady::NoIp),
                    named: named_conditions,
                    said_of_ready: rare[1].then(|| "the status of a gate".into()),
                    volume_images: rare[4].then(|| ["r.io/model:1".into()].into()),
                    disruption: rare[2].then_some(DisruptionReason::DeletionByPodGc),
                    in_place: rare[3].then(|| {
                        let resize =
                            Some(PodResize { state: ResizeState::Deferred, since: created });
                        Box::new(InPlaceChanges { resize, update_ready: None })
                    }),
                    terminating: is[2],
                    ended_by_deletion: is[2] && is[5],
                    gated: is[3],
                    has_init_containers: is[4],
                    init_runs,
                    has_run: containers.iter().any(ContainerSpec::has_run)
                        ^ (is[7] && is[8] && is[9]),
                    containers: containers.into(),
                    waiting_messages: rare[4].then(|| {
                        let text = "back-off 10s".into();
                        Box::new(vec![WaitingMessage { container: 0, text }])
                    }),
                    ending: rare[5].then(|| {
                        Box::new(Ending { reason: Some("Evicted".into()), ..Ending::default() })
                    }),
                    is_stateful: is[5],
                    claims: Claims::of_bits(claims),
                    claim_names: rare[3].then(|| ["data".into()].into()),
                    has_readiness_gates: is[6],
                    is_static: is[7],
                }
            },
        )
}

proptest! {
    #[test]
    fn snapshots_come_out_as_they_went_in(pods in vec(snapshot(), 0..12)) {
        let packed: PackedPods = pods.iter().cloned().collect();
        prop_assert_eq!(packed.len(), pods.len());
        prop_assert!(packed.copies().eq(pods.iter().cloned()));
        prop_assert!(packed.into_iter().eq(pods));
    }

    #[test]
    fn removed_snapshots_do_not_come_out(pods in vec((snapshot(), any::<bool>()), 0..12)) {
        let mut packed = PackedPods::default();
        let mut kept = Vec::new();
        for (pod, stays) in pods {
            let place = packed.push(pod.clone());
            prop_assert_eq!(place.and_then(|place| packed.uid_at(place)), Some(pod.uid));
            match (stays, place) {
                (true, _) => kept.push(pod),
                (false, place) => {
                    let twice = [place, place].into_iter().flatten();
                    twice.for_each(|place| packed.remove(place));
                }
            }
        }
        prop_assert_eq!(packed.len(), kept.len());
        prop_assert!(packed.into_iter().eq(kept));
    }

    #[test]
    fn numbers_come_out_as_they_went_in(number in any::<u64>(), signed in any::<i64>()) {
        let mut out = Vec::new();
        put_number(&mut out, number);
        put_signed(&mut out, signed);
        let mut reader = ByteReader(&out);
        prop_assert_eq!((reader.number(), reader.signed()), (number, signed));
        prop_assert!(reader.0.is_empty());
    }
}

/// As most pods of a cluster are.
fn ready(number: u64) -> PodSnapshot {
    thread_local! {
        static SHARED: (Arc<str>, Arc<str>) = (Arc::from("shop"), Arc::from("app"));
    }
    let (namespace, container) = SHARED.with(Clone::clone);
    let at = |second: i64| Some(Timestamp::from_seconds(1_800_000_000 + second));
    let uid = PodUid::from_words([number.wrapping_mul(0x9e37_79b9_7f4a_7c15), 1 << 63 | number]);
    let name = format!("checkout-7c9d8f6b5d-{:05x}", number.wrapping_mul(40_503) & 0xfffff);
    let mut pod = PodSnapshot::bare(uid, namespace, name);
    pod.resource_version = Some(8_000_000_000 + number);
    (pod.created, pod.started, pod.latest_api_time) = (at(0), at(1), at(40));
    for kind in ConditionType::ALL {
        let condition = StatusCondition { status: ConditionStatus::True, last_transition: at(40) };
        pod.conditions.insert(kind, condition);
    }
    let running = ContainerSpec {
        state: ContainerState::Running,
        started: at(3),
        ..ContainerSpec::new(container, ContainerKind::Regular)
    };
    pod.containers = [running.clone(), running].into();
    pod.has_run = true;
    pod
}

#[test]
fn a_ready_pod_takes_at_most_60_bytes_and_gives_them_back() {
    const PODS: u64 = 20_000;
    let packed: PackedPods = (0..PODS).map(ready).collect();
    assert!(packed.others.is_empty());
    let bytes: usize = packed.chunks.iter().map(Vec::len).sum();
    assert!(bytes <= 60 * packed.len(), "{}", bytes / packed.len());
    assert_eq!(packed.chunks.len(), 2);
    let mut taken = packed.into_iter();
    assert!(taken.by_ref().take(PODS as usize - 1).eq((0..PODS - 1).map(ready)));
    assert_eq!((taken.packed.chunks.len(), taken.packed.len()), (1, 1));
    assert!(taken.next().is_some() && taken.next().is_none());
    assert!(taken.packed.chunks.is_empty());
}
