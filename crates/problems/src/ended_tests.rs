//! Pods whose startup is over, and are affected all the same.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crate::tests::{at, cause, on, pod, waits, with_image};
use crate::{FoundProblem, MOST_RECORDS, problems};
use podinit_core::lifecycle::{
    Cause, Milestone, MilestoneSource, Outcome, Progress, Record, RecordedMilestone,
    RecordedRelapse, Stage,
};
use podinit_core::pod::{Ending, Termination, Workload};

const NOW: i64 = 10_000;

fn of(mut record: Record, workload: &str) -> Record {
    record.pod.workload = Some(Arc::new(Workload { kind: "Job".into(), name: workload.into() }));
    record
}

fn ended(mut record: Record, outcome: Outcome, second: i64, ending: Option<Ending>) -> Record {
    record.progress = Progress::Ended { outcome, at: at(second), ending: ending.map(Box::new) };
    record
}

/// A pod of the workload that the kubelet refused at this second.
fn rejected(name: &str, workload: &str, second: i64) -> Record {
    let ending = Ending {
        reason: Some("OutOfcpu".into()),
        message: Some("Pod was rejected: no cpu left".into()),
        ..Ending::default()
    };
    ended(of(pod(name, "app"), workload), Outcome::Rejected, second, Some(ending))
}

fn exit(container: usize, code: u64) -> Termination {
    Termination { container, exit_code: Some(code), ..Termination::default() }
}

/// A pod of two containers of the workload that failed at this second, its second container with exit code 1.
fn failed(name: &str, workload: &str, second: i64) -> Record {
    let ending = Ending { containers: vec![exit(0, 0), exit(1, 1)], ..Ending::default() };
    let record = of(with_image(pod(name, "app"), "job"), workload);
    ended(record, Outcome::Failed, second, Some(ending))
}

/// The same with an image that others start well with.
fn failed_with_app(name: &str, workload: &str, second: i64) -> Record {
    let mut record = failed(name, workload, second);
    record.containers[1].image = Some("app".into());
    record
}

/// A pod on a node that became ready at this second.
fn ready(name: &str, node: &str, second: i64) -> Record {
    let mut record = on(ended(pod(name, "app"), Outcome::Ready, second, None), node);
    record.milestones = vec![RecordedMilestone {
        milestone: Milestone::Ready,
        time: Some(at(second)),
        source: Some(MilestoneSource::Condition),
    }];
    record
}

fn crashing(mut record: Record, since: i64) -> Record {
    record.relapse = Some(Box::new(RecordedRelapse {
        since: at(since),
        container: 0,
        message: Some("exit code 3".into()),
    }));
    record
}

fn three(of: impl Fn(&str) -> Record) -> Vec<Record> {
    ["a", "b", "c"].map(of).into()
}

fn found(in_flight: Vec<Record>, ended: &[Record]) -> Vec<FoundProblem> {
    problems(in_flight, ended, at(NOW))
}

/// Each as "CAUSE DIMENSION VALUE PODS".
fn lines(found: &[FoundProblem]) -> Vec<String> {
    let line = |one: &FoundProblem| {
        let (dimension, value) = one.shared_texts();
        format!("{} {dimension} {value} {}", one.cause.as_str(), one.pods)
    };
    found.iter().map(line).collect()
}

#[test]
fn three_rejections_of_a_workload_are_a_problem_for_ten_minutes() {
    let at_second = |second| found(vec![], &three(|name| rejected(name, "gpu", second)));
    let problem = &at_second(NOW)[0];
    assert_eq!(lines(&at_second(NOW)), ["rejected workload shop/Job/gpu 3"]);
    assert_eq!((problem.failed, problem.stuck, problem.since), (3, 0, at(NOW)));
    let words = "OutOfcpu: Pod was rejected: no cpu left";
    assert_eq!(problem.message.as_deref(), Some(words));
    assert_eq!(at_second(NOW - 599).len(), 1);
    assert_eq!(at_second(NOW - 600).len(), 0);
}

#[test]
fn fewer_than_three_of_a_workload_or_kind_affect_nobody() {
    let mut pods = three(|name| rejected(name, "gpu", NOW));
    pods[2] = rejected("c", "other", NOW);
    assert_eq!(found(vec![], &pods), []);
    pods[2] = failed("c", "gpu", NOW);
    assert_eq!(found(vec![], &pods), [], "another cause");
    let mut bare = three(|name| rejected(name, "gpu", NOW));
    bare.iter_mut().for_each(|one| one.pod.workload = None);
    assert_eq!(found(vec![], &bare).len(), 1, "pods without a workload by namespace");
    bare[2].pod.namespace = "elsewhere".into();
    assert_eq!(found(vec![], &bare), []);
}

/// As in a rollback while the new pods start up: their kubelets end them as failed.
#[test]
fn pods_that_were_being_deleted_have_not_failed_by_themselves() {
    let deleted = |name: &str| {
        let mut record = failed(name, "web", NOW);
        let run = cause(Stage::Containers, Cause::Run, NOW - 10);
        record.causes = vec![run, cause(Stage::Containers, Cause::Terminating, NOW - 1)];
        record
    };
    assert_eq!(found(vec![], &three(deleted)), []);
    let by_itself = |name: &str| {
        let mut record = deleted(name);
        record.causes.pop();
        record
    };
    assert_eq!(found(vec![], &three(by_itself)).len(), 1);
}

#[test]
fn a_failure_has_the_image_of_the_first_container_that_failed() {
    let pods = three(|name| failed(name, "etl", NOW - 3));
    let problem = &found(vec![], &pods)[0];
    assert_eq!((problem.cause, problem.message.as_deref()), (Cause::Crash, Some("exit code 1")));
    // Pods of the same image run elsewhere, so that the image is not at fault, but that of the second container is.
    let well: Vec<_> = (0..30).map(|n| ready(&format!("w{n}"), "n", NOW)).collect();
    let all: Vec<_> = pods.iter().cloned().chain(well).collect();
    assert_eq!(lines(&found(vec![], &all)), ["crash workload shop/Job/etl 3"]);
    let mut of_images = pods;
    for (number, record) in of_images.iter_mut().enumerate() {
        record.pod.namespace = format!("ns{number}").into();
        record.pod.workload = None;
    }
    assert_eq!(found(vec![], &of_images), []);
}

#[test]
fn pods_in_flight_with_the_cause_are_of_the_same_problem_and_count_no_failures() {
    let crash = |name: &str| {
        let began = cause(Stage::Containers, Cause::Crash, NOW - 60);
        of(waits(pod(name, "app"), NOW - 60, &[began]), "etl")
    };
    let failures = three(|name| failed(name, "etl", NOW - 5));
    let both = found(vec![crash("d")], &failures);
    assert_eq!(lines(&both), ["crash workload shop/Job/etl 4"]);
    assert_eq!((both[0].failed, both[0].since), (3, at(NOW - 60)));
    let few = found(vec![crash("d")], &failures[..2]);
    assert_eq!((few[0].pods, few[0].failed), (1, 0));
}

#[test]
fn what_completes_refutes_a_value_only_where_pods_have_failed() {
    // Six pods of two workloads fail on one node, and Jobs complete there afterwards.
    let failures = |second| {
        let jobs = ["x", "y"].into_iter().flat_map(move |job| {
            (0..3).map(move |n| on(failed_with_app(&format!("{job}{n}"), job, second), "bad"))
        });
        jobs.collect::<Vec<_>>()
    };
    let well = (0..30).map(|n| ready(&format!("w{n}"), &format!("n{n}"), NOW));
    let well: Vec<_> = well.collect();
    let with = |more: Vec<Record>, failures: Vec<Record>| {
        let all = well.iter().cloned().chain(more).chain(failures);
        lines(&found(vec![], &all.collect::<Vec<_>>()))[0].clone()
    };
    let completed = |count: usize, second| {
        let jobs = (0..count).map(|n| {
            let record = of(pod(&format!("done{n}"), "other"), "z");
            on(ended(record, Outcome::Completed, second, None), "bad")
        });
        jobs.collect::<Vec<_>>()
    };
    assert_eq!(with(vec![], failures(NOW - 60)), "crash node bad 6");
    assert_eq!(with(completed(1, NOW), failures(NOW - 60)), "crash node bad 6");
    // The node is refuted.
    assert_eq!(with(completed(4, NOW), failures(NOW - 60)), "crash workload shop/Job/x 3");
    assert_eq!(with(completed(4, NOW - 60), failures(NOW - 60)), "crash node bad 6");
    // The same pods in flight: what completed says nothing.
    let in_flight = failures(0).into_iter().map(|record| {
        let began = cause(Stage::Containers, Cause::Crash, NOW - 60);
        waits(record, NOW - 60, &[began])
    });
    let all: Vec<_> = well.iter().cloned().chain(completed(4, NOW)).collect();
    assert_eq!(lines(&found(in_flight.collect(), &all)), ["crash node bad 6"]);
}

#[test]
fn a_loop_of_failures_does_not_push_out_what_starts_well() {
    let well: Vec<_> = (0..30).map(|n| ready(&format!("w{n}"), &format!("n{n}"), NOW)).collect();
    let failures = (0..MOST_RECORDS + 500).map(|n| {
        let second = if n < 500 { NOW - 300 } else { NOW };
        on(rejected(&format!("r{n}"), "gpu", second), "bad")
    });
    let all: Vec<_> = well.into_iter().chain(failures).collect();
    let found = found(vec![], &all);
    let oldest = (lines(&found), found[0].since);
    assert_eq!(oldest, (vec!["rejected workload shop/Job/gpu 1000".to_owned()], at(NOW)));
}

#[test]
fn a_pod_that_crashes_after_it_was_ready_is_affected_at_once() {
    let one = crashing(ready("a", "n", NOW - 599), NOW);
    let found_one = found(vec![], std::slice::from_ref(&one));
    let problem = &found_one[0];
    assert_eq!((problem.cause, problem.pods, problem.relapsed), (Cause::Crash, 1, 1));
    assert_eq!((problem.since, problem.message.as_deref()), (at(NOW), Some("exit code 3")));
    assert_eq!(found(vec![], &[crashing(ready("a", "n", NOW - 600), NOW)]), []);
    // A Ready without a time counts from the end.
    let mut without = one;
    without.milestones[0].time = None;
    assert_eq!(found(vec![], &[without]).len(), 1);
}

#[test]
fn a_pod_that_crashes_again_is_no_proof_of_its_node() {
    let failures = ["x", "y"].into_iter().flat_map(|job| {
        (0..3).map(move |n| on(failed_with_app(&format!("{job}{n}"), job, NOW - 60), "bad"))
    });
    let elsewhere = (0..30).map(|n| ready(&format!("w{n}"), &format!("n{n}"), NOW));
    let both: Vec<_> = failures.chain(elsewhere).collect();
    let with = |on_node: Vec<Record>| {
        let all = both.iter().cloned().chain(on_node);
        lines(&found(vec![], &all.collect::<Vec<_>>()))[0].clone()
    };
    let on_bad = |n: i64| ready(&format!("z{n}"), "bad", NOW - 30);
    assert_eq!(with((0..4).map(on_bad).collect()), "crash workload shop/Job/x 3");
    let relapsed = (0..4).map(|n| crashing(on_bad(n), NOW));
    assert_eq!(with(relapsed.collect()), "crash node bad 10");
}
