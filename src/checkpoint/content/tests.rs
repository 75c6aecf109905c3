#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::time::Duration;

use super::form_tests::CollectedForm;
use super::*;
use crate::checkpoint::frame;
use crate::inspect::records::RecordStore;
use crate::metrics::CheckpointLoad;
use crate::metrics::{Builder, LabelConfig, Recorder, SloDoc};
use podinit_core::kube_event::{CapacityState, EventReason, InvolvedPod, KubeEvent, Occurred};
use podinit_core::lifecycle::{
    Delivery, EndedStartup, Interval, LabelHold, Namespaces, NodeEvent, Observation, Observer,
    PodEvent, Selection, Sink, SloRule, SourceId, Tracker, TrackerConfig, Version,
};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::{
    Condition, ConditionStatus, ConditionType, Ending, Phase, PodInfo, PodSnapshot, PodUid,
};
use podinit_core::timestamp::Timestamp;

/// Counts, and keeps the records.
struct Counted {
    recorder: Recorder,
    records: RecordStore,
}

impl Observer for Counted {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }
}

impl Sink for Counted {
    fn ended(&mut self, startup: EndedStartup) {
        self.records.add(startup);
    }

    fn hold(&mut self, now: Timestamp, pod: &PodInfo) -> LabelHold {
        self.recorder.hold(now, pod)
    }

    fn release(&mut self, now: Timestamp, hold: LabelHold) {
        self.recorder.release(now, hold);
    }
}

/// A checkpoint with something of everything but nodes: pods in flight, done and deleted, durations, an SLO.
pub(super) fn checkpoint() -> Vec<u8> {
    checkpoint_of(false)
}

/// The same of a process whose evidence are nodes, too, or not.
pub(super) fn checkpoint_of(nodes: bool) -> Vec<u8> {
    let rule = SloRule {
        name: Arc::from("fast"),
        interval: Interval::CreatedToReady,
        threshold: Duration::from_secs(1),
        grace: Duration::from_secs(5),
        namespaces: Namespaces::Exclude(vec!["kube-system".into()]),
        owner_kinds: Vec::new(),
        selection: Selection::default(),
    };
    let doc = SloDoc {
        name: Arc::clone(&rule.name),
        objective_ratio: 0.99,
        interval: Interval::CreatedToReady,
        threshold_seconds: 1.0,
        selection: Selection::default(),
    };
    let (recorder, _) = Builder::new(LabelConfig::default())
        .starts(Timestamp::from_seconds(1_800_000_000))
        .slos(vec![doc])
        .nodes(nodes)
        .build()
        .unwrap();
    let mut sink = Counted { recorder, records: RecordStore::default() };
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule].into(),
        events: true,
        nodes,
        ..TrackerConfig::default()
    });
    let at = |second: i64| Timestamp::from_seconds(1_800_000_000 + second);
    let pod = |name: &str, ready: bool| {
        let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
        pod.created = Some(at(1));
        pod.resource_version = Some(700);
        for kind in ConditionType::ALL.into_iter().take(if ready { 6 } else { 1 }) {
            let condition =
                Condition { status: ConditionStatus::True, last_transition: Some(at(2)) };
            pod.conditions.insert(kind, condition);
        }
        pod
    };
    let scaling_up = |name: &str| {
        PodEvent::Event(KubeEvent {
            pod: Some(InvolvedPod::new(PodUid::from_text(name), "ns", name)),
            from_kubelet: false,
            container: None,
            first: None,
            named: None,
            occurred: Occurred::default(),
            reason: EventReason::Capacity {
                state: CapacityState::ScalingUp,
                by: "cluster-autoscaler".into(),
            },
            message: Some("pod triggered scale-up: [{a 3->4 (max: 10)}]".into()),
        })
    };
    let began = at(0);
    let first_list = PodEvent::Listed { pods: Vec::new().into(), began };
    let mut node = NodeSnapshot::bare(PodUid::from_text("node"), "node");
    node.created = Some(at(2));
    let of_nodes = |nodes: Vec<NodeSnapshot>| PodEvent::Nodes(NodeEvent::Listed { nodes, began });
    let bound = |name: &str| {
        let mut pod = pod(name, false);
        pod.info.node = Some("node".into());
        pod
    };
    let failed = PodSnapshot {
        phase: Phase::Failed,
        ending: Some(Box::new(Ending {
            at: Some(at(3)),
            reason: Some("Evicted".into()),
            ..Ending::default()
        })),
        ..bound("failed")
    };
    let with_nodes = [
        of_nodes(Vec::new()),
        PodEvent::Nodes(NodeEvent::Applied(Box::new(node))),
        PodEvent::Applied(bound("failed")),
        PodEvent::Applied(failed),
        PodEvent::Applied(bound("on a new node")),
    ];
    let events = [
        first_list,
        PodEvent::Applied(PodSnapshot { conditions: Default::default(), ..pod("done", false) }),
        scaling_up("done"),
        PodEvent::Applied(pod("done", true)),
        PodEvent::Applied(pod("starts", false)),
        scaling_up("starts"),
        PodEvent::Applied(pod("gone", false)),
        PodEvent::Deleted(pod("gone", false)),
    ];
    let with_nodes = with_nodes.into_iter().filter(|_| nodes);
    for event in events.into_iter().chain(with_nodes) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: at(3),
            observed: Some(at(3)),
            version: Some(Version::Number(700)),
        };
        tracker.apply(delivery, &mut sink);
    }
    let content = Content {
        scope: SavedScope {
            watched: vec![Watched::default()],
            pod_labels: vec!["app".to_owned()],
            ..SavedScope::default()
        },
        tracker: tracker.saved(),
        metrics: sink.recorder.saved(),
        records: sink.records.kept(),
    };
    encode(&content, tracker.saved_pods()).finish()
}

pub(super) fn sections(checkpoint: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let sections = frame::read(checkpoint).unwrap();
    sections.iter().map(|(tag, payload)| (tag, payload.to_vec())).collect()
}

pub(super) fn decoded(
    sections: &[(u32, Vec<u8>)],
) -> Result<(Content, Vec<SavedPod>), ContentError> {
    let mut file = Writer::begin();
    for (tag, payload) in sections {
        file.section(*tag, |out| out.extend(payload));
    }
    decode(&frame::read(&file.finish()).unwrap())
}

#[test]
fn what_is_written_is_read() {
    let checkpoint = checkpoint();
    let (content, pods) = decode(&frame::read(&checkpoint).unwrap()).unwrap();
    assert_eq!((pods.len(), content.tracker.deleted.len()), (2, 1));
    assert_eq!(content.metrics.families.sum("podinit_pods_finished_total"), 2);
    assert_eq!(encode(&content, pods.into_iter()).finish(), checkpoint);
}

/// Damages one byte of `every` in each section, in several ways.
fn damage(every: usize) {
    let sections = sections(&checkpoint());
    for (place, (_, payload)) in sections.iter().enumerate() {
        for at in (0..payload.len()).step_by(every) {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut changed = sections.clone();
                changed[place].1[at] = value;
                if let Ok((content, pods)) = decoded(&changed) {
                    // Whatever it means, it can be written again.
                    encode(&content, pods.into_iter()).finish();
                }
            }
        }
    }
}

#[test]
fn some_bytes_of_a_section_cannot_make_the_reader_panic() {
    damage(11);
}

#[test]
fn a_section_that_ends_early_or_late_or_is_missing_is_corrupt() {
    let sections = sections(&checkpoint());
    for place in 0..sections.len() {
        let mut shorter = sections.clone();
        shorter[place].1.pop();
        let mut longer = sections.clone();
        longer[place].1.push(0);
        let mut missing = sections.clone();
        let (tag, _) = missing.remove(place);
        for changed in [shorter, longer] {
            assert_eq!(decoded(&changed).unwrap_err().reason(), CheckpointLoad::Corrupt);
        }
        let missing = decoded(&missing).map_err(|error| error.reason());
        match tag {
            CAPACITY | COLLECTED | CRASHES | HOLDS | MARKS | RECORDS | SHOWN | START_TIMES => {
                assert!(missing.is_ok());
            }
            _ => assert_eq!(missing, Err(CheckpointLoad::Corrupt)),
        }
    }
}

/// The file of a podinit that had records and saved none.
#[test]
fn a_checkpoint_without_the_optional_sections_is_read_and_has_no_records() {
    let file = include_bytes!("../../../tests/fixtures/checkpoints/without_records");
    let tags = frame::read(file).unwrap();
    assert!(
        tags.iter()
            .all(|(tag, _)| ![CAPACITY, COLLECTED, HOLDS, RECORDS, SHOWN, START_TIMES]
                .contains(&tag))
    );
    let (content, pods) = decode(&frame::read(file).unwrap()).unwrap();
    let finished = content.metrics.families.sum("podinit_pods_finished_total");
    assert_eq!((finished, pods.len()), (2, 2));
    assert_eq!(content.records, KeptRecords::default());
    assert!(content.metrics.starts.is_empty());
    assert!(content.metrics.holds.is_empty());
    for pod in pods.iter().filter_map(SavedPod::in_flight) {
        let mut collected = Vec::new();
        append(&mut collected, &pod.collected());
        let none = CollectedForm { verdicts: vec![None; pod.slos()], ..CollectedForm::default() };
        let mut expected = Vec::new();
        append(&mut expected, &none);
        assert_eq!(collected, expected);
    }
    // What is written from now on has them.
    let again = encode(&content, pods.into_iter()).finish();
    let again = frame::read(&again).unwrap();
    assert!(again.get(CAPACITY).is_none(), "no autoscaler has said anything");
    assert!(again.get(COLLECTED).is_some() && again.get(SHOWN).is_some());
}

/// As of a later podinit that has more to say.
#[test]
fn a_section_that_is_not_known_is_ignored() {
    let mut sections = sections(&checkpoint());
    let known = decoded(&sections);
    sections.push((99, b"something".to_vec()));
    assert_eq!(decoded(&sections), known);
}

#[test]
fn a_name_that_is_not_known_was_written_by_a_later_podinit() {
    let mut sections = sections(&checkpoint());
    let metrics = sections.iter_mut().find(|(tag, _)| *tag == METRICS).unwrap();
    let name = b"condition_absent";
    let at = metrics.1.windows(name.len()).position(|bytes| bytes == name).unwrap();
    metrics.1[at..at + name.len()].copy_from_slice(b"condition_absurd");
    let error = decoded(&sections).unwrap_err();
    assert_eq!(error.reason(), CheckpointLoad::FutureVersion);
    assert_eq!(
        error.to_string(),
        "it counts podinit_unobserved_total{stage=\"gated\",reason=\"condition_absurd\"}, which this \
         podinit does not know"
    );
}

mod slow {
    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn no_byte_of_a_section_can_make_the_reader_panic() {
        super::damage(1);
    }
}
