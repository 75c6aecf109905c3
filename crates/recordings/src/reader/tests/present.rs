//! What lies in the future tells no time ([§8.7](crate::specification#s8-7)).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::*;

/// 2026-03-01T10:00:00Z
const PRESENT: i64 = 1_772_359_200;

fn so_far() -> SoFar {
    SoFar::new(Arc::new(|| Timestamp::from_seconds(PRESENT)))
}

fn at(seconds: i64) -> String {
    rfc3339::format(Timestamp::from_seconds(PRESENT + seconds))
}

/// A pod that was created and scheduled at these seconds after the present, and by whose kubelet the rest happened.
fn pod(uid: &str, node: &str, [created, scheduled, kubelet]: [i64; 3]) -> String {
    let [created, scheduled, kubelet] = [created, scheduled, kubelet].map(at);
    format!(
        r#"{{"kind":"Pod","metadata":{{"uid":"{uid}","creationTimestamp":"{created}"}},"spec":{{"nodeName":"{node}"}},
        "status":{{"startTime":"{kubelet}","conditions":[
            {{"type":"PodScheduled","status":"True","lastTransitionTime":"{scheduled}"}},
            {{"type":"Ready","status":"True","lastTransitionTime":"{kubelet}"}}]}}}}"#
    )
}

fn times_after(so_far: &SoFar, text: &str) -> Vec<Option<i64>> {
    let recording =
        Recording::from_reader("test", Cursor::new(text.to_owned()), DecodeOptions::default());
    let documents = recording.following(so_far).map(Result::unwrap);
    let latest = documents.flat_map(|document| {
        let nodes = match &document.evidence.nodes {
            Some(RecordedNodes::List { nodes, .. }) => nodes.as_slice(),
            _ => &[],
        };
        let nodes = nodes.iter().map(|node| node.latest_api_time);
        let pods = document.snapshots().map(|pod| pod.latest_api_time);
        nodes.chain(pods).collect::<Vec<_>>()
    });
    let seconds = latest.map(|time| Some(time?.as_nanos() / 1_000_000_000 - PRESENT));
    seconds.collect()
}

/// The greatest time of each pod that may tell the time.
fn times(text: &str) -> Vec<Option<i64>> {
    times_after(&so_far(), text)
}

#[test]
fn times_more_than_5_s_after_the_present_tell_no_time() {
    assert_eq!(times(&pod("a", "n", [-9, -8, 5])), [Some(5)]);
    assert_eq!(times(&pod("a", "n", [-9, -8, 6])), [Some(-8)]);
    assert_eq!(times(&pod("a", "n", [-9, 7000, 7000])), [Some(-9)]);
    assert_eq!(times(&pod("a", "n", [7000, 7000, 7000])), [None]);
    let list = format!(
        r#"{{"kind":"List","items":[{},{}]}}"#,
        pod("a", "n", [-9, -8, 6]),
        pod("b", "n", [-5, -4, -3]),
    );
    assert_eq!(times(&list), [Some(-8), Some(-3)]);
}

/// The snapshot holds the transitions of some conditions only.
#[test]
fn the_times_of_all_conditions_count() {
    let condition = |kind: &str, seconds| {
        let at = at(seconds);
        format!(r#"{{"type":"{kind}","status":"True","lastTransitionTime":"{at}"}}"#)
    };
    let conditions = |kinds: &[(&str, i64)]| {
        let all = kinds.iter().map(|(kind, seconds)| condition(kind, *seconds));
        let all = all.collect::<Vec<_>>().join(",");
        format!(r#""metadata":{{"uid":"a"}},"status":{{"conditions":[{all}]}}"#)
    };
    let of_pod =
        [("Ready", 99), ("DisruptionTarget", -3), ("Ready", -2), ("example.com/x", -1), ("y", 50)];
    let of_pod = conditions(&of_pod);
    assert_eq!(times(&format!(r#"{{"kind":"Pod",{of_pod}}}"#)), [Some(-1)]);
    assert_eq!(times(&format!("---\n{{kind: Pod,{of_pod}}}\n")), [Some(-1)]);
    let of_node = conditions(&[("Ready", 99), ("MemoryPressure", -3), ("DiskPressure", -2)]);
    assert_eq!(times(&format!(r#"{{"kind":"Node",{of_node}}}"#)), [Some(-2)]);
}

#[test]
fn an_observed_time_takes_the_place_of_the_present_in_its_document() {
    let observed =
        |seconds: i64, text: &str| format!(r#"{{"observedAt":"{}",{}"#, at(seconds), &text[1..]);
    let a = pod("a", "n", [-99, -98, -50]);
    let text = [
        observed(-90, &a),
        a.clone(),
        observed(-60, &a),
        // The greatest so far, and not the last.
        observed(-80, &a),
        observed(-54, &a),
        pod("b", "n", [-99, -50, -48]),
    ];
    let expected = [-98, -50, -98, -98, -50, -48];
    assert_eq!(times(&text.concat()), expected.map(Some));
    // In all files.
    let so_far = so_far();
    assert_eq!(times_after(&so_far, &text[0]), [Some(-98)]);
    assert_eq!(times_after(&so_far, &a), [Some(-50)]);
    let later = observed(900, &pod("c", "n", [890, 891, 892]));
    assert_eq!(times_after(&so_far, &later), [Some(892)]);
}

#[test]
fn a_file_that_was_modified_later_than_the_present_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.json");
    std::fs::write(&path, pod("a", "n", [100, 101, 7200])).unwrap();
    let modified = |seconds: i64| {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs((PRESENT + seconds) as u64);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(at).unwrap();
        let recording = Recording::open(&path, DecodeOptions::default()).unwrap();
        let so_far = so_far();
        let document = recording.following(&so_far).next().unwrap().unwrap();
        let Some(RecordedPods::Bare(pod)) = document.pods else {
            panic!("no pod");
        };
        let latest = pod.latest_api_time.map(|time| time.as_nanos() / 1_000_000_000 - PRESENT);
        (latest, ClockAhead::line(&so_far.clocks_ahead()).unwrap_or_default())
    };
    let (latest, line) = modified(96);
    assert_eq!(latest, Some(101));
    assert!(line.contains("the clock of n is at least 1h58m ahead (1 pod)"), "{line}");
    let (latest, line) = modified(-5_000);
    assert_eq!(latest, None);
    assert!(line.contains("the clock of the API server is at least 2h0m ahead"), "{line}");
    assert_eq!(modified(7195), (Some(7200), String::new()));
}

#[test]
fn clocks_are_named_by_node_and_pods_counted_once() {
    let so_far = so_far();
    let text = [
        pod("a", "node-1", [-9, -8, 7191]),
        pod("b", "node-1", [-9, -8, 7000]),
        pod("c", "node-2", [-9, -8, 60]),
        pod("d", "node-3", [-9, -8, 5]),
        pod("a", "node-1", [-9, -8, 7196]),
    ];
    times_after(&so_far, &text.concat());
    let clocks = so_far.clocks_ahead();
    let found: Vec<_> =
        clocks.iter().map(|clock| (clock.node.as_deref(), clock.seconds, clock.pods)).collect();
    assert_eq!(found, [(Some("node-1"), 7196.0, 2), (Some("node-2"), 60.0, 1)]);
    let line = ClockAhead::line(&clocks).unwrap();
    assert!(
        line.starts_with(
            "the clock of node-1 is at least 1h59m ahead (2 pods), the clock of node-2"
        ),
        "{line}"
    );
}
