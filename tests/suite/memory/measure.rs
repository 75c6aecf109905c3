//! What each kind of remembered pod costs, measured on pods that went the way of real ones: JSON,
//! decoder, tracker.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use podinit_core::kube_event::{
    EventContainer, EventOccurrence, EventReason, InvolvedPod, KubeEvent, PulledMessage,
    SuccessfulPull,
};
use podinit_core::lifecycle::{
    Delivery, EndedStartup, Interval, Latency, Namespaces, NodeEvent, Observation, Observer,
    Outcome, PodEvent, PodObservation, PodState, Selection, SloRule, SourceId, Stage, Tracker,
    TrackerConfig,
};
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::NodeOptions;
use podinit_decode::node::watch::{NodeDecoder, NodeLineKind};
use podinit_decode::{DecodeOptions, PodDecoder, SpecField, WatchEventKind};
use podinit_expo::metrics::{ExpositionBuilder, LabelConfig};
use podinit_traces::{self as traces, DropReason, TraceQueue, TraceStats};
use serde_json::{Value, json};

use super::counting::bytes_of;
use super::node_object::node;

/// 2026-11-21T07:56:00Z
pub(super) const NOW: Timestamp = Timestamp::from_seconds(1_795_247_760);

/// How far a pod has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Created,
    Initialized,
    Ready,
}

/// What is configured that pods in flight have to carry.
#[derive(Clone, Copy)]
pub struct Burden {
    /// SLOs that match every pod
    pub slos: usize,
    /// Whether every optional label is on, and three pod labels, and images are known
    pub all_labels: bool,
    /// Whether Events have told of the images of all containers
    pub events: bool,
}

/// Bytes for each of `pods` pods that have become ready and are remembered, and that `slos` SLOs
/// have waited for.
pub fn per_finished_pod(pods: usize, slos: usize) -> f64 {
    let burden = Burden { slos, all_labels: false, events: false };
    per_pod(pods, burden, |tracker, decoder| {
        for number in 0..pods {
            apply(tracker, PodEvent::Applied(snapshot(decoder, number, Step::Created)));
            apply(tracker, PodEvent::Applied(snapshot(decoder, number, Step::Ready)));
        }
    })
}

/// Bytes for each of `pods` pods that were deleted less than ten minutes ago.
pub fn per_deleted_pod(pods: usize) -> f64 {
    let burden = Burden { slos: 0, all_labels: false, events: false };
    per_pod(pods, burden, |tracker, decoder| {
        for number in 0..pods {
            apply(tracker, PodEvent::Applied(snapshot(decoder, number, Step::Ready)));
            apply(tracker, PodEvent::Deleted(snapshot(decoder, number, Step::Ready)));
        }
    })
}

/// Bytes for each of `pods` pods in flight, texts and deadlines included.
pub fn per_pod_in_flight(pods: usize, burden: Burden) -> f64 {
    per_pod(pods, burden, |tracker, decoder| {
        for number in 0..pods {
            apply(tracker, PodEvent::Applied(snapshot(decoder, number, Step::Created)));
            apply(tracker, PodEvent::Applied(snapshot(decoder, number, Step::Initialized)));
            if burden.events {
                for name in CONTAINERS {
                    apply(tracker, pulled(number, name));
                }
            }
        }
    })
}

/// Bytes that the gates of each of `pods` pods in flight take, which have so many of both kinds: names of this length that
/// no other pod has. Texts and metrics included.
pub fn per_pod_of_own_gates(pods: usize, gates: usize, length: usize) -> f64 {
    let width = length - "s0.example.com/".len();
    let of = |gates: usize| {
        let (_held, bytes) = bytes_of(|| {
            let (mut recorder, exposition) =
                ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
            let mut tracker = Tracker::new(TrackerConfig::default());
            let mut decoder = PodDecoder::new(decode_options(false));
            for number in 0..pods {
                let mut pod = pod(number, Step::Created);
                let names = |kind: char, key: &str| {
                    let name = |gate| format!("{kind}{gate}.example.com/{number:0>width$}");
                    (0..gates).map(|gate| json!({key: name(gate)})).collect::<Vec<_>>()
                };
                pod["spec"]["schedulingGates"] = json!(names('s', "name"));
                pod["spec"]["readinessGates"] = json!(names('r', "conditionType"));
                let event = PodEvent::Applied(decoded(&mut decoder, &pod));
                tracker.apply(delivery(event), &mut recorder);
            }
            (recorder, exposition, tracker, decoder)
        });
        bytes as f64 / pods as f64
    };
    of(gates) - of(0)
}

/// Bytes for each of `sets` label sets: those of their histograms, each of which has seen `seen`
/// latencies.
pub fn per_label_set(sets: usize, seen: u64) -> f64 {
    let labels = LabelConfig { max_values: sets, max_sets: sets, ..LabelConfig::default() };
    let (mut recorder, _exposition) = ExpositionBuilder::new(labels).build().unwrap();
    let discovered = PodObservation::Moved {
        from: PodState::Undiscovered,
        to: PodState::Finished(Outcome::Preexisting),
    };
    let ((), bytes) = bytes_of(|| {
        for set in 0..sets {
            let uid = PodUid::from_text("u");
            let info = PodSnapshot::bare(uid, format!("namespace-{set:05}"), "p").info;
            recorder.observe_pod(NOW, &info, discovered);
            for (interval, number) in
                Interval::ALL.into_iter().flat_map(|i| (0..seen).map(move |n| (i, n)))
            {
                let latency = Latency::from_nanos(100_000_000 << number);
                recorder.observe_pod(NOW, &info, PodObservation::Measured { interval, latency });
            }
        }
    });
    bytes as f64 / sets as f64
}

/// Bytes for each of `nodes` nodes that are starting, with long names and every label.
pub fn per_node(nodes: usize) -> f64 {
    let (_held, bytes) = bytes_of(|| {
        let mut tracker = Tracker::new(TrackerConfig { nodes: true, ..TrackerConfig::default() });
        let mut decoder = NodeDecoder::new(NodeOptions::default());
        for number in 0..nodes {
            let mut node = node(&format!("{number:07}"));
            node["status"]["conditions"] = json!([]);
            let line = json!({"type": "ADDED", "object": node}).to_string();
            match decoder.line(line.as_bytes()).unwrap().kind {
                NodeLineKind::Applied(node) => {
                    apply(&mut tracker, PodEvent::Nodes(NodeEvent::Applied(node)));
                }
                other => panic!("{other:?}"),
            }
        }
        (tracker, decoder)
    });
    bytes as f64 / nodes as f64
}

/// Bytes of the traces that wait after `pods` pods have become ready while no collector took any, and how many wait.
pub fn of_waiting_traces(pods: usize) -> (usize, usize) {
    let ((stats, _receiver), bytes) = bytes_of(|| {
        let stats = Arc::new(TraceStats::default());
        let (queue, receiver) = traces::channel("1".parse().unwrap(), Arc::clone(&stats));
        let mut tracker = Tracker::new(TrackerConfig { events: true, ..TrackerConfig::default() });
        let mut decoder = PodDecoder::new(decode_options(true));
        let mut sink = Traced(queue);
        for number in 0..pods {
            let mut deliver = |event| tracker.apply(delivery(event), &mut sink);
            deliver(PodEvent::Applied(snapshot(&mut decoder, number, Step::Created)));
            for name in CONTAINERS {
                deliver(pulled(number, name));
            }
            deliver(PodEvent::Applied(snapshot(&mut decoder, number, Step::Ready)));
        }
        (stats, receiver)
    });
    (bytes, pods - stats.dropped(DropReason::QueueFull) as usize)
}

/// Hands the startups that end over as traces.
struct Traced(TraceQueue);

impl Observer for Traced {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.offer(&Arc::new(startup));
    }
}

/// What a tracker and the texts that it shares with its decoder hold after `feed`, per pod.
fn per_pod(pods: usize, burden: Burden, feed: impl FnOnce(&mut Tracker, &mut PodDecoder)) -> f64 {
    let (tracker, bytes) = bytes_of(|| {
        let mut tracker = Tracker::new(TrackerConfig {
            slos: (0..burden.slos).map(slo).collect::<Arc<[_]>>(),
            events: burden.events,
            ..TrackerConfig::default()
        });
        let mut decoder = PodDecoder::new(decode_options(burden.all_labels));
        feed(&mut tracker, &mut decoder);
        (tracker, decoder)
    });
    assert_eq!(tracker.0.remembered(), pods);
    bytes as f64 / pods as f64
}

/// The containers of each pod; the first is an init container.
const CONTAINERS: [&str; 3] = ["migrate", "server", "proxy"];

/// The Event that an image was pulled for a container.
fn pulled(number: usize, name: &str) -> PodEvent {
    static REGISTRY: LazyLock<Arc<str>> = LazyLock::new(|| "registry.example.com".into());
    PodEvent::Event(KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text(&uid(number)), "", "")),
        from_kubelet: true,
        container: Some(EventContainer { name: name.into(), init: name == CONTAINERS[0] }),
        first: Some(NOW),
        named: None,
        occurred: EventOccurrence::default(),
        message: None,
        reason: EventReason::Pulled(Some(PulledMessage::Pulled(SuccessfulPull {
            registry: Arc::clone(&REGISTRY),
            duration: Duration::from_secs(2),
            with_wait: None,
            bytes: None,
        }))),
    })
}

pub(super) fn uid(number: usize) -> String {
    format!("6d14ca8c-7af5-46a4-8768-{number:012x}")
}

pub(super) fn delivery(event: PodEvent) -> Delivery {
    Delivery { source: SourceId(0), event, now: NOW, observed: Some(NOW), version: None }
}

fn apply(tracker: &mut Tracker, event: PodEvent) {
    tracker.apply(delivery(event), &mut |_, _: Observation<'_>| {});
}

/// Each with a threshold of its own, far enough away that its deadline stays in wait.
fn slo(number: usize) -> SloRule {
    SloRule {
        name: format!("slo-{number}").into(),
        interval: [
            Interval::CreatedToReady,
            Interval::ScheduledToReady,
            Interval::Stage(Stage::Containers),
        ][number % 3]
            .into(),
        threshold: Duration::from_secs(300 + number as u64),
        grace: Duration::from_secs(5),
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
        selection: Selection::default(),
    }
}

fn decode_options(all_labels: bool) -> DecodeOptions {
    let pod_labels = ["app.kubernetes.io/name", "app.kubernetes.io/version", "team"];
    DecodeOptions {
        pod_labels: pod_labels.into_iter().filter(|_| all_labels).map(str::to_owned).collect(),
        spec_fields: SpecField::ALL.into_iter().filter(|_| all_labels).collect(),
        node: all_labels,
        workload: all_labels,
        probes: false,
        images: all_labels,
        messages: all_labels,
        endings: false,
        claims: false,
        nodes: None,
        milestones: Vec::new(),
    }
}

fn snapshot(decoder: &mut PodDecoder, number: usize, step: Step) -> PodSnapshot {
    decoded(decoder, &pod(number, step))
}

/// A pod as an event of a watch shows it.
pub fn decoded(decoder: &mut PodDecoder, pod: &Value) -> PodSnapshot {
    let event = json!({"type": "MODIFIED", "object": pod});
    match decoder.watch_event(event.to_string().as_bytes()).unwrap().kind {
        WatchEventKind::Modified(snapshot) => snapshot,
        other => panic!("{other:?}"),
    }
}

/// Each workload has an image of its own, and two that all have.
fn image(number: usize, container: &str) -> String {
    match container {
        "server" => format!("registry.example.com/shop/recommendation-{:05}:1.42.0", number / 10),
        other => format!("registry.example.com/platform/{other}:2.7.1"),
    }
}

/// Ten pods to a workload, a hundred to a node, and a thousand to a namespace.
fn pod(number: usize, step: Step) -> Value {
    let time = "2026-11-21T07:56:00Z";
    let kinds = ["PodScheduled", "PodReadyToStartContainers", "Initialized"];
    let last = ["ContainersReady", "Ready"];
    let condition =
        |kind, status| json!({"type": kind, "status": status, "lastTransitionTime": time});
    let conditions: Vec<Value> = match step {
        Step::Created => Vec::new(),
        Step::Initialized => {
            let held = kinds.map(|kind| condition(kind, "True")).into_iter();
            held.chain(last.map(|kind| condition(kind, "False"))).collect()
        }
        Step::Ready => kinds.iter().chain(&last).map(|kind| condition(kind, "True")).collect(),
    };
    let workload = format!("recommendation-{:05}-7c9d8f6b5d", number / 10);
    json!({
        "metadata": {
            "name": format!("{workload}-{number:05}"),
            "namespace": format!("team-{:03}", number / 1000),
            "uid": uid(number),
            "resourceVersion": (1_000_000 + number * 3 + step as usize).to_string(),
            "creationTimestamp": time,
            "labels": {
                "app.kubernetes.io/name": format!("recommendation-{:05}", number / 10),
                "app.kubernetes.io/version": "1.42.0",
                "team": "shopping-experience",
            },
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": workload,
                "uid": "00000000-0000-4000-8000-000000000001", "controller": true}],
        },
        "spec": {"nodeName": format!("node-{:04}.example.internal", number / 100),
            "initContainers": [{"name": CONTAINERS[0], "image": image(number, CONTAINERS[0])}],
            "containers": CONTAINERS[1..].iter().map(|name| json!({"name": name,
                "image": image(number, name)})).collect::<Vec<_>>()},
        "status": {"phase": "Pending", "startTime": time, "conditions": conditions,
            "initContainerStatuses": [{"name": CONTAINERS[0],
                "state": {"terminated": {"exitCode": 0, "startedAt": time}}}],
            "containerStatuses": CONTAINERS[1..].iter().map(|name| json!({"name": name,
                "state": {"waiting": {"reason": "ContainerCreating"}}})).collect::<Vec<_>>()},
    })
}
