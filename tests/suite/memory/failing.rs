//! What a pod that fails costs, its part of the problems included: as the finder of an exporter finds them.

use std::time::Duration;

use podinit_core::kube_event::{
    EventContainer, EventOccurrence, EventReason, InvolvedPod, KubeEvent,
};
use podinit_core::lifecycle::{NodeFaults, Observation, PodEvent, Record, Tracker, TrackerConfig};
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeOptions, PodDecoder};
use podinit_oncall::problems::ProblemSnapshot;
use podinit_problems::{OverTime, ProblemFinding};
use serde_json::{Value, json};

use super::counting::{bytes_of, forget_peak, held, peak};
use super::measure::{NOW, decoded, delivery, uid};

/// After so long the problems are found: every pod is stuck.
const LATER: Duration = Duration::from_secs(400);

/// So many records are asked for at a time.
const PAGE: usize = 500;

/// Bytes for each failing pod.
#[derive(Debug)]
pub struct Failing {
    /// What is remembered of it
    pub remembered: f64,
    /// What a finding leaves, for readers and for the next one
    pub found: f64,
    /// The most that finding takes: what readers have of the finding before is still there
    pub most: f64,
}

/// How many pods have what they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Have {
    /// Ten have a workload and its image, a hundred a node, and a thousand a namespace
    Common,
    /// Each has its own
    Own,
}

impl Have {
    /// The number of the workload, the node and the namespace of a pod.
    const fn numbers(self, pod: usize) -> [usize; 3] {
        match self {
            Self::Common => [pod / 10, pod / 100, pod / 1_000],
            Self::Own => [pod; 3],
        }
    }
}

/// Of so many pods that cannot pull their image.
pub fn per_failing_pod(pods: usize, have: Have) -> Failing {
    let (tracker, bytes) = bytes_of(|| {
        let mut tracker = Tracker::new(TrackerConfig { events: true, ..TrackerConfig::default() });
        let options = DecodeOptions {
            node: true,
            workload: true,
            images: true,
            messages: true,
            ..DecodeOptions::default()
        };
        let mut decoder = PodDecoder::new(options);
        for number in 0..pods {
            for reason in [None, Some("ErrImagePull"), Some("ImagePullBackOff")] {
                apply(
                    &mut tracker,
                    PodEvent::Applied(snapshot(&mut decoder, have.numbers(number), number, reason)),
                );
            }
            apply(&mut tracker, pull_failed(have.numbers(number), number));
        }
        tracker.advance(NOW.plus(LATER), &mut ignore);
        tracker
    });
    let per_pod = |bytes: usize| bytes as f64 / pods as f64;
    let before = held();
    let mut over_time = OverTime::default();
    let mut seen = found(&tracker, &mut over_time);
    assert_eq!(seen.problems.problems.iter().map(|one| one.pods).sum::<usize>(), pods);
    forget_peak();
    for _ in 0..3 {
        seen = found(&tracker, &mut over_time);
    }
    let since = |bytes: isize| usize::try_from(bytes - before).unwrap();
    let (most, found) = (since(peak()), since(held()));
    drop((seen, over_time));
    Failing { remembered: per_pod(bytes), found: per_pod(found), most: per_pod(most) }
}

fn ignore(_: Timestamp, _: Observation<'_>) {}

fn apply(tracker: &mut Tracker, event: PodEvent) {
    tracker.apply(delivery(event), &mut ignore);
}

/// A finding, page by page.
fn found(tracker: &Tracker, over_time: &mut OverTime) -> ProblemSnapshot {
    let now = tracker.accounted_time().unwrap();
    let mut finding = ProblemFinding::new(&[], now);
    let mut after = None;
    loop {
        let page: Vec<_> = tracker.in_flight_after(after).take(PAGE).collect();
        let Some((last, _)) = page.last() else {
            break;
        };
        after = Some(*last);
        let records: Vec<Record> = page.iter().map(|(_, pod)| pod.record()).collect();
        records.iter().for_each(|record| finding.add(record));
    }
    ProblemSnapshot::new(finding.finish(over_time), NodeFaults::default(), now)
}

fn pull_failed([workload, ..]: [usize; 3], number: usize) -> PodEvent {
    PodEvent::Event(KubeEvent {
        pod: Some(InvolvedPod::new(PodUid::from_text(&uid(number)), "", "")),
        from_kubelet: true,
        container: Some(EventContainer { name: "server".into(), init: false }),
        first: Some(NOW),
        named: None,
        occurred: EventOccurrence::default(),
        message: None,
        reason: EventReason::PullFailed { registry: registry(workload).into() },
    })
}

fn registry(number: usize) -> String {
    format!("registry-{:02}.example.com", number % 50)
}

fn snapshot(
    decoder: &mut PodDecoder,
    has: [usize; 3],
    number: usize,
    reason: Option<&str>,
) -> PodSnapshot {
    decoded(decoder, &pod(has, number, reason))
}

fn pod([workload, node, namespace]: [usize; 3], number: usize, reason: Option<&str>) -> Value {
    let time = "2026-11-21T07:56:00Z";
    let condition =
        |(kind, status)| json!({"type": kind, "status": status, "lastTransitionTime": time});
    let conditions = [
        ("PodScheduled", "True"),
        ("PodReadyToStartContainers", "True"),
        ("Initialized", "True"),
        ("ContainersReady", "False"),
        ("Ready", "False"),
    ];
    let image = format!("{}/team/recommendation-{workload:05}:1.42.0", registry(workload));
    let waiting = match reason {
        None => json!({"reason": "ContainerCreating"}),
        Some(reason) => {
            json!({"reason": reason, "message": format!("Back-off pulling image \"{image}\"")})
        }
    };
    let workload = format!("recommendation-{workload:05}-7c9d8f6b5d");
    json!({
        "metadata": {
            "name": format!("{workload}-x{number:04x}"),
            "namespace": format!("preview-{namespace:05}"),
            "uid": uid(number),
            "resourceVersion": (1_000_000 + number).to_string(),
            "creationTimestamp": time,
            "labels": {"pod-template-hash": "7c9d8f6b5d"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": workload,
                "uid": "00000000-0000-4000-8000-000000000001", "controller": true}],
        },
        "spec": {"nodeName": format!("node-{node:05}.example.internal"),
            "containers": [{"name": "server", "image": image}]},
        "status": {"phase": "Pending", "startTime": time,
            "conditions": conditions.map(condition),
            "containerStatuses": [{"name": "server", "state": {"waiting": waiting}}]},
    })
}
