//! Each holder in words.

use std::sync::Arc;

use super::*;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{EndingPod, HeldNanos};
use podinit_core::pod::{PodUid, Workload};

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_772_360_000 + second)
}

fn checkout() -> RolloutWorkload {
    let workload = Workload { kind: "Deployment".into(), name: "checkout".into() };
    RolloutWorkload { namespace: "payments".into(), workload: Arc::new(workload) }
}

/// Since second 0, of 9 pods of which so many of the new revision are up and nothing else is known.
fn held(held_by: RolloutHolder, up: u32) -> RolloutProgress {
    RolloutProgress {
        workload: checkout(),
        new: StandingPods { up, ..StandingPods::default() },
        others: StandingPods { up: 9 - up, ..StandingPods::default() },
        wanted: 9,
        began: at(0),
        found: false,
        held_by,
        held_since: at(30),
        held: HeldNanos::default(),
        last_ready: at(60),
        changed: at(60),
        said_of_down: None,
        ending: Vec::new(),
    }
}

/// As of second 785.
fn said(progress: &RolloutProgress, problems: &[FoundProblem]) -> String {
    let said = in_progress(progress, problems, at(785));
    said.strip_prefix("payments/checkout: ").map(str::to_owned).unwrap_or_default()
}

fn without_image(pods: usize) -> FoundProblem {
    FoundProblem {
        pods,
        shared: Some((Dimension::Image, "r.io/checkout:2.5".into())),
        message: Some("r.io/checkout:2.5: not found".into()),
        message_pods: pods,
        told: pods,
        ..FoundProblem::of_nothing(Cause::Image)
    }
}

#[test]
fn starting_pods_are_told_with_their_problem() {
    let mut progress = held(RolloutHolder::Starting, 5);
    progress.new.starting = 4;
    assert_eq!(
        said(&progress, &[without_image(4)]),
        "5 of 9 of the new revision are ready, no more for 12m; 4 cannot pull image r.io/checkout:2.5: r.io/checkout:2.5: not \
         found"
    );
    assert_eq!(
        said(&progress, &[]),
        "5 of 9 of the new revision are ready, no more for 12m; 4 are starting"
    );
    let unschedulable = FoundProblem { pods: 1, ..FoundProblem::of_nothing(Cause::Resources) };
    let both = said(&progress, &[without_image(2), unschedulable]);
    assert!(
        both.ends_with(
            "not found; 1 fits on no node, because resources are short; 1 more is starting"
        ),
        "{both}"
    );
    // There are more pods than wanted while it was scaled up, and one that was ready crashes.
    progress.new = StandingPods { starting: 6, up: 1, down: 5, ending: 0 };
    progress.said_of_down = Some("back-off 5m0s restarting failed container=web".into());
    assert_eq!(
        said(&progress, &[without_image(6)]),
        "1 of 12 of the new revision is ready, no more for 12m; 6 cannot pull image r.io/checkout:2.5: r.io/checkout:2.5: not \
         found; 5 were ready and are not: CrashLoopBackOff"
    );
}

#[test]
fn pods_that_are_not_ready_are_told_with_what_is_said() {
    let mut progress = held(RolloutHolder::NotReady, 7);
    progress.new.down = 2;
    let begins = "7 of 9 of the new revision are ready, no more for 12m; 2 were ready and are not";
    assert_eq!(said(&progress, &[]), begins);
    for (words, why) in [
        ("back-off 5m0s restarting failed container=web pod=a_b(c)", "CrashLoopBackOff"),
        ("back-off 10s restarting failed container=web: exit code 1", "exit code 1"),
        ("containers with unready status: [web]", "containers with unready status"),
    ] {
        progress.said_of_down = Some(words.into());
        assert_eq!(said(&progress, &[]), format!("{begins}: {why}"));
    }
    progress.new.down = 1;
    assert!(said(&progress, &[]).contains("; 1 was ready and is not: "));
}

#[test]
fn pods_that_end_are_told_with_how_long() {
    let mut progress = held(RolloutHolder::Ending, 7);
    progress.others = StandingPods { ending: 2, ..StandingPods::default() };
    progress.held_since = at(745);
    assert_eq!(
        said(&progress, &[]),
        "7 of 9 of the new revision are ready; 2 of the old revision are ending for 40s"
    );
}

#[test]
fn pods_that_end_late_are_told_with_their_grace_period_and_their_nodes() {
    let mut progress = held(RolloutHolder::Ending, 7);
    progress.others = StandingPods { ending: 1, ..StandingPods::default() };
    let ending = |name: &str, due| EndingPod {
        uid: PodUid::from_text(name),
        due: Some(at(due)),
        node: Some(format!("node-{name}").into()),
        node_is_not_ready: false,
    };
    let told = |progress: &RolloutProgress| {
        let said = said(progress, &[]);
        said.strip_prefix("7 of 9 of the new revision are ready; ").map(str::to_owned)
    };
    // Its grace period lasts.
    progress.ending = vec![ending("a0", 785)];
    let lasts = "1 of the old revision is ending for 12m";
    assert_eq!(told(&progress).as_deref(), Some(lasts));
    progress.ending = vec![ending("a0", 745)];
    let late = format!("{lasts}, 40s beyond its grace period");
    assert_eq!(told(&progress), Some(late.clone()));
    progress.ending[0].node_is_not_ready = true;
    assert_eq!(told(&progress), Some(format!("{late}; 1 is on node node-a0, which is not Ready")));
    progress.others.ending = 3;
    progress.ending.extend([ending("b1", 600), ending("c2", 700)]);
    let late = "3 of the old revision are ending for 12m, up to 3m beyond their grace period";
    assert_eq!(told(&progress), Some(format!("{late}; 1 is on node node-a0, which is not Ready")));
    progress.ending[1].node_is_not_ready = true;
    assert_eq!(
        told(&progress),
        Some(format!("{late}; 2 are on nodes that are not Ready, such as node-a0"))
    );
}

#[test]
fn what_no_pod_shows_is_told_by_its_figures() {
    let mut progress = held(RolloutHolder::Controller, 5);
    assert_eq!(
        said(&progress, &[]),
        "5 of 9 pods are of the new revision, all up; nothing has changed for 12m"
    );
    progress.new.up = 6;
    progress.others = StandingPods::default();
    assert_eq!(
        said(&progress, &[]),
        "6 of 6 pods are of the new revision, all up, 3 fewer than before; nothing has changed for 12m"
    );
    progress.new.up = 5;
    progress.others = StandingPods { up: 2, down: 1, starting: 1, ending: 1 };
    progress.found = true;
    assert_eq!(
        said(&progress, &[]),
        "5 of 9 pods are of the new revision, all up; nothing has changed for 12m; 2 of the old revision are not ready; \
         found in progress; when it began is a guess"
    );
}

#[test]
fn a_roll_back_is_told_by_the_pods_of_the_old_revision() {
    let mut progress = held(RolloutHolder::Starting, 0);
    progress.others = StandingPods { up: 8, starting: 1, ..StandingPods::default() };
    assert_eq!(
        said(&progress, &[]),
        "no pod of the new revision is left; 8 of 9 of the old revision are ready; 1 is starting"
    );
}

#[test]
fn an_end_is_told_with_what_held_it() {
    let held =
        HeldNanos { starting: 110_000_000_000, ending: 15_400_000_000, ..HeldNanos::default() };
    let end = |outcome| EndedRollout {
        workload: checkout(),
        outcome,
        began: at(0),
        ended: at(125),
        is_exact: true,
        found: false,
        wanted: 9,
        held,
    };
    let completed = end(RolloutOutcome::Completed);
    assert_eq!(
        ended(&completed, at(200)),
        "payments/checkout rolled out in 2m5s, until 10:15; held by starting pods for 1m50s, by ending pods for 15s"
    );
    let found =
        EndedRollout { is_exact: false, found: true, held: HeldNanos::default(), ..completed };
    assert_eq!(
        ended(&found, at(200)),
        "payments/checkout rolled out in about 2m5s, until 10:15; found in progress, so when it began is a guess"
    );
    for (outcome, says) in [
        (RolloutOutcome::RolledBack, "was rolled back at 10:15, after 2m5s;"),
        (RolloutOutcome::Superseded, "was rolled out again at 10:15, after 2m5s;"),
        (RolloutOutcome::Removed, "had no pods any more at 10:15, after 2m5s;"),
    ] {
        let said = ended(&end(outcome), at(200));
        assert!(said.starts_with(&format!("payments/checkout {says}")), "{said}");
    }
}
