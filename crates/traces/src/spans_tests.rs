#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use opentelemetry::trace::TraceId;

use super::*;
use crate::fixtures::{SLO, at, ended, uid};
use podinit_core::lifecycle::{
    BadReason, Cause, GateKind, GateState, IntervalKind, Latency, NodeAge, RecordedContainer,
    RecordedCustomMilestone, RecordedGate, RecordedImage, RecordedInterval, RecordedPull,
    StartupImages, Step, WaitReason,
};
use podinit_core::node::NodeLabels;

/// A startup that took until `ready`, with a pull of nine seconds.
fn record(ready: i64) -> Record {
    let mut record = ended(1, ready).record();
    record.pod.pod_labels = ["checkout".into()].into();
    record.containers = vec![RecordedContainer {
        volume_image: None,
        name: "app".into(),
        init: false,
        is_sidecar: false,
        image: Some("docker.io/shop/web:1.2".into()),
        registry: None,
        problem: None,
    }];
    record.pulls = vec![RecordedPull {
        container: "app".into(),
        init: false,
        registry: "docker.io".into(),
        has_failed: false,
        image: RecordedImage::Pulled {
            ended: Some(at(13)),
            with_wait: Duration::from_secs(9).into(),
        },
    }];
    record
}

fn spans(record: &Record) -> Vec<SpanData> {
    SpanBuilder::new(vec!["app.kubernetes.io/name".to_owned()]).spans(record)
}

fn named<'a>(spans: &'a [SpanData], name: &str) -> &'a SpanData {
    spans.iter().find(|span| span.name == name).unwrap()
}

fn seconds(span: &SpanData) -> (i64, i64) {
    let since = |time: SystemTime| {
        let nanos = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        i64::try_from(nanos.as_secs()).unwrap() - 1_700_000_000
    };
    (since(span.start_time), since(span.end_time))
}

fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let mut attributes = span.attributes.iter();
    let found = attributes.find(|attribute| attribute.key.as_str() == key)?;
    Some(found.value.to_string())
}

#[test]
fn a_startup_is_a_tree_of_spans_with_the_times_of_its_record() {
    let spans = spans(&record(14));
    let root = &spans[0];
    let id = |name| span_id(uid(1), name);
    let shown: Vec<_> =
        spans.iter().map(|span| (&*span.name, seconds(span), span.parent_span_id)).collect();
    let below_root = id(SpanName::Startup);
    assert_eq!(
        shown,
        [
            ("pod startup", (0, 14), SpanId::INVALID),
            ("scheduling", (0, 1), below_root),
            ("network", (1, 3), below_root),
            ("containers", (3, 14), below_root),
            ("image pull", (4, 13), below_root),
        ]
    );
    assert_eq!(root.span_context.span_id(), below_root);
    for span in &spans {
        assert_eq!(span.span_context.trace_id(), trace_id(uid(1)));
        assert_ne!(span.span_context.trace_id(), TraceId::INVALID);
        assert!(span.span_context.is_sampled());
    }
}

#[test]
fn every_span_names_the_pod_by_the_semantic_conventions() {
    let spans = spans(&record(14));
    for span in &spans {
        for (key, value) in [
            ("k8s.namespace.name", "shop"),
            ("k8s.pod.name", "web-1"),
            ("k8s.pod.uid", &uid(1).to_string()),
            ("k8s.node.name", "node-a"),
            ("k8s.deployment.name", "web"),
            ("k8s.pod.label.app.kubernetes.io/name", "checkout"),
        ] {
            assert_eq!(attribute(span, key).as_deref(), Some(value), "{key}");
        }
    }
    let pull = named(&spans, "image pull");
    let of_pull = |key| attribute(pull, key).unwrap();
    assert_eq!(of_pull("k8s.container.name"), "app");
    assert_eq!(of_pull("podinit.image.registry"), "docker.io");
    assert_eq!(of_pull("container.image.name"), "docker.io/shop/web");
    assert_eq!(of_pull("container.image.tags"), "[\"1.2\"]");
    assert_eq!(attribute(&spans[0], "podinit.outcome").unwrap(), "ready");
}

#[test]
fn the_wait_for_a_new_node_has_spans_and_the_root_says_what_node_it_was() {
    let mut record = record(14);
    record.needed.capacity = Some(NodeAge::New);
    record.needed.images = StartupImages::Pulled;
    record.node_labels = Some(Arc::new(NodeLabels {
        pool: "blue".into(),
        zone: "eu-1a".into(),
        ..NodeLabels::default()
    }));
    let interval = |interval, from, to| RecordedInterval {
        interval,
        kind: IntervalKind::from_interval(interval),
        began: Some(at(from)),
        ended: Some(at(to)),
        result: IntervalResult::Measured {
            seconds: Latency::from_nanos(to.abs_diff(from) * 1_000_000_000),
        },
    };
    record.intervals.push(interval(Interval::Stage(Stage::Unschedulable), 0, 9));
    record.intervals.push(interval(Interval::Step(Step::NodeLaunch), 0, 3));
    record.intervals.push(interval(Interval::Step(Step::NodeReady), 3, 8));
    record.intervals.push(interval(Interval::Step(Step::NodeJoin), 8, 9));
    let spans = spans(&record);
    let stage = named(&spans, "unschedulable").span_context.span_id();
    for (step, times) in [("node_launch", (0, 3)), ("node_ready", (3, 8)), ("node_join", (8, 9))] {
        let span = named(&spans, step);
        assert_eq!((seconds(span), span.parent_span_id), (times, stage), "{step}");
    }
    for (key, value) in [
        ("podinit.node.capacity", "new"),
        ("podinit.images", "pulled"),
        ("podinit.node.pool", "blue"),
        ("cloud.availability_zone", "eu-1a"),
    ] {
        assert_eq!(attribute(&spans[0], key).as_deref(), Some(value), "{key}");
    }
}

#[test]
fn an_owner_of_a_kind_without_a_convention_is_named_all_the_same() {
    let mut record = record(4);
    let (kind, name) = ("Rollout".into(), "web".into());
    record.pod.workload = Some(Arc::new(podinit_core::pod::Workload { kind, name }));
    let spans = spans(&record);
    let of_root = |key| attribute(&spans[0], key).unwrap();
    assert_eq!(of_root("podinit.workload.kind"), "Rollout");
    assert_eq!(of_root("podinit.workload.name"), "web");
}

#[test]
fn a_missed_slo_is_an_error_of_the_startup_and_of_the_stage() {
    let missed = Status::error(format!("missed the SLO {SLO}"));
    let late = spans(&record(40));
    assert_eq!(late[0].status, missed);
    let list = attribute(&late[0], "podinit.slo.missed").unwrap();
    assert_eq!(list, format!("[\"{SLO}\"]"));
    for span in spans(&record(4)) {
        assert_eq!(span.status, Status::Unset, "{}", span.name);
    }
    // Where its deadline passed, and not its end showed it, the pod was in a stage.
    let mut record = record(40);
    record.slos[0].result = SloResult::Bad {
        reason: BadReason::of_known(WaitReason::new(Stage::Containers, Cause::Probe)),
    };
    let late = spans(&record);
    assert_eq!(named(&late, "containers").status, missed);
    assert_eq!(named(&late, "network").status, Status::Unset);
}

#[test]
fn a_startup_that_failed_ends_when_that_was_seen_and_so_does_its_last_stage() {
    let mut record = record(9);
    record.progress = Progress::Ended { outcome: Outcome::Failed, at: at(20), ending: None };
    let lost = [Milestone::ContainersReady, Milestone::Ready];
    record.milestones.retain(|one| !lost.contains(&one.milestone));
    for interval in &mut record.intervals {
        if interval.interval == Interval::Stage(Stage::Containers) {
            (interval.ended, interval.result) = (None, IntervalResult::Open);
        }
    }
    let spans = spans(&record);
    assert_eq!(seconds(&spans[0]), (0, 20));
    assert!(matches!(&spans[0].status, Status::Error { description } if description == "failed"));
    assert_eq!(seconds(named(&spans, "containers")), (3, 20));
}

#[test]
fn what_a_pod_waited_for_is_events_of_the_root() {
    let spans = spans(&record(14));
    let events = &spans[0].events;
    assert!(!events.is_empty());
    for event in events.iter() {
        let keys: Vec<&str> = event.attributes.iter().map(|one| one.key.as_str()).collect();
        assert_eq!((&*event.name, &keys[..]), ("waiting", &["podinit.stage", "podinit.cause"][..]));
    }
}

#[test]
fn steps_lie_inside_their_stage_and_unusable_times_give_no_span() {
    let mut record = record(14);
    let step = |step, from, to, result| RecordedInterval {
        interval: Interval::Step(step),
        kind: IntervalKind::Step,
        began: Some(at(from)),
        ended: Some(at(to)),
        result,
    };
    let is_step = |interval| matches!(interval, Interval::Step(_));
    record.intervals.retain(|one| !is_step(one.interval));
    let measured = IntervalResult::Measured { seconds: Latency::from_nanos(1) };
    let unusable = IntervalResult::Unobserved { reason: UnobservedReason::Time };
    record.intervals.push(step(Step::Acknowledge, 0, 2, measured));
    record.intervals.push(step(Step::Sandbox, 9, 2, unusable));
    let spans = spans(&record);
    let acknowledge = named(&spans, "acknowledge");
    assert_eq!(seconds(acknowledge), (1, 2));
    let network = named(&spans, "network").span_context.span_id();
    assert_eq!(acknowledge.parent_span_id, network);
    assert!(spans.iter().all(|span| span.name != "sandbox"));
}

#[test]
fn a_gate_that_held_the_pod_is_a_span_of_its_stage_and_a_milestone_an_event() {
    let mut record = record(14);
    record.intervals.push(RecordedInterval {
        interval: Interval::Stage(Stage::Readiness),
        kind: IntervalKind::Stage,
        began: Some(at(10)),
        ended: Some(at(14)),
        result: IntervalResult::Measured { seconds: Latency::from_nanos(4) },
    });
    let gate = |gate: &str, passed: i64| RecordedGate {
        kind: GateKind::Readiness,
        gate: gate.into(),
        state: GateState::Passed,
        since: None,
        passed: Some(at(passed)),
    };
    // The first was passed before its containers were ready, and has held nothing up.
    record.gates = vec![gate("early", 8), gate("lb.example.com/web", 13)];
    record.custom_milestones = vec![RecordedCustomMilestone {
        milestone: "model_loaded".into(),
        condition: "example.com/ModelLoaded".into(),
        time: Some(at(9)),
        created_seconds: None,
        containers_started_seconds: None,
        unobserved: None,
    }];
    let spans = spans(&record);
    let gates: Vec<_> = spans.iter().filter(|span| span.name == "gate").collect();
    assert_eq!(gates.len(), 1);
    assert_eq!(seconds(gates[0]), (10, 13));
    assert_eq!(gates[0].parent_span_id, named(&spans, "readiness").span_context.span_id());
    assert_eq!(attribute(gates[0], "podinit.gate.kind").unwrap(), "readiness");
    assert_eq!(attribute(gates[0], "podinit.gate.name").unwrap(), "lb.example.com/web");
    let reached = spans[0].events.iter().find(|event| event.name == "milestone").unwrap();
    let [milestone] = &reached.attributes[..] else { panic!("one attribute") };
    assert_eq!(
        (milestone.key.as_str(), &*milestone.value.as_str()),
        ("podinit.milestone", "model_loaded")
    );
}
