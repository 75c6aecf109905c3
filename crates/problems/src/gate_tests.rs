//! Pods that gates hold ([§13.2](crate::specification#s13-2) to [§13.5](crate::specification#s13-5)).

use std::sync::Arc;

use super::tests::{at, cause, pod, waits};
use super::*;
use podinit_core::lifecycle::{
    Cause, GateKind, GateState, Interval, IntervalKind, IntervalResult, Latency, Milestone,
    MilestoneSource, Outcome, Progress, RecordedCause, RecordedGate, RecordedInterval,
    RecordedMilestone, Stage,
};
use podinit_core::pod::Workload;

const NOW: i64 = 10_000;

fn gate(kind: GateKind, name: &str, state: GateState, passed: Option<i64>) -> RecordedGate {
    RecordedGate { kind, gate: name.into(), state, since: None, passed: passed.map(at) }
}

/// A pod of a Job that these scheduling gates hold, for so many seconds.
fn gated(name: &str, job: &str, gates: &[&str], seconds: i64) -> Record {
    let mut record = pod(name, "r.io/web:1");
    record.pod.workload = Some(Arc::new(Workload { kind: "Job".into(), name: job.into() }));
    let holding = |name: &&str| gate(GateKind::Scheduling, name, GateState::Holding, None);
    record.gates = gates.iter().map(holding).collect();
    let entered = NOW - seconds;
    let had = RecordedCause { container: None, ..cause(Stage::Gated, Cause::Gate, entered) };
    waits(record, entered, &[had])
}

/// A pod of a Job that became ready, and had passed this gate after so many seconds.
fn passed(name: &str, job: &str, gate_name: &str, seconds: i64) -> Record {
    let mut record = pod(name, "r.io/web:1");
    record.pod.workload = Some(Arc::new(Workload { kind: "Job".into(), name: job.into() }));
    record.progress = Progress::Ended { outcome: Outcome::Ready, at: at(9_000), ending: None };
    let reached = |milestone, second| RecordedMilestone {
        milestone,
        time: Some(at(second)),
        source: Some(MilestoneSource::Condition),
    };
    record.milestones = vec![reached(Milestone::Created, 8_000), reached(Milestone::Ready, 9_000)];
    record.gates =
        vec![gate(GateKind::Scheduling, gate_name, GateState::Passed, Some(8_000 + seconds))];
    let nanos = seconds.unsigned_abs() * 1_000_000_000;
    record.intervals = vec![RecordedInterval {
        interval: Interval::Stage(Stage::Gated),
        kind: IntervalKind::Stage,
        began: None,
        ended: None,
        result: IntervalResult::Measured { seconds: Latency::from_nanos(nanos) },
    }];
    record
}

fn stated(in_flight: Vec<Record>, newest: &[Record]) -> Vec<(Cause, String, usize)> {
    let problems = problems(in_flight, newest, at(NOW)).into_iter();
    let stated = problems.map(|problem| {
        let (dimension, value) = problem.shared_texts();
        (problem.cause, format!("{dimension} {value}"), problem.pods)
    });
    stated.collect()
}

#[test]
fn a_forgotten_gate_is_a_problem_that_names_it() {
    let of =
        |seconds| (0..4).map(|n| gated(&format!("p{n}"), "train", &["a.io/g"], seconds)).collect();
    assert_eq!(stated(of(1_800), &[]), []);
    assert_eq!(stated(of(1_801), &[]), [(Cause::Gate, "gate a.io/g".to_owned(), 4)]);
}

#[test]
fn the_limit_is_that_of_the_workload_or_else_of_the_gate() {
    // Three times twenty seconds, by the workload; three times a hundred by the gate.
    let records = |job: &str, seconds| -> Vec<Record> {
        (0..5).map(|n| passed(&format!("{job}{n}"), job, "a.io/g", seconds)).collect()
    };
    let newest = [records("train", 20), records("other", 100)].concat();
    let pods = |job, seconds| vec![gated("p", job, &["a.io/g"], seconds)];
    let count = |job, seconds| stated(pods(job, seconds), &newest).len();
    assert_eq!((count("train", 60), count("train", 61)), (0, 1));
    assert_eq!((count("new", 300), count("new", 301)), (0, 1));
    // Four records are too few, whatever they say.
    let few = &newest[..4];
    assert_eq!(stated(pods("train", 1_800), few).len(), 0);
    // And a gate that takes a second is late after half a minute.
    let quick = records("train", 1);
    assert_eq!(stated(pods("train", 30), &quick).len(), 0);
    assert_eq!(stated(pods("train", 31), &quick).len(), 1);
}

#[test]
fn a_gate_is_named_even_if_other_pods_pass_it() {
    let newest: Vec<Record> =
        (0..50).map(|n| passed(&format!("w{n}"), "w", "a.io/g", 20)).collect();
    let pods: Vec<Record> =
        (0..4).map(|n| gated(&format!("p{n}"), "slow", &["a.io/g"], 3_000)).collect();
    assert_eq!(stated(pods, &newest), [(Cause::Gate, "gate a.io/g".to_owned(), 4)]);
}

#[test]
fn each_pod_is_held_by_the_first_gate_that_holds_it() {
    let mut pods: Vec<Record> = (0..6)
        .map(|n| gated(&format!("p{n}"), &format!("j{n}"), &["a.io/g", "b.io/g"], 3_000))
        .collect();
    pods[0].gates[0].state = GateState::Passed;
    pods[1].gates.clear();
    let expected = [(Cause::Gate, "gate a.io/g".to_owned(), 4), (Cause::Gate, " ".to_owned(), 2)];
    assert_eq!(stated(pods, &[]), expected);
}

#[test]
fn a_readiness_gate_has_a_name_too() {
    let late = |name: &str| {
        let mut record = pod(name, "r.io/web:1");
        let kind = GateKind::Readiness;
        record.gates = vec![
            gate(GateKind::Scheduling, "s.io/g", GateState::Passed, Some(1)),
            gate(kind, "a.io/g", GateState::Passed, Some(9_000)),
            gate(kind, "b.io/g", GateState::Holding, None),
        ];
        waits(record, 9_000, &[cause(Stage::Readiness, Cause::ReadinessGate, 9_000)])
    };
    let pods = ["p", "q", "r"].map(late).to_vec();
    assert_eq!(stated(pods, &[]), [(Cause::ReadinessGate, "gate b.io/g".to_owned(), 3)]);
}

#[test]
fn what_was_known_of_a_gate_outlives_the_records() {
    let newest: Vec<Record> = (0..5).map(|n| passed(&format!("w{n}"), "w", "a.io/g", 20)).collect();
    let mut over_time = OverTime::default();
    let mut count = |newest: &[Record]| {
        let mut finding = ProblemFinding::new(newest, at(NOW)).after(&over_time);
        finding.add(&gated("p", "new", &["a.io/g"], 100));
        finding.finish(&mut over_time).problems.len()
    };
    assert_eq!((count(&[]), count(&newest), count(&[])), (0, 1, 1));
}

/// Pods that wait for these readiness gates, one each.
fn waiting_for(gates: &[&str]) -> Vec<Record> {
    let waiting = gates.iter().zip(0..).map(|(name, number)| {
        let mut record = pod(&format!("p{number}"), "r.io/web:1");
        record.gates = vec![gate(GateKind::Readiness, name, GateState::Holding, None)];
        let entered = NOW - 400;
        let had = cause(Stage::Readiness, Cause::ReadinessGate, entered);
        waits(record, entered, &[RecordedCause { container: None, ..had }])
    });
    waiting.collect()
}

#[test]
fn readiness_gates_of_one_controller_are_one_value() {
    let names = |found: Vec<(Cause, String, usize)>| {
        found.into_iter().map(|(_, value, pods)| (value, pods)).collect::<Vec<_>>()
    };
    let of = |gates: &[&str]| names(stated(waiting_for(gates), &[]));
    let all = |value: &str, pods| vec![(format!("gate {value}"), pods)];
    assert_eq!(of(&["a.io/x", "a.io/y", "a.io/z", "a.io/z/1"]), all("a.io", 4));
    assert_eq!(of(&["a.io/x"; 4]), all("a.io/x", 4));
    // Two names are two gates, and so are names without a prefix.
    assert_eq!(of(&["a.io/x", "a.io/x", "a.io/x", "a.io/y", "a.io/y", "a.io/y"]).len(), 2);
    assert!(of(&["x", "y", "z"]).iter().all(|(value, _)| value != "gate "));
    // Scheduling gates keep their names.
    let gated: Vec<Record> = ["a.io/x", "a.io/y", "a.io/z"]
        .iter()
        .flat_map(|name| {
            (0..3).map(move |n| gated(&format!("{name}-{n}"), "train", &[name], 1_801))
        })
        .collect();
    let found = names(stated(gated, &[]));
    assert!(found.iter().all(|(value, _)| value != "gate a.io"), "{found:?}");
}

/// A second reading of which readiness gates are one value.
#[test]
fn random_readiness_gates_are_shown_as_the_specification_says() {
    use super::shared_gates::SharedGates;
    let mut seed = 7_u32;
    let mut below = |most: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % most
    };
    for _ in 0..2_000 {
        let mut text = || match below(4) {
            0 => format!("g{}", below(4)),
            1 => format!("a.io/{}", below(4)),
            2 => format!("b.io/{}/{}", below(2), below(3)),
            _ => format!("/{}", below(4)),
        };
        let gates: Vec<Arc<str>> = (0..9).map(|_| text().into()).collect();
        let shared = SharedGates::new(gates.iter());
        for gate in &gates {
            // "three names or more that differ only behind the first `/`"
            let before = gate.find('/').map(|slash| &gate[..=slash]);
            let alike =
                gates.iter().filter(|other| before.is_some_and(|before| other.starts_with(before)));
            let alike: std::collections::BTreeSet<_> = alike.collect();
            let expected = match before {
                Some(before) if alike.len() >= 3 => &before[..before.len() - 1],
                _ => gate,
            };
            assert_eq!(shared.shown(Cause::ReadinessGate, gate), expected, "{gates:?}");
            assert_eq!(shared.shown(Cause::Gate, gate), &**gate);
        }
    }
}
