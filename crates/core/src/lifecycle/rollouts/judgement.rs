//! What is judged of created pods ([§17.2](crate::specification#s17-2), [§17.4](crate::specification#s17-4)): at once where
//! an event of a source in sync shows them, and else together.

use std::collections::{BTreeMap, BTreeSet};

use super::observation::RolloutObservation;
use super::rollout::{EndKind, Rollout, RolloutHolder};
use super::workload_pods::WorkloadPods;
use super::{ObserveRollouts, Rollouts};
use crate::lifecycle::classification::{SnapshotOrigin, existed_before};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::snapshot_context::SnapshotContext;
use crate::pod::{PodSnapshot, Revision};
use crate::timestamp::Timestamp;

/// What has come of a source and is judged together.
#[derive(Debug, Default)]
pub(super) struct Unjudged {
    /// The workloads of which something changes, with the revisions that have had pods
    touched: BTreeMap<u16, Vec<Revision>>,
    new: Vec<NewPod>,
    /// The workloads of pods that were there before
    found: BTreeSet<u16>,
}

impl Unjudged {
    /// Something changes of a workload.
    pub(super) fn touch(&mut self, place: u16, workload: &WorkloadPods) {
        self.touched.entry(place).or_insert_with(|| workload.live_revisions());
    }
}

/// A pod that was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewPod {
    pub(super) workload: u16,
    pub(super) revision: Revision,
    pub(super) created: Option<Timestamp>,
    /// How many pods are wanted if it begins a rollout
    pub(super) wanted: u32,
    /// Since when its workload had no pod
    pub(super) empty_since: Option<Timestamp>,
}

/// Whether the first snapshot of a pod shows that it was created while its source was followed.
pub(super) fn is_created(snapshot: &PodSnapshot, seen: &SnapshotContext) -> bool {
    match seen.origin {
        SnapshotOrigin::Later { first_list_began } => !existed_before(snapshot, first_list_began),
        SnapshotOrigin::FirstList | SnapshotOrigin::Resharded { .. } => false,
    }
}

impl Rollouts {
    /// What comes of `source` from now on is judged at [`Rollouts::judge`] only.
    pub(in crate::lifecycle) fn defer(&mut self, source: SourceId) {
        self.unjudged.entry(source).or_default();
    }

    /// Whether something of `source` is not judged yet.
    pub(in crate::lifecycle) fn defers(&self, source: SourceId) -> bool {
        self.unjudged.contains_key(&source)
    }

    /// A pod of `revision` comes to a workload: it is `new`, or was there before.
    pub(super) fn enters(
        &mut self,
        place: u16,
        revision: Revision,
        new: Option<NewPod>,
        seen: &SnapshotContext,
        to: &mut impl ObserveRollouts,
    ) {
        match (self.unjudged.get_mut(&seen.source), new) {
            (Some(unjudged), Some(new)) => unjudged.new.push(new),
            (Some(unjudged), None) => {
                unjudged.found.insert(place);
                unjudged.touched.entry(place).or_default().push(revision);
            }
            (None, Some(new)) => self.comes(new, WorkloadPods::live_revisions, seen.now, to),
            (None, None) => self.find(place, seen.now, to),
        }
    }

    /// Judges what was put off of `source`, which is in sync again.
    pub(in crate::lifecycle) fn judge(
        &mut self,
        seen: &SnapshotContext,
        to: &mut impl ObserveRollouts,
    ) {
        let Some(unjudged) = self.unjudged.remove(&seen.source) else { return };
        let Unjudged { mut touched, mut new, found, .. } = unjudged;
        for place in touched.keys() {
            self.divide(*place, seen.now, to);
        }
        new.sort_by_key(|pod| pod.created);
        // The first pods of a workload that had none may not be in the order of their creation.
        let mut empty: BTreeMap<u16, Timestamp> =
            new.iter().filter_map(|pod| Some((pod.workload, pod.empty_since?))).collect();
        for mut pod in new {
            pod.empty_since = empty.remove(&pod.workload);
            let lived = touched.entry(pod.workload).or_default();
            self.comes(pod, |_| lived.clone(), seen.now, to);
            lived.push(pod.revision);
        }
        for place in found {
            self.find(place, seen.now, to);
        }
        for place in touched.into_keys() {
            self.settle(place, seen.now, false, to);
        }
    }

    /// A pod was created: it may begin a rollout ([§17.2](crate::specification#s17-2)). Of the revisions that have `lived`
    /// none is a third one.
    fn comes(
        &mut self,
        pod: NewPod,
        lived: impl FnOnce(&WorkloadPods) -> Vec<Revision>,
        now: Timestamp,
        to: &mut impl ObserveRollouts,
    ) {
        let NewPod { workload: place, revision, created, mut wanted, empty_since } = pod;
        let (is_known, created) = (created.is_some(), created.unwrap_or(now));
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if workload.rollout.is_none()
            && empty_since.is_some_and(|since| WorkloadPods::is_forgotten(since, created))
        {
            workload.own = revision;
        }
        if let Some(rollout) = &workload.rollout {
            if !workload.is_third(rollout, revision) {
                return;
            }
            // A workload without a pod for a moment is not removed.
            let ends = rollout.end.is_some_and(|end| end.end.kind != EndKind::Empty);
            if !ends {
                wanted = rollout.wanted;
            }
            self.end(place, now, ends, to);
        }
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if revision == workload.own {
            return;
        }
        let begin = workload.begin(revision, created);
        let lived = lived(workload).into_iter().filter(|one| *one != revision);
        let mut rollout = Rollout::new(revision, begin.at, wanted, now).with_lived(lived);
        rollout.begin_is_known = begin.is_known && is_known;
        rollout.divided = begin.at.max(workload.divided).min(now);
        // From where a pod was asked to make room until the creation of the first pod, that was ending.
        rollout.holder = RolloutHolder::Ending;
        let made_room = rollout.divide(created.min(now));
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
        self.divide(place, now, to);
    }

    /// Looks whether a workload whose pods were there before rolls out ([§17.4](crate::specification#s17-4)).
    fn find(&mut self, place: u16, now: Timestamp, to: &mut impl ObserveRollouts) {
        let Some(workload) = self.workloads.get_mut(place) else { return };
        if workload.rollout.as_ref().is_some_and(|rollout| !rollout.found) {
            return;
        }
        let live = || workload.revisions().iter().filter(|one| one.pods.live() > 0);
        let newest = live().max_by_key(|pods| pods.oldest);
        let oldest = live().min_by_key(|pods| pods.oldest);
        let (Some(newest), Some(oldest)) = (newest, oldest) else { return };
        let (new, own) = (newest.revision, oldest.revision);
        let before = workload.rollout.as_ref().map(|rollout| rollout.holder);
        if newest.oldest == oldest.oldest {
            return;
        }
        let began = Timestamp::from_seconds(newest.oldest.into());
        let wanted = workload.total().live().max(1);
        let lived = workload.live_revisions();
        let mut rollout = Rollout::new(new, began, wanted, now).with_lived(lived.into_iter());
        rollout.found = true;
        rollout.divided = now;
        rollout.last_ready = now;
        rollout.holder = workload.holder(new, wanted);
        let holder = rollout.holder;
        workload.own = own;
        if let Some(before) = &mut workload.rollout {
            before.drop_end(&workload.name, to);
        }
        workload.rollout = Some(Box::new(rollout));
        self.in_progress.insert(place);
        let Some(workload) = self.workloads.get(place) else { return };
        let held = RolloutObservation::Held { from: before, to: Some(holder) };
        to.rollout(&workload.name, held);
    }
}
