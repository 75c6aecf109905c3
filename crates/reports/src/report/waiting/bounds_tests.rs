//! What startups could have gained at most, counted by hand.

#![allow(clippy::unwrap_used)]

use super::WaitingCosts;
use super::fixtures::{Pod, ended, now, ready};
use super::summary::{Saving, WaitingReport};
use podinit_core::lifecycle::{
    Cause, Interval, IntervalResult, Outcome, Stage, Step, UnobservedReason,
};

fn report(pods: impl IntoIterator<Item = Pod>) -> WaitingReport {
    let mut costs = WaitingCosts::new();
    pods.into_iter().for_each(|pod| costs.add(&pod.0, now(100), true));
    costs.report().unwrap()
}

fn row(report: &WaitingReport, without: &str) -> Saving {
    report.bounds.iter().find(|row| row.without == without).unwrap().clone()
}

/// How many seconds the only pod could have saved at most; `None` where that is not known.
fn saves(pod: Pod, without: &str) -> Option<f64> {
    row(&report([pod]), without).saves_at_most.p50
}

const IMAGES: &str = "images_present";
const NODES: &str = "no_wait_for_node";
const INIT: &str = "init_at_once";
const PROBES: &str = "probed_every_second";

#[test]
fn pulls_at_the_same_time_count_once_and_only_within_the_startup() {
    let pod = || ready(20).container("app", false, false).container("proxy", false, false);
    assert_eq!(saves(pod().pulled("app", 2, 8).pulled("proxy", 8, 10), IMAGES), Some(8.0));
    assert_eq!(saves(pod().pulled("app", 2, 8).pulled("proxy", 4, 9), IMAGES), Some(7.0));
    assert_eq!(saves(pod().pulled("app", -3, 2).pulled("proxy", 19, 25), IMAGES), Some(3.0));
    assert_eq!(saves(pod().present("app").present("proxy"), IMAGES), Some(0.0));
}

#[test]
fn a_pod_with_an_unknown_image_is_left_out() {
    let pod = || ready(20).container("app", false, false).container("proxy", false, false);
    assert_eq!(saves(pod(), IMAGES), None);
    assert_eq!(saves(pod().pulled("app", 2, 8), IMAGES), None);
    assert_eq!(saves(pod().pulled("app", 2, 8).unknown("proxy"), IMAGES), None);
    let known = ready(10).container("app", false, false).pulled("app", 2, 8);
    let row = row(&report([pod(), pod(), known]), IMAGES);
    assert_eq!((row.known, row.of), (1, 3));
    // The quantiles are those of the one that is known, as it was and without its pull.
    assert_eq!(
        (row.p50, row.p50_at_least, row.saves_at_most.p50),
        (Some(10.0), Some(4.0), Some(6.0))
    );
}

#[test]
fn a_pull_that_failed_costs_the_tries_before_it_too() {
    let mut pod = ready(30)
        .container("app", false, false)
        .stage(Stage::Containers, 2, 30)
        .cause(Stage::Containers, Cause::Pull, 2)
        .cause(Stage::Containers, Cause::Image, 4)
        .cause(Stage::Containers, Cause::Create, 25)
        .pulled("app", 20, 24);
    assert_eq!(saves(Pod(pod.0.clone()), IMAGES), Some(4.0));
    pod.0.pulls[0].has_failed = true;
    assert_eq!(saves(pod, IMAGES), Some(23.0));
}

#[test]
fn a_pod_that_fitted_on_no_node_could_have_saved_that_stage() {
    assert_eq!(saves(ready(30).stage(Stage::Unschedulable, 0, 12), NODES), Some(12.0));
    assert_eq!(saves(ready(30).stage(Stage::Scheduling, 0, 1), NODES), Some(0.0));
    // It was bound before podinit saw it, and may have fitted on none.
    let late = ready(30).stage(Stage::Scheduling, 0, 9).discovered(28);
    assert_eq!(saves(late, NODES), Some(9.0));
    // So was one of the first list. Of times that are no use nothing is known.
    let adopted = |reason| {
        let mut pod = ready(30).stage(Stage::Scheduling, 0, 9).discovered(28);
        let scheduling = Interval::Stage(Stage::Scheduling);
        let mut intervals = pod.0.intervals.iter_mut();
        let stage = intervals.find(|one| one.interval == scheduling).unwrap();
        stage.result = IntervalResult::Unobserved { reason };
        pod
    };
    assert_eq!(saves(adopted(UnobservedReason::Preexisting), NODES), Some(9.0));
    assert_eq!(saves(adopted(UnobservedReason::Time), NODES), None);
    assert_eq!(saves(ready(30).open(Stage::Unschedulable, 0), NODES), None);
}

#[test]
fn init_containers_could_have_saved_their_runs_and_not_their_pulls() {
    let pod = || ready(30).stage(Stage::Init, 2, 14);
    let init = |pod: Pod| pod.container("init", true, false).container("app", false, false);
    assert_eq!(saves(init(pod()), INIT), Some(12.0));
    assert_eq!(saves(init(pod()).pulled("init", 3, 7).pulled("app", 14, 16), INIT), Some(8.0));
    let sidecar = pod().container("proxy", true, true).container("app", false, false);
    assert_eq!(saves(sidecar, INIT), Some(0.0));
    assert_eq!(saves(ready(30).container("app", false, false), INIT), Some(0.0));
    assert_eq!(saves(ready(30).open(Stage::Init, 2), INIT), None);
}

#[test]
fn probes_could_have_saved_no_more_than_their_step() {
    let probe = Interval::Step(Step::Probe);
    let pod = |seconds: i64| ready(60).interval(probe, 5, 5 + seconds);
    assert_eq!(saves(pod(40).probed(0, 10), PROBES), Some(9.0));
    assert_eq!(saves(pod(24).probed(20, 10), PROBES), Some(24.0));
    assert_eq!(saves(pod(3).probed(0, 10), PROBES), Some(3.0));
    assert_eq!(saves(pod(40), PROBES), Some(0.0));
    assert_eq!(saves(ready(60).probed(0, 10), PROBES), None);
    // The probe of a sidecar may be what it waited for.
    assert_eq!(saves(pod(40).probed(0, 10).container("proxy", true, true), PROBES), Some(40.0));
}

#[test]
fn nothing_is_said_of_probes_that_are_not_known() {
    let mut costs = WaitingCosts::new();
    let probe = Interval::Step(Step::Probe);
    costs.add(&ready(60).interval(probe, 5, 45).0, None, false);
    let row = row(&costs.report().unwrap(), PROBES);
    assert_eq!((row.known, row.of, row.saves_at_most.p50), (0, 1, None));
}

#[test]
fn quantiles_are_taken_after_the_pods() {
    // The slow half waits for nodes, and is faster than the other without that.
    let slow = || ready(50).stage(Stage::Unschedulable, 0, 45);
    let fast = || ready(10);
    let pods = (0..100).map(|number| if number < 60 { slow() } else { fast() });
    let report = report(pods);
    let row = row(&report, NODES);
    assert_eq!((row.p50, row.p99), (Some(50.0), Some(50.0)));
    assert_eq!((row.p50_at_least, row.p99_at_least), (Some(5.0), Some(10.0)));
    let at_most = row.saves_at_most;
    assert_eq!((at_most.p50, at_most.p99, at_most.pod_hours), (Some(45.0), Some(40.0), 0.75));
    assert_eq!(report.ready.pod_hours, (60.0 * 50.0 + 40.0 * 10.0) / 3_600.0);
}

#[test]
fn only_what_became_ready_could_have_been_ready_sooner() {
    let failed = ended(Outcome::Failed, 36).stage(Stage::Unschedulable, 0, 30);
    let report = report([failed, ready(72).stage(Stage::Unschedulable, 0, 36)]);
    let row = row(&report, NODES);
    assert_eq!((row.of, row.saves_at_most.pod_hours), (1, 0.01));
    // Its waiting is a cost all the same.
    assert_eq!((report.ended_otherwise.pods, report.ended_otherwise.pod_hours), (1, 0.01));
    assert_eq!((report.ready.pods, report.ready.pod_hours), (1, 0.02));
    let workload = &report.workloads[0];
    assert_eq!((workload.pod_hours, workload.not_ready_pod_hours), (0.02, 0.01));
}

#[test]
fn no_pods_cost_nothing() {
    assert_eq!(WaitingCosts::new().report(), None);
}

/// One pod that waits for 28 days says nothing of where the others spent their time.
#[test]
fn what_became_ready_and_what_did_not_are_two_columns() {
    let days = 28 * 24 * 3_600;
    let pending = || ended(Outcome::Deleted, days).stage(Stage::Unschedulable, 0, days);
    let started = || ready(36).stage(Stage::Network, 0, 18).stage(Stage::Containers, 18, 36);
    let mut found = report([pending(), started(), started()]);
    assert_eq!((found.shares_of, found.ready.pod_hours), ("ready", 0.02));
    let stages: Vec<_> = (found.stages.iter())
        .map(|one| (one.stage, one.pod_hours, one.not_ready_pod_hours, one.share))
        .collect();
    let expected = [
        (Some("unschedulable"), 0.0, 672.0, 0.0),
        (Some("network"), 0.01, 0.0, 0.5),
        (Some("containers"), 0.01, 0.0, 0.5),
    ];
    assert_eq!(stages, expected);
    let workload = found.workloads.remove(0);
    assert_eq!((workload.pods, workload.pod_hours), (2, 0.02));
    assert_eq!((workload.not_ready_pods, workload.not_ready_pod_hours), (1, 672.0));
    let alone = report([pending()]);
    assert_eq!((alone.shares_of, alone.stages[0].share), ("not_ready", 1.0));
}
