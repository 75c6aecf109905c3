//! Rollouts of small workloads, told in events.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::fixtures::{at, delivery};
use super::*;
use crate::lifecycle::nodes::NodeEvent;
use crate::lifecycle::observation::Observation;
use crate::lifecycle::rollouts::{EndedRollout, RolloutHolder, RolloutObservation, RolloutOutcome};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::node::NodeSnapshot;
use crate::pod::{
    ConditionStatus, ConditionType, LastingName, PodPhase, Revision, StatusCondition, Workload,
};

/// How a pod is, and its events.
#[derive(Clone, Copy)]
enum Is {
    Starting,
    Ready,
    NotReady,
    /// Its deletion was asked for at this second
    Ending(i64),
    Failed,
    /// Deleted; that was asked for at this second
    Gone(i64),
}

/// A pod of the revision that its name begins with.
fn pod(kind: &str, name: &str, created: i64, is: Is) -> PodSnapshot {
    let workload = Workload { kind: kind.into(), name: "web".into() };
    let lasting = LastingName::new(kind, "web", &[]);
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "shop", name);
    pod.revision = Some(Revision::new("shop", &lasting, &name[..1]));
    pod.info.workload = Some(Arc::new(workload));
    pod.created = Some(at(created));
    let status = match is {
        Is::Ready => ConditionStatus::True,
        _ => ConditionStatus::False,
    };
    let last_transition = Some(at(created));
    pod.conditions.insert(ConditionType::Ready, StatusCondition { status, last_transition });
    if let Is::Ending(asked) | Is::Gone(asked) = is {
        pod.terminating = true;
        pod.deletion_asked = Some(at(asked));
        pod.deletion_due = Some(at(asked + 30));
    }
    if matches!(is, Is::Failed) {
        pod.phase = PodPhase::Failed;
    }
    pod
}

/// What was observed.
#[derive(Default)]
struct Seen {
    ended: Vec<EndedRollout>,
    in_progress: [i32; 4],
    held: [u64; 4],
    durations: Vec<u64>,
}

impl Observer for Seen {
    fn observe(&mut self, _: Timestamp, observation: Observation<'_>) {
        let Observation::Rollout(_, observation) = observation else { return };
        match observation {
            RolloutObservation::Held { from, to } => {
                from.into_iter().for_each(|one| self.in_progress[one as usize] -= 1);
                to.into_iter().for_each(|one| self.in_progress[one as usize] += 1);
            }
            RolloutObservation::HeldFor { by, nanos } => self.held[by as usize] += nanos,
            RolloutObservation::Ended { nanos, .. } => self.durations.extend(nanos),
            _ => {}
        }
    }

    fn rollout_ended(&mut self, rollout: EndedRollout) {
        self.ended.push(rollout);
    }
}

impl Seen {
    fn outcomes(&self) -> Vec<(RolloutOutcome, i64)> {
        let end = |one: &EndedRollout| (one.outcome, one.ended.nanos_since(at(0)) / 1_000_000_000);
        self.ended.iter().map(end).collect()
    }

    fn durations(&self) -> Vec<u64> {
        self.durations.iter().map(|nanos| nanos / 1_000_000_000).collect()
    }

    fn held(&self) -> [u64; 4] {
        self.held.map(|nanos| nanos / 1_000_000_000)
    }
}

/// A tracker of one workload, of which nothing is known but that it has these pods.
struct Cluster {
    tracker: Tracker,
    seen: Seen,
    kind: &'static str,
}

impl Cluster {
    fn new(kind: &'static str, pods: &[(&str, i64, Is)]) -> Self {
        let mut tracker = Tracker::new(TrackerConfig::default());
        let mut seen = Seen::default();
        let pods: Vec<_> =
            pods.iter().map(|(name, created, is)| pod(kind, name, *created, *is)).collect();
        let list = PodEvent::Listed { pods: pods.into(), began: at(0) };
        tracker.apply(delivery(SourceId(0), 0, list), &mut seen);
        Self { tracker, seen, kind }
    }

    /// At each second a pod of this name and creation is so.
    fn then(mut self, events: &[(i64, &str, i64, Is)]) -> Self {
        for (second, name, created, is) in events {
            let pod = pod(self.kind, name, *created, *is);
            let event = match is {
                Is::Gone(_) => PodEvent::Deleted(pod),
                _ => PodEvent::Applied(pod),
            };
            self.tracker.apply(delivery(SourceId(0), *second, event), &mut self.seen);
        }
        self
    }

    fn until(mut self, second: i64) -> Self {
        self.tracker.advance(at(second), &mut self.seen);
        self
    }
}

const OLD: [(&str, i64, Is); 3] =
    [("a1", -900, Is::Ready), ("a2", -900, Is::Ready), ("a3", -900, Is::Ready)];

#[test]
fn a_rolling_update_completes_when_the_last_pod_is_up_and_the_last_old_one_ends() {
    let cluster = Cluster::new("Deployment", &OLD).then(&[
        (100, "b1", 100, Is::Starting),
        (110, "b1", 100, Is::Ready),
        (110, "a1", -900, Is::Ending(110)),
        (111, "b2", 111, Is::Starting),
        (120, "b2", 111, Is::Ready),
        (120, "a2", -900, Is::Ending(120)),
        (121, "b3", 121, Is::Starting),
        (131, "b3", 121, Is::Ready),
        (132, "a3", -900, Is::Ending(132)),
    ]);
    assert_eq!(cluster.seen.in_progress, [0, 0, 0, 1]);
    let cluster = cluster.until(141);
    assert!(cluster.seen.ended.is_empty());
    let seen = cluster.until(142).seen;
    assert_eq!(seen.outcomes(), [(RolloutOutcome::Completed, 132)]);
    assert_eq!((seen.durations(), seen.in_progress), (vec![32], [0; 4]));
    assert_eq!(seen.held(), [29, 0, 0, 3]);
    assert_eq!(seen.ended[0].wanted, 3);
}

#[test]
fn a_stateful_set_begins_with_the_deletion_that_was_asked_for() {
    let cluster = Cluster::new("StatefulSet", &OLD[..1]).then(&[
        (100, "a1", -900, Is::Ending(99)),
        (120, "a1", -900, Is::Gone(99)),
        (121, "b1", 121, Is::Starting),
        (130, "b1", 121, Is::Ready),
    ]);
    let seen = cluster.until(140).seen;
    assert_eq!(seen.outcomes(), [(RolloutOutcome::Completed, 130)]);
    assert_eq!((seen.durations(), seen.held()), (vec![31], [9, 0, 22, 0]));
}

#[test]
fn an_ending_pod_that_holds_a_rollout_is_told_of_until_it_goes() {
    let cluster = Cluster::new("StatefulSet", &OLD[..2]).then(&[
        (100, "a1", -900, Is::Ending(99)),
        (120, "a1", -900, Is::Gone(99)),
        (121, "b1", 121, Is::Starting),
        (130, "b1", 121, Is::Ready),
        (131, "a2", -900, Is::Ending(131)),
    ]);
    let progress = cluster.tracker.rollouts().next().unwrap();
    assert_eq!(progress.held_by, RolloutHolder::Ending);
    let ending: Vec<_> = progress.ending.iter().map(|pod| (pod.uid, pod.due)).collect();
    assert_eq!(ending, [(PodUid::from_text("a2"), Some(at(161)))]);
    let cluster = cluster.then(&[(170, "a2", -900, Is::Gone(131))]);
    let progress = cluster.tracker.rollouts().next().unwrap();
    assert!(progress.ending.is_empty());
}

#[test]
fn the_node_of_an_ending_pod_is_told_of_while_it_is_not_ready() {
    let mut tracker = Tracker::new(TrackerConfig { nodes: true, ..TrackerConfig::default() });
    let mut apply = |second, event| {
        tracker.apply(delivery(SourceId(0), second, event), &mut Seen::default());
        let ending = tracker.rollouts().flat_map(|progress| progress.ending);
        ending.map(|pod| pod.node_is_not_ready).collect::<Vec<_>>()
    };
    let on_node = |name: &str, created, is| {
        let mut pod = pod("DaemonSet", name, created, is);
        pod.info.node = Some("node-a0".into());
        pod
    };
    let mut node = NodeSnapshot::bare(PodUid::from_text("node-a0"), "node-a0");
    let old = ["a1", "a2"].map(|name| on_node(name, -900, Is::Ready));
    apply(0, PodEvent::Listed { pods: old.into_iter().collect(), began: at(0) });
    apply(1, PodEvent::Nodes(NodeEvent::Applied(Box::new(node.clone()))));
    apply(100, PodEvent::Deleted(on_node("a1", -900, Is::Gone(90))));
    apply(101, PodEvent::Applied(on_node("b1", 101, Is::Ready)));
    let ending = PodEvent::Applied(on_node("a2", -900, Is::Ending(110)));
    assert_eq!(apply(110, ending), [false]);
    node.not_ready = Some("Kubelet stopped posting node status.".into());
    assert_eq!(apply(150, PodEvent::Nodes(NodeEvent::Applied(Box::new(node)))), [true]);
}

#[test]
fn a_bad_image_holds_until_it_is_rolled_back() {
    let cluster =
        Cluster::new("Deployment", &OLD).then(&[(100, "b1", 100, Is::Starting)]).until(700);
    assert_eq!(cluster.seen.in_progress, [1, 0, 0, 0]);
    let progress = cluster.tracker.rollouts().next().unwrap();
    assert_eq!((progress.new.starting, progress.others.up, progress.wanted), (1, 3, 3));
    assert_eq!(progress.held_by, RolloutHolder::Starting);
    let seen = cluster.then(&[(710, "b1", 100, Is::Ending(710))]).until(720).seen;
    assert_eq!(seen.outcomes(), [(RolloutOutcome::RolledBack, 710)]);
    assert_eq!((seen.durations(), seen.held()), (vec![], [610, 0, 0, 0]));
}

#[test]
fn a_third_revision_supersedes_unless_the_end_stands() {
    let third = (205, "c1", 205, Is::Starting);
    let cluster = Cluster::new("Deployment", &OLD[..1]).then(&[(100, "b1", 100, Is::Starting)]);
    let seen = cluster.then(&[third]).seen;
    assert_eq!(seen.outcomes(), [(RolloutOutcome::Superseded, 205)]);
    let cluster = Cluster::new("Deployment", &OLD[..1]).then(&[
        (100, "b1", 100, Is::Starting),
        (200, "b1", 100, Is::Ready),
        (201, "a1", -900, Is::Ending(201)),
        third,
    ]);
    assert_eq!(cluster.seen.outcomes(), [(RolloutOutcome::Completed, 201)]);
    assert_eq!(cluster.seen.durations(), [101]);
    assert_eq!(cluster.tracker.rollouts().count(), 1);
}

#[test]
fn scaling_and_drains_begin_none() {
    let seen = Cluster::new("Deployment", &OLD)
        .then(&[
            (100, "a4", 100, Is::Starting),
            (110, "a4", 100, Is::Ready),
            (120, "a1", -900, Is::Ending(120)),
            (121, "a5", 121, Is::Starting),
            (150, "a1", -900, Is::Gone(150)),
            (160, "a5", 121, Is::Failed),
        ])
        .until(400)
        .seen;
    assert_eq!((seen.ended.len(), seen.in_progress), (0, [0; 4]));
}

#[test]
fn what_a_first_list_shows_in_progress_is_found_and_not_observed() {
    let pods = [OLD[0], OLD[1], ("b1", -100, Is::Starting)];
    let cluster = Cluster::new("Deployment", &pods);
    assert!(cluster.tracker.rollouts().all(|one| one.found && one.wanted == 3));
    let seen = cluster
        .then(&[
            (10, "b1", -100, Is::Ready),
            (11, "a1", -900, Is::Ending(11)),
            (12, "a2", -900, Is::Ending(12)),
            (40, "a1", -900, Is::Gone(40)),
            (41, "a2", -900, Is::Gone(41)),
        ])
        .until(161)
        .seen;
    assert_eq!(seen.outcomes(), [(RolloutOutcome::Completed, 41)]);
    assert!(seen.durations.is_empty());
}

#[test]
fn a_workload_without_pods_is_removed_after_ten_minutes() {
    let cluster = Cluster::new("Deployment", &OLD[..1]).then(&[
        (100, "b1", 100, Is::Starting),
        (150, "a1", -900, Is::Gone(150)),
        (160, "b1", 100, Is::Gone(160)),
    ]);
    let cluster = cluster.until(759);
    assert!(cluster.seen.ended.is_empty());
    let cluster = cluster.until(760);
    assert_eq!(cluster.seen.outcomes(), [(RolloutOutcome::Removed, 160)]);
    assert_eq!(cluster.seen.held(), [60, 0, 0, 0]);
    // What comes then is the first of it.
    let cluster = cluster.until(2000).then(&[(2001, "c1", 2001, Is::Starting)]);
    assert_eq!(cluster.seen.in_progress, [0; 4]);
}

#[test]
fn a_restart_goes_on() {
    let events: &[(i64, &str, i64, Is)] = &[
        (100, "b1", 100, Is::Starting),
        (110, "b1", 100, Is::Ready),
        (111, "b1", 100, Is::NotReady),
        (112, "a1", -900, Is::Ending(112)),
        (113, "b2", 113, Is::Starting),
        (114, "a2", -900, Is::Ending(114)),
        (120, "b2", 113, Is::Ready),
        (121, "b3", 121, Is::Starting),
        (130, "b3", 121, Is::Ready),
        (131, "a3", -900, Is::Ending(131)),
    ];
    let plain = Cluster::new("Deployment", &OLD).then(events).until(141).seen;
    assert_eq!(plain.durations(), [31]);
    for cut in 0..=events.len() {
        let mut cluster = Cluster::new("Deployment", &OLD).then(&events[..cut]);
        let (saved, pods) = (cluster.tracker.saved(), read_back(&cluster.tracker));
        cluster.seen.in_progress = [0; 4];
        let config = TrackerConfig::default();
        let seen = &mut cluster.seen;
        cluster.tracker = Tracker::restored(config, saved, pods, SourceSuccessor::Same, seen);
        let now = events.get(cut).map_or(131, |(second, ..)| second - 1);
        for event in [PodEvent::Resumed, PodEvent::CaughtUp] {
            cluster.tracker.apply(delivery(SourceId(0), now, event), &mut cluster.seen);
        }
        cluster.tracker.advance(at(now), &mut cluster.seen);
        let seen = cluster.then(&events[cut..]).until(141).seen;
        assert_eq!(seen.outcomes(), plain.outcomes(), "{cut}");
        assert_eq!((seen.in_progress, seen.held()), (plain.in_progress, plain.held()), "{cut}");
    }
}
