//! Namespaces that come and go: one that has been without a pod for a day gives its place among the values of the label
//! to a new one, in a replay and after a restart.

use std::io::Cursor;
use std::sync::Arc;

use crate::support::process::run_with;
use crate::support::scrape::Scrape;
use crate::support::sinks::Counted;
use podinit_checkpoint::content::{self, CheckpointContent};
use podinit_checkpoint::frame;
use podinit_core::lifecycle::{
    Delivery, PodEvent, SavedPod, SourceId, SourceSuccessor, Tracker, TrackerConfig,
};
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind, rfc3339};
use podinit_expo::metrics::{Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig};
use podinit_oncall::records::RecordStore;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{ExpositionConfig, expose};
use serde_json::json;

/// 2026-01-01T00:00:00Z
const START: i64 = 1_767_225_600;

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;

fn text(second: i64) -> String {
    rfc3339::format(Timestamp::from_seconds(START + second))
}

/// A watch event at this second of a pod that was created at another one, and was ready ten seconds later.
fn event(kind: &str, second: i64, namespace: &str, created: i64) -> String {
    let condition = |kind: &str, after: i64| json!({"type": kind, "status": "True", "lastTransitionTime": text(created + after)});
    json!({"type": kind, "observedAt": text(second), "object": {"kind": "Pod",
        "metadata": {"name": "web", "namespace": namespace, "uid": format!("{namespace} {created}"),
            "resourceVersion": (second + 1).to_string(), "creationTimestamp": text(created)},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running", "startTime": text(created), "conditions": [
            condition("PodScheduled", 1), condition("Ready", 10)]}}})
    .to_string()
}

/// A pod of the namespace that is there from one second to another.
fn life(namespace: &str, from: i64, to: i64) -> [(i64, String); 2] {
    [("ADDED", from + 11), ("DELETED", to)]
        .map(|(kind, second)| (second, event(kind, second, namespace, from)))
}

/// One empty list, and these events in their order.
fn recording(mut events: Vec<(i64, String)>) -> String {
    events.sort();
    let list = json!({"kind": "PodList", "observedAt": text(0), "items": [],
        "metadata": {"resourceVersion": "1"}});
    let lines = [list.to_string()].into_iter();
    let lines = lines.chain(events.into_iter().map(|(_, event)| event));
    lines.collect::<Vec<_>>().join("\n")
}

/// A namespace for each pull request, every 24 minutes for five days, and then `shop`. One quiet pod is there all along.
fn pull_requests() -> String {
    let mut events: Vec<_> = (0..300)
        .flat_map(|number| {
            let from = number * 24 * MINUTE + 1;
            life(&format!("pr-{number:03}"), from, from + 40 * MINUTE)
        })
        .collect();
    events.push((15, event("ADDED", 15, "quiet", 1)));
    events.push((5 * DAY + 15, event("ADDED", 5 * DAY + 15, "shop", 5 * DAY + 1)));
    recording(events)
}

const COUNT: &str = "podinit_created_to_ready_duration_seconds_count";

fn counted(scrape: &Scrape, namespace: &str) -> Option<f64> {
    scrape.value(&format!("{COUNT}{{namespace=\"{namespace}\"}}"))
}

fn of_namespaces(scrape: &Scrape, family: &str) -> Option<f64> {
    scrape.value(&format!("{family}{{label=\"namespace\"}}"))
}

#[test]
fn a_new_namespace_has_series_of_its_own_after_300_that_came_and_went() {
    let output = run_with(&["replay", "-"], pull_requests());
    assert!(output.status.success());
    let scrape = Scrape::parse(&String::from_utf8(output.stdout).unwrap());
    scrape.assert_conserved();
    assert_eq!(counted(&scrape, "shop"), Some(1.0));
    assert_eq!(counted(&scrape, "quiet"), Some(1.0));
    assert_eq!(counted(&scrape, "_other"), None);
    assert_eq!(counted(&scrape, "pr-000"), None);
    assert_eq!(counted(&scrape, "pr-299"), Some(1.0));
    assert_eq!(scrape.of_name(COUNT).count(), 256);
    let dropped = of_namespaces(&scrape, "podinit_label_overflow_pods_total");
    assert_eq!(dropped, Some(0.0));
    let expired = of_namespaces(&scrape, "podinit_label_values_expired_total");
    assert_eq!(expired, Some(46.0));
}

fn capped(max_values: usize) -> LabelConfig {
    LabelConfig { max_values, slo_namespace: true, ..LabelConfig::default() }
}

fn replayed(events: Vec<(i64, String)>) -> Scrape {
    replayed_with(2, events)
}

pub(crate) fn replayed_with(max_values: usize, events: Vec<(i64, String)>) -> Scrape {
    let input = Cursor::new(recording(events));
    let recording = Recording::from_reader("test", input, DecodeOptions::default());
    let config = ExpositionConfig { labels: capped(max_values), ..ExpositionConfig::default() };
    let exposition = expose(recording, config).unwrap();
    let text = exposition.encode(ExpositionFormat::Text).unwrap();
    Scrape::parse(&String::from_utf8(text).unwrap())
}

#[test]
fn a_namespace_that_comes_back_begins_at_zero() {
    let come = |namespace, from| life(namespace, from, from + MINUTE);
    let lives =
        [come("a", 1), come("a", 60), come("b", 180), come("c", 2 * DAY), come("a", 4 * DAY)];
    let scrape = replayed(lives.into_iter().flatten().collect());
    scrape.assert_conserved();
    assert_eq!(counted(&scrape, "a"), Some(1.0));
    assert_eq!(counted(&scrape, "b"), None);
    assert_eq!(counted(&scrape, "c"), Some(1.0));
    assert_eq!(scrape.sum("podinit_pods_discovered_total"), 5.0);
}

#[test]
fn pods_that_a_list_does_not_show_any_more_leave_their_namespace() {
    let lost = event("ADDED", 20, "a", 5);
    let kept = event("ADDED", 30, "b", 15);
    let pod: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let list = json!({"kind": "PodList", "observedAt": text(60), "items": [pod["object"]],
        "metadata": {"resourceVersion": "61"}});
    let mut events = vec![(20, lost), (30, kept), (60, list.to_string())];
    events.extend(life("early", DAY + 30, DAY + 50));
    events.extend(life("late", DAY + 60, DAY + 90));
    let scrape = replayed(events);
    assert_eq!(counted(&scrape, "_other"), Some(1.0));
    assert_eq!(counted(&scrape, "a"), None);
    assert_eq!(counted(&scrape, "b"), Some(1.0));
    assert_eq!(counted(&scrape, "late"), Some(1.0));
}

/// An event of a pod with this namespace and name that has these scheduling gates, and is in flight or has been deleted.
pub(crate) fn gated(
    kind: &str,
    second: i64,
    (namespace, name): (&str, &str),
    gates: &[&str],
) -> (i64, String) {
    let gates: Vec<_> = gates.iter().map(|gate| json!({"name": gate})).collect();
    let event = json!({"type": kind, "observedAt": text(second), "object": {"kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": format!("{namespace} {name}"),
            "resourceVersion": (second + 1).to_string(), "creationTimestamp": text(second)},
        "spec": {"schedulingGates": gates}, "status": {"phase": "Pending"}}});
    (second, event.to_string())
}

/// How many pods each gate holds.
pub(crate) fn held(scrape: &Scrape) -> Vec<(String, f64)> {
    let held = scrape.of_name("podinit_gated_pods").filter(|(_, pods)| *pods > 0.0);
    let gate = |series: &str| series.split("gate=\"").nth(1)?.split('"').next().map(str::to_owned);
    held.map(|(series, pods)| (gate(series).unwrap(), pods)).collect()
}

/// `overflow_pods` or `values_expired` of gates.
pub(crate) fn of_gates(scrape: &Scrape, family: &str) -> Option<f64> {
    scrape.value(&format!("podinit_label_{family}_total{{label=\"gate\"}}"))
}

#[test]
fn a_gate_that_no_pod_has_had_for_a_day_gives_its_place_and_pods_in_flight_move_to_the_new_one() {
    let mut events = Vec::from([
        gated("ADDED", 10, ("a", "first"), &["old"]),
        gated("ADDED", 20, ("b", "waits"), &["shared"]),
        gated("ADDED", 30, ("c", "waits"), &["shared"]),
        gated("ADDED", 31, ("c", "too"), &["other"]),
        gated("DELETED", 40, ("a", "first"), &["old"]),
    ]);
    let before = replayed_with(1, events.clone());
    assert_eq!(held(&before), [("_other".to_owned(), 3.0)]);
    assert_eq!(of_gates(&before, "overflow_pods"), Some(3.0));
    assert_eq!(of_gates(&before, "values_expired"), Some(0.0));
    events.push(gated("ADDED", DAY + 40, ("d", "new"), &["shared"]));
    let after = replayed_with(1, events.clone());
    assert_eq!(held(&after), [("_other".to_owned(), 1.0), ("shared".to_owned(), 3.0)]);
    assert_eq!(of_gates(&after, "values_expired"), Some(1.0));
    // The last of its pods keeps it, and then it stays for a day.
    events.push(gated("DELETED", DAY + 50, ("d", "new"), &["shared"]));
    events.push(gated("DELETED", DAY + 60, ("b", "waits"), &["shared"]));
    events.push(gated("ADDED", 9 * DAY, ("e", "late"), &["last"]));
    let late = replayed_with(1, events);
    assert_eq!(held(&late), [("_other".to_owned(), 2.0), ("shared".to_owned(), 1.0)]);
    late.assert_conserved();
}

#[test]
fn the_gates_of_a_tenant_take_half_of_the_places() {
    let of_tenant = (0..33).map(|pod| {
        let gates: Vec<_> = (0..8).map(|gate| format!("own-{pod}-{gate}")).collect();
        let gates: Vec<_> = gates.iter().map(String::as_str).collect();
        gated("ADDED", 5 + pod, ("tenant", &format!("p{pod}")), &gates)
    });
    let mut events: Vec<_> = of_tenant.collect();
    events.push(gated("ADDED", 100, ("shop", "web"), &["kueue.x-k8s.io/admission"]));
    let scrape = replayed_with(256, events);
    let held = held(&scrape);
    assert_eq!(held.len(), 1 + 128 + 1);
    assert!(held.contains(&("kueue.x-k8s.io/admission".to_owned(), 1.0)));
    assert!(held.contains(&("_other".to_owned(), 33.0 * 8.0 - 128.0)));
    assert_eq!(of_gates(&scrape, "overflow_pods"), Some(17.0));
}

#[test]
fn a_namespace_to_which_a_pod_in_flight_has_moved_keeps_its_place() {
    let waits = gated("ADDED", 30, ("c", "waits"), &["g"]);
    let mut events = Vec::from([waits]);
    events.extend(life("a", 1, 20));
    events.extend(life("c", DAY + 60, DAY + 90));
    events.extend(life("d", 9 * DAY, 9 * DAY + 30));
    let scrape = replayed_with(1, events);
    assert_eq!(counted(&scrape, "c"), Some(1.0));
    assert_eq!(counted(&scrape, "d"), None);
    let waiting = "podinit_waiting_pods{stage=\"gated\",cause=\"gate\",namespace=\"c\"}";
    assert_eq!(scrape.value(waiting), Some(1.0));
    scrape.assert_conserved();
}

/// The exporter, but for the watch.
struct Process {
    tracker: Tracker,
    said: Counted,
    exposition: Arc<Exposition>,
}

impl Process {
    fn new() -> Self {
        let (recorder, exposition) = ExpositionBuilder::new(capped(2)).build().unwrap();
        let mut tracker = Tracker::new(TrackerConfig::default());
        tracker.begin_without_list(SourceId(0), None);
        Self { tracker, said: Counted { recorder, records: RecordStore::default() }, exposition }
    }

    fn apply(&mut self, events: impl IntoIterator<Item = (i64, String)>) {
        for (second, event) in events {
            let now = Timestamp::from_seconds(START + second);
            let mut decoder = PodDecoder::new(DecodeOptions::default());
            let event = decoder.watch_event(event.as_bytes()).unwrap();
            let event = match event.kind {
                WatchEventKind::Added(pod) => PodEvent::Applied(pod),
                WatchEventKind::Deleted(pod) => PodEvent::Deleted(pod),
                other => panic!("{other:?}"),
            };
            let delivery =
                Delivery { source: SourceId(0), event, now, observed: Some(now), version: None };
            self.tracker.apply(delivery, &mut self.said);
        }
    }

    /// Another process goes on from the checkpoint of this one.
    fn restarted(self) -> Self {
        let content = CheckpointContent {
            tracker: self.tracker.saved(),
            metrics: self.said.recorder.saved(),
            ..CheckpointContent::default()
        };
        let file = content::encode(&content, self.tracker.saved_pods()).finish();
        let content::DecodedCheckpoint { content, mut pods, .. } =
            content::decode(&frame::read(&file).unwrap(), podinit::families()).unwrap();
        let mut after = Self::new();
        let recorder = &mut after.said.recorder;
        let in_flight = pods.iter().filter_map(SavedPod::in_flight);
        recorder.restore(&content.metrics, in_flight);
        recorder.restore_holds(content.tracker.now.unwrap(), &mut pods);
        let config = TrackerConfig::default();
        let same = SourceSuccessor::Same;
        let said = &mut after.said;
        after.tracker = Tracker::restored(config, content.tracker, pods, same, said);
        after
    }

    fn scrape(&self) -> Scrape {
        let text = self.exposition.encode(ExpositionFormat::Text).unwrap();
        Scrape::parse(&String::from_utf8(text).unwrap())
    }
}

#[test]
fn a_restart_knows_which_namespaces_have_a_pod_and_since_when_others_have_none() {
    let mut process = Process::new();
    process.apply([(20, event("ADDED", 20, "quiet", 5))]);
    process.apply(life("gone", 30, 60));
    let mut process = process.restarted();
    process.apply(life("early", DAY, DAY + 30));
    let mut process = process.restarted();
    process.apply(life("shop", DAY + 60, DAY + 90));
    process.apply(life("late", 2 * DAY, 2 * DAY + 30));
    let scrape = process.scrape();
    scrape.assert_conserved();
    assert_eq!(counted(&scrape, "quiet"), Some(1.0));
    assert_eq!(counted(&scrape, "gone"), None);
    assert_eq!(counted(&scrape, "shop"), Some(1.0));
    assert_eq!(counted(&scrape, "_other"), Some(2.0));
    let expired = of_namespaces(&scrape, "podinit_label_values_expired_total");
    assert_eq!(expired, Some(1.0));
}
