//! Nodes and the pods that wait for them, as deliveries bring them about.

#![allow(clippy::unwrap_used)]

use crate::lifecycle::nodes::{MeasuredStep, NodeEvent};
use crate::lifecycle::record_fixtures::{Ends, at};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::lifecycle::{
    Delivery, Interval, NetworkTime, NodeAge, NodeObservation, NodeState, Observation, Observer,
    PodEvent, PodObservation, SourceId, TimestampMode, Tracker, TrackerConfig,
};
use crate::lifecycle::{EndedStartup, Record};
use crate::node::NodeSnapshot;
use crate::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, PodSnapshot, PodUid,
    StatusCondition,
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
            Observation::Node(NodeObservation::Measured(measured)) => {
                let MeasuredStep { step, latency, pool, .. } = measured;
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
            Observation::Pod(pod, PodObservation::Startup { node_age, images, latency }) => {
                let (node_age, images) = (node_age.as_str(), images.as_str());
                format!("{} {node_age} {images} {}", pod.name, latency.as_seconds_f64())
            }
            Observation::Pod(pod, PodObservation::Bound | PodObservation::NodeKnown) => {
                let pool = pod.node_labels.as_deref().map_or("?", |labels| &labels.pool);
                format!("{} is on {pool}", pod.name)
            }
            _ => return,
        };
        self.lines.push(line);
    }

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

    fn late(&mut self, second: i64) -> Vec<String> {
        self.tracker.advance(at(second), &mut self.log);
        let late = self.tracker.late_nodes().into_iter();
        late.map(|node| node.name.to_string()).collect()
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

fn condition(second: i64) -> StatusCondition {
    StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) }
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
    assert_eq!(record.needed.capacity, Some(NodeAge::New));
    assert_eq!(&*record.node_labels.clone().unwrap().pool, "pool");
    let launch = record.duration(Interval::Step(crate::lifecycle::Step::NodeLaunch));
    assert_eq!(launch.unwrap().as_seconds_f64(), 30.0);
    // Another pod is not the first.
    let other = ready(on("n", pod("q", 81), 82), 83);
    assert_eq!(cluster.pod(83_000, other), ["q existing unknown 2"]);
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
fn network_times_of_newer_kubelets_are_exact_also_where_they_tie() {
    for (version, expected) in [("v1.36.0", NetworkTime::Exact), ("v1.35.9", NetworkTime::Late)] {
        let mut cluster = Cluster::new(TimestampMode::Api);
        let mut node = ready_node("n", -50, 1, -40);
        node.labels.kubelet_version = version.into();
        cluster.list(0, vec![node]);
        let mut pod = ready(on("n", pod("p", 1), 2), 5);
        pod.containers = [ContainerSpec {
            started: Some(at(5)),
            ..ContainerSpec::new("c".into(), ContainerKind::Regular)
        }]
        .into();
        cluster.pod(5_000, pod);
        assert_eq!(cluster.record().network_time, Some(expected), "{version}");
    }
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
fn without_nodes_nothing_is_told_of_them() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    cluster.tracker = Tracker::new(TrackerConfig::default());
    cluster.list(0, vec![node("n", 0, 1)]);
    let pod = ready(on("n", unschedulable("p", -5), 2), 3);
    assert_eq!(cluster.pod(3_000, pod), ["p is on ?"].into_iter().skip(1).collect::<Vec<_>>());
    assert_eq!(cluster.record().needed.capacity, None);
    assert!(cluster.tracker.saved().nodes.is_none());
}

fn tainted(name: &str, created: i64, version: u64) -> NodeSnapshot {
    let mut node = ready_node(name, created, version, created + 5);
    node.startup_taints = vec!["node.cilium.io/agent-not-ready".into()];
    node
}

/// Each limit from both sides, at what it is derived from ([§14.9](crate::specification#s14-9)).
#[test]
fn a_node_is_late_after_its_limit_unless_it_is_cordoned_or_has_served() {
    let mut cluster = Cluster::new(TimestampMode::Api);
    // At 10,000 s: an hour old at first sight, older, cordoned, and one that a watch saw schedulable before.
    let cordoned = NodeSnapshot { unschedulable: true, ..tainted("cordoned", 9_000, 1) };
    let nodes = vec![tainted("hour", 6_400, 1), tainted("old", 6_399, 1), cordoned];
    cluster.list(10_000, nodes);
    cluster.node(10_001_000, ready_node("served", 10_000, 1, 10_001));
    cluster.node(10_002_000, tainted("served", 10_000, 2));
    assert_eq!(cluster.late(10_100), ["hour"]);
    // Nothing to compare with: five minutes.
    let event = |cluster: &mut Cluster, second: i64, node| cluster.node(second * 1_000, node);
    event(&mut cluster, 11_000, tainted("new", 11_000, 1));
    let late = |cluster: &mut Cluster, second: i64| {
        cluster.tracker.advance(at(second), &mut cluster.log);
        let found = cluster.tracker.late_nodes();
        assert!(found.iter().all(|one| one.hold.is_ready && one.hold.taint().is_some()));
        found.iter().any(|one| &*one.name == "new")
    };
    assert!(!late(&mut cluster, 11_300) && late(&mut cluster, 11_301));
    // Five nodes of the pool took 200 s: the limit is 600 s.
    for number in 0..5 {
        let name = format!("slow{number}");
        event(&mut cluster, 12_000, node(&name, 12_000, 1));
        event(&mut cluster, 12_200, ready_node(&name, 12_000, 2, 12_200));
    }

    let node = tainted("newer", 13_000, 1);
    event(&mut cluster, 13_000, node);
    let newer = |cluster: &mut Cluster, second: i64| {
        cluster.tracker.advance(at(second), &mut cluster.log);
        cluster.tracker.late_nodes().iter().any(|one| &*one.name == "newer")
    };
    assert!(!newer(&mut cluster, 13_600 - 1) && !newer(&mut cluster, 13_600));
    assert!(newer(&mut cluster, 13_601));
}

/// A process begins with what the last one saw ([§14.9](crate::specification#s14-9)), also of nodes of other shards.
#[test]
fn what_was_seen_of_nodes_outlives_a_restart() {
    let is_other = |shard: &Shard| !shard.contains(PodUid::from_text("stuck"));
    let mut shards = ["0/2", "1/2"].into_iter().map(|shard| shard.parse().unwrap());
    for shard in [None, shards.find(is_other)] {
        let config = || TrackerConfig { nodes: true, shard, ..TrackerConfig::default() };
        let mut cluster = Cluster::with(config());
        cluster.list(0, vec![]);
        // Ten minutes old at first sight. One has waited ever since, the other was in service.
        cluster.node(600_000, tainted("stuck", 0, 1));
        cluster.node(6_000_000, ready_node("served", 5_400, 1, 5_405));
        // Nodes of the pool took 200 s: the limit is 600 s.
        for number in 0..20 {
            let name = format!("{number} slow");
            cluster.node(6_000_000, node(&name, 6_000, 1));
            cluster.node(6_200_000, ready_node(&name, 6_000, 2, 6_200));
        }
        let (saved, pods) = (cluster.tracker.saved(), read_back(&cluster.tracker));
        let mut silent = |_, _: Observation<'_>| {};
        cluster.tracker =
            Tracker::restored(config(), saved, pods, SourceSuccessor::Same, &mut silent);
        cluster.list(7_200, vec![tainted("stuck", 0, 1), tainted("served", 5_400, 2)]);
        cluster.node(7_201_000, tainted("new", 7_200, 1));
        assert_eq!(cluster.late(7_800), ["stuck"], "{shard:?}");
        assert_eq!(cluster.late(7_801), ["stuck", "new"], "{shard:?}");
    }
}
