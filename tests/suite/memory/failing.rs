//! What a pod that fails costs, its part of the problems included: as the finder of an exporter finds them.

use podinit::inspect::problems::Seen;
use podinit_core::kube_event::{EventContainer, EventReason, KubeEvent};
use podinit_core::lifecycle::{Observation, PodEvent, Record, Tracker, TrackerConfig};
use podinit_core::pod::PodUid;
use podinit_core::problems::{Finding, OverTime};
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};
use serde_json::{Value, json};

use super::measure::{NOW, delivery, uid};
use crate::counting::{bytes_of, forget_peak, held, peak};

/// So many records are asked for at a time.
const PAGE: usize = 500;

/// Bytes for each failing pod.
#[derive(Debug)]
pub struct Failing {
    /// What is remembered of it
    pub remembered: f64,
    /// What a finding leaves, for readers and for the next one
    pub found: f64,
    /// The most that a finding takes, that before it included
    pub most: f64,
}

impl Failing {
    /// The most that a pod costs in all.
    pub fn in_all(&self) -> f64 {
        self.remembered + self.most
    }
}

/// Of so many pods that cannot pull their image, each with an image, a node, a workload and a namespace of its own.
pub fn per_failing_pod(pods: usize) -> Failing {
    let (remembered, bytes) = bytes_of(|| {
        let mut tracker = Tracker::new(TrackerConfig {
            events: true,
            ..TrackerConfig::default()
        });
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
                apply(&mut tracker, PodEvent::Applied(snapshot(&mut decoder, number, reason)));
            }
            apply(&mut tracker, pull_failed(number));
        }
        tracker.advance(NOW.plus(std::time::Duration::from_secs(400)), &mut ignore);
        (tracker, decoder)
    });
    let per_pod = |bytes: usize| bytes as f64 / pods as f64;
    let before = held();
    let mut over_time = OverTime::default();
    let mut seen = found(&remembered.0, &mut over_time);
    assert_eq!(seen.problems.problems.iter().map(|one| one.pods).sum::<usize>(), pods);
    forget_peak();
    for _ in 0..3 {
        seen = found(&remembered.0, &mut over_time);
    }
    let since = |bytes: isize| usize::try_from(bytes - before).unwrap();
    let (most, found) = (since(peak()), since(held()));
    drop((seen, over_time));
    Failing { remembered: per_pod(bytes), found: per_pod(found), most: per_pod(most) }
}

fn ignore(_: podinit_core::timestamp::Timestamp, _: Observation<'_>) {}

fn apply(tracker: &mut Tracker, event: PodEvent) {
    tracker.apply(delivery(event), &mut ignore);
}

/// A finding, page by page.
fn found(tracker: &Tracker, over_time: &mut OverTime) -> Seen {
    let now = tracker.accounted_time().unwrap();
    let mut finding = Finding::new(&[], now);
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
    Seen::new(finding.finish(over_time), now)
}

fn pull_failed(number: usize) -> PodEvent {
    PodEvent::Event(KubeEvent {
        pod: Some(PodUid::from_text(&uid(number))),
        from_kubelet: true,
        container: Some(EventContainer { name: "server".into(), init: false }),
        first: Some(NOW),
        named: None,
        message: None,
        reason: EventReason::PullFailed { registry: registry(number).into() },
    })
}

fn registry(number: usize) -> String {
    format!("registry-{:02}.example.com", number % 50)
}

fn snapshot(decoder: &mut PodDecoder, number: usize, reason: Option<&str>) -> podinit_core::pod::PodSnapshot {
    let event = json!({"type": "MODIFIED", "object": pod(number, reason)});
    match decoder.watch_event(event.to_string().as_bytes()).unwrap().kind {
        WatchEventKind::Modified(snapshot) => snapshot,
        other => panic!("{other:?}"),
    }
}

fn pod(number: usize, reason: Option<&str>) -> Value {
    let time = "2026-11-21T07:56:00Z";
    let condition = |(kind, status)| json!({"type": kind, "status": status, "lastTransitionTime": time});
    let conditions = [
        ("PodScheduled", "True"),
        ("PodReadyToStartContainers", "True"),
        ("Initialized", "True"),
        ("ContainersReady", "False"),
        ("Ready", "False"),
    ];
    let image = format!("{}/team/recommendation-{number:05}:1.42.0", registry(number));
    let waiting = match reason {
        None => json!({"reason": "ContainerCreating"}),
        Some(reason) => json!({"reason": reason, "message": format!("Back-off pulling image \"{image}\"")}),
    };
    let workload = format!("recommendation-{number:05}-7c9d8f6b5d");
    json!({
        "metadata": {
            "name": format!("{workload}-x{number:04x}"),
            "namespace": format!("preview-{number:05}"),
            "uid": uid(number),
            "resourceVersion": (1_000_000 + number).to_string(),
            "creationTimestamp": time,
            "labels": {"pod-template-hash": "7c9d8f6b5d"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": workload,
                "uid": "00000000-0000-4000-8000-000000000001", "controller": true}],
        },
        "spec": {"nodeName": format!("node-{number:05}.example.internal"),
            "containers": [{"name": "server", "image": image}]},
        "status": {"phase": "Pending", "startTime": time,
            "conditions": conditions.map(condition),
            "containerStatuses": [{"name": "server", "state": {"waiting": waiting}}]},
    })
}
