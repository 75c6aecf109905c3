//! Rollouts ([§17](crate::specification#s17)): the pods of each workload by revision, when a rollout begins, what holds
//! it and how it ends.
//!
//! A pod is looked at when it changes only: what is remembered of it says how it stood before. What a list shows, and
//! what comes while a source is out of sync, is judged together once all of it is known.

mod ending_pods;
mod held_time;
mod judgement;
mod observation;
mod population;
mod progress;
mod rollout;
mod saved;
mod standing;
mod table;
mod workload_pods;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use self::ending_pods::EndingPod;
pub use self::held_time::HeldNanos;
pub use self::observation::{EndedRollout, RolloutObservation};
pub use self::progress::RolloutProgress;
pub use self::rollout::{RolloutHolder, RolloutOutcome};
pub use self::saved::SavedRollouts;
pub use self::standing::{RolloutPod, StandingPods};
pub use self::workload_pods::RolloutWorkload;

use self::judgement::{NewPod, Unjudged, is_created};
use self::rollout::StandingEnd;
use self::standing::{LivePod, PodStanding};
use self::table::WorkloadTable;
use self::workload_pods::WorkloadPods;
use super::delivery::SourceId;
use super::reentry::to_second;
use super::snapshot_context::SnapshotContext;
use crate::pod::{PodSnapshot, Revision, Workload};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Takes what is observed of rollouts.
pub(super) trait ObserveRollouts {
    /// Takes one observation of a workload.
    fn rollout(&mut self, workload: &RolloutWorkload, observation: RolloutObservation);

    /// Takes a rollout whose end counts.
    fn rollout_ended(&mut self, rollout: EndedRollout);
}

/// The rollouts of all workloads.
#[derive(Debug, Default)]
pub(super) struct Rollouts {
    /// No pod has a part, since a shard of pods shows parts of workloads
    is_off: bool,
    workloads: WorkloadTable,
    due: BTreeSet<(Timestamp, u16)>,
    /// Workloads for which something was due while their source was out of sync
    held_back: BTreeSet<u16>,
    /// What is not judged yet
    unjudged: BTreeMap<SourceId, Unjudged>,
    in_progress: BTreeSet<u16>,
    /// Until when the time of all of them was divided last
    divided: Option<Timestamp>,
}

/// How a pod is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    source: SourceId,
    now: Timestamp,
    /// When its deletion was asked for; `None` if nobody has seen it go
    asked: Option<Timestamp>,
    /// It went at `now`, and not at some time before
    is_exact: bool,
}

impl Departure {
    /// What was delivered last of it is this.
    pub(super) fn seen(last: &PodSnapshot, seen: &SnapshotContext) -> Self {
        let asked = Some(last.deletion_asked.unwrap_or(seen.now));
        Self { source: seen.source, now: seen.now, asked, is_exact: seen.in_sync }
    }

    /// Nobody has seen it go.
    pub(super) const fn unseen(source: SourceId, now: Timestamp) -> Self {
        Self { source, now, asked: None, is_exact: false }
    }
}

impl Rollouts {
    /// Without rollouts if `is_off`.
    pub(super) fn new(is_off: bool) -> Self {
        Self { is_off, ..Self::default() }
    }

    /// Accounts for the newest snapshot of a pod that exists, which stood as `known` before.
    pub(super) fn see(
        &mut self,
        known: RolloutPod,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        is_first: bool,
        to: &mut impl ObserveRollouts,
    ) -> RolloutPod {
        let before = known.live();
        let was_up = match before {
            Some(pod) => pod.standing.has_been_up(),
            None => snapshot.was_ready_before(),
        };
        let standing = PodStanding::of(snapshot, was_up);
        match before {
            Some(pod)
                if Some(pod.revision) == snapshot.revision && Some(pod.standing) == standing =>
            {
                known
            }
            None if self.is_off || known.is_gone() || snapshot.revision.is_none() => known,
            _ => self.change(known, standing, snapshot, seen, is_first, to),
        }
    }

    /// Accounts for a pod that stands in another way than before.
    fn change(
        &mut self,
        known: RolloutPod,
        standing: Option<PodStanding>,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        is_first: bool,
        to: &mut impl ObserveRollouts,
    ) -> RolloutPod {
        let before = known.live();
        let workload = Self::workload_of(snapshot);
        let Some((workload, revision)) = workload.zip(snapshot.revision) else {
            // A pod that was of a workload has lost its controller or its label.
            self.leave(known, Departure::seen(snapshot, seen), to);
            return if before.is_some() { RolloutPod::NONE } else { known };
        };
        let Some(standing) = standing else {
            if before.is_none() {
                to.rollout(&Self::name_of(snapshot, workload), RolloutObservation::Known);
            }
            self.leave(known, Departure::seen(snapshot, seen), to);
            return RolloutPod::GONE;
        };
        let known_place = before.map(|pod| pod.workload);
        let found = || {
            let name = Self::name_of(snapshot, workload);
            self.place_of(name, revision, seen.source, is_first, to)
        };
        let Some(place) = known_place.or_else(found) else {
            return known;
        };
        self.divide(place, seen.now, to);
        let Some(workload) = self.workloads.get_mut(place) else {
            return RolloutPod::NONE;
        };
        let generation = before.map_or(workload.generation, |pod| pod.generation);
        let pod = LivePod { revision, workload: place, standing, generation };
        let empty_since = workload.empty_since;
        if let Some(unjudged) = self.unjudged.get_mut(&seen.source) {
            unjudged.touch(place, workload);
        }
        workload.change(
            before,
            Some(pod),
            to_second(snapshot.created.unwrap_or(seen.now)),
            seen.now,
        );
        if let Some(rollout) = &mut workload.rollout {
            rollout.note(pod, snapshot);
        }
        if before.is_none() {
            let created = seen.mode.estimate(snapshot.created, seen.observed).at;
            let new = (is_first && is_created(snapshot, seen)).then(|| NewPod {
                workload: place,
                revision,
                created,
                wanted: workload.wanted(created.unwrap_or(seen.now)),
                empty_since,
            });
            self.enters(place, revision, new, seen, to);
        }
        self.changed(place, seen.source, seen.now, seen.in_sync, to);
        pod.into()
    }

    /// Where the workload of this name is, which has a part from now on; `None` if too many have.
    fn place_of(
        &mut self,
        name: RolloutWorkload,
        own: Revision,
        source: SourceId,
        is_first: bool,
        to: &mut impl ObserveRollouts,
    ) -> Option<u16> {
        if let Some(place) = self.workloads.place_of(&name) {
            return Some(place);
        }
        let place = self.workloads.insert(WorkloadPods::new(name.clone(), source, own));
        match place {
            Some(_) => to.rollout(&name, RolloutObservation::Entered),
            None if is_first => to.rollout(&name, RolloutObservation::Refused),
            None => {}
        }
        place
    }

    /// The workload of a pod that has a part in rollouts.
    fn workload_of(snapshot: &PodSnapshot) -> Option<&Arc<Workload>> {
        let workload = snapshot.info.workload.as_ref()?;
        let is_job = matches!(&*workload.kind, "Job" | "CronJob");
        (!is_job && !snapshot.is_static).then_some(workload)
    }

    fn name_of(snapshot: &PodSnapshot, workload: &Arc<Workload>) -> RolloutWorkload {
        RolloutWorkload {
            namespace: Arc::clone(&snapshot.info.namespace),
            workload: Arc::clone(workload),
        }
    }

    /// A pod is gone or does not live any more.
    pub(super) fn leave(
        &mut self,
        known: RolloutPod,
        departure: Departure,
        to: &mut impl ObserveRollouts,
    ) {
        let Some(pod) = known.live() else { return };
        let Departure { source, now, asked, is_exact } = departure;
        let place = pod.workload;
        self.divide(place, now, to);
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if let Some(unjudged) = self.unjudged.get_mut(&source) {
            unjudged.touch(place, workload);
        }
        workload.change(Some(pod), None, 0, now);
        workload.went(pod.revision, asked, now);
        self.changed(place, source, now, is_exact, to);
    }

    /// Settles a workload of which a pod of `source` has changed, unless that is judged later.
    fn changed(
        &mut self,
        place: u16,
        source: SourceId,
        now: Timestamp,
        is_exact: bool,
        to: &mut impl ObserveRollouts,
    ) {
        if !self.unjudged.contains_key(&source) {
            self.settle(place, now, is_exact, to);
        }
    }

    /// Says what holds the rollout of a workload after a change, and whether an end stands: from `now` on, or where that
    /// is not exact from some time before on.
    fn settle(
        &mut self,
        place: u16,
        now: Timestamp,
        is_exact: bool,
        to: &mut impl ObserveRollouts,
    ) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if workload.rollout.is_none() {
            workload.own = workload.only_revision().map_or(workload.own, |only| only.revision);
            self.set_due(place);
            return;
        }
        workload.look_for_only_revision();
        let end = workload.end_now();
        let Some(rollout) = &workload.rollout else { return };
        let holder = workload.holder(rollout.new, rollout.wanted);
        let WorkloadPods { name, rollout: Some(rollout), .. } = workload else { return };
        if rollout.end.map(|standing| standing.end) != end {
            rollout.drop_end(name, to);
            rollout.end = end.map(|end| StandingEnd { end, since: now, is_exact });
        }
        if rollout.holder != holder {
            let held = RolloutObservation::Held { from: Some(rollout.holder), to: Some(holder) };
            (rollout.holder, rollout.held_since) = (holder, now);
            to.rollout(name, held);
        }
        self.set_due(place);
    }

    /// Ends the rollout of a workload: as its end stands, if that counts, or because another begins.
    fn end(&mut self, place: u16, now: Timestamp, counts: bool, to: &mut impl ObserveRollouts) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        let Some(mut rollout) = workload.rollout.take() else { return };
        let (outcome, ended, is_exact) = match rollout.end.filter(|_| counts) {
            Some(StandingEnd { end, since, is_exact }) => {
                let outcome = workload.outcome(&rollout, end);
                workload.own = end.revision.unwrap_or(workload.own);
                workload.recent_mut(now).forget_population(since);
                (outcome, since, is_exact)
            }
            None => {
                rollout.drop_end(&workload.name, to);
                (RolloutOutcome::Superseded, now, true)
            }
        };
        workload.divided = rollout.divided.min(ended);
        self.in_progress.remove(&place);
        let name = workload.name.clone();
        let held = RolloutObservation::Held { from: Some(rollout.holder), to: None };
        to.rollout(&name, held);
        let is_exact = is_exact && rollout.begin_is_known && !rollout.found;
        let is_known = !matches!(outcome, RolloutOutcome::Completed | RolloutOutcome::RolledBack);
        if is_known || !rollout.found {
            let nanos = (is_exact && outcome == RolloutOutcome::Completed)
                .then(|| u64::try_from(ended.nanos_since(rollout.began)).unwrap_or(0));
            to.rollout(&name, RolloutObservation::Ended { outcome, nanos });
        }
        to.rollout_ended(EndedRollout {
            workload: name,
            outcome,
            began: rollout.began,
            ended,
            is_exact,
            found: rollout.found,
            wanted: rollout.wanted,
            held: rollout.held,
        });
        self.set_due(place);
    }

    /// Divides the time until `now` of the rollout of one workload.
    fn divide(&mut self, place: u16, now: Timestamp, to: &mut impl ObserveRollouts) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        let Some(rollout) = &mut workload.rollout else { return };
        if let Some((by, nanos)) = rollout.divide(now) {
            to.rollout(&workload.name, RolloutObservation::HeldFor { by, nanos });
        }
    }

    /// Divides the time until `now` of all rollouts; unless `always`, not more than once a second, since there may be
    /// many.
    pub(super) fn divide_all(
        &mut self,
        now: Timestamp,
        always: bool,
        to: &mut impl ObserveRollouts,
    ) {
        let is_due = |before: Timestamp| now.nanos_since(before) >= NANOS_PER_SECOND;
        if self.in_progress.is_empty() || !(always || self.divided.is_none_or(is_due)) {
            return;
        }
        self.divided = Some(now);
        for place in self.in_progress.clone() {
            self.divide(place, now, to);
        }
    }

    /// Time has passed until `now`: ends that have lasted count, of the sources that are in sync and have caught up.
    pub(super) fn pass(
        &mut self,
        now: Timestamp,
        may_pass: impl Fn(SourceId) -> bool,
        to: &mut impl ObserveRollouts,
    ) {
        while let Some((at, place)) = self.due.first().copied()
            && at <= now
        {
            self.due.pop_first();
            self.held_back.insert(place);
        }
        if self.held_back.is_empty() {
            return;
        }
        for place in std::mem::take(&mut self.held_back) {
            let Some(workload) = self.workloads.get_mut(place) else { continue };
            if !may_pass(workload.source) || self.unjudged.contains_key(&workload.source) {
                self.held_back.insert(place);
                continue;
            }
            workload.due = None;
            workload.tidy(now);
            let end = workload.rollout.as_ref().and_then(|rollout| rollout.end);
            if end.is_some_and(|end| end.counts_at() <= now) {
                self.end(place, now, true, to);
            }
            self.forget_or_set_due(place, now, to);
        }
    }

    fn forget_or_set_due(&mut self, place: u16, now: Timestamp, to: &mut impl ObserveRollouts) {
        let Some(workload) = self.workloads.get(place) else { return };
        let is_forgotten = workload.forgotten_at().is_some_and(|at| at <= now);
        if !is_forgotten || workload.rollout.is_some() {
            self.set_due(place);
            return;
        }
        to.rollout(&workload.name, RolloutObservation::Left);
        self.workloads.remove(place);
    }

    /// Remembers when something is due for a workload.
    fn set_due(&mut self, place: u16) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        let due = workload.next_due();
        if workload.due == due {
            return;
        }
        if let Some(before) = std::mem::replace(&mut workload.due, due) {
            self.due.remove(&(before, place));
        }
        if let Some(due) = due {
            self.due.insert((due, place));
        }
    }

    /// The rollouts in progress, by the places of their workloads.
    pub(super) fn in_progress(&self) -> impl Iterator<Item = RolloutProgress> {
        let places = self.in_progress.iter();
        places.filter_map(|place| RolloutProgress::of(self.workloads.get(*place)?))
    }

    /// Whether a pod is one of those that hold the rollout of its workload because they start
    /// ([§17.3](crate::specification#s17-3)).
    pub(super) fn is_held_by(&self, pod: RolloutPod) -> bool {
        let Some(pod) = pod.live().filter(|pod| pod.standing == PodStanding::Starting) else {
            return false;
        };
        let workload = self.workloads.get(pod.workload);
        workload.is_some_and(|workload| workload.holds(pod.revision))
    }
}
