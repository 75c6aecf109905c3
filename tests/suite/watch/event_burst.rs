//! A burst: 5,000 pods start at once, and a third of their Events finds the queue full. What is counted of
//! the pods alone stays as it is without Events, and what the lost Events would have said is counted as
//! missing.

use std::fmt::Write;
use std::sync::Arc;

use podinit_core::kube_event::KubeEvent;
use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Tracker, TrackerConfig};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};
use podinit_expo::metrics::{ExpositionBuilder, ExpositionFormat, LabelConfig};
use podinit_kube::watch::events::stats::EventLossReason;
use serde_json::{Value, json};

use crate::support::scrape::Scrape;
use crate::watch::events::FakeApi;

const PODS: usize = 5_000;
/// Two for each pod
const EVENTS: usize = 2 * PODS;
/// A third of them has no place
const QUEUE: usize = EVENTS - EVENTS / 3;

/// 2026-11-22T08:00:00Z, when every pod is created and scheduled
const START: i64 = 1_795_334_400;

fn at(second: i64) -> String {
    let at = jiff::Timestamp::from_second(START + second).unwrap();
    at.to_string()
}

/// The network is ready after one second, and the image is there after eleven.
fn kube_events(number: usize) -> [Value; 2] {
    let event = |reason: &str, message: &str, second: i64| {
        let version = 100 + 2 * number + usize::from(reason == "Pulled");
        json!({
            "kind": "Event",
            "metadata": {"name": format!("web-{number}.x"), "resourceVersion": version.to_string()},
            "involvedObject": {
                "kind": "Pod", "uid": format!("uid-{number}"), "fieldPath": "spec.containers{app}",
            },
            "reportingComponent": "kubelet", "firstTimestamp": at(second),
            "reason": reason, "message": message,
        })
    };
    let pulled = "Successfully pulled image \"nginx\" in 10s (10s including waiting).";
    [event("Pulling", "Pulling image \"nginx\"", 1), event("Pulled", pulled, 11)]
}

/// The Events that reach the accounting, and how many were lost: all of them arrive before any is taken.
async fn burst() -> (Vec<KubeEvent>, u64) {
    let mut api = FakeApi::start(QUEUE);
    let watch = api.begun("10").await;
    let mut lines = String::new();
    for event in (0..PODS).flat_map(kube_events) {
        let _ = writeln!(lines, r#"{{"type":"ADDED","object":{event}}}"#);
    }
    watch.write(&lines);
    drop(watch);
    let last = (100 + EVENTS - 1).to_string();
    let _next = api.watch_from(&last).await;
    let mut events = Vec::new();
    while events.len() < QUEUE {
        events.push(api.next().await);
    }
    (events, api.stats.lost(EventLossReason::QueueFull))
}

/// A pod as it is scheduled, and once it is ready: on a kubelet that sets the network condition when the
/// container has started.
fn pod(number: usize, ready: bool) -> Value {
    let held = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
    let mut conditions = vec![held("PodScheduled", 0)];
    let mut statuses = json!([]);
    if ready {
        conditions.extend([
            held("PodReadyToStartContainers", 11),
            held("Initialized", 0),
            held("ContainersReady", 12),
            held("Ready", 12),
        ]);
        statuses = json!([{"name": "app", "state": {"running": {"startedAt": at(11)}}}]);
    }
    json!({
        "metadata": {
            "namespace": "shop", "name": format!("web-{number}"), "uid": format!("uid-{number}"),
            "resourceVersion": (1_000 + 2 * number + usize::from(ready)).to_string(),
            "creationTimestamp": at(0),
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "nginx"}]},
        "status": {"startTime": at(0), "conditions": conditions, "containerStatuses": statuses},
    })
}

/// What is exposed once all pods are ready: without Events, or with these, which come when all pods are
/// scheduled.
fn scraped(events: Option<Vec<KubeEvent>>) -> Scrape {
    let (mut recorder, exposition) =
        ExpositionBuilder::new(LabelConfig::default()).events(events.is_some()).build().unwrap();
    let mut tracker = Tracker::new(TrackerConfig {
        events: events.is_some(),
        slos: Arc::default(),
        ..TrackerConfig::default()
    });
    let mut apply = |event: PodEvent| {
        let delivery = Delivery {
            source: SourceId(0),
            event,
            now: Timestamp::from_seconds(START + 12),
            observed: None,
            version: None,
        };
        tracker.apply(delivery, &mut recorder);
    };
    let mut decoder = PodDecoder::new(DecodeOptions::default());
    let mut snapshot = |number, ready| -> PodSnapshot {
        let line = json!({"type": "MODIFIED", "object": pod(number, ready)});
        match decoder.watch_event(line.to_string().as_bytes()).unwrap().kind {
            WatchEventKind::Modified(pod) => pod,
            other => panic!("{other:?}"),
        }
    };
    let began = Timestamp::from_seconds(START);
    apply(PodEvent::Listed { pods: Vec::new().into(), began });
    (0..PODS).for_each(|number| apply(PodEvent::Applied(snapshot(number, false))));
    events.into_iter().flatten().for_each(|event| apply(PodEvent::Event(event)));
    (0..PODS).for_each(|number| apply(PodEvent::Applied(snapshot(number, true))));
    let text = exposition.encode(ExpositionFormat::Text).unwrap();
    Scrape::parse(&String::from_utf8(text).unwrap())
}

/// Whether the figure follows from when the network was ready, which Events may say.
fn is_of_network(series: &str) -> bool {
    let parts = ["stage=\"network\"", "stage=\"containers\"", "step=\"sandbox\"", "step=\"start\""];
    let family = |name: &str| series.starts_with(name);
    family("podinit_network_evidence_total")
        || (family("podinit_stage_duration") || family("podinit_step_duration"))
            && parts.iter().any(|part| series.contains(part))
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_the_queue_cannot_hold_costs_evidence_and_nothing_else() {
    let (events, lost) = burst().await;
    assert_eq!((events.len(), lost), (6_667, 3_333));
    let (with, without) = (scraped(Some(events)), scraped(None));

    // What says nothing of the network is the same, to the bucket.
    let mut compared = 0;
    for (series, value) in without.series().filter(|(series, _)| !is_of_network(series)) {
        assert_eq!(with.value(series), Some(value), "{series}");
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
    with.assert_conserved();
    assert_eq!(with.sum_where("podinit_pods_finished_total", "outcome", "ready"), 5_000.0);

    // Pods whose Events were lost have the time of the condition, as they have without Events.
    let network = |scrape: &Scrape, suffix: &str| {
        let name = format!("podinit_stage_duration_seconds_{suffix}");
        scrape.sum_where(&name, "stage", "network")
    };
    let source = |source| with.sum_where("podinit_network_evidence_total", "source", source);
    assert_eq!([source("event"), source("condition")], [3_334.0, 1_666.0]);
    assert_eq!(network(&without, "sum"), 5_000.0 * 11.0);
    assert_eq!(network(&with, "sum"), 3_334.0 + 1_666.0 * 11.0);
    assert_eq!(network(&with, "count"), 5_000.0);

    // What is missing is counted.
    assert_eq!(with.sum_where("podinit_images_total", "source", "pulled"), 3_333.0);
    assert_eq!(with.sum("podinit_pod_start_sli_duration_seconds_count"), 3_333.0);
    let missing = with.sum_where("podinit_pod_start_sli_excluded_total", "reason", "no_evidence");
    assert_eq!(missing, 1_667.0);
}
