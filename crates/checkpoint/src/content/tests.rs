#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::time::Duration;

use super::section::append;
use super::*;
use crate::CheckpointLoad;
use crate::frame::{self, SectionWriter};
use crate::{CheckpointRecords, KeptRecord};
use podinit_core::kube_event::{
    CapacityState, EventOccurrence, EventReason, InvolvedPod, KubeEvent,
};
use podinit_core::lifecycle::{
    CustomMilestone, CustomMilestones, Delivery, EndedRollout, EndedStartup, HeldNanos, Interval,
    LabelObserver, Namespaces, NodeEvent, Observation, Observer, PodEvent, RolloutOutcome,
    RolloutWorkload, SavedCrash, Selection, SloRule, SourceId, Tracker, TrackerConfig, Version,
};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::{
    ConditionStatus, ConditionType, Ending, GateNames, NamedConditions, PodPhase, PodSnapshot,
    PodUid, Revision, StatusCondition, Workload,
};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{ExpositionBuilder, LabelConfig, Recorder, SloDoc, families_of_pods};

/// Counts, and keeps the records.
struct Counted {
    recorder: Recorder,
    records: CheckpointRecords,
}

impl Observer for Counted {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }

    fn ended(&mut self, startup: EndedStartup) {
        let number = self.records.count;
        self.records.count += 1;
        self.records.records.push(KeptRecord { number, startup: Arc::new(startup) });
    }

    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(&mut self.recorder)
    }
}

/// What is read of a file whose frame is whole.
pub(super) fn read_file(file: &[u8]) -> Result<DecodedCheckpoint, ContentError> {
    decode(&frame::read(file).unwrap(), &families_of_pods())
}

/// A checkpoint with something of everything but nodes: pods in flight, done and deleted, durations, an SLO.
pub(super) fn checkpoint() -> Vec<u8> {
    checkpoint_of(false)
}

/// The same of a process whose evidence are nodes, too, or not.
pub(super) fn checkpoint_of(nodes: bool) -> Vec<u8> {
    let rule = SloRule {
        name: Arc::from("fast"),
        interval: Interval::CreatedToReady.into(),
        threshold: Duration::from_secs(1),
        grace: Duration::from_secs(5),
        namespaces: Namespaces::Exclude(vec!["kube-system".into()]),
        owner_kinds: Vec::new(),
        selection: Selection::default(),
    };
    let doc = SloDoc::new(&rule, 0.99, 604_800.0);
    let (recorder, _) = ExpositionBuilder::new(LabelConfig::default())
        .starts(Timestamp::from_seconds(1_800_000_000))
        .slos(vec![doc])
        .nodes(nodes)
        .milestones(milestones())
        .build()
        .unwrap();
    let mut sink = Counted { recorder, records: CheckpointRecords::default() };
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule].into(),
        events: true,
        nodes,
        milestones: milestones(),
        ..TrackerConfig::default()
    });
    let at = |second: i64| Timestamp::from_seconds(1_800_000_000 + second);
    let pod = |name: &str, ready: bool| {
        let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
        pod.created = Some(at(1));
        pod.resource_version = Some(700);
        for kind in ConditionType::ALL.into_iter().take(if ready { 6 } else { 1 }) {
            let condition =
                StatusCondition { status: ConditionStatus::True, last_transition: Some(at(2)) };
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
            occurred: EventOccurrence::default(),
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
        phase: PodPhase::Failed,
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
    let gated = |name: &str, second| {
        let named = Some(Box::new(named_conditions(at(second))));
        PodSnapshot { named, gated: second == 2, has_readiness_gates: true, ..pod(name, false) }
    };
    let events = [
        first_list,
        PodEvent::Applied(gated("gated", 2)),
        PodEvent::Applied(gated("gated", 3)),
        PodEvent::Applied(PodSnapshot { conditions: Default::default(), ..pod("done", false) }),
        scaling_up("done"),
        PodEvent::Applied(pod("done", true)),
        PodEvent::Applied(pod("starts", false)),
        scaling_up("starts"),
        PodEvent::Applied(pod("gone", false)),
        PodEvent::Deleted(pod("gone", false)),
    ];
    let with_nodes = with_nodes.into_iter().filter(|_| nodes);
    let workload = Arc::new(Workload { kind: "Deployment".into(), name: "web".into() });
    let of_revision = |name: &str, revision: u32| {
        let mut pod = PodSnapshot { revision: Some(Revision::from(revision)), ..pod(name, false) };
        pod.info.workload = Some(Arc::clone(&workload));
        pod
    };
    let rolling_out = [
        PodEvent::Applied(of_revision("web-old", 1)),
        PodEvent::Applied(of_revision("web-gone", 1)),
        PodEvent::Deleted(of_revision("web-gone", 1)),
        PodEvent::Applied(of_revision("web-new", 2)),
    ];
    sink.records.rollouts.push(Arc::new(EndedRollout {
        workload: RolloutWorkload { namespace: "ns".into(), workload: Arc::clone(&workload) },
        outcome: RolloutOutcome::Completed,
        began: at(-100),
        ended: at(-50),
        is_exact: true,
        found: true,
        wanted: 3,
        held: HeldNanos { starting: 1, not_ready: 2, ending: 3, controller: 4 },
    }));
    for event in events.into_iter().chain(rolling_out).chain(with_nodes) {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: at(3),
            observed: Some(at(3)),
            version: Some(Version::Number(700)),
        };
        tracker.apply(delivery, &mut sink);
    }
    let content = CheckpointContent {
        scope: SavedScope {
            watched: vec![Watched::default()],
            pod_labels: vec!["app".to_owned()],
            ..SavedScope::default()
        },
        tracker: tracker.saved(),
        metrics: sink.recorder.saved(),
        records: sink.records,
    };
    encode(&content, tracker.saved_pods()).finish()
}

fn milestones() -> CustomMilestones {
    let parse = |text| CustomMilestone::parse(text).unwrap();
    Arc::new(["loaded=condition:Loaded", "warm=condition:Warm"].map(parse).to_vec())
}

/// A pod with gates of both kinds, of which one has been passed, and with one of the milestones.
fn named_conditions(at: Timestamp) -> NamedConditions {
    let gates = GateNames {
        scheduling: ["quota"].into_iter().collect(),
        readiness: ["registered", "balanced"].into_iter().collect(),
    };
    let held = Some(StatusCondition { status: ConditionStatus::True, last_transition: Some(at) });
    NamedConditions {
        gates: Some(Arc::new(gates)),
        readiness: [held, None].into(),
        milestones: [held, None].into(),
    }
}

pub(super) fn sections(checkpoint: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let sections = frame::read(checkpoint).unwrap();
    sections.iter().map(|(tag, payload)| (tag, payload.to_vec())).collect()
}

pub(super) fn decoded(sections: &[(u32, Vec<u8>)]) -> Result<DecodedCheckpoint, ContentError> {
    let mut file = SectionWriter::begin();
    for (tag, payload) in sections {
        file.section(*tag, |out| out.extend(payload));
    }
    read_file(&file.finish())
}

#[test]
fn what_is_written_is_read() {
    for checkpoint in [checkpoint(), checkpoint_of(true)] {
        let DecodedCheckpoint { content, pods, skipped } = read_file(&checkpoint).unwrap();
        assert_eq!((skipped, content.tracker.deleted.len()), (0, 2));
        assert_eq!(content.records.rollouts.len(), 1);
        assert!(content.metrics.families.sum("podinit_pods_finished_total") >= 2);
        assert_eq!(encode(&content, pods.into_iter()).finish(), checkpoint);
    }
}

/// Damages one byte of `every` in each section, in several ways.
fn damage(every: usize) {
    let sections = sections(&checkpoint_of(true));
    for (place, (_, payload)) in sections.iter().enumerate() {
        for at in (0..payload.len()).step_by(every) {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut changed = sections.clone();
                changed[place].1[at] = value;
                if let Ok(DecodedCheckpoint { content, pods, .. }) = decoded(&changed) {
                    // Whatever it means, it can be written again.
                    encode(&content, pods.into_iter()).finish();
                }
            }
        }
    }
}

#[test]
fn some_bytes_of_a_section_cannot_make_the_reader_panic() {
    damage(29);
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
        assert_eq!(decoded(&missing).unwrap_err(), ContentError::Missing(tag));
    }
}

#[test]
fn values_that_cannot_be_are_corrupt() {
    let DecodedCheckpoint { content, pods, .. } = read_file(&checkpoint()).unwrap();
    let corrupt = |what: &str, change: &dyn Fn(&mut CheckpointContent)| {
        let mut changed = content.clone();
        change(&mut changed);
        let file = encode(&changed, pods.iter().cloned()).finish();
        let read = read_file(&file).map(|read| read.skipped);
        let error = read.map_err(|error| error.to_string());
        assert!(matches!(&error, Err(why) if why.contains(what)), "{what}: {error:?}");
    };
    corrupt("ascend", &|content| content.metrics.bounds.reverse());
    corrupt("ascend", &|content| content.metrics.bounds.clear());
    corrupt("other cells", &|content| content.metrics.delivery.cells = vec![(u16::MAX, 1)]);
    corrupt("other intervals", &|content| _ = content.metrics.durations.pop());
    corrupt("other values", &|content| content.metrics.labels.sets[0][0] = 1_000);
    corrupt("whether it has a pod", &|content| _ = content.metrics.holds.sets.pop());
    corrupt("not there", &|content| content.metrics.holds.holds = vec![Some((1_000, 0))]);
    corrupt("kept together", &|content| content.records.count = 0);
    corrupt("of a crash", &|content| {
        content.tracker.crashes = vec![SavedCrash {
            uid: PodUid::from_text("u"),
            ready: Timestamp::EPOCH,
            first: Timestamp::EPOCH,
            container: None,
            message: Some("x".repeat(10_000)),
        }]
    });
}

/// Names or very many containers would make the section too large.
#[test]
fn the_oldest_records_are_left_out_where_there_is_no_room() {
    let DecodedCheckpoint { mut content, .. } = read_file(&checkpoint()).unwrap();
    let one = Arc::clone(&content.records.records[0].startup);
    let large = |number: u64| {
        let mut large = records_with_name(&one, &"x".repeat(1 << 20));
        large.number = number;
        large
    };
    content.records = CheckpointRecords {
        count: 20,
        records: (0..20).map(large).collect(),
        ..CheckpointRecords::default()
    };
    let file = encode(&content, std::iter::empty::<SavedPod>()).finish();
    let read = read_file(&file).unwrap().content.records;
    let numbers: Vec<u64> = read.records.iter().map(|record| record.number).collect();
    assert_eq!((read.count, numbers), (20, (13..20).collect()));
}

/// A record of a startup of a pod with another name.
fn records_with_name(startup: &EndedStartup, name: &str) -> KeptRecord {
    let mut bytes = Vec::new();
    append(&mut bytes, startup);
    let mut copy: EndedStartup = postcard::from_bytes(&bytes).unwrap();
    copy.pod_mut().name = name.into();
    *copy.known_mut().1 = Arc::clone(startup.rules());
    KeptRecord { number: 0, startup: Arc::new(copy) }
}

#[test]
fn what_many_pods_have_in_common_is_held_once() {
    let DecodedCheckpoint { content, pods, .. } = read_file(&checkpoint_of(true)).unwrap();
    let twice: Vec<SavedPod> = pods.iter().chain(&pods).cloned().collect();
    let file = encode(&content, twice.into_iter()).finish();
    let read = read_file(&file).unwrap();
    let in_flight: Vec<_> = read.pods.iter().filter_map(SavedPod::in_flight).collect();
    let (one, other) = (in_flight[0].info(), in_flight[in_flight.len() / 2].info());
    assert_eq!(one, other);
    assert!(Arc::ptr_eq(&one.namespace, &other.namespace));
    let records = &read.content.records.records;
    assert!(Arc::ptr_eq(records[0].startup.rules(), records[1].startup.rules()));
}

mod slow {
    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn no_byte_of_a_section_can_make_the_reader_panic() {
        super::damage(1);
    }
}
