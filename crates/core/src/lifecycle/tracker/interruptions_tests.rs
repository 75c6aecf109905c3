#![allow(clippy::unwrap_used)]

use super::*;
use crate::lifecycle::cause::{BadReason, Cause, WaitReason};
use crate::lifecycle::delivery::PodEvent;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::observation::{Observation, PodObservation, PodState, TrackerObservation};
use crate::lifecycle::observer::Observer;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::reentry::to_second;
use crate::lifecycle::slo_verdict::{SloId, SloVerdict};
use crate::lifecycle::tracker::TrackerConfig;
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};

#[derive(Default)]
struct Observed(Vec<PodObservation>, Vec<SourceId>);

impl Observer for Observed {
    fn observe(&mut self, _: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(_, observation) => self.0.push(observation),
            Observation::Tracker(TrackerObservation::DeletionLost(source)) => self.1.push(source),
            Observation::Pull(..)
            | Observation::Gate(..)
            | Observation::Gates(..)
            | Observation::Node(_)
            | Observation::Rollout(..)
            | Observation::Tracker(_) => {}
        }
    }
}

impl Observed {
    fn finished(&self) -> Vec<Outcome> {
        let end = |observation: &PodObservation| match observation {
            PodObservation::Moved { to: PodState::Finished(outcome), .. } => Some(*outcome),
            _ => None,
        };
        self.0.iter().filter_map(end).collect()
    }
}

/// Another list-watch.
const ELSEWHERE: SourceId = SourceId(1);

fn pod(uid: &str, created: i64, version: u64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(uid), "ns", uid);
    pod.created = Some(at(created));
    pod.resource_version = Some(version);
    pod
}

fn deliver(tracker: &mut Tracker, observed: &mut Observed, second: i64, event: PodEvent) {
    deliver_from(SourceId(0), tracker, observed, second, event);
}

fn deliver_from(
    source: SourceId,
    tracker: &mut Tracker,
    observed: &mut Observed,
    second: i64,
    event: PodEvent,
) {
    tracker.apply(delivery(source, second, event), observed);
}

fn list(second: i64, pods: Vec<PodSnapshot>) -> PodEvent {
    PodEvent::Listed { pods: pods.into(), began: at(second) }
}

#[test]
fn deleted_pods_are_remembered_for_ten_minutes_after_the_clock_was_set_back() {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 3600, list(3600, vec![]));
    deliver(&mut tracker, &mut observed, 3601, PodEvent::Applied(pod("a", 3601, 1)));
    deliver(&mut tracker, &mut observed, 3602, PodEvent::Deleted(pod("a", 3601, 2)));
    tracker.set_time(at(10));
    let uid = PodUid::from_text("a");
    assert!(tracker.has_deleted(uid, at(600)));
    assert!(!tracker.has_deleted(uid, at(611)));
}

/// How many pods were discovered.
fn discovered(observed: &Observed) -> usize {
    let news = observed.0.iter().filter(|observation| {
        let from = PodState::Undiscovered;
        matches!(observation, PodObservation::Moved { from: known, .. } if *known == from)
    });
    news.count()
}

/// A tracker that knew a pod "old", created at second 1, and has forgotten it.
fn forgetful() -> (Tracker, Observed) {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 0, list(0, vec![]));
    deliver(&mut tracker, &mut observed, 1, PodEvent::Applied(pod("old", 1, 10)));
    deliver(&mut tracker, &mut observed, 2, PodEvent::Deleted(pod("old", 1, 11)));
    tracker.advance(at(700), &mut observed);
    assert_eq!((tracker.remembered(), discovered(&observed)), (0, 1));
    observed.0.clear();
    (tracker, observed)
}

#[test]
fn what_a_backup_brings_back_is_not_counted_again() {
    let (mut tracker, mut observed) = forgetful();
    for (second, uid) in [(701, "starting"), (702, "gone"), (703, "lost")] {
        let created = PodEvent::Applied(pod(uid, second, 100));
        deliver(&mut tracker, &mut observed, second, created);
    }
    deliver(&mut tracker, &mut observed, 704, PodEvent::Deleted(pod("gone", 702, 200)));
    deliver(&mut tracker, &mut observed, 720, PodEvent::RolledBack);
    // One is so old that it was forgotten, and one was created before the last delivery, and not delivered.
    let listed = vec![
        pod("starting", 701, 50),
        pod("gone", 702, 50),
        pod("old", 1, 50),
        pod("missed", 703, 51),
        pod("new", 715, 51),
    ];
    deliver(&mut tracker, &mut observed, 720, list(719, listed));
    assert_eq!(observed.finished(), [Outcome::Deleted, Outcome::Vanished]);
    assert_eq!(discovered(&observed), 5);
    // Long after the deletion would have been forgotten.
    tracker.advance(at(2000), &mut observed);
    for uid in ["gone", "old"] {
        let changed = PodEvent::Applied(pod(uid, 2, 55));
        deliver(&mut tracker, &mut observed, 2000, changed);
    }
    deliver(&mut tracker, &mut observed, 2001, PodEvent::Deleted(pod("gone", 2, 60)));
    deliver(&mut tracker, &mut observed, 2002, PodEvent::Deleted(pod("starting", 1, 61)));
    assert_eq!(discovered(&observed), 5);
    let end = [Outcome::Deleted, Outcome::Vanished, Outcome::Deleted];
    assert_eq!(observed.finished(), end);
}

/// Two API servers behind one address have different pods.
#[test]
fn pods_of_two_histories_in_turn_count_once() {
    let (mut tracker, mut observed) = forgetful();
    deliver(&mut tracker, &mut observed, 700, PodEvent::RolledBack);
    for second in 701..730 {
        let (uid, other) = if second % 2 == 0 { ("a", "b") } else { ("b", "a") };
        deliver(&mut tracker, &mut observed, second, list(second, vec![pod(uid, 700, 50)]));
        let late = PodEvent::Applied(pod(other, 700, 51));
        deliver(&mut tracker, &mut observed, second, late);
    }
    assert_eq!(discovered(&observed), 2);
    // They are forgotten in the end, and known to be old.
    deliver(&mut tracker, &mut observed, 740, list(740, vec![]));
    tracker.advance(at(1400), &mut observed);
    assert_eq!(tracker.remembered(), 0);
    for uid in ["a", "old"] {
        deliver(&mut tracker, &mut observed, 1401, PodEvent::Applied(pod(uid, 700, 90)));
    }
    assert_eq!(tracker.saved().forgotten, Some(to_second(at(700))));
    assert_eq!(discovered(&observed), 2);
}

#[test]
fn a_pod_that_a_backup_brought_back_is_remembered_from_its_second_deletion_on() {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 0, list(0, vec![]));
    let events = [
        (1, PodEvent::Applied(pod("a", 1, 100))),
        (3, PodEvent::Deleted(pod("a", 1, 101))),
        (20, PodEvent::RolledBack),
        (20, list(20, vec![pod("a", 1, 100)])),
        (300, PodEvent::Deleted(pod("a", 1, 102))),
    ];
    for (second, event) in events {
        deliver(&mut tracker, &mut observed, second, event);
    }
    assert_eq!(tracker.saved().deleted.len(), 1);
    let uid = PodUid::from_text("a");
    assert!(tracker.has_deleted(uid, at(604)));
    assert!(tracker.has_deleted(uid, at(900)));
    assert!(!tracker.has_deleted(uid, at(901)));
}

fn ready(mut pod: PodSnapshot, since: i64) -> PodSnapshot {
    let condition =
        StatusCondition { status: ConditionStatus::True, last_transition: Some(at(since)) };
    pod.conditions.insert(ConditionType::Ready, condition);
    pod
}

/// The history after a backup has lower versions, and its snapshots are not older ones.
#[test]
fn what_happens_after_a_backup_is_accounted_for_by_its_lower_versions() {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 0, list(0, vec![]));
    let done = PodEvent::Applied(ready(pod("done", 1, 100), 2));
    deliver(&mut tracker, &mut observed, 2, done);
    let starting = PodEvent::Applied(pod("starting", 3, 100));
    deliver(&mut tracker, &mut observed, 3, starting);
    deliver_from(ELSEWHERE, &mut tracker, &mut observed, 3, list(3, vec![]));
    for uid in ["done elsewhere", "elsewhere"] {
        let pod = pod(uid, 4, 100);
        let pod = if uid == "elsewhere" { pod } else { ready(pod, 5) };
        deliver_from(ELSEWHERE, &mut tracker, &mut observed, 5, PodEvent::Applied(pod));
    }
    deliver(&mut tracker, &mut observed, 20, PodEvent::RolledBack);
    let listed = vec![ready(pod("done", 1, 50), 2), pod("starting", 3, 50)];
    deliver(&mut tracker, &mut observed, 20, list(20, listed));
    assert_eq!(observed.finished(), [Outcome::Ready, Outcome::Ready]);
    observed.0.clear();
    let reentered = PodObservation::Reentered(Milestone::Ready);

    let old = PodEvent::Applied(ready(pod("elsewhere", 4, 60), 25));
    deliver_from(ELSEWHERE, &mut tracker, &mut observed, 25, old);
    let old = PodEvent::Applied(ready(pod("done elsewhere", 4, 60), 25));
    deliver_from(ELSEWHERE, &mut tracker, &mut observed, 25, old);
    assert_eq!(observed.0, []);
    let news = PodEvent::Applied(ready(pod("starting", 3, 60), 25));
    deliver(&mut tracker, &mut observed, 25, news);
    assert_eq!(observed.finished(), [Outcome::Ready]);
    assert!(!observed.0.contains(&reentered));
    let news = PodEvent::Applied(ready(pod("done", 1, 61), 26));
    deliver(&mut tracker, &mut observed, 26, news);
    assert!(observed.0.contains(&reentered));
}

#[test]
fn no_deadline_passes_while_deliveries_of_unaccounted_time_may_still_arrive() {
    let (mut tracker, mut observed) = (
        Tracker::new(TrackerConfig { slos: [rule("slow", 10)].into(), ..TrackerConfig::default() }),
        Observed::default(),
    );
    let slow = PodEvent::Applied(pod("slow", 1, 100));
    deliver(&mut tracker, &mut observed, 1, slow);
    tracker.catch_up(at(20));
    let missed = PodObservation::Slo {
        slo: SloId(0),
        verdict: SloVerdict::Bad(BadReason::of_known(WaitReason::new(
            Stage::Scheduling,
            Cause::Queue,
        ))),
    };
    tracker.advance(at(25), &mut observed);
    assert!(!observed.0.contains(&missed));
    tracker.advance(at(26), &mut observed);
    assert!(observed.0.contains(&missed));
}

#[test]
fn accounted_time_is_ahead_of_what_lies_before_it() {
    let mut tracker = Tracker::new(TrackerConfig::default());
    assert!(!tracker.is_ahead_of(at(0)));
    tracker.advance(at(10), &mut Observed::default());
    let ahead = [9, 10, 11].map(|second| tracker.is_ahead_of(at(second)));
    assert_eq!(ahead, [true, false, false]);
}

/// A pod of a StatefulSet.
fn namesake(uid: &str, created: i64, version: u64) -> PodSnapshot {
    let info = PodSnapshot::bare(PodUid::from_text(uid), "ns", "web-0").info;
    PodSnapshot { info, ..pod(uid, created, version) }
}

#[test]
fn the_pod_whose_name_a_younger_one_has_vanishes_at_once() {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 0, list(0, vec![]));
    let mut apply = |second, uid, created| {
        let applied = PodEvent::Applied(namesake(uid, created, 0));
        deliver(&mut tracker, &mut observed, second, applied);
        (observed.finished().len(), observed.1.len(), discovered(&observed))
    };
    assert_eq!(apply(5, "b", 5), (0, 0, 1));
    // A watch that lags shows an older one, or one that may be,
    assert_eq!(apply(6, "a", 4), (0, 1, 2));
    assert_eq!(apply(6, "same", 5), (1, 2, 3));
    // and one that is younger than all.
    assert_eq!(apply(7, "c", 7), (3, 3, 4));
    assert_eq!(observed.finished(), [Outcome::Vanished; 3]);
}

#[test]
fn a_name_that_is_taken_again_shows_that_a_deletion_was_lost() {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 0, list(0, vec![]));
    let named = |uid: &str, version| namesake(uid, 1, version);
    // A pod of a StatefulSet is deleted before another takes its name,
    let applied = |uid, version| PodEvent::Applied(named(uid, version));
    deliver(&mut tracker, &mut observed, 1, applied("a", 1));
    deliver(&mut tracker, &mut observed, 2, applied("a", 2));
    let deleted = PodEvent::Deleted(named("a", 3));
    deliver(&mut tracker, &mut observed, 3, deleted);
    deliver(&mut tracker, &mut observed, 3, applied("b", 4));
    // and a list shows either of them.
    let listed = list(4, vec![named("c", 5)]);
    deliver(&mut tracker, &mut observed, 4, listed);
    assert_eq!(observed.finished(), [Outcome::Deleted, Outcome::Vanished]);
    // Pods of other list-watches have other namespaces.
    let elsewhere = applied("d", 6);
    deliver_from(ELSEWHERE, &mut tracker, &mut observed, 5, elsewhere);
    assert_eq!(observed.1, []);
    deliver(&mut tracker, &mut observed, 6, applied("e", 7));
    deliver(&mut tracker, &mut observed, 6, applied("e", 8));
    assert_eq!(observed.1, [SourceId(0)]);
}

/// The versions of a restored API server have caught up, and the list that shows it comes late.
#[test]
fn pods_after_a_restore_that_was_found_out_are_new() {
    let (mut tracker, mut observed) = forgetful();
    let known = PodEvent::Applied(pod("known", 701, 900));
    deliver(&mut tracker, &mut observed, 701, known);
    deliver(&mut tracker, &mut observed, 705, PodEvent::RolledBack);
    // What went back is delivered, and found out again.
    let back = PodEvent::Applied(pod("known", 701, 800));
    deliver(&mut tracker, &mut observed, 709, back);
    deliver(&mut tracker, &mut observed, 709, PodEvent::RolledBack);
    observed.0.clear();
    let listed = vec![pod("old", 1, 700), pod("missed", 706, 850), pod("known", 701, 800)];
    deliver(&mut tracker, &mut observed, 710, list(710, listed));
    assert_eq!(discovered(&observed), 1);
}

/// The versions of a restored API server have caught up, and nobody has noticed.
#[test]
fn a_reconciliation_with_an_older_version_of_a_known_pod_is_of_another_history() {
    let (mut tracker, mut observed) = forgetful();
    for (uid, version) in [("known", 800), ("gone", 810), ("later", 950)] {
        let applied = PodEvent::Applied(pod(uid, 701, version));
        deliver(&mut tracker, &mut observed, 701, applied);
    }
    let listed = vec![ready(pod("known", 701, 790), 705), pod("later", 701, 890), pod("old", 1, 5)];
    let reconciled = PodEvent::Reconciled { pods: listed.into(), began: at(710), version: 900 };
    deliver(&mut tracker, &mut observed, 711, reconciled);
    assert_eq!(discovered(&observed), 3);
    assert_eq!(observed.finished(), [Outcome::Ready, Outcome::Vanished]);
}

#[test]
fn a_reconciliation_leaves_alone_what_is_newer_than_its_list() {
    let (mut tracker, mut observed) = (Tracker::new(TrackerConfig::default()), Observed::default());
    deliver(&mut tracker, &mut observed, 0, list(0, vec![]));
    for (uid, version) in [("kept", 10), ("gone", 11), ("deleted", 12), ("newer", 30)] {
        let applied = PodEvent::Applied(pod(uid, 1, version));
        deliver(&mut tracker, &mut observed, 1, applied);
    }
    let deleted = PodEvent::Deleted(pod("deleted", 1, 31));
    deliver(&mut tracker, &mut observed, 2, deleted);
    assert_eq!(observed.finished(), [Outcome::Deleted]);
    observed.0.clear();
    let of_elsewhere = PodEvent::Applied(pod("elsewhere", 1, 5));
    deliver_from(ELSEWHERE, &mut tracker, &mut observed, 3, of_elsewhere);
    for _ in 0..2 {
        let listed = vec![pod("kept", 1, 10), pod("deleted", 1, 12), pod("lost", 2, 20)];
        let reconciled = PodEvent::Reconciled { pods: listed.into(), began: at(3), version: 20 };
        deliver(&mut tracker, &mut observed, 4, reconciled);
        assert_eq!(observed.finished(), [Outcome::Vanished]);
    }
    // kept, newer, lost, elsewhere, and the tombstone
    assert_eq!(tracker.remembered(), 5);
}
