//! The pods of one workload by revision, and what has lately become of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::population::Population;
use super::rollout::Rollout;
use super::standing::{GENERATIONS, LivePod, PodStanding, StandingPods};
use crate::lifecycle::delivery::SourceId;
use crate::pod::{Revision, Workload};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A pod that went less than this before the next was created made room for it.
const MADE_ROOM_NANOS: i64 = 10 * NANOS_PER_SECOND;
/// So many pods that went are remembered of a workload.
const MOST_GONE: usize = 64;

/// The workload that rolls out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RolloutWorkload {
    /// The namespace of its pods
    pub namespace: Arc<str>,
    /// The workload of [§13.3](crate::specification#s13-3)
    pub workload: Arc<Workload>,
}

/// The pods of one revision.
#[derive(Clone, Debug)]
pub(super) struct RevisionPods {
    pub(super) revision: Revision,
    pub(super) pods: StandingPods,
    /// The second of the oldest creation of those that were not ending at first sight
    pub(super) oldest: u32,
}

impl RevisionPods {
    fn none(revision: Revision, oldest: u32) -> Self {
        Self { revision, pods: StandingPods::default(), oldest }
    }
}

/// A pod that went, and may have made room for one of another revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GonePod {
    revision: Revision,
    at: Timestamp,
    /// When its deletion was asked for; `None` if nobody has seen it go
    asked: Option<Timestamp>,
}

/// What has lately become of the pods; dropped where nothing has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RecentChanges {
    population: Population,
    gone: Vec<GonePod>,
    /// When it is looked at again whether something of it is still needed
    tidied_at: Option<Timestamp>,
}

impl RecentChanges {
    /// Drops how many pods lived until `end`.
    pub(super) fn forget_population(&mut self, end: Timestamp) {
        self.population.forget(end);
    }
}

/// How long it lasts until it is looked at again what has lately become of the pods.
const TIDIED_AFTER_NANOS: i64 = 1300 * NANOS_PER_SECOND;
/// A pod that is created after this time without one is the first of its workload.
const FORGOTTEN_NANOS: i64 = 600 * NANOS_PER_SECOND;
/// A creation may be delivered this late, so that a workload is kept for longer.
const LATE_CREATION_NANOS: i64 = 60 * NANOS_PER_SECOND;

/// The pods of one workload.
#[derive(Clone, Debug)]
pub(super) struct WorkloadPods {
    pub(super) name: RolloutWorkload,
    pub(super) source: SourceId,
    /// The workload's own revision
    pub(super) own: Revision,
    /// The generation of starting pods. It rises when the live pods become of one revision, so that pods that come later
    /// are told from those.
    pub(super) generation: u16,
    /// How many starting pods are of this generation
    late: u32,
    revisions: Vec<RevisionPods>,
    /// Since when no pod lives; the epoch before the first
    pub(super) empty_since: Option<Timestamp>,
    pub(super) recent: Option<Box<RecentChanges>>,
    pub(super) rollout: Option<Box<Rollout>>,
    /// Until when the time of its rollouts that have ended is divided
    pub(super) divided: Timestamp,
    /// When something is due
    pub(super) due: Option<Timestamp>,
}

/// When the first pods of a rollout began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begin {
    pub(super) at: Timestamp,
    pub(super) is_known: bool,
}

impl WorkloadPods {
    pub(super) fn new(name: RolloutWorkload, source: SourceId, own: Revision) -> Self {
        Self {
            name,
            source,
            own,
            generation: 0,
            late: 0,
            revisions: Vec::with_capacity(1),
            empty_since: Some(Timestamp::EPOCH),
            recent: None,
            rollout: None,
            divided: Timestamp::EPOCH,
            due: None,
        }
    }

    /// The pods of each revision that has any.
    pub(super) fn revisions(&self) -> &[RevisionPods] {
        &self.revisions
    }

    /// The revisions that have live pods, ending ones too.
    pub(super) fn live_revisions(&self) -> Vec<Revision> {
        self.revisions.iter().map(|one| one.revision).collect()
    }

    /// How many pods of `revision` stand how.
    pub(super) fn of(&self, revision: Revision) -> StandingPods {
        self.sum(|one| one == revision)
    }

    /// How many pods of the other revisions stand how.
    pub(super) fn of_others(&self, revision: Revision) -> StandingPods {
        self.sum(|one| one != revision)
    }

    /// How many pods stand how.
    pub(super) fn total(&self) -> StandingPods {
        self.sum(|_| true)
    }

    fn sum(&self, counts: impl Fn(Revision) -> bool) -> StandingPods {
        self.revisions.iter().filter(|one| counts(one.revision)).map(|one| one.pods).sum()
    }

    /// The revision of which all pods are that live and are not ending, if there are any.
    pub(super) fn only_revision(&self) -> Option<&RevisionPods> {
        let mut live = self.revisions.iter().filter(|one| one.pods.live() > 0);
        live.next().filter(|_| live.next().is_none())
    }

    /// How many starting pods came before the last new generation.
    pub(super) fn awaited(&self) -> u32 {
        self.total().starting - self.late
    }

    /// All starting pods are awaited from now on.
    pub(super) const fn begin_generation(&mut self) {
        self.generation = (self.generation + 1) % GENERATIONS;
        self.late = 0;
    }

    /// Counts a pod in, without a trace of it in what has lately become of the pods.
    pub(super) fn count_in(&mut self, pod: LivePod, created: u32) {
        let place = self.revisions.iter().position(|pods| pods.revision == pod.revision);
        let place = place.unwrap_or_else(|| {
            self.revisions.push(RevisionPods::none(pod.revision, u32::MAX));
            self.revisions.len() - 1
        });
        let of_revision = &mut self.revisions[place];
        *of_revision.pods.count_mut(pod.standing) += 1;
        if pod.standing != PodStanding::Ending {
            of_revision.oldest = of_revision.oldest.min(created);
        }
        if pod.standing == PodStanding::Starting && pod.generation == self.generation {
            self.late += 1;
        }
        self.empty_since = None;
    }

    fn count_out(&mut self, pod: LivePod) {
        if let Some(one) = self.revisions.iter_mut().find(|one| one.revision == pod.revision) {
            let count = one.pods.count_mut(pod.standing);
            *count = count.saturating_sub(1);
        }
        if pod.standing == PodStanding::Starting && pod.generation == self.generation {
            self.late = self.late.saturating_sub(1);
        }
        self.drop_empty();
    }

    fn drop_empty(&mut self) {
        self.revisions.retain(|one| one.pods.all() > 0);
    }

    /// A pod changes at `now`: it comes (`from` is `None`), goes (`to` is `None`) or stands in another way. `created`
    /// is the second of its creation.
    pub(super) fn change(
        &mut self,
        from: Option<LivePod>,
        to: Option<LivePod>,
        created: u32,
        now: Timestamp,
    ) {
        let live = self.total().live();
        let is_live =
            |pod: Option<LivePod>| pod.is_some_and(|pod| pod.standing != PodStanding::Ending);
        if live > 0 && is_live(from) != is_live(to) {
            self.recent_mut(now).population.changes(live, now);
        }
        if let Some(pod) = to {
            self.count_in(pod, created);
        }
        if let Some(pod) = from {
            self.count_out(pod);
        }
        if self.total().all() == 0 {
            self.empty_since = self.empty_since.or(Some(now));
        }
        let comes_up = to.filter(|to| to.standing.has_been_up()).filter(|to| {
            !from.is_some_and(|from| from.standing.has_been_up() && from.revision == to.revision)
        });
        if let Some(rollout) = &mut self.rollout {
            rollout.changed = now;
            if let Some(pod) = comes_up {
                rollout.comes_up(pod.revision);
            }
            let gets_ready = to.is_some_and(|to| {
                to.standing == PodStanding::Up && to.revision == rollout.new && from != Some(to)
            });
            if gets_ready {
                rollout.last_ready = now;
            }
        }
    }

    /// A pod of `revision` went at `now`, whose deletion was asked for then.
    pub(super) fn went(&mut self, revision: Revision, asked: Option<Timestamp>, now: Timestamp) {
        let gone = &mut self.recent_mut(now).gone;
        gone.retain(|pod| now.nanos_since(pod.at) < 6 * MADE_ROOM_NANOS);
        if gone.len() >= MOST_GONE {
            gone.remove(0);
        }
        gone.push(GonePod { revision, at: now, asked });
    }

    /// The greatest number of its pods that lived at one time in the 10 minutes before `created`, but for what lived
    /// before the last end, which may have been a surge.
    pub(super) fn wanted(&self, created: Timestamp) -> u32 {
        let from = created.plus_nanos(-600 * NANOS_PER_SECOND);
        let end = self.rollout.as_ref().and_then(|rollout| rollout.end);
        let from = from.max(end.map_or(from, |end| end.since));
        let recent = self.recent.as_ref();
        recent.map_or(0, |recent| recent.population.greatest_after(from)).max(1)
    }

    /// When a rollout to `new` began, the first pod of which was created at `created`: when the deletion of the pod was
    /// asked for that made room for it ([§17.2](crate::specification#s17-2)).
    pub(super) fn begin(&self, new: Revision, created: Timestamp) -> Begin {
        let makes_room = matches!(&*self.name.workload.kind, "StatefulSet" | "DaemonSet")
            || self.of_others(new).live() == 0;
        let gone = self.recent.as_ref().map_or(&[][..], |recent| &recent.gone);
        let before = gone.iter().filter(|pod| {
            makes_room && pod.revision != new && created.nanos_since(pod.at) < MADE_ROOM_NANOS
        });
        let mut begin = Begin { at: created, is_known: true };
        let mut last = None;
        for pod in before {
            begin.is_known &= pod.asked.is_some();
            last = last.max(pod.asked);
        }
        begin.at = last.map_or(created, |asked| asked.min(created));
        begin
    }

    /// What has lately become of the pods, to add something to it at `now`.
    pub(super) fn recent_mut(&mut self, now: Timestamp) -> &mut RecentChanges {
        self.recent.get_or_insert_with(|| {
            let tidied_at = Some(now.plus_nanos(TIDIED_AFTER_NANOS));
            Box::new(RecentChanges { tidied_at, ..RecentChanges::default() })
        })
    }

    /// Drops what is too old at `now` of what has lately become of the pods.
    pub(super) fn tidy(&mut self, now: Timestamp) {
        let is_over = self.recent.as_mut().is_some_and(|recent| {
            if recent.tidied_at.is_some_and(|at| at > now) {
                return false;
            }
            recent.tidied_at = Some(now.plus_nanos(TIDIED_AFTER_NANOS));
            recent.population.trim(now)
        });
        if is_over {
            self.recent = None;
        }
    }

    /// When something is due for it: its end counts, it is forgotten, or it is tidied.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let end = self.rollout.as_ref().and_then(|rollout| rollout.end);
        let end = end.map(|end| end.counts_at());
        let tidied_at = self.recent.as_ref().and_then(|recent| recent.tidied_at);
        end.into_iter().chain(self.forgotten_at()).chain(tidied_at).min()
    }

    /// Whether a pod that is `created` is the first of a workload that has had none since.
    pub(super) fn is_forgotten(since: Timestamp, created: Timestamp) -> bool {
        created.nanos_since(since) >= FORGOTTEN_NANOS
    }

    /// When it is forgotten, if no pod comes.
    pub(super) fn forgotten_at(&self) -> Option<Timestamp> {
        self.empty_since.map(|since| since.plus_nanos(FORGOTTEN_NANOS + LATE_CREATION_NANOS))
    }

    /// The revisions of a checkpoint, before their pods are counted.
    pub(super) fn expect(&mut self, oldest: Vec<(Revision, u32)>) {
        let revisions =
            oldest.into_iter().map(|(revision, oldest)| RevisionPods::none(revision, oldest));
        self.revisions = revisions.collect();
    }

    /// All pods of a checkpoint of `now` are counted.
    pub(super) fn drop_empty_revisions(&mut self, now: Timestamp) {
        self.drop_empty();
        if self.total().all() == 0 {
            self.empty_since = self.empty_since.or(Some(now));
        }
    }
}
