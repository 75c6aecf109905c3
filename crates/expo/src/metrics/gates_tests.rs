//! Gates within the cap on their names, and places that go from one to another ([§7.5](crate::specification#s7-5)).

use super::*;
use podinit_core::lifecycle::Latency;
use podinit_core::pod::{GateNames, PodSnapshot, PodUid};

fn hour(hour: i64) -> Timestamp {
    Timestamp::from_seconds(hour * 3600)
}

fn pod(namespace: &str) -> PodInfo {
    PodSnapshot::bare(PodUid::from_text("u"), namespace, "p").info
}

/// A pod of the namespace has these scheduling gates, which hold it; what happens to all of them.
fn all(
    gates: &GateSeries,
    at: i64,
    namespace: &str,
    names: &[&str],
    event: GatesEvent,
) -> Vec<LabelMove> {
    let mut moves = Vec::new();
    let names = GateNames { scheduling: names.iter().collect(), ..GateNames::default() };
    let pod = pod(namespace);
    let all = GatesObservation { gates: &names, event };
    gates.observe_all(hour(at), &pod, all, &mut moves);
    moves
}

fn one(gates: &GateSeries, at: i64, gate: &str, event: GateEvent) {
    let kind = GateKind::Scheduling;
    gates.observe(hour(at), &PodInfo::default(), GateObservation { kind, gate, event });
}

/// Returns the gates of which pods may move.
fn come(gates: &GateSeries, at: i64, namespace: &str, names: &[&str]) -> Vec<LabelMove> {
    let moves = all(gates, at, namespace, names, GatesEvent::Met);
    names.iter().for_each(|gate| one(gates, at, gate, GateEvent::Held));
    moves
}

fn go(gates: &GateSeries, at: i64, namespace: &str, names: &[&str]) {
    let passed = GateEvent::Passed(Latency::from_nanos(5));
    for gate in names {
        one(gates, at, gate, passed);
        one(gates, at, gate, GateEvent::Released);
    }
    assert_eq!(all(gates, at, namespace, names, GatesEvent::Left), []);
}

/// The scheduling gates, with how many pods each holds and how many have passed it.
fn shown(gates: &GateSeries) -> Vec<(String, u64, u64)> {
    let met = gates.by_name.met().into_iter();
    let shown = met.filter_map(|(gate, named)| {
        let holding = named.holding.get(GateKind::Scheduling)?;
        let duration = named.duration.get(GateKind::Scheduling)?;
        Some((gate.to_string(), holding.get(), duration.snapshot().count()))
    });
    shown.collect()
}

fn lines(lines: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    lines.iter().map(|(gate, holding, passed)| ((*gate).to_owned(), *holding, *passed)).collect()
}

fn counts(gates: &GateSeries) -> (u64, u64) {
    (gates.by_name.dropped.get(), gates.by_name.expired.get())
}

/// Goes on from what was saved.
fn restarted(gates: &GateSeries, max_gates: usize) -> GateSeries {
    let again = GateSeries::new(max_gates);
    let saved = |gates: &GateSeries| {
        let mut saved = SavedFamilies::default();
        gates.by_name.save(&mut saved);
        saved
    };
    again.by_name.restore_places(&gates.by_name.saved_places());
    again.restore(&saved(gates));
    assert_eq!(saved(&again), saved(gates));
    again
}

#[test]
fn gates_past_the_cap_are_one_for_both_kinds_and_a_pod_counts_once() {
    let gates = GateSeries::new(4);
    come(&gates, 1, "a", &["a", "b", "c", "d"]);
    assert_eq!(shown(&gates), lines(&[(OTHER, 2, 0), ("a", 1, 0), ("b", 1, 0)]));
    assert_eq!(counts(&gates), (1, 0));
    let names = GateNames { readiness: ["a", "x"].into_iter().collect(), ..GateNames::default() };
    let met = GatesObservation { gates: &names, event: GatesEvent::Met };
    gates.observe_all(hour(1), &pod("a"), met, &mut Vec::new());
    let readiness = GateKind::Readiness;
    assert!(gates.by_name.get("a").duration.get(readiness).is_some());
    assert!(gates.by_name.get(OTHER).duration.get(readiness).is_some());
    assert_eq!(counts(&gates), (2, 0));
    restarted(&gates, 4);
}

#[test]
fn a_namespace_takes_half_of_the_places_and_gives_them_to_its_own_gates() {
    let gates = GateSeries::new(5);
    come(&gates, 1, "a", &["a", "b", "c"]);
    come(&gates, 1, "z", &["z"]);
    assert_eq!(shown(&gates), lines(&[(OTHER, 1, 0), ("a", 1, 0), ("b", 1, 0), ("z", 1, 0)]));
    go(&gates, 2, "a", &["a", "b", "c"]);
    go(&gates, 1, "z", &["z"]);
    for gates in [&restarted(&gates, 5), &gates] {
        // The place of z has been free for longer, but another namespace took it.
        come(gates, 25, "a", &["d"]);
        assert_eq!(gates.by_name.id("d"), OTHER_ID);
        come(gates, 26, "a", &["e"]);
        let names: Vec<String> = shown(gates).into_iter().map(|(gate, ..)| gate).collect();
        assert_eq!(names, [OTHER, "b", "e", "z"]);
        assert_eq!(gates.by_name.expired.get(), 1);
    }
    let one = GateSeries::new(1);
    come(&one, 1, "a", &["a"]);
    assert_eq!(shown(&one), lines(&[("a", 1, 0)]));
}

#[test]
fn a_gate_keeps_its_place_while_a_pod_in_flight_has_it_and_for_a_day() {
    let gates = GateSeries::new(1);
    come(&gates, 1, "a", &["old"]);
    come(&gates, 100, "a", &["new"]);
    assert_eq!(shown(&gates), lines(&[(OTHER, 1, 0), ("old", 1, 0)]));
    go(&gates, 200, "a", &["old"]);
    assert_eq!(come(&gates, 223, "b", &["new"]), []);
    assert_eq!(shown(&gates), lines(&[(OTHER, 2, 0), ("old", 0, 1)]));
    // Whoever knows the pods in flight says which of them move.
    assert_eq!(come(&gates, 224, "b", &["new"]), [LabelMove::Gate("new".into())]);
    assert_eq!(shown(&gates), lines(&[(OTHER, 2, 0), ("new", 1, 0)]));
    assert_eq!(counts(&gates), (2, 1));
    let moved = GateEvent::Moved { is_holding: true };
    (0..2).for_each(|_| one(&gates, 224, "new", moved));
    assert_eq!(shown(&gates), lines(&[(OTHER, 0, 0), ("new", 3, 0)]));
    assert!(!gates.by_name.has_rest());
    go(&gates, 300, "b", &["new"]);
    go(&gates, 301, "a", &["new"]);
    come(&gates, 1000, "a", &["newest"]);
    assert_eq!(shown(&gates), lines(&[(OTHER, 1, 0), ("new", 1, 2)]));
    go(&gates, 1001, "b", &["new"]);
    come(&gates, 1025, "a", &["newest"]);
    assert_eq!(shown(&gates), lines(&[(OTHER, 1, 0), ("newest", 1, 0)]));
}

#[test]
fn a_restart_goes_on_with_the_pods_in_flight() {
    let before = GateSeries::new(1);
    come(&before, 1, "a", &["kept", "rest"]);
    let after = restarted(&before, 1);
    all(&after, 1, "a", &["kept", "rest"], GatesEvent::Restored);
    ["kept", "rest"].iter().for_each(|gate| one(&after, 1, gate, GateEvent::Held));
    assert_eq!((shown(&after), counts(&after)), (shown(&before), (0, 0)));
    come(&after, 500, "b", &["new"]);
    go(&after, 500, "a", &["kept", "rest"]);
    assert_eq!(shown(&after), lines(&[(OTHER, 1, 1), ("kept", 0, 1)]));
    come(&after, 524, "b", &["new"]);
    assert_eq!(shown(&after), lines(&[(OTHER, 1, 1), ("new", 1, 0)]));
}
