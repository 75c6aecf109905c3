#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use super::*;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Cause, ClockFault, Interval, IntervalKind, IntervalResult, Latency, Milestone, MilestoneSource,
    NodeClock, NodeFaults, Outcome, Progress, RecordedCapacity, RecordedCause, RecordedContainer,
    RecordedImage, RecordedInterval, RecordedMilestone, RecordedPull, Stage, WaitReason,
};
use podinit_core::pod::{PodUid, Workload};
use podinit_testing::records::record;

/// The present.
pub(super) const NOW: i64 = 10_000;

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_700_000_000 + second)
}

pub(super) fn cause(stage: Stage, cause: Cause, began: i64) -> RecordedCause {
    RecordedCause {
        waiting: WaitReason::new(stage, cause).expect("a pair that can be"),
        began: at(began),
        container: Some(0),
    }
}

/// A pod of one container that no Event has told of.
pub(super) fn pod(name: &str, image: &str) -> Record {
    let number = name.bytes().fold(7, |sum: u64, byte| sum * 31 + u64::from(byte));
    Record {
        uid: PodUid::from_words([number, 0x8000_0000_0000_0000 | number]),
        progress: Progress::Ended { outcome: Outcome::Ready, at: at(0), ending: None },
        milestones: vec![],
        intervals: vec![],
        containers: vec![RecordedContainer {
            name: "main".into(),
            init: false,
            is_sidecar: false,
            image: Some(image.into()),
            registry: None,
            volume_image: None,
            problem: None,
        }],
        causes: vec![],
        ..record("shop", name)
    }
}

/// The pod in flight, in its stage since `entered`, with these causes, the last of which it has.
pub(super) fn waits(mut record: Record, entered: i64, causes: &[RecordedCause]) -> Record {
    record.discovered = at(-5);
    record.progress = Progress::InFlight {
        waiting: causes.last().unwrap().waiting,
        entered: at(entered),
        stuck_at: at(entered + 60),
        is_stuck: false,
        is_never_ready: false,
    };
    record.causes = causes.to_vec();
    record
}

/// The pod with another container of this image.
pub(super) fn with_image(mut record: Record, image: &str) -> Record {
    record.containers.push(RecordedContainer {
        name: "other".into(),
        image: Some(image.into()),
        ..record.containers[0].clone()
    });
    record
}

/// A pod whose image cannot be pulled, since `since`.
fn without_image(name: &str, image: &str, since: i64) -> Record {
    let cause = cause(Stage::Containers, Cause::Image, since);
    waits(pod(name, image), since, &[cause])
}

pub(super) fn on(mut record: Record, node: &str) -> Record {
    record.pod.node = Some(node.into());
    record
}

fn of(mut record: Record, deployment: &str) -> Record {
    record.pod.workload =
        Some(Arc::new(Workload { kind: "Deployment".into(), name: deployment.into() }));
    record
}

/// The pod, ready at this second after so many seconds of `stage`.
fn ready(mut record: Record, stage: Stage, seconds: u64, at_second: i64) -> Record {
    record.milestones = vec![RecordedMilestone {
        milestone: Milestone::Ready,
        time: Some(at(at_second)),
        source: Some(MilestoneSource::Condition),
    }];
    record.intervals = vec![RecordedInterval {
        interval: Interval::Stage(stage),
        kind: IntervalKind::Stage,
        began: None,
        ended: None,
        result: IntervalResult::Measured { seconds: Latency::from_nanos(seconds * 1_000_000_000) },
    }];
    record
}

/// That its image was pulled.
pub(super) fn pulled(mut record: Record) -> Record {
    record.pulls = vec![RecordedPull {
        container: "main".into(),
        init: false,
        registry: "docker.io".into(),
        has_failed: false,
        image: RecordedImage::Pulled { ended: None, with_wait: Latency::from_nanos(0) },
    }];
    record
}

/// Each problem as "CAUSE DIMENSION VALUE PODS".
fn found(in_flight: Vec<Record>, newest: &[Record]) -> Vec<String> {
    let problems = problems(in_flight, newest, at(NOW));
    let line = |problem: &FoundProblem| {
        let (dimension, value) = problem.shared_texts();
        let cause = problem.cause.as_str();
        format!("{cause} {dimension} {value} {}", problem.pods)
    };
    problems.iter().map(line).collect()
}

fn is_affected(record: Record, newest: &[Record]) -> bool {
    !problems(vec![record], newest, at(NOW)).is_empty()
}

#[test]
fn a_failing_cause_counts_after_fifteen_seconds_and_six_minutes_longer() {
    assert!(!is_affected(without_image("a", "x", NOW - 14), &[]));
    assert!(is_affected(without_image("a", "x", NOW - 15), &[]));
    let passed = |end: i64| {
        let image = cause(Stage::Containers, Cause::Image, NOW - 600);
        let pull = cause(Stage::Containers, Cause::Pull, end);
        waits(pod("a", "x"), NOW - 700, &[image, pull])
    };
    // The pull itself would count after two minutes in the stage: compare with a pod of its workload.
    let quick: Vec<_> =
        (0..20).map(|_| ready(pod("b", "x"), Stage::Containers, 1_000, 5)).collect();
    assert!(is_affected(passed(NOW - 359), &quick));
    assert!(!is_affected(passed(NOW - 360), &quick));
}

#[test]
fn a_failing_cause_of_a_stage_before_counts_no_longer() {
    let cni = cause(Stage::Network, Cause::Cni, NOW - 100);
    let create = cause(Stage::Containers, Cause::Create, NOW - 20);
    assert!(!is_affected(waits(pod("a", "x"), NOW - 20, &[cni, create]), &[]));
}

#[test]
fn the_first_cause_that_was_seen_began_with_the_stage() {
    let mut seen_late = without_image("a", "x", NOW - 5);
    seen_late.discovered = at(NOW - 5);
    assert!(!is_affected(seen_late.clone(), &[]));
    if let Progress::InFlight { entered, .. } = &mut seen_late.progress {
        *entered = at(NOW - 15);
    }
    let problem = problems(vec![seen_late], &[], at(NOW)).remove(0);
    assert_eq!(problem.since, at(NOW - 15));
}

#[test]
fn a_waiting_cause_counts_after_a_minute_in_the_stage() {
    let pod = |entered| {
        let taint = cause(Stage::Unschedulable, Cause::Taint, NOW - 1);
        waits(pod("a", "x"), entered, &[taint])
    };
    assert!(!is_affected(pod(NOW - 59), &[]));
    assert!(is_affected(pod(NOW - 60), &[]));
}

#[test]
fn a_working_cause_counts_after_three_times_what_nine_of_ten_take() {
    let pod = |entered| {
        let run = cause(Stage::Init, Cause::Run, entered);
        of(waits(pod("a", "x"), entered, &[run]), "web")
    };
    let all: Vec<_> =
        (1..=20).map(|took| ready(super::tests::pod("b", "x"), Stage::Init, took, 5)).collect();
    // Nothing to compare with.
    assert!(!is_affected(pod(NOW - 120), &all[1..]));
    assert!(is_affected(pod(NOW - 121), &all[1..]));
    // The 90th percentile of 20 is the 18th.
    assert!(!is_affected(pod(NOW - 54), &all));
    assert!(is_affected(pod(NOW - 55), &all));
    // Five of its own workload are enough.
    let own = |took| of(ready(super::tests::pod("b", "x"), Stage::Init, took, 5), "web");
    let mut with_own = all.clone();
    with_own.extend((0..5).map(|_| own(30)));
    assert!(!is_affected(pod(NOW - 90), &with_own));
    assert!(is_affected(pod(NOW - 91), &with_own));
    // Never less than half a minute.
    let mut quick = all;
    quick.extend((0..5).map(|_| own(1)));
    assert!(!is_affected(pod(NOW - 30), &quick));
    assert!(is_affected(pod(NOW - 31), &quick));
}

#[test]
fn a_pod_that_can_never_be_ready_is_affected_by_what_fails_only() {
    let pod = |one: RecordedCause| {
        let mut pod = waits(pod("a", "x"), 0, &[one]);
        if let Progress::InFlight { is_never_ready, .. } = &mut pod.progress {
            *is_never_ready = true;
        }
        pod
    };
    for idle in [Cause::Exited, Cause::Pull, Cause::Create, Cause::Probe] {
        assert!(!is_affected(pod(cause(Stage::Containers, idle, 0)), &[]));
    }
    for fails in [Cause::Image, Cause::Config, Cause::Crash] {
        assert!(is_affected(pod(cause(Stage::Containers, fails, 0)), &[]));
    }
}

#[test]
fn fresh_gates_and_deletions_are_no_problem() {
    let entered = NOW - 1_800;
    let gate = cause(Stage::Gated, Cause::Gate, entered);
    let terminating = cause(Stage::Network, Cause::Terminating, 0);
    for (entered, one) in [(entered, gate), (0, terminating)] {
        assert!(!is_affected(waits(pod("a", "x"), entered, &[one]), &[]));
    }
}

#[test]
fn an_image_is_at_fault_before_its_registry() {
    let pods = (0..4).map(|n| without_image(&format!("a{n}"), "r.example.com/web:2", 0));
    assert_eq!(found(pods.collect(), &[]), ["image image r.example.com/web:2 4"]);
}

#[test]
fn a_registry_is_at_fault_where_three_images_say_so() {
    let pods = |images: i64| {
        let pods = (0..9).map(move |n| {
            let image = format!("r.example.com/app{}", n % images);
            on(without_image(&format!("a{n}"), &image, 0), &format!("n{n}"))
        });
        pods.collect::<Vec<_>>()
    };
    assert_eq!(found(pods(3), &[]), ["image registry r.example.com 9"]);
    // Two images, half of the pods each: both stand out.
    let two = ["image image r.example.com/app0 5", "image image r.example.com/app1 4"];
    assert_eq!(found(pods(2), &[]), two);
}

#[test]
fn what_starts_well_elsewhere_is_not_at_fault() {
    // One image that others pulled meanwhile; the node is what the affected pods share besides.
    let pods = || (0..4).map(|n| on(without_image(&format!("a{n}"), "app", 100), "bad"));
    let well: Vec<_> = (0..30)
        .map(|n| {
            let well = ready(pod(&format!("b{n}"), "app"), Stage::Containers, 5, 200);
            on(pulled(well), &format!("n{n}"))
        })
        .collect();
    assert_eq!(found(pods().collect(), &well), ["image node bad 4"]);
    // Those that only found it on their nodes say nothing of the registry.
    let present: Vec<_> = well
        .into_iter()
        .map(|mut record| {
            record.pulls.clear();
            record
        })
        .collect();
    assert_eq!(found(pods().collect(), &present), ["image image app 4"]);
}

#[test]
fn pods_that_stand_out_are_a_problem_of_their_own() {
    let crash = |name: String, second| {
        waits(pod(&name, "x"), second, &[cause(Stage::Containers, Cause::Crash, second)])
    };
    let on_node = (0..6).map(|n| of(on(crash(format!("a{n}"), 10 + n), "bad"), &format!("w{n}")));
    let alone =
        (0..4).map(|n| of(on(crash(format!("b{n}"), 50 + n), &format!("n{n}")), &format!("v{n}")));
    let well: Vec<_> = (0..40)
        .map(|n| on(ready(pod(&format!("c{n}"), "x"), Stage::Containers, 5, 1), &format!("m{n}")))
        .collect();
    let both: Vec<_> = on_node.chain(alone).collect();
    assert_eq!(found(both.clone(), &well), ["crash node bad 6", "crash   4"]);
    let problem = &problems(both, &well, at(NOW))[0];
    assert_eq!((problem.nodes, problem.workloads, problem.namespaces), (1, 6, 1));
    assert_eq!(problem.since, at(10));
    let oldest: Vec<_> = problem.oldest.iter().map(|pod| &*pod.name).collect();
    assert_eq!(oldest, ["a0", "a1", "a2"]);
}

#[test]
fn the_words_of_most_pods_are_shown() {
    let said = |name: &str, since, text: &str| {
        let mut record = without_image(name, "x", since);
        record.message = Some(text.into());
        record
    };
    let pods = vec![
        said("a", 1, "cannot pull for a: connection refused after 3 s"),
        said("b", 2, "cannot pull for b: connection refused after 17 s"),
        said("c", 3, "manifest unknown"),
    ];
    let problem = &problems(pods, &[], at(NOW))[0];
    let message = problem.message.as_deref();
    assert_eq!(message, Some("cannot pull for b: connection refused after 17 s"));
}

#[test]
fn only_the_newest_thousand_records_count() {
    let run = cause(Stage::Init, Cause::Run, NOW - 100);
    let pod = || waits(super::tests::pod("a", "x"), NOW - 100, &[run]);
    let mut newest: Vec<_> =
        (0..20).map(|_| ready(super::tests::pod("b", "x"), Stage::Init, 1, 5)).collect();
    assert!(is_affected(pod(), &newest));
    newest.extend((0..MOST_RECORDS).map(|_| super::tests::pod("c", "x")));
    assert!(!is_affected(pod(), &newest));
}

/// A pod that fits on no node, and what an autoscaler says of it since `since`.
fn unplaced(name: &str, said: Option<(CapacityState, &str, i64)>) -> Record {
    let cause = cause(Stage::Unschedulable, Cause::Resources, 0);
    let (state, by, since) = match said {
        Some((state, by, since)) => (state, Some(by.into()), Some(at(since))),
        None => (CapacityState::Unknown, None, None),
    };
    let unschedulable = Some(RecordedCapacity { state, by, since, message: None, choices: None });
    Record { unschedulable, ..waits(pod(name, "web:1"), 0, &[cause]) }
}

#[test]
fn what_autoscalers_say_of_most_of_the_pods_is_said_of_the_problem() {
    use CapacityState::{NoScaleUp, ScalingUp};
    let autoscaler = "cluster-autoscaler";
    let mut pods = vec![
        unplaced("a", Some((ScalingUp, autoscaler, 30))),
        unplaced("b", Some((ScalingUp, autoscaler, 20))),
        unplaced("c", Some((NoScaleUp, autoscaler, 10))),
    ];
    let found = problems(pods.clone(), &[], at(100));
    let expected = FoundCapacity {
        state: ScalingUp,
        by: Some(autoscaler.into()),
        since: at(20),
        why: None,
        choices: None,
    };
    assert_eq!(found[0].capacity, Some(expected));
    pods.push(unplaced("d", None));
    let found = problems(pods, &[], at(100));
    assert_eq!((found[0].pods, &found[0].capacity), (4, &None), "half are not most");
    let of_two = [
        unplaced("a", Some((ScalingUp, autoscaler, 30))),
        unplaced("b", Some((ScalingUp, "karpenter", 20))),
    ];
    assert_eq!(problems(of_two.to_vec(), &[], at(100))[0].capacity, None);
}

#[test]
fn all_nodes_workloads_and_namespaces_are_counted() {
    let in_flight = (0..2_500).map(|number| {
        let mut record =
            on(without_image(&format!("p{number}"), "r.io/app", 0), &format!("n{number}"));
        record.uid = PodUid::from_words([number, 1 << 63]);
        record.pod.namespace = format!("ns{}", number / 2).into();
        // Of the same name in two namespaces are two.
        of(record, &format!("web{}", number % 2))
    });
    let problem = problems(in_flight.collect(), &[], at(NOW)).remove(0);
    let counts = (problem.pods, problem.nodes, problem.workloads, problem.namespaces);
    assert_eq!(counts, (2_500, 2_500, 2_500, 1_250));
}

#[test]
fn a_clock_that_is_off_is_a_problem_of_all_pods_on_its_node() {
    let starting = |name: &str, node: &str| {
        let run = cause(Stage::Init, Cause::Run, NOW - 1);
        on(waits(pod(name, "x"), NOW - 1, &[run]), node)
    };
    let mut leaves = starting("leaves", "n1");
    if let Progress::InFlight { waiting, .. } = &mut leaves.progress {
        *waiting = WaitReason::new(Stage::Init, Cause::Terminating).expect("a pair that can be");
    }
    let pods = vec![
        starting("a", "n1"),
        on(without_image("b", "x", NOW - 60), "n1"),
        leaves,
        starting("c", "n2"),
    ];
    let clock = |node: &str| NodeClock {
        node: node.into(),
        fault: ClockFault::Ahead,
        seconds: 7_199,
        since: at(NOW - 500),
    };
    // Nothing is in flight on the third.
    let clocks = ["n1", "n3"].map(clock).to_vec();
    let faults = NodeFaults { clocks: clocks.clone(), late: Vec::new() };
    let mut over_time = OverTime::default();
    let mut find = |pods: &[Record], now: i64| {
        let mut finding = ProblemFinding::new(&[], at(now)).with_faults(&faults);
        pods.iter().for_each(|pod| finding.add(pod));
        finding.finish(&mut over_time)
    };
    let found = find(&pods, NOW);
    let lines: Vec<_> = (found.problems.iter())
        .map(|(one, pods)| (one.cause, one.shared_texts().1.to_owned(), one.pods, pods.len()))
        .collect();
    let expected = [(Cause::Clock, "n1".to_owned(), 3, 3), (Cause::Image, "x".to_owned(), 1, 1)];
    assert_eq!(lines, expected);
    let clock = &found.problems[0].0;
    assert_eq!((clock.since, &clock.kind), (at(NOW - 500), &ProblemKind::Clock(clocks[0].clone())));
    // Those that start well are still what others are compared with.
    assert_eq!(found.rest.len(), 3);
    let later = find(&pods[3..], NOW + 5);
    let ended: Vec<_> = later.ended.iter().map(|one| one.problem.cause).collect();
    assert_eq!((later.problems.len(), ended), (0, vec![Cause::Clock, Cause::Image]));
}
