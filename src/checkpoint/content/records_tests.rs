//! Records that are written and read: arbitrary ones, ones of a tracker, and what cannot be.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::super::form_tests::{
    CollectedForm, EndedForm, EvidenceForm, IN_FLIGHT, ImageForm, PodForm, StartupForm,
    VerdictForm, uid,
};
use super::super::tests::{checkpoint, decoded, sections};
use super::super::{COLLECTED, Content, MARKS, PODS, SHOWN, encode};
use super::*;
use crate::metrics::CheckpointLoad;
use crate::metrics::saved::SavedMetrics;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Cause, ExclusionReason, Interval, Namespaces, NetworkEvidence, NetworkTime, Outcome, Record,
    SavedPod, SavedTracker, Selection, Stage, WaitReason,
};
use podinit_core::pod::{PodInfo, Workload};
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
        selection: Selection::default(),
    };
    (0..SLOS).map(rule).collect()
}

fn named<T: LabelValue>() -> impl Strategy<Value = &'static str> {
    (0..T::ALL.len()).prop_map(|index| T::ALL[index].as_str())
}

fn waiting() -> impl Strategy<Value = u8> {
    0..u8::try_from(WaitReason::COUNT).unwrap()
}

fn verdict() -> impl Strategy<Value = VerdictForm> {
    prop_oneof![
        Just(VerdictForm::Good),
        option::of(waiting()).prop_map(VerdictForm::Bad),
        named::<ExclusionReason>().prop_map(VerdictForm::Excluded),
    ]
}

fn time() -> impl Strategy<Value = i64> {
    any::<i64>().prop_map(|nanos| Timestamp::from_nanos(nanos).as_nanos())
}

prop_compose! {
    /// Of a pod with these SLOs, each with whether it has had its event.
    fn collected(slos: Vec<(u16, bool)>)(
        // Milliseconds beyond the last time are that time.
        causes in vec((waiting(), 0..=u64::try_from(i64::MAX / 1_000_000).unwrap()), 0..=16),
        preexisting in any::<u16>(),
        network_evidence in option::of(named::<NetworkEvidence>()),
        network_time in option::of(named::<NetworkTime>()),
        verdicts in vec(option::of(verdict()), slos.len()),
        message in option::of(".{0,60}"),
        slos in Just(slos),
    ) -> CollectedForm {
        let condition = NetworkEvidence::Condition.as_str();
        let verdicts = verdicts.into_iter().zip(slos);
        CollectedForm {
            causes,
            preexisting,
            network_evidence: network_evidence.filter(|by| *by != condition),
            network_time,
            verdicts: verdicts
                .map(|(verdict, (_, decided))| verdict.filter(|verdict| {
                    // Of those that a pod has not had, good and bad ones are held.
                    decided || !matches!(verdict, VerdictForm::Excluded(_))
                }))
                .collect(),
            message,
        }
    }
}

prop_compose! {
    fn startup()(
        times in prop::array::uniform9(option::of(time())),
        reached in 0_u16..1 << 9,
        types_seen in 0_u16..1 << 6,
        decided in any::<u16>(),
        kept_evidence in option::of(time()),
        flags in any::<[bool; 4]>(),
    ) -> StartupForm {
        let [has_init_containers, has_readiness_gates, seen_gated, seen_unschedulable] = flags;
        StartupForm {
            times, reached, types_seen, decided, kept_evidence,
            has_init_containers, has_readiness_gates, seen_gated, seen_unschedulable,
        }
    }
}

/// A pod in flight, what its record has collected, and its images.
type InFlightForm = (PodForm, CollectedForm, Option<Vec<String>>);

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
        collected in collected(slos.clone()),
        names in Just(names), node in Just(node), owner in Just(owner), startup in Just(startup),
        discovered in Just(discovered), slos in Just(slos), pulled in Just(pulled),
        named in Just(named),
    ) -> InFlightForm {
        let [namespace, name, text] = names;
        let images = pulled.into_iter().map(|(registry, failed, nanos)| {
            let image = nanos.map_or(ImageForm::Unknown, |nanos| ImageForm::Pulled {
                end: None,
                with_wait: Duration::from_nanos(nanos),
            });
            (registry, failed, image)
        });
        let pod = PodForm {
            uid: uid(&text),
            last_seen: (7, 0, false, 1_000, [0; 5]),
            info: PodInfo {
                namespace: namespace.into(),
                name: name.into(),
                node: node.map(Arc::from),
                workload: owner.map(|name| Arc::new(Workload { kind: "Job".into(), name: name.into() })),
                ..PodInfo::default()
            },
            startup,
            discovered,
            slos,
            evidence: EvidenceForm::default(),
            images: images.collect(),
            is_stateful: false,
            has_startup_sli: false,
            lacks_network_condition: false,
        };
        (pod, collected, named)
    }
}

prop_compose! {
    fn ended()(
        (pod, collected, images) in in_flight(),
        waiting in waiting(),
        outcome in named::<Outcome>(),
        at in time(),
    ) -> EndedForm {
        let images = images.unwrap_or_default();
        EndedForm { pod, collected, images, waiting, outcome, at }
    }
}

/// The section with these records.
fn records_section(ended: &[EndedForm]) -> Vec<u8> {
    // Some are not kept any more.
    let number = |place: usize| 3 * place;
    let count = ended.len().checked_sub(1).map_or(0, |last| number(last) + 2);
    let mut out = Vec::new();
    append(&mut out, &(count, WaitingNames::default(), [rules()].as_slice()));
    for (place, one) in ended.iter().enumerate() {
        append(&mut out, &(number(place), 0_usize));
        append(&mut out, one);
    }
    out
}

/// The sections with these pods: themselves, what their records have collected, and what else they show.
fn pods_sections(pods: &[InFlightForm]) -> [(u32, Vec<u8>); 3] {
    let [mut themselves, mut collected, mut shown] = [(); 3].map(|()| Vec::new());
    append(&mut collected, &WaitingNames::default());
    let mut lists: Vec<&[String]> = Vec::new();
    for (pod, of_pod, images) in pods {
        append(&mut themselves, &(IN_FLIGHT, pod));
        append(&mut collected, of_pod);
        let place = images.as_deref().map(|images| {
            let known = lists.iter().position(|list| *list == images);
            known.unwrap_or_else(|| {
                lists.push(images);
                lists.len() - 1
            })
        });
        append(&mut collected, &place);
        append(&mut shown, &(false, false, 0_u64, Duration::from_secs(7)));
    }
    append(&mut collected, &lists);
    [(PODS, themselves), (COLLECTED, collected), (SHOWN, shown)]
}

fn of(records: KeptRecords) -> Content {
    Content {
        tracker: SavedTracker { rules: rules(), ..SavedTracker::default() },
        metrics: SavedMetrics { bounds: vec![1], ..SavedMetrics::default() },
        records,
        ..Content::default()
    }
}

fn made(kept: &KeptRecords) -> Vec<(u64, Record)> {
    let records = kept.records.iter();
    records.map(|kept| (kept.number, kept.startup.record())).collect()
}

proptest! {
    #[test]
    fn arbitrary_records_are_read_as_they_were_written(
        ended in vec(ended(), 0..20),
        in_flight in vec(in_flight(), 0..5),
    ) {
        let empty = of(KeptRecords::default());
        let mut file = sections(&encode(&empty, std::iter::empty::<SavedPod>()).finish());
        file.retain(|(tag, _)| *tag != PODS);
        match &in_flight[..] {
            [] => file.push((PODS, Vec::new())),
            pods => file.extend(pods_sections(pods)),
        }
        if !ended.is_empty() {
            file.push((RECORDS, records_section(&ended)));
        }
        file.sort();
        let (content, pods) = decoded(&file).unwrap();
        prop_assert_eq!((content.records.records.len(), pods.len()), (ended.len(), in_flight.len()));
        // What the file does not say of the pods follows from the rest, and is written from then on.
        let has_run = pods.iter().filter_map(SavedPod::in_flight).map(podinit_core::lifecycle::PodInFlight::has_run);
        let has_run: Vec<bool> = has_run.collect();
        if !has_run.is_empty() {
            let mut marks = Vec::new();
            append(&mut marks, &(has_run, Vec::<(u64, Timestamp)>::new()));
            file.push((MARKS, marks));
            file.sort();
        }
        let mut again = sections(&encode(&content, pods.iter().cloned()).finish());
        again.sort();
        prop_assert_eq!(&again, &file);
        let (read, read_pods) = decoded(&again).unwrap();
        prop_assert_eq!(&read, &content);
        prop_assert_eq!(&read_pods, &pods);
        // Not only what is saved, but what is shown.
        prop_assert_eq!(made(&read.records), made(&content.records));
    }
}

/// What no pod can have is refused, whichever of the two sections has it.
#[test]
fn more_causes_than_are_kept_and_results_of_other_slos_are_corrupt() {
    let [good, causes, verdicts] =
        [(16, 0, 0), (17, 0, 0), (0, 1, 0)].map(|(causes, verdicts, preexisting)| CollectedForm {
            causes: vec![(0, 1); causes],
            verdicts: vec![Some(VerdictForm::Good); verdicts],
            preexisting,
            ..CollectedForm::default()
        });
    let read = |collected: CollectedForm| {
        let content = of(KeptRecords::default());
        let mut file = sections(&encode(&content, std::iter::empty::<SavedPod>()).finish());
        let (_, whole) = sections(&checkpoint()).into_iter().find(|(tag, _)| *tag == PODS).unwrap();
        file.iter_mut().find(|(tag, _)| *tag == PODS).unwrap().1 = whole;
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
    {
        let impossible = causes;
        let error = read(impossible).unwrap_err();
        assert_eq!(error.reason(), CheckpointLoad::Corrupt, "{error}");
    }
    let two = CollectedForm { verdicts: vec![None; 2], ..CollectedForm::default() };
    assert_eq!(read(two).unwrap_err().reason(), CheckpointLoad::Corrupt);
}

#[test]
fn records_that_cannot_be_kept_together_are_corrupt() {
    let (_, payload) = records_of_checkpoint();
    let read = |bytes: &[u8]| read(bytes, BTreeMap::new(), &mut SharedTexts::default());
    let good = read(&payload).unwrap();
    assert_eq!((good.count, good.records.len()), (2, 2));
    let with = |change: fn(&mut KeptRecords)| {
        let mut kept = good.clone();
        change(&mut kept);
        let mut bytes = Vec::new();
        write(&mut bytes, kept.count, newest(&kept.records));
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
                .map(|number| KeptRecord { number, startup: Arc::clone(&one) })
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
                let at = payload.windows(name.len()).position(|bytes| bytes == name.as_bytes());
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
    let large = |number: u64| {
        let good = read(&payload, BTreeMap::new(), &mut SharedTexts::default()).unwrap();
        let mut startup = Arc::clone(&good.records[0].startup);
        drop(good);
        Arc::get_mut(&mut startup).unwrap().pod_mut().name = "x".repeat(1 << 20).into();
        KeptRecord { number, startup }
    };
    let kept = KeptRecords { count: 20, records: (0..20).map(large).collect() };
    let mut bytes = Vec::new();
    write(&mut bytes, kept.count, newest(&kept.records));
    assert!(bytes.len() <= MOST_BYTES + 4096, "{}", bytes.len());
    let read = read(&bytes, BTreeMap::new(), &mut SharedTexts::default()).unwrap();
    assert_eq!(read.count, 20);
    assert_eq!(read.records, kept.records[13..]);
}
