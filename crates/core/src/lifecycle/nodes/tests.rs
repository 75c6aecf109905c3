//! Nodes and the pods that wait for them, as deliveries bring them about.

#![allow(clippy::unwrap_used)]

use crate::lifecycle::nodes::NodeEvent;
use crate::lifecycle::record_fixtures::{Ends, at};
use crate::lifecycle::{
    Backfill, Delivery, Interval, NetworkTime, NodeObservation, NodeState, Observation, Observer,
    PodEvent, PodObservation, Sink, SourceId, StartupCapacity, TimestampMode, Tracker,
    TrackerConfig,
};
use crate::lifecycle::{EndedStartup, Record};
use crate::node::NodeSnapshot;
use crate::pod::{
    Condition, ConditionStatus, ConditionType, Container, ContainerKind, PodSnapshot, PodUid,
    Workload,
};
use crate::shard::Shard;
use crate::timestamp::Timestamp;

/// What a tracker of nodes reports, as lines.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    ends: Ends,
    discovered: i64,
    finished: i64,
    starting: i64,
}

impl Observer for Log {
    fn observe(&mut self, _now: Timestamp, observation: Observation<'_>) {
        let line = match observation {
            Observation::Node(NodeObservation::Moved { from, to }) => {
                self.discovered += i64::from(from == NodeState::Undiscovered);
                self.starting +=
                    i64::from(to == NodeState::Starting) - i64::from(from == NodeState::Starting);
                self.finished += i64::from(matches!(to, NodeState::Finished(_)));
                match to {
                    NodeState::Finished(outcome) => format!("node {}", outcome.as_str()),
                    _ => "node starts".to_owned(),
                }
            }
            Observation::Node(NodeObservation::Measured { step, latency, pool }) => {
                format!("{} of {pool}: {}", step.as_str(), latency.as_seconds_f64())
            }
            Observation::Node(NodeObservation::Anomaly(kind)) => format!("node: {}", kind.as_str()),
            Observation::Node(NodeObservation::Late(nodes)) => format!("{nodes} late"),
            Observation::Pod(pod, PodObservation::Measured { interval, latency })
                if interval.is_of_node() =>
            {
                format!("{} {} {}", pod.name, interval.as_str(), latency.as_seconds_f64())
            }
            Observation::Pod(pod, PodObservation::Unobserved { stage, reason })
                if stage.interval().is_of_node() =>
            {
                format!("{} no {}: {}", pod.name, stage.as_str(), reason.as_str())
            }
            Observation::Pod(pod, PodObservation::Startup { capacity, images, latency }) => {
                let (capacity, images) = (capacity.as_str(), images.as_str());
                format!("{} {capacity} {images} {}", pod.name, latency.as_seconds_f64())
            }
            Observation::Pod(pod, PodObservation::Bound | PodObservation::NodeKnown) => {
                let pool = pod.node_labels.as_deref().map_or("?", |labels| &labels.pool);
                format!("{} is on {pool}", pod.name)
            }
            _ => return,
        };
        self.lines.push(line);
    }
}

impl Sink for Log {
    fn ended(&mut self, startup: EndedStartup) {
        self.ends.ended(startup);
    }
}

struct Cluster {
    tracker: Tracker,
    log: Log,
}

impl Cluster {
    fn new(mode: TimestampMode) -> Self {
        Self::with(TrackerConfig { timestamps: mode, ..TrackerConfig::default() })
    }

    fn with(config: TrackerConfig) -> Self {
        let tracker = Tracker::new(TrackerConfig { nodes: true, ..config });
        Self { tracker, log: Log::default() }
    }

    fn deliver(&mut self, millis: i64, event: PodEvent) -> Vec<String> {
        let now = at(0).plus_nanos(millis * 1_000_000);
        let is_list =
            matches!(event, PodEvent::Listed { .. } | PodEvent::Nodes(NodeEvent::Listed { .. }));
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now,
            observed: (!is_list).then_some(now),
            version: None,
        };
        self.tracker.apply(delivery, &mut self.log);
        let log = &self.log;
        assert_eq!(log.discovered, log.finished + log.starting);
        std::mem::take(&mut self.log.lines)
    }

    fn node(&mut self, millis: i64, node: NodeSnapshot) -> Vec<String> {
        self.deliver(millis, PodEvent::Nodes(NodeEvent::Applied(Box::new(node))))
    }

    fn pod(&mut self, millis: i64, pod: PodSnapshot) -> Vec<String> {
        self.deliver(millis, PodEvent::Applied(pod))
    }

    fn list(&mut self, second: i64, nodes: Vec<NodeSnapshot>) -> Vec<String> {
        let began = at(second);
        self.deliver(second * 1_000, PodEvent::Nodes(NodeEvent::Listed { nodes, began }))
    }

    fn record(&self) -> Record {
        self.log.ends.0.last().unwrap().record()
    }
}

fn node(name: &str, created: i64, version: u64) -> NodeSnapshot {
    let mut node = NodeSnapshot::bare(PodUid::from_text(name), name);
    node.created = Some(at(created));
    node.resource_version = Some(version);
    node.labels.pool = "pool".into();
    node
}

fn condition(second: i64) -> Condition {
    Condition { status: ConditionStatus::True, last_transition: Some(at(second)) }
}

fn ready_node(name: &str, created: i64, version: u64, ready: i64) -> NodeSnapshot {
    let mut node = node(name, created, version);
    node.ready = Some(condition(ready));
    node
}

fn pod(name: &str, created: i64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
    pod.created = Some(at(created));
    pod
}

fn unschedulable(name: &str, created: i64) -> PodSnapshot {
    PodSnapshot { unschedulable: true, ..pod(name, created) }
}

fn on(node: &str, mut pod: PodSnapshot, scheduled: i64) -> PodSnapshot {
    pod.info.node = Some(node.into());
    pod.unschedulable = false;
    pod.conditions.insert(ConditionType::PodScheduled, condition(scheduled));
    pod
}

fn ready(mut pod: PodSnapshot, second: i64) -> PodSnapshot {
    for kind in [
        ConditionType::PodReadyToStartContainers,
        ConditionType::ContainersReady,
        ConditionType::Ready,
    ] {
        pod.conditions.insert(kind, condition(second));
    }
    pod
}

#[test]
fn a_pod_that_waited_for_a_new_node_has_its_steps() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(0, vec![]);
    cluster.pod(10_000, unschedulable("p", 10));
    assert_eq!(cluster.node(40_300, node("n", 40, 1)), ["node starts"]);
    let lines = cluster.node(60_400, ready_node("n", 40, 2, 60));
    assert_eq!(lines, ["ready of pool: 20", "schedulable of pool: 20", "node ready"]);
    let lines = cluster.pod(62_000, on("n", pod("p", 10), 62));
    assert_eq!(lines, ["p is on pool", "p node_launch 30", "p node_ready 20", "p node_join 2"]);
    let lines = cluster.pod(80_000, ready(on("n", pod("p", 10), 62), 80));
    assert_eq!(lines, ["p new unknown 70", "first_pod of pool: 40"]);
    let record = cluster.record();
    assert_eq!(record.needed.capacity, Some(StartupCapacity::New));
    assert_eq!(&*record.node_labels.clone().unwrap().pool, "pool");
    let launch = record.duration(Interval::Step(crate::lifecycle::Step::NodeLaunch));
    assert_eq!(launch.unwrap().as_seconds_f64(), 30.0);
    // Another pod is not the first.
    let other = ready(on("n", pod("q", 81), 82), 83);
    assert_eq!(cluster.pod(83_000, other), ["q existing unknown 2"]);
}

#[test]
fn times_are_sharpened_by_their_arrival() {
    let mut cluster = Cluster::new(TimestampMode::Fused);
    cluster.list(0, vec![]);
    cluster.node(40_300, node("n", 40, 1));
    // Ready at 60.5 s, as its event came later; schedulable when it came.
    let mut tainted = ready_node("n", 40, 2, 60);
    tainted.has_startup_taint = true;
    assert_eq!(cluster.node(61_200, tainted), ["ready of pool: 20.2"]);
    let mut cordoned = ready_node("n", 40, 3, 60);
    cordoned.unschedulable = true;
    assert_eq!(cluster.node(62_000, cordoned), Vec::<String>::new());
    let lines = cluster.node(63_700, ready_node("n", 40, 4, 60));
    assert_eq!(lines, ["schedulable of pool: 23.4", "node ready"]);
    // Seen before the second in which it says that it was created.
    assert_eq!(cluster.node(69_900, node("m", 70, 1)), ["node starts", "node: skew"]);
}

#[test]
fn a_node_that_is_not_ready_in_time_leaves_two_steps_unobserved() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(0, vec![]);
    cluster.pod(10_000, unschedulable("p", 10));
    cluster.node(40_300, node("n", 40, 1));
    let lines = cluster.pod(62_000, on("n", pod("p", 10), 62));
    let expected =
        ["p is on pool", "p node_launch 30", "p no node_ready: time", "p no node_join: time"];
    assert_eq!(lines, expected);
    // What is delivered later changes nothing.
    cluster.node(63_000, ready_node("n", 40, 2, 60));
    let ready = ready(on("n", pod("p", 10), 62), 80);
    let lines = cluster.pod(80_000, ready);
    assert_eq!(lines, ["p new unknown 70", "first_pod of pool: 40"]);
}

#[test]
fn capacity_is_judged_by_whole_seconds_when_scheduled_is_latched() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(50, vec![ready_node("old", 10, 1, 12)]);
    for (name, created, node, expected) in [
        ("same second", 10, "old", "existing"),
        ("younger node", 9, "old", "new"),
        ("unknown node", 9, "other", "unknown"),
    ] {
        let pod = ready(on(node, pod(name, created), 50), 60);
        let lines = cluster.pod(60_000, pod);
        let startup = format!("{name} {expected} unknown {}", 60 - created);
        assert!(lines.contains(&startup), "{lines:?}");
        // It never was unschedulable.
        assert!(!lines.iter().any(|line| line.contains("node_launch")));
    }
    let mut absurd = pod("without time", 10);
    absurd.created = None;
    cluster.pod(61_000, ready(on("old", absurd, 50), 60));
    assert_eq!(cluster.record().needed.capacity, Some(StartupCapacity::Unknown));
}

#[test]
fn adopted_pods_that_are_scheduled_are_of_unknown_capacity() {
    let mut cluster =
        Cluster::with(TrackerConfig { backfill: Backfill::Nothing, ..TrackerConfig::default() });
    cluster.list(0, vec![ready_node("n", -50, 1, -40)]);
    let bound = on("n", unschedulable("a", -60), -30);
    let waiting = unschedulable("b", -60);
    let began = at(0);
    let pods = vec![bound.clone(), waiting].into();
    cluster.deliver(0, PodEvent::Listed { pods, began });
    let lines = cluster.pod(5_000, ready(bound, 5));
    assert_eq!(lines, ["a unknown unknown 65"]);
    let lines = cluster.pod(6_000, on("n", pod("b", -60), 6));
    let expected = ["b is on pool", "b node_launch 10", "b node_ready 10", "b node_join 46"];
    assert_eq!(lines, expected);
}

#[test]
fn old_nodes_and_ready_ones_of_the_first_list_are_preexisting() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    let lines = cluster
        .list(100, vec![ready_node("ready", 90, 1, 95), node("young", 70, 1), node("old", 69, 1)]);
    assert_eq!(lines, ["node preexisting", "node starts", "node preexisting"]);
    // Not in a first list, a Ready node counts; its arrival in a list is unknown.
    let listed = vec![
        ready_node("ready", 90, 1, 95),
        node("young", 70, 1),
        node("old", 69, 1),
        ready_node("late", 105, 1, 108),
    ];
    let lines = cluster.list(110, listed);
    let expected = ["node starts", "ready of pool: 3", "node: missing", "node ready"];
    assert_eq!(lines, expected);
    assert_eq!(cluster.node(140_999, ready_node("event", 110, 1, 111))[0], "node preexisting");
    assert_eq!(cluster.node(140_000, ready_node("more", 110, 1, 111))[0], "node starts");
}

#[test]
fn starting_nodes_are_deleted_or_vanish_and_duplicates_change_nothing() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(0, vec![]);
    cluster.node(1_000, node("a", 1, 5));
    cluster.node(1_000, node("b", 1, 5));
    assert_eq!(cluster.node(2_000, ready_node("a", 1, 4, 2)), Vec::<String>::new());
    let deleted = NodeEvent::Deleted(Box::new(node("a", 1, 6)));
    let lines = cluster.deliver(3_000, PodEvent::Nodes(deleted.clone()));
    assert_eq!(lines, ["node deleted"]);
    assert_eq!(cluster.deliver(3_000, PodEvent::Nodes(deleted)), Vec::<String>::new());
    assert_eq!(cluster.node(4_000, node("a", 1, 6)), Vec::<String>::new());
    assert_eq!(cluster.list(5, vec![]), ["node vanished"]);
    // It comes back, as after a list that lagged.
    assert_eq!(cluster.node(6_000, node("b", 1, 5)), ["node starts"]);
}

#[test]
fn the_first_pod_of_a_node_is_no_daemon() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(0, vec![]);
    cluster.node(10_000, node("n", 10, 1));
    let mut daemon = ready(on("n", pod("daemon", 11), 12), 13);
    daemon.info.workload =
        Some(std::sync::Arc::new(Workload { kind: "DaemonSet".into(), name: "d".into() }));
    let lines = cluster.pod(13_000, daemon);
    assert!(!lines.iter().any(|line| line.contains("first_pod")), "{lines:?}");
    let mut failed = on("n", pod("failed", 11), 12);
    failed.phase = crate::pod::Phase::Failed;
    cluster.pod(14_000, failed);
    let lines = cluster.pod(15_000, ready(on("n", pod("web", 5), 12), 15));
    assert_eq!(lines.last().unwrap(), "first_pod of pool: 5");
    // The node starts still.
    let lines = cluster.node(16_000, ready_node("n", 10, 2, 16));
    assert_eq!(lines, ["ready of pool: 6", "schedulable of pool: 6", "node ready"]);
}

#[test]
fn a_pod_on_an_unknown_node_learns_of_it_once_and_keeps_its_first_labels() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(0, vec![]);
    cluster.pod(1_000, pod("p", 1));
    assert_eq!(cluster.pod(2_000, on("n", pod("p", 1), 2)), ["p is on ?"]);
    let lines = cluster.node(3_000, ready_node("n", 0, 1, 1));
    assert_eq!(lines.last().unwrap(), "p is on pool");
    let mut renamed = ready_node("n", 0, 2, 1);
    renamed.labels.pool = "other".into();
    assert_eq!(cluster.node(4_000, renamed), Vec::<String>::new());
    let uid = PodUid::from_text("p");
    let record = cluster.tracker.in_flight(uid).unwrap().record();
    assert_eq!(&*record.pod.node_labels.unwrap().pool, "pool");
    assert_eq!(&*record.node_labels.unwrap().pool, "other");
    cluster.pod(5_000, ready(on("n", pod("p", 1), 2), 5));
    assert_eq!(&*cluster.record().node_labels.unwrap().pool, "other");
}

#[test]
fn the_newest_node_of_a_name_is_that_of_its_pods() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    let mut older = ready_node("older", 1, 1, 2);
    let mut newer = ready_node("newer", 40, 1, 41);
    (older.name, newer.name) = ("n".into(), "n".into());
    older.labels.pool = "old".into();
    cluster.list(50, vec![newer.clone(), older]);
    cluster.pod(50_000, pod("p", 30));
    cluster.pod(50_000, pod("q", 30));
    assert_eq!(cluster.pod(51_000, on("n", pod("p", 30), 51)), ["p is on pool"]);
    let deleted = PodEvent::Nodes(NodeEvent::Deleted(Box::new(newer)));
    cluster.deliver(52_000, deleted);
    assert_eq!(cluster.pod(53_000, on("n", pod("q", 30), 53)), ["q is on old"]);
}

#[test]
fn network_times_of_newer_kubelets_are_exact_also_where_they_tie() {
    for (version, expected) in [("v1.36.0", NetworkTime::Exact), ("v1.35.9", NetworkTime::Late)] {
        let mut cluster = Cluster::new(TimestampMode::Api);
        let mut node = ready_node("n", -50, 1, -40);
        node.labels.kubelet_version = version.into();
        cluster.list(0, vec![node]);
        let mut pod = ready(on("n", pod("p", 1), 2), 5);
        pod.containers = [Container {
            started: Some(at(5)),
            ..Container::new("c".into(), ContainerKind::Regular)
        }]
        .into();
        cluster.pod(5_000, pod);
        assert_eq!(cluster.record().network_time, Some(expected), "{version}");
    }
}

#[test]
fn a_list_after_an_event_is_no_first_list() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.node(99_000, node("a", 90, 1));
    let listed = vec![node("a", 90, 1), ready_node("b", 95, 2, 98)];
    let expected = ["node starts", "ready of pool: 3", "node: missing", "node ready"];
    assert_eq!(cluster.list(100, listed), expected);
}

#[test]
fn a_node_whose_creation_is_unknown_is_never_late() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    let mut unknown = node("a", 0, 1);
    unknown.created = None;
    cluster.node(1_000, unknown);
    cluster.tracker.advance(at(9_000), &mut cluster.log);
    assert_eq!(cluster.log.lines, Vec::<String>::new());
}

#[test]
fn nodes_that_start_for_long_are_late_until_they_end() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.list(0, vec![]);
    cluster.node(1_000, node("a", 0, 1));
    cluster.node(2_000, node("b", 2, 1));
    cluster.tracker.advance(at(900), &mut cluster.log);
    assert_eq!(std::mem::take(&mut cluster.log.lines), Vec::<String>::new());
    let just_after = at(900).plus_nanos(1);
    cluster.tracker.advance(just_after, &mut cluster.log);
    assert_eq!(std::mem::take(&mut cluster.log.lines), ["1 late"]);
    cluster.tracker.advance(at(903), &mut cluster.log);
    assert_eq!(std::mem::take(&mut cluster.log.lines), ["2 late"]);
    let lines = cluster.node(904_000, ready_node("a", 0, 2, 904));
    assert_eq!(lines.last().unwrap(), "1 late");
}

#[test]
fn each_node_is_counted_by_one_shard_and_known_to_all() {
    let mut discovered = 0;
    for index in 0..4 {
        let shard: Shard = format!("{index}/4").parse().unwrap();
        let mut cluster =
            Cluster::with(TrackerConfig { shard: Some(shard), ..TrackerConfig::default() });
        cluster.list(0, vec![]);
        for number in 0..20 {
            let name = format!("n{number}");
            let lines = cluster.node(1_000, node(&name, 1, 1));
            let is_own = shard.contains(PodUid::from_text(&name));
            assert_eq!(lines.len(), usize::from(is_own));
            let unbound = pod(&format!("p{number}"), 0);
            cluster.pod(1_000, unbound.clone());
            let pod = on(&name, unbound, 2);
            assert_eq!(
                cluster.pod(2_000, pod).first().unwrap().as_str(),
                format!("p{number} is on pool")
            );
        }
        discovered += cluster.log.discovered;
        // Other bounds: those that are others' now vanish, and none is discovered again.
        let after: Shard = format!("{index}/7").parse().unwrap();
        let (log, tracker) = (&mut cluster.log, &mut cluster.tracker);
        tracker.reshard(shard, after, log);
        assert_eq!(log.discovered, log.finished + log.starting);
    }
    assert_eq!(discovered, 20);
}

#[test]
fn a_restored_tracker_goes_on_with_its_nodes() {
    let mut before = Cluster::new(TimestampMode::Api);
    before.list(0, vec![]);
    before.pod(5_000, unschedulable("p", 5));
    before.node(10_000, node("n", 10, 1));
    before.pod(11_000, on("n", pod("p", 5), 11));
    before.pod(12_000, on("elsewhere", pod("q", 5), 11));
    let saved = before.tracker.saved();
    let pods = crate::lifecycle::saved::read_back(&before.tracker);
    let mut log = Log { discovered: 1, starting: 1, ..Log::default() };
    let config = TrackerConfig { nodes: true, ..TrackerConfig::default() };
    let tracker =
        Tracker::restored(config, saved, pods, crate::lifecycle::Successor::Same, &mut log);
    let mut after = Cluster { tracker, log };
    // The list closes a gap: a Ready node is no old one.
    let listed = vec![ready_node("n", 10, 2, 15), ready_node("elsewhere", 20, 1, 21)];
    let lines = after.list(30, listed);
    let expected = [
        "ready of pool: 5",
        "node: missing",
        "node ready",
        "node starts",
        "ready of pool: 1",
        "node: missing",
        "node ready",
        "q is on pool",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn without_nodes_nothing_is_told_of_them() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.tracker = Tracker::new(TrackerConfig::default());
    cluster.list(0, vec![node("n", 0, 1)]);
    let pod = ready(on("n", unschedulable("p", -5), 2), 3);
    assert_eq!(cluster.pod(3_000, pod), ["p is on ?"].into_iter().skip(1).collect::<Vec<_>>());
    assert_eq!(cluster.record().needed.capacity, None);
    assert!(cluster.tracker.saved().nodes.is_none());
}
