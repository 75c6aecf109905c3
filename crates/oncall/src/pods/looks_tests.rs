//! Looks at a recording before its end, against a reading of the rule that replays the recording anew up to each minute.
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::io::Cursor;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::super::question::PodQuestion;
use super::super::tracked::TrackedPods;
use super::*;
use crate::problems::{Problem, ProblemSnapshot};
use podinit_core::lifecycle::{NodeFaults, TrackerConfig};
use podinit_decode::{DecodeOptions, rfc3339};
use podinit_recordings::reader::{Recording, SoFar};
use podinit_recordings::replay::ReplayConfig;

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_772_359_200 + second)
}

fn stated(second: i64) -> String {
    rfc3339::format(at(second))
}

/// A pod that fits on no node, or one whose image cannot be pulled.
fn pod(name: &str, namespace: &str, created: i64, fits: bool) -> Value {
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": stated(created),
            "message": "0/9 nodes are available: 9 Insufficient memory."})
    };
    let conditions = match fits {
        true => json!([
            condition("PodScheduled", "True", ""),
            condition("PodReadyToStartContainers", "True", "")
        ]),
        false => json!([condition("PodScheduled", "False", "Unschedulable")]),
    };
    let waits = json!([{"name": "main", "image": "r.io/web:1", "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff"}}}]);
    json!({
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": format!("uid-{name}"),
            "creationTimestamp": stated(created)},
        "spec": {"nodeName": fits.then_some("node-a0"),
            "containers": [{"name": "main", "image": "r.io/web:1"}]},
        "status": {"phase": "Pending", "conditions": conditions,
            "containerStatuses": if fits { waits } else { json!([]) }},
    })
}

fn event(kind: &str, pod: &Value, second: i64) -> Value {
    json!({"type": kind, "object": pod, "observedAt": stated(second)})
}

/// A watch in which pods come and go: each step is so many seconds after the one before. The last second, too.
fn watch(steps: &[(i64, u8, u8)]) -> (String, i64) {
    let list = json!({"kind": "PodList", "items": [], "observedAt": stated(0)});
    let (mut text, mut second, mut live) = (format!("{list}\n"), 0, VecDeque::new());
    for (number, (later, what, namespace)) in steps.iter().enumerate() {
        second += later;
        let document = match (what, live.len()) {
            (0..=1, 0..20) => {
                let namespace = format!("n{namespace}");
                let pod = pod(&format!("p{number}"), &namespace, second, *what == 1);
                live.push_back(pod.clone());
                event("ADDED", &pod, second)
            }
            _ => match live.pop_front() {
                Some(pod) => event("DELETED", &pod, second),
                None => continue,
            },
        };
        text += &format!("{document}\n");
    }
    (text, second)
}

/// The pods of a recording up to an instant.
fn replayed(text: &str, until: Option<i64>) -> TrackedPods {
    let input = Cursor::new(text.to_owned());
    let recording = Recording::from_reader("test", input, DecodeOptions::of_records());
    let config = ReplayConfig {
        tracker: TrackerConfig::default(),
        until: until.map(at),
        ..ReplayConfig::default()
    };
    let documents = recording.following(&SoFar::default());
    TrackedPods::of_recording(documents, config, &PodQuestion::Problems).unwrap()
}

/// The problems of the end, after looks at these seconds.
fn read(text: &str, looks: impl Iterator<Item = i64>) -> Vec<Problem> {
    let mut over_time = OverTime::default();
    for second in looks {
        replayed(text, Some(second)).found(&mut over_time);
    }
    let end = replayed(text, None);
    let now = end.tracker.accounted_time().unwrap();
    let found = end.found(&mut over_time).unwrap();
    ProblemSnapshot::new(found, NodeFaults::default(), now).problems.problems
}

#[test]
fn the_end_is_told_as_after_a_look_in_each_minute() {
    let steps = prop::collection::vec((1..=6_i64, 0..3_u8, 0..3_u8), 40..240);
    let (mut runner, mut differ) = (TestRunner::deterministic(), 0);
    for _ in 0..24 {
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let (text, end) = watch(&steps);
        let found = replayed(&text, None).problems();
        assert_eq!(found.problems, read(&text, (0..end).step_by(60)), "{steps:?}");
        assert!(found.ended.is_empty());
        differ += usize::from(found.problems != read(&text, 0..0));
    }
    assert!(differ > 12, "only in {differ} of them earlier looks change anything");
}

/// The seconds of looks that are due when documents come at these seconds.
fn due(looks: &mut EarlierLooks, seconds: &[i64]) -> Vec<i64> {
    let due = seconds.windows(2).flat_map(|pair| looks.due(at(pair[0]), at(pair[1])));
    due.map(|due| due.nanos_since(at(0)) / 1_000_000_000).collect()
}

#[test]
fn looks_are_whole_minutes_after_the_first_document() {
    let due = |seconds: &[i64]| due(&mut EarlierLooks::default(), seconds);
    assert_eq!(due(&[7, 20, 66, 67, 68, 127, 128]), [7, 67, 127]);
    assert_eq!(due(&[0, 0, 0]), [0_i64; 0]);
    // Of the minutes in which nothing is delivered, the first and the last.
    assert_eq!(due(&[0, 10, 600, 610]), [0, 60, 540, 600]);
    assert_eq!(due(&[0, 10, 70, 80]), [0, 60]);
}

#[test]
fn a_look_waits_for_a_quarter_as_many_documents_as_it_has_pods() {
    let mut looks = EarlierLooks { pods: 40, ..EarlierLooks::default() };
    let each_half_minute: Vec<i64> = (0..14).map(|n| 30 * n).collect();
    assert_eq!(due(&mut looks, &each_half_minute), [300, 360]);
}
