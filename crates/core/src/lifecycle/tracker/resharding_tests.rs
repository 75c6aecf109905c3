use super::*;
use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::observation::{Observation, PodObservation, PodState};
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::lifecycle::{ExclusionReason, SloVerdict};
use crate::pod::{ConditionStatus, ConditionType, PodSnapshot, StatusCondition};

const SOURCE: SourceId = SourceId(0);

fn shard(text: &str) -> Shard {
    text.parse().unwrap_or_default()
}

/// The first of the texts `NAME-0`, `NAME-1` and so on that is a UID of `one` and of `other`.
fn uid(name: &str, one: &str, other: &str) -> String {
    let mut texts = (0..).map(|number| format!("{name}-{number}"));
    let is_of_both = |text: &String| {
        let uid = PodUid::from_text(text);
        shard(one).contains(uid) && shard(other).contains(uid)
    };
    texts.find(is_of_both).unwrap_or_default()
}

fn pod(uid: &str, created: i64) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(uid), "ns", uid);
    pod.created = Some(at(created));
    pod
}

fn ready(uid: &str, created: i64) -> PodSnapshot {
    let mut pod = pod(uid, created);
    for kind in ConditionType::ALL {
        let condition = StatusCondition {
            status: ConditionStatus::True,
            last_transition: Some(at(created + 2)),
        };
        pod.conditions.insert(kind, condition);
    }
    pod
}

fn list(began: i64, pods: Vec<PodSnapshot>) -> PodEvent {
    PodEvent::Listed { pods: pods.into(), began: at(began) }
}

/// What was said of pods, in words.
fn said(out: &mut Vec<String>, observation: Observation<'_>) {
    let Observation::Pod(pod, observation) = observation else {
        return;
    };
    let name = pod.name.split('-').next().unwrap_or_default();
    match observation {
        PodObservation::Moved { to: PodState::Finished(outcome), .. } => {
            out.push(format!("{name} {}", outcome.as_str()))
        }
        PodObservation::Slo { verdict, .. } => out.push(match verdict {
            SloVerdict::Excluded(reason) => format!("{name} excluded {}", reason.as_str()),
            verdict => format!("{name} {verdict:?}"),
        }),
        _ => {}
    }
}

/// A tracker of shard 1/4 with three pods in flight and one that is ready, which stays as 1/6 or not.
fn tracker() -> Tracker {
    let mut tracker = Tracker::new(TrackerConfig {
        slos: [rule("ready", 100)].into(),
        ..TrackerConfig::default()
    });
    let stays = uid("stays", "1/4", "1/6");
    let goes = uid("goes", "1/4", "2/6");
    let vanishes = uid("vanishes", "1/4", "1/6");
    let done = uid("done", "1/4", "2/6");
    let mut silent = |_, _: Observation<'_>| {};
    let pods = [stays, goes, vanishes].map(|uid| PodEvent::Applied(pod(&uid, 1)));
    let done = PodEvent::Applied(ready(&done, 1));
    let events = [list(0, Vec::new())].into_iter().chain(pods).chain([done]);
    for (second, event) in (0..).zip(events) {
        tracker.apply(delivery(SOURCE, second, event), &mut silent);
    }
    tracker
}

#[test]
fn pods_of_other_shards_move_or_are_forgotten() {
    let mut tracker = tracker();
    let mut out = Vec::new();
    let mut sink = |_, observation: Observation<'_>| said(&mut out, observation);
    assert_eq!(tracker.reshard(shard("1/4"), shard("1/6"), &mut sink), 1);
    out.sort();
    assert_eq!(out, ["goes excluded moved", "goes moved"]);
    assert_eq!(tracker.remembered(), 2);
    assert_eq!(ExclusionReason::from_outcome(Outcome::Moved).as_str(), "moved");
}

#[test]
fn the_next_list_is_a_relist_for_those_that_stay_and_a_first_list_for_those_that_come() {
    let mut tracker = tracker();
    let mut silent = |_, _: Observation<'_>| {};
    tracker.reshard(shard("1/4"), shard("1/6"), &mut silent);
    let saved = tracker.saved().sources;
    assert!(saved.values().all(|source| source.first_list.is_none()));
    assert!(saved.values().all(|source| source.progress.version.is_none()));
    let mut out = Vec::new();
    let mut sink = |_, observation: Observation<'_>| said(&mut out, observation);
    let pods = vec![
        ready(&uid("stays", "1/4", "1/6"), 1),
        // Created in the gap: one in its own part and one in the part that comes.
        ready(&uid("young", "1/4", "1/6"), 20),
        ready(&uid("came", "0/4", "1/6"), 20),
    ];
    tracker.apply(delivery(SOURCE, 30, list(30, pods)), &mut sink);
    out.sort();
    assert_eq!(
        out,
        [
            "came excluded preexisting",
            "came preexisting",
            "stays Good",
            "stays ready",
            "vanishes excluded vanished",
            "vanishes vanished",
            "young Good",
            "young ready",
        ]
    );
}
