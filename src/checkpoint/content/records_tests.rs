//! Records that are written and read: arbitrary ones, ones of a tracker, and what cannot be.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::super::tests::{checkpoint, decoded, sections};
use super::super::{COLLECTED, Content, decode, encode};
use super::*;
use crate::checkpoint::frame;
use crate::metrics::CheckpointLoad;
use crate::metrics::saved::SavedMetrics;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Cause, ExclusionReason, Interval, LastSeen, LastTrue, Named, Namespaces, NetworkEvidence,
    NetworkTime, Outcome, Record, SavedCause, SavedCollected, SavedEvidence, SavedImage,
    SavedImagePull, SavedInFlight, SavedPod, SavedStartup, SavedTracker, SavedVerdict,
    SavedWaiting, SloId, SourceId, Stage, WaitReason,
};
use podinit_core::pod::{PodInfo, PodUid, Workload};
use podinit_core::timestamp::Timestamp;

const SLOS: u16 = 3;

fn rules() -> Arc<[SloRule]> {
    let rule = |number: u16| SloRule {
        name: format!("slo-{number}").into(),
        interval: Interval::CreatedToReady,
        threshold: Duration::from_secs(number.into()),
        grace: Duration::from_secs(5),
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
    };
    (0..SLOS).map(rule).collect()
}

fn named<T: LabelValue + std::fmt::Debug>() -> impl Strategy<Value = Named<T>> {
    (0..T::ALL.len()).prop_map(|index| Named(T::ALL[index]))
}

fn waiting() -> impl Strategy<Value = SavedWaiting> {
    (0..WaitReason::COUNT).prop_map(|index| SavedWaiting::from(WaitReason::ALL[index]))
}

fn verdict() -> impl Strategy<Value = SavedVerdict> {
    let reasons = ExclusionReason::ALL;
    prop_oneof![
        Just(SavedVerdict::Good),
        option::of(waiting()).prop_map(SavedVerdict::Bad),
        (0..reasons.len()).prop_map(move |index| SavedVerdict::Excluded(reasons[index])),
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_nanos)
}

prop_compose! {
    fn collected(slos: usize)(
        causes in vec((waiting(), any::<u64>()), 0..=16),
        preexisting in 0_u16..1 << Interval::ALL.len(),
        network_evidence in option::of(named::<NetworkEvidence>()),
        network_time in option::of(named::<NetworkTime>()),
        verdicts in vec(option::of(verdict()), slos),
        message in option::of(".{0,60}"),
    ) -> SavedCollected {
        let causes = causes.into_iter();
        SavedCollected {
            causes: causes.map(|(waiting, began)| SavedCause { waiting, began }).collect(),
            preexisting,
            network_evidence,
            network_time,
            verdicts,
            message: message.map(Box::from),
        }
    }
}

prop_compose! {
    fn startup()(
        times in prop::array::uniform9(option::of(time())),
        reached in 0_u16..1 << 9,
        types_seen in 0_u16..1 << 6,
        decided in 0_u16..1 << Interval::ALL.len(),
        kept_evidence in option::of(time()),
        flags in any::<[bool; 4]>(),
    ) -> SavedStartup {
        let [has_init_containers, has_readiness_gates, seen_gated, seen_unschedulable] = flags;
        SavedStartup {
            times, reached, types_seen, decided, kept_evidence,
            has_init_containers, has_readiness_gates, seen_gated, seen_unschedulable,
        }
    }
}

prop_compose! {
    fn in_flight()(
        names in [".{0,20}", ".{0,20}", ".{0,20}"],
        node in option::of(".{0,10}"),
        owner in option::of(".{0,10}"),
        startup in startup(),
        discovered in time(),
        slos in vec((0..SLOS, any::<bool>()), 0..4),
        pulled in vec((option::of(".{0,10}"), any::<bool>(), option::of(0_u64..1 << 50)), 0..4),
        // Few, so that pods have some in common.
        named in option::of(vec("[ab]{0,1}", 1..3)),
    )(
        collected in collected(slos.len()),
        names in Just(names), node in Just(node), owner in Just(owner), startup in Just(startup),
        discovered in Just(discovered), slos in Just(slos), pulled in Just(pulled),
        named in Just(named),
    ) -> SavedInFlight {
        let [namespace, name, uid] = names;
        let images = pulled.into_iter().map(|(registry, failed, nanos)| SavedImagePull {
            registry: registry.map(Arc::from),
            failed,
            image: nanos.map_or(SavedImage::Unknown, |nanos| SavedImage::Pulled {
                end: None,
                with_wait: Duration::from_nanos(nanos),
            }),
        });
        SavedInFlight {
            uid: PodUid::from_text(&uid),
            last_seen: LastSeen {
                newest_version: 7,
                last_true: LastTrue::from_seconds([0; 5]),
                source: SourceId(0),
                is_static: false,
                created: 1_000,
            },
            info: PodInfo {
                namespace: namespace.into(),
                name: name.into(),
                node: node.map(Arc::from),
                workload: owner.map(|name| Arc::new(Workload { kind: "Job".into(), name: name.into() })),
                images: named.map(|names| Arc::new(names.into_iter().map(Arc::from).collect())),
                ..PodInfo::default()
            },
            startup,
            discovered,
            slos: slos.into_iter().map(|(slo, decided)| (SloId(slo), decided)).collect(),
            evidence: SavedEvidence::default(),
            images: images.collect(),
            is_stateful: false,
            has_startup_sli: false,
            lacks_network_condition: false,
            collected,
        }
    }
}

prop_compose! {
    fn ended()(
        mut pod in in_flight(),
        waiting in waiting(),
        outcome in named::<Outcome>(),
        at in time(),
    ) -> SavedEnded {
        let collected = std::mem::take(&mut pod.collected);
        let images = pod.info.images.take().map_or_else(Vec::new, |images| images.to_vec());
        SavedEnded { pod, collected, images, waiting, outcome, at }
    }
}

fn kept(startups: Vec<SavedEnded>, rules: &[Arc<[SloRule]>]) -> KeptRecords {
    let used = rules.iter().cycle();
    let startups = startups.into_iter().zip(used);
    let records = (0..)
        .zip(startups)
        .map(|(place, (saved, rules))| KeptRecord {
            // Some are not kept any more.
            number: 3 * place,
            startup: Arc::new(EndedStartup::restored(saved, Arc::clone(rules))),
        });
    let records: Vec<KeptRecord> = records.collect();
    let count = records.last().map_or(0, |last| last.number + 2);
    KeptRecords { count, records }
}

fn of(records: KeptRecords) -> Content {
    Content {
        tracker: SavedTracker {
            rules: rules(),
            ..SavedTracker::default()
        },
        metrics: SavedMetrics {
            bounds: vec![1],
            ..SavedMetrics::default()
        },
        records,
        ..Content::default()
    }
}

fn made(kept: &KeptRecords) -> Vec<(u64, Record)> {
    let records = kept.records.iter();
    records
        .map(|kept| (kept.number, kept.startup.record()))
        .collect()
}

proptest! {
    #[test]
    fn arbitrary_records_are_read_as_they_were_written(
        ended in vec(ended(), 0..20),
        in_flight in vec(in_flight(), 0..5),
    ) {
        let kept = kept(ended, &[rules(), rules()]);
        let content = of(kept.clone());
        let pods = in_flight.into_iter().map(|pod| SavedPod::InFlight(Box::new(pod)));
        let pods: Vec<SavedPod> = pods.collect();
        let file = encode(&content, pods.iter().cloned()).finish();
        let (read, read_pods) = decode(&frame::read(&file).unwrap()).unwrap();
        prop_assert_eq!(&read, &content);
        prop_assert_eq!(&read_pods, &pods);
        // Not only what is saved, but what is shown.
        prop_assert_eq!(made(&read.records), made(&kept));
        prop_assert_eq!(encode(&read, read_pods.into_iter()).finish(), file);
    }
}

/// What no pod can have is refused, whichever of the two sections has it.
#[test]
fn more_causes_than_are_kept_and_results_of_other_slos_are_corrupt() {
    let [good, causes, verdicts, interval] = [(16, 0, 0), (17, 0, 0), (0, 1, 0), (0, 0, 1 << 15)]
        .map(|(causes, verdicts, preexisting)| SavedCollected {
            causes: vec![
                SavedCause {
                    waiting: SavedWaiting::from(WaitReason::ALL[0]),
                    began: 1
                };
                causes
            ],
            verdicts: vec![Some(SavedVerdict::Good); verdicts],
            preexisting,
            ..SavedCollected::default()
        });
    let read = |collected: SavedCollected| {
        let content = of(KeptRecords::default());
        let mut file = sections(&encode(&content, std::iter::empty()).finish());
        let (_, whole) = sections(&checkpoint())
            .into_iter()
            .find(|(tag, _)| *tag == super::super::PODS)
            .unwrap();
        file.iter_mut()
            .find(|(tag, _)| *tag == super::super::PODS)
            .unwrap()
            .1 = whole;
        let mut bytes = Vec::new();
        append(&mut bytes, &WaitingNames::default());
        append(&mut bytes, &collected);
        append(&mut bytes, &None::<usize>);
        append(&mut bytes, &Vec::<Vec<String>>::new());
        file.push((COLLECTED, bytes));
        decoded(&file).map(drop)
    };
    // The pod in flight of that checkpoint is matched by one SLO.
    assert_eq!(read(good), Ok(()));
    assert_eq!(read(verdicts), Ok(()));
    for impossible in [causes, interval] {
        let error = read(impossible).unwrap_err();
        assert_eq!(error.reason(), CheckpointLoad::Corrupt, "{error}");
    }
    let two = SavedCollected {
        verdicts: vec![None; 2],
        ..SavedCollected::default()
    };
    assert_eq!(read(two).unwrap_err().reason(), CheckpointLoad::Corrupt);
}

#[test]
fn records_that_cannot_be_kept_together_are_corrupt() {
    let (_, payload) = records_of_checkpoint();
    let read = |bytes: &[u8]| read(bytes, &mut SharedTexts::default());
    let good = read(&payload).unwrap();
    assert_eq!((good.count, good.records.len()), (2, 2));
    let with = |change: fn(&mut KeptRecords)| {
        let mut kept = good.clone();
        change(&mut kept);
        let mut bytes = Vec::new();
        write(&mut bytes, &kept);
        read(&bytes).map(|kept| kept.records.len())
    };
    assert_eq!(with(|_| {}), Ok(2));
    for change in [
        (|kept| kept.count = 1) as fn(&mut KeptRecords),
        |kept| kept.records.reverse(),
        |kept| kept.records[0].number = 1,
        |kept| {
            let one = kept.records[0].startup.clone();
            kept.count = MOST_KEPT as u64 + 1;
            kept.records = (0..kept.count)
                .map(|number| KeptRecord {
                    number,
                    startup: Arc::clone(&one),
                })
                .collect();
        },
    ] {
        assert_eq!(with(change).unwrap_err().reason(), CheckpointLoad::Corrupt);
    }
}

fn records_of_checkpoint() -> (u32, Vec<u8>) {
    let sections = sections(&checkpoint());
    let mut sections = sections.into_iter();
    sections.find(|(tag, _)| *tag == RECORDS).unwrap()
}

/// A later podinit may have causes that this one does not know. Where no record has one, it does not
/// matter.
#[test]
fn a_cause_that_is_not_known_was_written_by_a_later_podinit() {
    let unknown = |name: &str| {
        let mut all = sections(&checkpoint());
        for (tag, payload) in &mut all {
            if [COLLECTED, RECORDS].contains(tag) {
                let at = payload
                    .windows(name.len())
                    .position(|bytes| bytes == name.as_bytes());
                payload[at.unwrap()] = b'X';
            }
        }
        decoded(&all).map(drop)
    };
    let later = WaitReason::new(Stage::Scheduling, Cause::Queue).unwrap();
    let error = unknown(later.cause().as_str()).unwrap_err();
    assert_eq!(error.reason(), CheckpointLoad::FutureVersion, "{error}");
    assert_eq!(
        error.to_string(),
        "a pod waited in scheduling: Xueue, which this podinit does not know"
    );
    assert_eq!(unknown("readiness_gate"), Ok(()));
}

#[test]
fn the_oldest_records_are_left_out_where_they_would_take_too_many_bytes() {
    let (_, payload) = records_of_checkpoint();
    let good = read(&payload, &mut SharedTexts::default()).unwrap();
    let large = |number: u64| {
        let mut saved = good.records[0].startup.saved();
        saved.pod.info.name = "x".repeat(1 << 20).into();
        let startup = EndedStartup::restored(saved, rules());
        KeptRecord {
            number,
            startup: Arc::new(startup),
        }
    };
    let kept = KeptRecords {
        count: 20,
        records: (0..20).map(large).collect(),
    };
    let mut bytes = Vec::new();
    write(&mut bytes, &kept);
    assert!(bytes.len() <= MOST_BYTES + 4096, "{}", bytes.len());
    let read = read(&bytes, &mut SharedTexts::default()).unwrap();
    assert_eq!(read.count, 20);
    assert_eq!(read.records, kept.records[13..]);
}
