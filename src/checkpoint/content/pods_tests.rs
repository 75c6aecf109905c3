//! Pods that are written and read by themselves: every form of one, and what no pod is.

#![allow(clippy::unwrap_used)]

use super::super::append;
use super::*;
use std::time::Duration;

use crate::metrics::CheckpointLoad;
use podinit_core::lifecycle::{
    LastSeen, LastTrue, SavedCollected, SavedEvidence, SavedImage, SavedImagePull, SavedInFlight,
    SavedStartup, SloId, SourceId,
};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

const CREATED: u32 = 1_000;

fn last_seen(seconds: [u32; 5], is_static: bool) -> LastSeen {
    LastSeen {
        newest_version: 700,
        last_true: LastTrue::from_seconds(seconds),
        source: SourceId(3),
        is_static,
        created: CREATED,
    }
}

fn in_flight(startup: SavedStartup, slo: u16) -> SavedPod {
    SavedPod::InFlight(Box::new(SavedInFlight {
        uid: PodUid::from_text("starts"),
        last_seen: last_seen([0; 5], false),
        info: PodInfo {
            namespace: "shop".into(),
            name: "web-0".into(),
            node: Some("n1".into()),
            workload: Some(Arc::new(Workload {
                kind: "StatefulSet".into(),
                name: "web".into(),
            })),
            host_network: true,
            pod_labels: ["front".into(), "".into()].into(),
            probes: None,
            images: None,
        },
        startup,
        discovered: Timestamp::from_seconds(1_001),
        slos: vec![(SloId(0), true), (SloId(slo), false)],
        evidence: SavedEvidence::default(),
        images: vec![SavedImagePull {
            failed: false,
            image: SavedImage::Pulled {
                end: Some(Timestamp::from_seconds(1_002)),
                with_wait: Duration::from_millis(1_500),
            },
            registry: Some("docker.io".into()),
        }],
        is_stateful: true,
        has_startup_sli: true,
        lacks_network_condition: true,
        collected: SavedCollected::default(),
    }))
}

fn written(pods: &[SavedPod]) -> Vec<u8> {
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
    let startup = SavedStartup {
        times: std::array::from_fn(|place| {
            let second = i64::try_from(place).unwrap();
            (place % 2 == 0).then(|| Timestamp::from_seconds(1_000 + second))
        }),
        reached: 0x7f,
        types_seen: 0x3f,
        decided: 0x1ff,
        seen_gated: true,
        ..SavedStartup::default()
    };
    let finished = |name, last_seen| SavedPod::Finished(PodUid::from_text(name), last_seen);
    let pods = [
        finished("static", last_seen([0; 5], true)),
        // A time before the creation is a clock's mistake, and kept as it is.
        finished("done", last_seen([1_010, 0, 990, 1_000, 1], false)),
        finished("late", last_seen([0, u32::MAX, 0, 0, 2_000], false)),
        in_flight(startup, 1),
        in_flight(SavedStartup::default(), 1),
    ];
    assert_eq!(read_under_two(&written(&pods)).unwrap(), pods);
}

#[test]
fn a_pod_waits_only_for_slos_that_there_are() {
    let pod = in_flight(SavedStartup::default(), 2);
    let error = read_under_two(&written(&[pod])).unwrap_err();
    assert!(error.to_string().contains("no such SLO"), "{error}");
}

#[test]
fn a_startup_has_only_what_this_podinit_knows() {
    let none = SavedStartup::default();
    let (reached, types_seen, decided) = (0x200, 0x40, 0x2000);
    for startup in [
        SavedStartup { reached, ..none },
        SavedStartup { types_seen, ..none },
        SavedStartup { decided, ..none },
        SavedStartup {
            reached,
            types_seen,
            ..none
        },
        SavedStartup {
            types_seen,
            decided,
            ..none
        },
    ] {
        let error = read_under_two(&written(&[in_flight(startup, 1)])).unwrap_err();
        assert!(error.to_string().contains("no such milestone"), "{error}");
    }
}

/// Equal names of different pods take memory once.
#[test]
fn names_in_common_are_shared() {
    let pod = in_flight(SavedStartup::default(), 1);
    let pods = read_under_two(&written(&[pod.clone(), pod])).unwrap();
    let infos: Vec<_> = pods
        .iter()
        .map(|pod| match pod {
            SavedPod::InFlight(pod) => &pod.info,
            SavedPod::Finished(..) => panic!("it is in flight"),
        })
        .collect();
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
    let pod = in_flight(SavedStartup::default(), 1);
    let mut bytes = written(&[pod]);
    let name = b"web-0";
    let at = bytes.windows(name.len()).position(|part| part == name);
    bytes[at.unwrap() - 1] = 0x7f;
    let error = read_under_two(&bytes).unwrap_err();
    assert_eq!(error.reason(), CheckpointLoad::Corrupt);
}
