//! The first snapshot of a pod: whether the pod is admitted, and how it is accounted for.

use std::borrow::Cow;

use super::Tracker;
use super::remembered_pod::{FinishedPod, RememberedPod};
use crate::lifecycle::classification::PodClassification;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::eviction::{EvictedCounts, RefusalReason};
use crate::lifecycle::followed::UnfollowReason;
use crate::lifecycle::lag::ServerStamp;
use crate::lifecycle::last_seen::LastSeen;
use crate::lifecycle::observation::{PodObservation, PodState, TimedObserver, TrackerObservation};
use crate::lifecycle::observer::Observer;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::reentry::{ReentryBaseline, to_second};
use crate::lifecycle::rollouts::{Departure, RolloutPod};
use crate::lifecycle::slo::SloProgress;
use crate::lifecycle::slo_verdict::ExclusionReason;
use crate::lifecycle::snapshot_context::SnapshotContext;
use crate::lifecycle::startup_sli_verdict::{StartupSli, StartupSliExclusion};
use crate::pod::{PodInfo, PodSnapshot};
use crate::timestamp::Timestamp;

impl Tracker {
    /// Accounts for the deletion that an unknown pod shows by the name of one in flight of its list-watch: a name is
    /// free again only after a deletion, so that one was not delivered ([§5.4](crate::specification#s5-4)). The pod
    /// that had the name is gone if the other one was created later. Else a watch that lags may show an older one.
    pub(super) fn take_name(
        &mut self,
        snapshot: &PodSnapshot,
        source: SourceId,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if self.pods.get(snapshot.uid).is_some() {
            return;
        }
        let PodInfo { namespace, name, .. } = &snapshot.info;
        let namesakes = self.names.slots(namespace, name);
        let namesakes = namesakes.filter_map(|slot| match self.pods.at(slot)? {
            RememberedPod::InFlight(pod) => Some(&**pod),
            RememberedPod::Finished(_) | RememberedPod::Deleted { .. } => None,
        });
        let namesakes: Vec<_> = namesakes
            .filter(|pod| pod.names() == (&**namespace, &**name) && pod.last_seen.source == source)
            .map(|pod| (pod.uid, pod.last_seen.created))
            .collect();
        if namesakes.is_empty() {
            return;
        }
        reporter.tracker(TrackerObservation::DeletionLost(source));
        let created = snapshot.created.map(to_second);
        for (uid, _) in namesakes.into_iter().filter(|(_, before)| created > Some(*before)) {
            self.vanish(uid, reporter);
        }
    }

    /// Whether an unknown pod may have been accounted for before a restored API server brought it back. What is
    /// remembered of a pod is forgotten, but not until when the youngest of these was created.
    fn may_be_back(&self, snapshot: &PodSnapshot, source: SourceId) -> bool {
        let is_young = snapshot.created.map(to_second) > Some(self.forgotten);
        self.sources.was_restored(source) && self.forgotten > 0 && !is_young
    }

    /// Accounts for the first snapshot of a pod that is not remembered.
    pub(super) fn discover(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if let Err(reason) = self.admit(snapshot, seen.now, reporter) {
            reporter.pod(&snapshot.info, PodObservation::Refused(reason));
            return;
        }
        reporter.first_seen(snapshot, seen.is_listed);
        self.shared.matches.see(&self.shared.rules, &snapshot.info);
        if self.may_be_back(snapshot, seen.source) {
            self.remember_accounted(snapshot, seen, reporter);
            return;
        }
        if let Some(lost) = self.backfill.sets_aside(snapshot, seen.origin) {
            reporter.pod(&snapshot.info, PodObservation::SetAside { uid: snapshot.uid, lost });
        }
        match PodClassification::from_snapshot(snapshot, seen.origin, self.backfill) {
            PodClassification::New => self.track(snapshot, seen, false, reporter),
            PodClassification::Adopted => self.track(snapshot, seen, true, reporter),
            PodClassification::Static => self.exclude(snapshot, seen, Outcome::Static, reporter),
            PodClassification::Preexisting => {
                self.exclude(snapshot, seen, Outcome::Preexisting, reporter)
            }
        }
    }

    /// Decides whether an unknown pod may be discovered. Evicts other pods if the cap is reached.
    fn admit(
        &mut self,
        snapshot: &PodSnapshot,
        now: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) -> Result<(), RefusalReason> {
        let created = snapshot.created;
        if self.cap.may_know(created) {
            return Err(RefusalReason::MaybeKnown);
        }
        let in_flight = self.shared.order.len();
        let Self { shared, rollouts, .. } = self;
        let room = self.cap.make_room(&mut self.pods, in_flight, RememberedPod::evictable, |pod| {
            if let Some(source) = pod.source() {
                rollouts.leave(pod.rollout(), Departure::unseen(source, now), reporter);
            }
            if let Some(hold) = pod.hold() {
                reporter.release(hold);
            }
            if let RememberedPod::Finished(finished) = pod
                && let Some(followed) = finished.followed()
            {
                followed.clone().leave(UnfollowReason::Displaced, shared, reporter);
            }
        });
        let Some(evicted) = room else {
            self.cap.refuse(created, now);
            return Err(RefusalReason::Full);
        };
        if evicted != EvictedCounts::default() {
            let pods = &self.pods;
            self.tombstones.retain(|(_, uid)| pods.get(*uid).is_some());
            let mut emit = |observation| reporter.tracker(observation);
            (self.in_place).retain(|uid| pods.get(uid).is_some(), &mut emit);
            (self.crashes).retain(|uid| pods.get(uid).is_some());
            (self.followed).retain(|uid| pods.get(uid).is_some());
            reporter.tracker(TrackerObservation::Evicted(evicted));
        }
        match self.cap.may_know(created) {
            true => Err(RefusalReason::MaybeKnown),
            false => Ok(()),
        }
    }

    /// A pod with what its node states, where that is known.
    pub(super) fn with_node<'a>(&self, info: &'a PodInfo) -> Cow<'a, PodInfo> {
        match self.shared.newest_labels(info).cloned() {
            None => Cow::Borrowed(info),
            Some(labels) => Cow::Owned(PodInfo { node_labels: Some(labels), ..info.clone() }),
        }
    }

    /// Discovers a pod whose startup is not observed: it is finished from the start.
    fn exclude(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        outcome: Outcome,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let info = &*self.with_node(&snapshot.info);
        let mut emit = |observation| reporter.pod(info, observation);
        let (from, to) = (PodState::Undiscovered, PodState::Finished(outcome));
        emit(PodObservation::Moved { from, to });
        snapshot.conditional_stages().map(PodObservation::Applies).for_each(&mut emit);
        let mut last_seen = LastSeen::new(snapshot, seen.source, seen.now);
        last_seen.accept(snapshot, ReentryBaseline::Last, &mut emit);
        let rules = &self.shared.rules;
        let reason = ExclusionReason::from_outcome(outcome);
        SloProgress::from_pod(rules, &snapshot.info).end(reason, rules, |_| false, &mut emit);
        if self.shared.events {
            let reason = StartupSliExclusion::Ended(outcome);
            emit(PodObservation::StartupSli(StartupSli::Excluded(reason)));
        }
        last_seen.hold = reporter.hold(info);
        last_seen.rollout = self.rollouts.see(RolloutPod::NONE, snapshot, seen, true, reporter);
        let finished = FinishedPod::new(last_seen, None);
        self.pods.insert(snapshot.uid, RememberedPod::Finished(finished));
        self.see_in_place(snapshot, seen, true, reporter);
    }

    /// Discovers a pod whose startup is observed from now on.
    fn track(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        adopted: bool,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let seen = &SnapshotContext { adopted, ..*seen };
        let shared = &mut self.shared;
        if !snapshot.is_bound
            && snapshot.started.is_none()
            && let Some(after) = seen.shown_after(snapshot.created)
        {
            shared.note_lag(ServerStamp::Creation, after, seen);
        }
        let mut pod = PodInFlight::discover(snapshot, seen.source, seen.now, shared, reporter);
        self.move_labels(reporter);
        let shared = &mut self.shared;
        let outcome = pod.fold(snapshot, seen, shared, reporter);
        pod.last_seen.hold = reporter.hold(pod.info());
        pod.last_seen.rollout = self.rollouts.see(RolloutPod::NONE, snapshot, seen, true, reporter);
        let shared = &mut self.shared;
        let Some(outcome) = outcome else {
            self.remember_in_flight(Box::new(pod));
            return;
        };
        let outcome = pod.finish(outcome, shared, reporter);
        let (now, ending) = (reporter.now(), snapshot.ending.as_deref());
        let finished = RememberedPod::Finished(FinishedPod::from_pod(&pod, outcome, now, shared));
        if outcome == Outcome::Ready {
            self.crashes.add(snapshot.uid, pod.ready_at(now));
            self.crashes.see(snapshot, now);
        }
        reporter.ended(shared.ended(Box::new(pod), outcome, now, ending).at_first_sight());
        self.pods.insert(snapshot.uid, finished);
        self.begin_following(snapshot.uid, reporter);
        self.follow(snapshot, seen, reporter);
        self.see_relapse(snapshot, reporter);
        self.see_in_place(snapshot, seen, true, reporter);
    }

    /// Remembers a pod whose startup was accounted for before a backup brought it back. It was
    /// counted then, so nothing is reported now.
    pub(super) fn remember_accounted(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let mut last_seen = LastSeen::new(snapshot, seen.source, seen.now);
        last_seen.accept(snapshot, ReentryBaseline::Latest, &mut |_| {});
        last_seen.hold = reporter.hold(&self.with_node(&snapshot.info));
        last_seen.rollout = self.rollouts.see(RolloutPod::NONE, snapshot, seen, false, reporter);
        let finished = FinishedPod::new(last_seen, None);
        (self.pods).insert(snapshot.uid, RememberedPod::Finished(finished));
        self.see_in_place(snapshot, seen, true, reporter);
    }
}
