//! Pods that are written and read by themselves: every form of one, and what no pod is.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::lifecycle::delivery::SourceId;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

const CREATED: u32 = 1_000;

fn seen(seconds: [u32; 5], is_static: bool) -> Seen {
    Seen {
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
        seen: seen([0; 5], false),
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
        },
        startup,
        discovered: Timestamp::from_seconds(1_001),
        slos: vec![(SloId(0), true), (SloId(slo), false)],
    }))
}

fn written(pods: &[SavedPod]) -> Vec<u8> {
    let mut out = Encoder::new();
    put(&mut out, pods.iter().cloned());
    out.into_bytes()
}

/// What is read of pods under two SLOs.
fn read(bytes: &[u8]) -> Result<Vec<SavedPod>, ContentError> {
    let mut from = Decoder::new(bytes);
    let pods = take(&mut from, 2)?;
    from.finish()?;
    Ok(pods)
}

#[test]
fn pods_of_every_form_are_read_as_they_were_written() {
    let startup = SavedStartup {
        times: std::array::from_fn(|place| {
            let second = i64::try_from(place).unwrap();
            (place % 2 == 0).then(|| Timestamp::from_seconds(1_000 + second))
        }),
        reached: 0x7f,
        stood: 0x3f,
        decided: 0x1ff,
        seen_gated: true,
        ..SavedStartup::default()
    };
    let finished = |name, seen| SavedPod::Finished(PodUid::from_text(name), seen);
    let pods = [
        finished("static", seen([0; 5], true)),
        // A time before the creation is a clock's mistake, and kept as it is.
        finished("done", seen([1_010, 0, 990, 1_000, 1], false)),
        finished("late", seen([0, u32::MAX, 0, 0, 2_000], false)),
        in_flight(startup, 1),
        in_flight(SavedStartup::default(), 1),
    ];
    assert_eq!(read(&written(&pods)).unwrap(), pods);
}

#[test]
fn a_pod_waits_only_for_slos_that_there_are() {
    let pod = in_flight(SavedStartup::default(), 2);
    let error = read(&written(&[pod])).unwrap_err();
    assert!(error.to_string().contains("no such SLO"), "{error}");
}

#[test]
fn a_startup_has_only_what_this_podinit_knows() {
    let none = SavedStartup::default();
    let (reached, stood, decided) = (0x80, 0x40, 0x200);
    for startup in [
        SavedStartup { reached, ..none },
        SavedStartup { stood, ..none },
        SavedStartup { decided, ..none },
        SavedStartup {
            reached,
            stood,
            ..none
        },
        SavedStartup {
            stood,
            decided,
            ..none
        },
    ] {
        let error = read(&written(&[in_flight(startup, 1)])).unwrap_err();
        assert!(error.to_string().contains("no such milestone"), "{error}");
    }
}

/// Behind the kind and the UID stand the flags: which conditions were true, and whether it is static.
#[test]
fn a_pod_has_only_conditions_that_there_are() {
    const FLAGS: usize = 1 + 16;
    let pod = SavedPod::Finished(PodUid::from_text("static"), seen([0; 5], true));
    let mut bytes = written(&[pod]);
    assert_eq!(bytes[FLAGS], 0x80);
    bytes[FLAGS] = 0x20;
    let error = read(&bytes).unwrap_err();
    assert!(error.to_string().contains("no such condition"), "{error}");
}
