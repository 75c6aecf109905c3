//! Where the time of startups went, counted by hand.

#![allow(clippy::unwrap_used)]

use super::account::WaitingAccount;
use super::fixtures::{Pod, ended, now, ready};
use podinit_core::lifecycle::{
    Cause, MOST_CAUSES, Milestone, Outcome, Progress, Stage, WaitReason,
};
use podinit_core::pod::{Ending, Termination};
use podinit_testing::records::at;

/// The stage, the cause and the seconds.
fn places(Pod(record): &Pod) -> Vec<(&'static str, &'static str, u64)> {
    let account = WaitingAccount::from_record(record, now(100)).unwrap().unwrap();
    let names = account.places().map(|((stage, cause), nanos)| {
        let cause = cause.map_or("-", Cause::as_str);
        (stage.map_or("-", Stage::as_str), cause, nanos / 1_000_000_000)
    });
    names.collect()
}

#[test]
fn a_startup_is_divided_among_its_stages_and_their_causes() {
    let pod = ready(20)
        .stage(Stage::Unschedulable, 0, 10)
        .stage(Stage::Network, 10, 12)
        .stage(Stage::Containers, 12, 18)
        .cause(Stage::Unschedulable, Cause::Queue, 1)
        .cause(Stage::Unschedulable, Cause::Resources, 4)
        .cause(Stage::Containers, Cause::Pull, 13)
        .cause(Stage::Containers, Cause::Probe, 17);
    let expected = [
        // Whatever was seen first has held since the stage began.
        ("unschedulable", "queue", 4),
        ("unschedulable", "resources", 6),
        ("network", "-", 2),
        ("containers", "pull", 5),
        ("containers", "probe", 1),
        ("-", "-", 2),
    ];
    assert_eq!(places(&pod), expected);
}

#[test]
fn causes_before_the_pod_was_seen_are_not_known() {
    let pod = ready(20)
        .stage(Stage::Network, 1, 15)
        .stage(Stage::Containers, 15, 20)
        .cause(Stage::Network, Cause::Volume, 10)
        .cause(Stage::Containers, Cause::Create, 15)
        .discovered(10);
    let expected = [
        ("network", "-", 7),
        // Deliveries and whole seconds may make a cause two seconds late.
        ("network", "volume", 7),
        ("containers", "create", 5),
        ("-", "-", 1),
    ];
    assert_eq!(places(&pod), expected);
}

#[test]
fn what_newer_causes_have_displaced_is_not_known() {
    let pod = ready(60).stage(Stage::Containers, 0, 60);
    let pod = (0..MOST_CAUSES as i64).fold(pod, |pod, number| {
        let cause = if number % 2 == 0 { Cause::Crash } else { Cause::Create };
        pod.cause(Stage::Containers, cause, 20 + number)
    });
    let of = |cause| {
        let places = places(&pod).into_iter().filter(|(_, one, _)| *one == cause);
        places.map(|(.., seconds)| seconds).sum::<u64>()
    };
    // The last one, create, is there from 35 s on.
    assert_eq!(["-", "crash", "create"].map(of), [20, 8, 32]);
}

#[test]
fn stages_that_overlap_are_counted_once() {
    let pod = ready(10).stage(Stage::Network, 0, 6).stage(Stage::Containers, 4, 12);
    assert_eq!(places(&pod), [("network", "-", 6), ("containers", "-", 4)]);
}

#[test]
fn a_pod_in_flight_waits_until_now_and_one_that_failed_until_its_end() {
    let failed = ended(Outcome::Failed, 30).open(Stage::Network, 1);
    assert_eq!(places(&failed), [("network", "-", 29), ("-", "-", 1)]);
    let mut waits = failed;
    let waiting = WaitReason::new(Stage::Network, Cause::Cni).unwrap();
    waits.0.progress = Progress::InFlight {
        waiting,
        entered: at(1),
        stuck_at: at(300),
        is_stuck: false,
        is_never_ready: false,
    };
    let waits = waits.cause(Stage::Network, Cause::Cni, 0);
    assert_eq!(places(&waits), [("network", "cni", 99), ("-", "-", 1)]);
    assert!(WaitingAccount::from_record(&waits.0, None).is_err());
}

#[test]
fn a_job_that_has_run_waited_until_its_containers_started() {
    let job = ended(Outcome::Completed, 90)
        .milestone(Milestone::ContainersStarted, 5)
        .milestone(Milestone::NetworkReady, 3)
        .stage(Stage::Network, 1, 3)
        .endless(Stage::Containers, 3)
        .cause(Stage::Containers, Cause::Pull, 4);
    assert_eq!(places(&job), [("network", "-", 2), ("containers", "pull", 2), ("-", "-", 1)]);
}

/// Some kubelets state no network condition: the network was ready before the containers started.
#[test]
fn without_a_network_time_the_stage_lasts_until_what_is_known_of_the_next() {
    let pod = ready(30)
        .milestone(Milestone::ContainersStarted, 12)
        .milestone(Milestone::ContainersReady, 25)
        .endless(Stage::Network, 1)
        .stage(Stage::Readiness, 25, 30)
        .cause(Stage::Network, Cause::Unknown, 1)
        .cause(Stage::Network, Cause::Pull, 4)
        .cause(Stage::Network, Cause::Probe, 13)
        .cause(Stage::Readiness, Cause::ReadinessGate, 25);
    let expected = [
        ("network", "unknown", 3),
        ("network", "pull", 8),
        ("containers", "pull", 1),
        ("containers", "probe", 12),
        ("readiness", "readiness_gate", 5),
        ("-", "-", 1),
    ];
    assert_eq!(places(&pod), expected);
    let in_flight = Pod(podinit_core::lifecycle::Record {
        progress: Progress::InFlight {
            waiting: WaitReason::new(Stage::Network, Cause::Unknown).unwrap(),
            entered: at(1),
            stuck_at: at(300),
            is_stuck: false,
            is_never_ready: false,
        },
        ..pod.0
    });
    let of = |stage| places(&in_flight).iter().filter(|one| one.0 == stage).map(|one| one.2).sum();
    let seconds: [u64; 3] = ["network", "containers", "readiness"].map(of);
    assert_eq!(seconds, [11, 13, 5]);
    // Nothing tells init containers from the network before.
    let with_init = ready(30)
        .container("migrate", true, false)
        .milestone(Milestone::Initialized, 20)
        .milestone(Milestone::ContainersStarted, 22)
        .milestone(Milestone::ContainersReady, 30)
        .endless(Stage::Network, 1);
    assert_eq!(places(&with_init), [("network", "-", 19), ("containers", "-", 10), ("-", "-", 1)]);
}

/// A list shows a pod that has ended long ago: its end is what its containers say.
#[test]
fn what_was_over_at_first_sight_ended_when_its_status_says() {
    let over = |finished: Option<i64>| {
        let mut pod = ended(Outcome::Failed, 600_000);
        pod.0.causes.clear();
        let containers = vec![Termination { finished: finished.map(at), ..Termination::default() }];
        let Progress::Ended { ending, .. } = &mut pod.0.progress else { unreachable!() };
        *ending = Some(Box::new(Ending { at: Some(at(5)), containers, ..Ending::default() }));
        WaitingAccount::from_record(&pod.0, now(600_000))
            .map(|account| account.unwrap().nanos() / 1_000_000_000)
    };
    assert_eq!(over(Some(30)).unwrap(), 30);
    // Evicted: the status has lost its containers.
    assert!(over(None).is_err());
}

#[test]
fn what_is_no_startup_of_the_recording_is_not_counted() {
    for outcome in [Outcome::Preexisting, Outcome::Static, Outcome::Moved] {
        assert!(WaitingAccount::from_record(&ended(outcome, 9).0, now(100)).unwrap().is_none());
    }
    // It became ready, but the times are of no use.
    assert!(WaitingAccount::from_record(&ended(Outcome::Ready, 9).0, now(100)).is_err());
    let mut unknown = ready(9);
    unknown.0.milestones.clear();
    assert!(WaitingAccount::from_record(&unknown.0, now(100)).is_err());
}

#[test]
fn an_image_costs_its_pulls_and_the_time_in_which_it_could_not_be_pulled() {
    let mut pod = ready(40)
        .container("app", false, false)
        .container("proxy", false, false)
        .stage(Stage::Containers, 2, 40)
        .cause(Stage::Containers, Cause::Image, 5)
        .cause(Stage::Containers, Cause::Pull, 15)
        .pulled("app", 14, 20)
        .present("proxy");
    pod.0.image = Some("registry/app".into());
    let account = WaitingAccount::from_record(&pod.0, None).unwrap().unwrap();
    let images: Vec<_> = account.images(&pod.0).collect();
    // From 2 s, when the stage began, to 20 s.
    assert_eq!(images, [("registry/app".into(), 18_000_000_000)]);
}
