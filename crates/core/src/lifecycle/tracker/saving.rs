//! From a tracker to its saved form, and back.

use std::sync::Arc;

use super::remembered_pod::{FinishedPod, RememberedPod};
use super::{Tracker, TrackerConfig};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::nodes::KnownNodes;
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::reentry::to_second;
use crate::lifecycle::saved::{SavedDeleted, SavedFinished, SavedPod, SavedTracker};
use crate::lifecycle::slo::SloMatches;
use crate::lifecycle::sources::SourceSuccessor;
use crate::timestamp::Timestamp;

impl Tracker {
    /// The saved form without the pods of [`Tracker::saved_pods`].
    pub fn saved(&self) -> SavedTracker {
        let deleted = self.pods.iter();
        let deleted = deleted.filter_map(|(uid, remembered)| remembered.saved_deleted(uid));
        SavedTracker { deleted: deleted.collect(), ..self.saved_beside_pods() }
    }

    fn saved_beside_pods(&self) -> SavedTracker {
        SavedTracker {
            now: self.now,
            resumed: self.sources.resumed,
            sources: self.sources.saved(),
            rules: Arc::clone(&self.shared.rules),
            slo_matches: Some(self.shared.matches.clone()),
            stuck: self.shared.stuck.clone(),
            watermark: self.cap.watermark(),
            forgotten: Some(self.forgotten),
            deleted: Vec::new(),
            in_place: self.in_place.iter().collect(),
            nodes: self.shared.nodes.as_ref().map(KnownNodes::saved),
            crashes: self.crashes.saved(),
            bound_revisions: self.shared.revisions.saved(),
            rollouts: self.rollouts.saved(),
        }
    }

    /// The pods in flight and finished. The size hint is an upper bound.
    pub fn saved_pods(&self) -> impl Iterator<Item = SavedPod<&PodInFlight>> {
        let now = self.now.unwrap_or(Timestamp::EPOCH);
        let (pods, milestones) = (self.pods.iter(), &self.shared.milestones);
        pods.filter_map(move |(uid, remembered)| remembered.saved(uid, now, milestones))
    }

    /// The saved form without pods and tombstones. [`Tracker::save_chunk`] gives these as they are now, whatever is
    /// accounted for in between.
    pub fn begin_saving(&mut self) -> SavedTracker {
        self.pods.freeze();
        self.saving_at = self.now;
        self.saved_beside_pods()
    }

    /// Gives some of the pods of the moment that is being saved, and of the deleted ones. False if these were the
    /// last.
    pub fn save_chunk(
        &mut self,
        mut save: impl FnMut(SavedPod<&PodInFlight>),
        mut save_deleted: impl FnMut(SavedDeleted),
    ) -> bool {
        let now = self.saving_at.unwrap_or(Timestamp::EPOCH);
        let milestones = &self.shared.milestones;
        self.pods.take_chunk(|uid, remembered| {
            remembered.saved(uid, now, milestones).into_iter().for_each(&mut save);
            (remembered.saved_deleted(uid).into_iter()).for_each(&mut save_deleted);
        })
    }

    /// A tracker that continues from what was saved, under `config` and with the sources that
    /// `successor` names. All of them are out of sync, so that no deadline passes until they have
    /// delivered what happened meanwhile.
    ///
    /// `sink` has to hold what it held when the tracker was saved. It receives the oldest pod of each
    /// stage, and the pods that vanish with their source. The holds of finished pods are those that it has given.
    pub fn restored(
        config: TrackerConfig,
        saved: SavedTracker,
        pods: impl IntoIterator<Item = SavedPod>,
        successor: impl Fn(SourceId) -> SourceSuccessor,
        sink: &mut impl Observer,
    ) -> Self {
        let rules = Arc::clone(&config.slos);
        let stuck_after = config.stuck_after;
        let mut tracker = Self::new(TrackerConfig { slos: saved.rules, ..config });
        tracker.now = saved.now;
        tracker.shared.stuck = saved.stuck;
        tracker.shared.revisions.restore(saved.bound_revisions);
        let unknown = || SloMatches::unknown(&tracker.shared.rules);
        tracker.shared.matches = saved.slo_matches.unwrap_or_else(unknown);
        let now = saved.now.unwrap_or(Timestamp::EPOCH);
        let reporter = &mut TimedObserver::new(now, sink);
        tracker.sources.resumed = saved.resumed;
        tracker.sources.restore(saved.sources, now, &successor);
        if let (Some(nodes), Some(saved)) = (&mut tracker.shared.nodes, saved.nodes) {
            nodes.restore(saved, now, &mut |observation| reporter.node(observation));
        }
        tracker.rollouts.restore(saved.rollouts, &successor);
        let mut gone = Vec::new();
        for mut pod in pods {
            let uid = pod.uid();
            let last_seen = pod.last_seen_mut();
            last_seen.rollout = tracker.rollouts.restore_pod(last_seen.rollout);
            match successor(last_seen.source) {
                SourceSuccessor::Same(source) | SourceSuccessor::SelectionChanged(source) => {
                    last_seen.source = source
                }
                SourceSuccessor::Gone => gone.push(uid),
            }
            match pod {
                SavedPod::InFlight(mut pod) => {
                    pod.restore(&mut tracker.shared, reporter);
                    pod.last_seen.hold = reporter.hold(pod.info());
                    tracker.remember_in_flight(pod);
                }
                SavedPod::Finished(SavedFinished { last_seen, ready, followed, .. }) => {
                    let followed = followed.and_then(|mut followed| {
                        followed.restore(&tracker.shared).then_some(*followed)
                    });
                    let finished = FinishedPod::following(last_seen, ready, followed);
                    tracker.pods.insert(uid, RememberedPod::Finished(finished));
                    tracker.begin_following(uid, reporter);
                }
            }
        }
        tracker.rollouts.restored(now, reporter);
        let mut deleted = saved.deleted;
        deleted.sort_by_key(|deleted| deleted.at);
        for SavedDeleted { uid, at, created } in deleted {
            tracker.pods.insert(uid, RememberedPod::Deleted { created, at });
            tracker.tombstones.push_back((at, uid));
        }
        for (uid, open) in saved.in_place {
            let mut emit = |observation| reporter.tracker(observation);
            tracker.in_place.restore(uid, open, &mut emit);
        }
        tracker.crashes.restore(saved.crashes);
        tracker.cap.restore(saved.watermark);
        // An older version has not saved it: any pod that it knew may be forgotten.
        tracker.forgotten = saved.forgotten.unwrap_or_else(|| saved.now.map_or(0, to_second));
        tracker.set_slos(rules);
        tracker.set_stuck_after(stuck_after);
        for uid in gone {
            tracker.end_unseen(uid, reporter);
            tracker.forget(uid, reporter);
        }
        reporter.tracker(tracker.advanced(now));
        tracker
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::lifecycle::cause::{BadReason, Cause, WaitReason};
    use crate::lifecycle::delivery::PodEvent;
    use crate::lifecycle::interval::Stage;
    use crate::lifecycle::observation::{Observation, PodObservation, PodState};
    use crate::lifecycle::outcome::Outcome;
    use crate::lifecycle::saved::read_back;
    use crate::lifecycle::slo::SloRule;
    use crate::lifecycle::slo_verdict::{SloId, SloVerdict};
    use crate::lifecycle::stuck::StuckAfter;
    use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
    use crate::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};

    fn pod(uid: &str) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text(uid), "ns", uid);
        pod.created = Some(at(1));
        pod
    }

    fn ready(uid: &str) -> PodSnapshot {
        let condition =
            StatusCondition { status: ConditionStatus::True, last_transition: Some(at(2)) };
        let mut pod = pod(uid);
        pod.conditions.insert(ConditionType::Ready, condition);
        pod
    }

    fn under(slos: &[SloRule]) -> TrackerConfig {
        TrackerConfig { slos: slos.into(), ..TrackerConfig::default() }
    }

    /// A tracker of two sources, each with a pod in flight and one that is done.
    fn tracker(slos: &[SloRule]) -> Tracker {
        let mut tracker = Tracker::new(under(slos));
        let mut silent = |_, _: Observation<'_>| {};
        for source in [0, 1] {
            let list = PodEvent::Listed { pods: Vec::new().into(), began: at(0) };
            let starting = PodEvent::Applied(pod(&format!("starting {source}")));
            let done = PodEvent::Applied(ready(&format!("done {source}")));
            for (second, event) in (0..).zip([list, starting, done]) {
                tracker.apply(delivery(SourceId(source), second, event), &mut silent);
            }
        }
        tracker
    }

    /// The names of those that moved, with where they moved to.
    type Moves = Vec<(String, PodState)>;

    fn restored(
        tracker: &Tracker,
        slos: &[SloRule],
        successor: impl Fn(SourceId) -> SourceSuccessor,
    ) -> (Tracker, Moves) {
        let mut moves = Vec::new();
        let mut sink = |_, observation: Observation<'_>| {
            if let Observation::Pod(pod, PodObservation::Moved { to, .. }) = observation {
                moves.push((pod.name.to_string(), to));
            }
        };
        let (saved, pods) = (tracker.saved(), read_back(tracker));
        let tracker = Tracker::restored(under(slos), saved, pods, successor, &mut sink);
        (tracker, moves)
    }

    #[test]
    fn the_pods_of_a_source_that_is_gone_vanish_or_are_forgotten() {
        let (after, moves) = restored(&tracker(&[]), &[], |source| match source {
            SourceId(0) => SourceSuccessor::Gone,
            other => SourceSuccessor::Same(other),
        });
        let vanished = PodState::Finished(Outcome::Vanished);
        assert_eq!(moves, [("starting 0".to_owned(), vanished)]);
        let mut left: Vec<_> = after.saved_pods().map(|pod| pod.uid()).collect();
        left.sort();
        let mut expected = ["starting 1", "done 1"].map(PodUid::from_text);
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_source_with_another_selection_has_no_first_list_and_keeps_its_pods() {
        let (after, moves) = restored(&tracker(&[]), &[], |SourceId(source)| {
            SourceSuccessor::SelectionChanged(SourceId(source + 5))
        });
        assert_eq!((moves, after.remembered()), (vec![], 4));
        assert!(after.saved().sources.is_empty());
        let sources = read_back(&after).into_iter().map(|mut pod| pod.last_seen_mut().source);
        let mut sources: Vec<_> = sources.collect();
        sources.sort();
        assert_eq!(sources, [5, 5, 6, 6].map(SourceId));
    }

    #[test]
    fn stuck_pods_are_stuck_after_a_restart_and_other_limits_apply_to_them() {
        let mut before = tracker(&[]);
        before.advance(at(1000), &mut |_, _: Observation<'_>| {});
        let waiting = WaitReason::new(Stage::Scheduling, Cause::Queue);
        let minutes = |minutes: u64| StuckAfter::of_each(|_| Duration::from_secs(60 * minutes));
        for (stuck_after, at_once, in_sync) in
            [(StuckAfter::default(), 2, 2), (minutes(60), 2, 0), (minutes(1), 2, 2)]
        {
            let mut stuck = 0;
            let mut sink = |_, observation: Observation<'_>| {
                if let Observation::Pod(_, PodObservation::Stuck { from, to }) = observation {
                    assert!([from, to].into_iter().flatten().all(|one| Some(one) == waiting));
                    stuck += i32::from(to.is_some()) - i32::from(from.is_some());
                }
            };
            let config = TrackerConfig { stuck_after, ..TrackerConfig::default() };
            let (saved, pods) = (before.saved(), read_back(&before));
            let mut after =
                Tracker::restored(config, saved, pods, SourceSuccessor::Same, &mut sink);
            after.advance(at(1001), &mut sink);
            assert_eq!(stuck, at_once);
            let mut sink = |_, observation: Observation<'_>| {
                if let Observation::Pod(_, PodObservation::Stuck { from, to }) = observation {
                    stuck += i32::from(to.is_some()) - i32::from(from.is_some());
                }
            };
            for source in [0, 1] {
                let resumed = delivery(SourceId(source), 1001, PodEvent::Resumed);
                after.apply(resumed, &mut sink);
            }
            after.advance(at(1020), &mut sink);
            assert_eq!(stuck, in_sync);
        }
    }

    #[test]
    fn slos_that_were_changed_meanwhile_are_known_by_what_they_were() {
        let mut before = tracker(&[rule("other", 5), rule("slow", 10)]);
        // The first has had its events.
        before.advance(at(7), &mut |_, _: Observation<'_>| {});
        assert_eq!([0, 1].map(|slo| before.undecided(SloId(slo))), [0, 2]);
        let (mut after, _) = restored(&before, &[rule("slow", 100)], SourceSuccessor::Same);
        assert_eq!(after.undecided(SloId(0)), 2);
        let mut verdicts = Vec::new();
        let mut sink = |_, observation: Observation<'_>| {
            if let Observation::Pod(_, PodObservation::Slo { slo, verdict }) = observation {
                verdicts.push((slo, verdict));
            }
        };
        for source in [0, 1] {
            let resumed = delivery(SourceId(source), 20, PodEvent::Resumed);
            after.apply(resumed, &mut sink);
        }
        after.advance(at(101), &mut sink);
        after.advance(at(102), &mut sink);
        assert_eq!(
            verdicts,
            [(
                SloId(0),
                SloVerdict::Bad(BadReason::of_known(WaitReason::new(
                    Stage::Scheduling,
                    Cause::Queue
                )))
            ); 2]
        );
    }
}
