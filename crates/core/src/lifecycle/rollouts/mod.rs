//! Rollouts ([§17](crate::specification#s17)): the pods of each workload by revision, when a rollout begins, what holds
//! it and how it ends.
//!
//! A pod is looked at when it changes only: what is remembered of it says how it stood before. What a list shows, and
//! what comes while a source is out of sync, is judged together once all of it is known.

mod held_time;
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

pub use self::held_time::HeldNanos;
pub use self::observation::{EndedRollout, RolloutObservation};
pub use self::progress::{RolloutProgress, StandingPods};
pub use self::rollout::{RolloutHolder, RolloutOutcome};
pub use self::saved::SavedRollouts;
pub use self::standing::RolloutPod;
pub use self::workload_pods::RolloutWorkload;

use self::rollout::{EndKind, Rollout, StandingEnd};
use self::standing::{LivePod, PodStanding};
use self::table::WorkloadTable;
use self::workload_pods::WorkloadPods;
use super::classification::{SnapshotOrigin, existed_before};
use super::delivery::SourceId;
use super::reentry::to_second;
use super::snapshot_context::SnapshotContext;
use crate::pod::{PodSnapshot, Revision};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// After this time without a pod a workload is not known any more, in the rollouts' begin.
const FORGOTTEN_NANOS: i64 = 600 * NANOS_PER_SECOND;

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

/// What has come of a source and is judged together.
#[derive(Debug, Default)]
struct Unjudged {
    /// Everything shows one moment
    is_list: bool,
    touched: BTreeSet<u16>,
    new: Vec<NewPod>,
    /// The workloads of pods that were there before
    found: BTreeSet<u16>,
    /// The revisions that had pods before, of the workloads that are touched
    lived: LivedRevisions,
}

impl Unjudged {
    /// Something changes of a workload.
    fn touch(&mut self, place: u16, workload: &WorkloadPods) {
        if self.touched.insert(place) {
            let revisions = workload.revisions().iter().map(|pods| (place, pods.revision));
            self.lived.extend(revisions);
        }
    }
}

/// A pod that was created.
#[derive(Clone, Copy, Debug)]
struct NewPod {
    workload: u16,
    revision: Revision,
    created: Option<Timestamp>,
    /// How many pods are wanted if it begins a rollout
    wanted: u32,
    /// Since when its workload had no pod
    empty_since: Option<Timestamp>,
}

/// The revisions that had pods, by the place of their workload.
type LivedRevisions = BTreeSet<(u16, Revision)>;

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

/// How the judgement of a workload is come to.
#[derive(Clone, Copy, Debug)]
struct Judgement {
    now: Timestamp,
    /// What is judged was so from `now` on, and not from some time before
    is_exact: bool,
}

impl Rollouts {
    /// Without rollouts if `is_off`.
    pub(super) fn new(is_off: bool) -> Self {
        Self { is_off, ..Self::default() }
    }

    /// What comes of `source` from now on is judged at [`Rollouts::judge`] only; all of it is of one moment if it
    /// `is_list`.
    pub(super) fn defer(&mut self, source: SourceId, is_list: bool) {
        self.unjudged.entry(source).or_default().is_list = is_list;
    }

    /// Whether something of `source` is not judged yet.
    pub(super) fn defers(&self, source: SourceId) -> bool {
        self.unjudged.contains_key(&source)
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
        let Some(name) = Self::workload_of(snapshot) else {
            return known;
        };
        let before = known.live();
        let Some(standing) = standing else {
            if before.is_none() {
                to.rollout(&name, RolloutObservation::Known);
            }
            self.leave(known, Departure::seen(snapshot, seen), to);
            return RolloutPod::GONE;
        };
        let Some(revision) = snapshot.revision else {
            // It has lost its controller or its label.
            self.leave(known, Departure::seen(snapshot, seen), to);
            return RolloutPod::NONE;
        };
        let place = match before {
            Some(pod) => pod.workload,
            None => match self.workloads.place_of(&name) {
                Some(place) => place,
                None => match self.workloads.insert(WorkloadPods::new(
                    name.clone(),
                    seen.source,
                    revision,
                )) {
                    Some(place) => {
                        to.rollout(&name, RolloutObservation::Entered);
                        place
                    }
                    None => {
                        if is_first {
                            to.rollout(&name, RolloutObservation::Refused);
                        }
                        return known;
                    }
                },
            },
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
        let is_new = is_first && before.is_none() && Self::is_created(snapshot, seen);
        let created = seen.mode.estimate(snapshot.created, seen.observed).at;
        let wanted = if is_new { workload.wanted(created.unwrap_or(seen.now)) } else { 0 };
        let new = NewPod { workload: place, revision, created, wanted, empty_since };
        match self.unjudged.get_mut(&seen.source) {
            Some(unjudged) => {
                if is_new {
                    unjudged.new.push(new);
                } else if before.is_none() {
                    unjudged.found.insert(place);
                }
                if !unjudged.is_list {
                    self.settle(place, seen.now, None, to);
                }
            }
            None => {
                let how = Judgement::of_event(seen);
                if is_new {
                    self.comes(new, None, how, to);
                } else if before.is_none() {
                    self.find(place, seen.now, to);
                }
                self.settle(place, seen.now, Some(how.is_exact), to);
            }
        }
        pod.into()
    }

    /// The workload of a pod that has a part in rollouts.
    fn workload_of(snapshot: &PodSnapshot) -> Option<RolloutWorkload> {
        let workload = snapshot.info.workload.as_ref()?;
        let is_job = matches!(&*workload.kind, "Job" | "CronJob");
        (!is_job && !snapshot.is_static).then(|| RolloutWorkload {
            namespace: Arc::clone(&snapshot.info.namespace),
            workload: Arc::clone(workload),
        })
    }

    /// Whether the first snapshot of a pod shows that it was created while its source was followed.
    fn is_created(snapshot: &PodSnapshot, seen: &SnapshotContext) -> bool {
        match seen.origin {
            SnapshotOrigin::Later { first_list_began } => {
                !existed_before(snapshot, first_list_began)
            }
            SnapshotOrigin::FirstList | SnapshotOrigin::Resharded { .. } => false,
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
        match self.unjudged.get(&source) {
            Some(unjudged) if unjudged.is_list => {}
            Some(_) => self.settle(place, now, None, to),
            None => self.settle(place, now, Some(is_exact), to),
        }
    }

    /// Judges what was put off of `source`, which is in sync again.
    pub(super) fn judge(&mut self, seen: &SnapshotContext, to: &mut impl ObserveRollouts) {
        let Some(unjudged) = self.unjudged.remove(&seen.source) else { return };
        let Unjudged { touched, mut new, found, mut lived, .. } = unjudged;
        new.sort_by_key(|pod| pod.created);
        // The first pods of a workload that had none may not be in the order of their creation.
        let mut empty: BTreeMap<u16, Timestamp> =
            new.iter().filter_map(|pod| Some((pod.workload, pod.empty_since?))).collect();
        let how = Judgement { now: seen.now, is_exact: false };
        for mut pod in new {
            pod.empty_since = empty.remove(&pod.workload);
            self.comes(pod, Some(&lived), how, to);
            lived.insert((pod.workload, pod.revision));
        }
        for place in found {
            self.find(place, seen.now, to);
        }
        for place in touched {
            self.settle(place, seen.now, Some(false), to);
        }
    }

    /// A pod was created: it may begin a rollout ([§17.2](crate::specification#s17-2)).
    fn comes(
        &mut self,
        pod: NewPod,
        lived: Option<&LivedRevisions>,
        how: Judgement,
        to: &mut impl ObserveRollouts,
    ) {
        let NewPod { workload: place, revision, created, mut wanted, empty_since } = pod;
        let (is_known, created) = (created.is_some(), created.unwrap_or(how.now));
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if workload.rollout.is_none() {
            let is_forgotten =
                empty_since.is_some_and(|since| created.nanos_since(since) >= FORGOTTEN_NANOS);
            if is_forgotten {
                workload.own = revision;
            }
        }
        if let Some(rollout) = &workload.rollout {
            if revision == workload.own || !rollout.is_third(revision) {
                return;
            }
            // A workload without a pod for a moment is not removed.
            let ends = rollout.end.is_some_and(|end| end.kind != EndKind::Empty);
            if !ends {
                wanted = rollout.wanted;
            }
            self.end(place, how.now, ends, to);
        }
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if revision == workload.own {
            return;
        }
        let begin = workload.begin(revision, created);
        let all = workload.revisions().iter().map(|pods| pods.revision);
        let lived = all.filter(|one| {
            *one != revision && lived.is_none_or(|lived| lived.contains(&(place, *one)))
        });
        let mut rollout = Rollout::new(revision, begin.at, wanted, how.now).with_lived(lived);
        rollout.begin_is_known = begin.is_known && is_known;
        let before = workload.recent.as_ref().and_then(|recent| recent.divided);
        rollout.divided = begin.at.max(before.unwrap_or(begin.at)).min(how.now);
        // From where a pod was asked to make room until the creation of the first pod, that was ending.
        rollout.holder = RolloutHolder::Ending;
        let made_room = rollout.divide(created.min(how.now));
        rollout.holder = workload.holder(revision, wanted);
        rollout.held_since = rollout.divided;
        let holder = rollout.holder;
        workload.rollout = Some(Box::new(rollout));
        self.in_progress.insert(place);
        let Some(workload) = self.workloads.get(place) else { return };
        to.rollout(&workload.name, RolloutObservation::Held { from: None, to: Some(holder) });
        if let Some((by, nanos)) = made_room {
            to.rollout(&workload.name, RolloutObservation::HeldFor { by, nanos });
        }
        self.divide(place, how.now, to);
    }

    /// Looks whether a workload whose pods were there before rolls out ([§17.4](crate::specification#s17-4)).
    fn find(&mut self, place: u16, now: Timestamp, to: &mut impl ObserveRollouts) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if workload.rollout.as_ref().is_some_and(|rollout| !rollout.found) {
            return;
        }
        let live = || workload.revisions().iter().filter(|pods| pods.live() > 0);
        let newest = live().max_by_key(|pods| pods.oldest);
        let oldest = live().min_by_key(|pods| pods.oldest);
        let (Some(newest), Some(oldest)) = (newest, oldest) else { return };
        let (new, own) = (newest.revision, oldest.revision);
        let before = workload.rollout.as_ref().map(|rollout| rollout.holder);
        if new == own {
            return;
        }
        let began = Timestamp::from_seconds(newest.oldest.into());
        let wanted = workload.live().max(1);
        let lived = workload.revisions().iter().map(|pods| pods.revision);
        let mut rollout = Rollout::new(new, began, wanted, now).with_lived(lived);
        rollout.found = true;
        rollout.divided = now;
        rollout.last_ready = now;
        rollout.holder = workload.holder(new, wanted);
        let holder = rollout.holder;
        workload.own = own;
        workload.rollout = Some(Box::new(rollout));
        self.in_progress.insert(place);
        let Some(workload) = self.workloads.get(place) else { return };
        let held = RolloutObservation::Held { from: before, to: Some(holder) };
        to.rollout(&workload.name, held);
    }

    /// Says what holds the rollout of a workload after a change, and whether an end stands. That one stands from `now` on
    /// is seen only where something is known of when that came, which is exact or not: `end_is_exact`.
    fn settle(
        &mut self,
        place: u16,
        now: Timestamp,
        end_is_exact: Option<bool>,
        to: &mut impl ObserveRollouts,
    ) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if workload.rollout.is_none() {
            if end_is_exact.is_some()
                && let Some(only) = workload.only_revision()
            {
                workload.own = only.revision;
            }
            self.set_due(place);
            return;
        }
        workload.look_for_only_revision(end_is_exact.is_some());
        let end = workload.end_now();
        let Some(rollout) = &workload.rollout else { return };
        let holder = workload.holder(rollout.new, rollout.wanted);
        let name = workload.name.clone();
        let Some(rollout) = &mut workload.rollout else { return };
        let standing = rollout.end.map(|end| end.kind);
        if standing != end {
            let deferred = rollout.drop_end();
            for (by, nanos) in deferred.iter() {
                to.rollout(&name, RolloutObservation::HeldFor { by, nanos });
            }
            rollout.end = end.zip(end_is_exact).map(|(kind, is_exact)| StandingEnd {
                kind,
                since: now,
                is_exact,
            });
        }
        if rollout.holder != holder {
            let held = RolloutObservation::Held { from: Some(rollout.holder), to: Some(holder) };
            (rollout.holder, rollout.held_since) = (holder, now);
            to.rollout(&name, held);
        }
        self.set_due(place);
    }

    /// Ends the rollout of a workload: as its end stands, if that counts, or because another begins.
    fn end(&mut self, place: u16, now: Timestamp, counts: bool, to: &mut impl ObserveRollouts) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        let outcome = workload.outcome().filter(|_| counts);
        let Some(rollout) = workload.rollout.take() else { return };
        let (outcome, ended, is_exact) = match outcome {
            Some((outcome, end)) => (outcome, end.since, end.is_exact),
            None => (RolloutOutcome::Superseded, now, true),
        };
        if matches!(outcome, RolloutOutcome::Completed | RolloutOutcome::RolledBack)
            && let Some(revision) = rollout.arrived_at()
        {
            workload.own = revision;
        }
        workload.recent_mut(now).divided = Some(rollout.divided.min(ended));
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

impl Judgement {
    fn of_event(seen: &SnapshotContext) -> Self {
        Self { now: seen.now, is_exact: seen.in_sync }
    }
}
