//! Pods that are written and read by themselves: every form of one, and what no pod is.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::super::append;
use super::super::form_tests::{
    ContainerForm, EvidenceForm, IN_FLIGHT, ImageForm, PodForm, StartupForm, uid,
};
use super::*;
use std::time::Duration;

use serde::Serialize;

use crate::metrics::CheckpointLoad;
use podinit_core::lifecycle::{LabelHold, LastSeen, LastTrue, SourceId};
use podinit_core::pod::{DisruptionReason, PodInfo, PodUid, SandboxNotReady};
use podinit_core::timestamp::NANOS_PER_SECOND;

const CREATED: u32 = 1_000;

fn last_seen(seconds: [u32; 5], is_static: bool) -> LastSeen {
    LastSeen {
        newest_version: 700,
        last_true: LastTrue::from_seconds(seconds),
        source: SourceId(3),
        is_static,
        created: CREATED,
        hold: LabelHold::UNKNOWN,
    }
}

fn in_flight(startup: StartupForm, slo: u16) -> (u8, PodForm) {
    let pod = PodForm {
        uid: uid("starts"),
        last_seen: (700, 3, false, CREATED, [0; 5]),
        info: PodInfo {
            node_labels: None,
            namespace: "shop".into(),
            name: "web-0".into(),
            node: Some("n1".into()),
            workload: Some(Arc::new(Workload { kind: "StatefulSet".into(), name: "web".into() })),
            host_network: true,
            pod_labels: ["front".into(), "".into()].into(),
            probes: None,
            images: None,
        },
        startup,
        discovered: 1_001 * NANOS_PER_SECOND,
        slos: vec![(0, true), (slo, false)],
        evidence: EvidenceForm::default(),
        images: vec![(
            Some("docker.io".to_owned()),
            false,
            ImageForm::Pulled {
                end: Some(1_002 * NANOS_PER_SECOND),
                with_wait: Duration::from_millis(1_500),
            },
        )],
        is_stateful: true,
        has_startup_sli: true,
        lacks_network_condition: true,
    };
    (IN_FLIGHT, pod)
}

/// Containers of every kind, with everything that is said of them.
fn evidence() -> EvidenceForm {
    let flags = [(false, false), (true, false), (true, true)];
    let containers = flags.map(|(init, restartable)| ContainerForm {
        name: "c",
        init,
        restartable,
        problem: init.then_some("image"),
        succeeded: !init,
        started: restartable,
        pulling: init,
        pulled: restartable,
    });
    EvidenceForm {
        terminating: true,
        scheduling: "volume",
        acknowledged: true,
        warning: Some("FailedMount"),
        sandbox_not_ready: Some(SandboxNotReady::NoIp.as_str()),
        containers: containers.into(),
        has_more_containers: true,
        disruption: Some(DisruptionReason::ALL[0].as_str()),
    }
}

fn written<T: Serialize>(pods: &[T]) -> Vec<u8> {
    let mut out = Vec::new();
    for pod in pods {
        append(&mut out, pod);
    }
    out
}

/// What is read of pods under two SLOs.
fn read_under_two(bytes: &[u8]) -> Result<Vec<SavedPod>, ContentError> {
    read(bytes, 2, &mut SharedTexts::default())
}

#[test]
fn pods_of_every_form_are_read_as_they_were_written() {
    let finished =
        |name, last_seen| SavedPod::<()>::Finished(PodUid::from_text(name), last_seen, None);
    let pods = [
        finished("static", last_seen([0; 5], true)),
        // A time before the creation is a clock's mistake, and kept as it is.
        finished("done", last_seen([1_010, 0, 990, 1_000, 1], false)),
        finished("late", last_seen([0, u32::MAX, 0, 0, 2_000], false)),
    ];
    let bytes = written(&pods);
    let read = read_under_two(&bytes).unwrap();
    let read = read.iter().map(|pod| match pod {
        SavedPod::Finished(uid, last_seen, after) => SavedPod::Finished(*uid, *last_seen, *after),
        SavedPod::InFlight(_) => panic!("it is done"),
    });
    assert!(read.eq(pods));

    let startup = StartupForm {
        times: std::array::from_fn(|place| {
            let second = i64::try_from(place).unwrap();
            (place % 2 == 0).then_some((1_000 + second) * NANOS_PER_SECOND)
        }),
        reached: 0x7f,
        types_seen: 0x3f,
        decided: 0x1ff,
        kept_evidence: Some(1_003 * NANOS_PER_SECOND),
        seen_gated: true,
        ..StartupForm::default()
    };
    let mut known = in_flight(startup, 1);
    known.1.evidence = evidence();
    let images = [ImageForm::Unknown, ImageForm::Present];
    known.1.images.extend(images.map(|image| (None, true, image)));
    let bytes = written(&[known, in_flight(StartupForm::default(), 1)]);
    let pods = read_under_two(&bytes).unwrap();
    assert_eq!(pods.iter().filter_map(SavedPod::in_flight).count(), 2);
    assert_eq!(written(&pods), bytes);
}

#[test]
fn a_pod_waits_only_for_slos_that_there_are() {
    let pod = in_flight(StartupForm::default(), 2);
    let error = read_under_two(&written(&[pod])).unwrap_err();
    assert!(error.to_string().contains("no such SLO"), "{error}");
}

#[test]
fn a_startup_has_only_what_this_podinit_knows() {
    let none = StartupForm::default;
    let (reached, types_seen) = (0x200, 0x40);
    for startup in [
        StartupForm { reached, ..none() },
        StartupForm { types_seen, ..none() },
        StartupForm { reached, types_seen, ..none() },
    ] {
        let error = read_under_two(&written(&[in_flight(startup, 1)])).unwrap_err();
        assert!(error.to_string().contains("no such milestone"), "{error}");
    }
}

/// Equal names of different pods take memory once.
#[test]
fn names_in_common_are_shared() {
    let pod = in_flight(StartupForm::default(), 1);
    let pods = read_under_two(&written(&[pod.clone(), pod])).unwrap();
    let in_flight = pods.iter().filter_map(SavedPod::in_flight);
    let infos: Vec<_> = in_flight.map(PodInFlight::info).collect();
    let [one, two] = infos[..] else {
        panic!("two pods");
    };
    assert!(Arc::ptr_eq(&one.namespace, &two.namespace));
    let [node, other] = [one, two].map(|info| info.node.as_ref().unwrap());
    assert!(Arc::ptr_eq(node, other));
    let [workload, other] = [one, two].map(|info| info.workload.as_ref().unwrap());
    assert!(Arc::ptr_eq(workload, other));
}

/// A length that the bytes state, and that they do not have.
#[test]
fn a_length_beyond_the_bytes_is_refused() {
    let pod = in_flight(StartupForm::default(), 1);
    let mut bytes = written(&[pod]);
    let name = b"web-0";
    let at = bytes.windows(name.len()).position(|part| part == name);
    bytes[at.unwrap() - 1] = 0x7f;
    let error = read_under_two(&bytes).unwrap_err();
    assert_eq!(error.reason(), CheckpointLoad::Corrupt);
}
