//! The accounting ([§5](crate::specification#s5)): which pods are known, the state of each, and what
//! every delivery changes.

mod interruptions;
mod saving;

use std::collections::VecDeque;
use std::sync::Arc;

use super::classification::{Classification, SnapshotOrigin};
use super::delivery::{Delivery, PodEvent, SourceId};
use super::estimate::TimestampMode;
use super::eviction::{Cap, Evictable, Evicted, EvictedState, RefusalReason};
use super::finished_pod::FinishedPod;
use super::last_seen::LastSeen;
use super::observation::{PodObservation, PodState, Reporter, Sink, TrackerObservation};
use super::outcome::Outcome;
use super::pod_in_flight::{PodInFlight, SharedState, UpdateContext};
use super::reentry::ReentryBaseline;
use super::slo::{SloId, SloProgress, SloRule, Timers};
use super::sources::Sources;
use super::startup::SnapshotContext;
use super::table::PodTable;
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// How long a deleted pod stays remembered, so that a late duplicate does not revive it.
const DELETED_NANOS: i64 = 600 * NANOS_PER_SECOND;

/// Options of the accounting.
#[derive(Clone, Debug)]
pub struct TrackerConfig {
    /// Which times durations are made of
    pub timestamps: TimestampMode,
    /// Observe the pods of the first list as if they had been watched
    pub backfill: bool,
    /// The SLOs in force; an [`SloId`] is a position in it
    pub slos: Arc<[SloRule]>,
    /// The most pods that are remembered, whatever their state
    pub max_pods: usize,
}

impl Default for TrackerConfig {
    /// Times as the API states them, no SLOs, and no cap: a recording is finite.
    fn default() -> Self {
        Self {
            timestamps: TimestampMode::default(),
            backfill: false,
            slos: Arc::default(),
            max_pods: usize::MAX,
        }
    }
}

/// Everything remembered of one pod.
#[derive(Debug)]
pub(super) enum Record {
    InFlight(Box<PodInFlight>),
    Finished(FinishedPod),
    Deleted {
        /// The second of its creation
        created: u32,
        /// When it was deleted
        at: Timestamp,
    },
}

impl Record {
    fn source(&self) -> Option<SourceId> {
        match self {
            Self::InFlight(pod) => Some(pod.last_seen.source),
            Self::Finished(kept) => Some(kept.last_seen().source),
            Self::Deleted { .. } => None,
        }
    }

    /// The second of the pod's creation.
    fn created(&self) -> u32 {
        match self {
            Self::InFlight(pod) => pod.last_seen.created,
            Self::Finished(kept) => kept.last_seen().created,
            Self::Deleted { created, .. } => *created,
        }
    }

    fn evictable(&self) -> Option<Evictable> {
        let state = match self {
            Self::InFlight(_) => return None,
            Self::Finished(_) => EvictedState::Finished,
            Self::Deleted { .. } => EvictedState::Deleted,
        };
        let created = self.created();
        Some(Evictable { created, state })
    }
}

/// Accounts for every pod. One owner feeds it deliveries; it has no clock and does no I/O.
#[derive(Debug, Default)]
pub struct Tracker {
    timestamps: TimestampMode,
    backfill: bool,
    pub(super) pods: PodTable<Record>,
    pub(super) cap: Cap,
    pub(super) deleted: VecDeque<(Timestamp, PodUid)>,
    pub(super) sources: Sources,
    pub(super) shared: SharedState,
    pub(super) now: Option<Timestamp>,
}

/// How a snapshot was delivered.
struct DeliveryContext {
    source: SourceId,
    now: Timestamp,
    observed: Option<Timestamp>,
    origin: SnapshotOrigin,
}

impl Tracker {
    /// A tracker that knows no pod.
    pub fn new(config: TrackerConfig) -> Self {
        Self {
            timestamps: config.timestamps,
            backfill: config.backfill,
            cap: Cap::new(config.max_pods),
            shared: SharedState {
                rules: config.slos,
                ..SharedState::default()
            },
            ..Self::default()
        }
    }

    /// How many pods are remembered, whatever their state.
    pub fn remembered(&self) -> usize {
        self.pods.len()
    }

    /// Whether `uid` was deleted so recently that at `now` it is still remembered for it.
    pub fn has_deleted(&mut self, uid: PodUid, now: Timestamp) -> bool {
        self.forget_deleted(now);
        matches!(self.pods.get_mut(uid), Some(Record::Deleted { .. }))
    }

    /// How many pods in flight still wait for their event of `slo`.
    pub fn undecided(&self, slo: SloId) -> usize {
        let waits = |record: &Record| match record {
            Record::InFlight(pod) => pod.undecided().any(|waiting| waiting == slo),
            Record::Finished(_) | Record::Deleted { .. } => false,
        };
        self.pods.iter().filter(|(_, record)| waits(record)).count()
    }

    /// Puts other SLOs in force. Pods in flight go on for those that have only changed their
    /// threshold or grace; every other one concerns the pods that come from now on.
    pub fn set_slos(&mut self, rules: Arc<[SloRule]>) {
        let old = std::mem::replace(&mut self.shared.rules, rules);
        let successor = |rule: &SloRule| {
            let mut newer = (0..).map(SloId).zip(self.shared.rules.iter());
            newer
                .find(|(_, newer)| rule.becomes(newer))
                .map(|(id, _)| id)
        };
        let successors: Vec<Option<SloId>> = old.iter().map(successor).collect();
        self.shared.timers = Timers::default();
        for record in self.pods.values_mut() {
            if let Record::InFlight(pod) = record {
                pod.replace_slos(&successors, &mut self.shared);
            }
        }
    }

    /// States that what `source` delivers first is no list, so that none of its lists is its first
    /// one: its pods are observed in full, and every list closes a gap.
    pub fn begin_without_list(&mut self, source: SourceId) {
        self.sources.begin_without_list(source);
    }

    /// The later of `now` and the latest time so far. Deliveries of several sources meet in a queue
    /// and a machine's clock can be set back, but accounted time does not go back.
    fn not_before(&mut self, now: Timestamp) -> Timestamp {
        *self
            .now
            .insert(self.now.map_or(now, |latest| latest.max(now)))
    }

    /// Lets time pass until `now`: deadlines pass, and deleted pods are forgotten.
    pub fn advance(&mut self, now: Timestamp, sink: &mut impl Sink) {
        let now = self.not_before(now);
        self.forget_deleted(now);
        self.end_step(now, &mut Reporter::new(now, sink));
    }

    /// Lets the deadlines before `at` pass, unless what happened until then may still be on its
    /// way.
    fn pass_deadlines(&mut self, at: Timestamp, reporter: &mut Reporter<'_, impl Sink>) {
        if !self.sources.may_pass_deadlines(at) {
            return;
        }
        while let Some((uid, slo)) = self.shared.timers.pop_passed(at) {
            if let Some(Record::InFlight(pod)) = self.pods.get_mut(uid) {
                pod.miss(slo, at, &self.shared.rules, reporter);
            }
        }
    }

    /// Accounted time has come to `now`, and everything delivered until then is accounted for.
    fn end_step(&mut self, now: Timestamp, reporter: &mut Reporter<'_, impl Sink>) {
        self.tidy_timers();
        self.pass_deadlines(now, reporter);
        let remembered = self.pods.len();
        reporter.tracker(TrackerObservation::Advanced { remembered });
    }

    /// Accounts for one delivery. The deadlines that passed before an event was observed pass
    /// before it is folded; without such an instant, and for lists, which close a gap, what was
    /// delivered comes first (§6, §8).
    pub fn apply(&mut self, delivery: Delivery, sink: &mut impl Sink) {
        let Delivery {
            source,
            event,
            now,
            observed,
            version,
        } = delivery;
        let now = self.not_before(now);
        let reporter = &mut Reporter::new(now, sink);
        self.forget_deleted(now);
        if let Some(observed) = observed {
            self.pass_deadlines(now.min(observed), reporter);
        }
        let (origin, complete_at) = match &event {
            PodEvent::Listed { began, .. } => {
                if let Some(nanos) = self.sources.gap_before(source, *began) {
                    reporter.tracker(TrackerObservation::GapClosed { nanos });
                }
                (self.sources.list(source, *began), *began)
            }
            _ => (self.sources.event(source), now),
        };
        if let PodEvent::Listed { .. } | PodEvent::Applied(_) | PodEvent::Deleted(_) = &event {
            self.sources.has_reported(source, complete_at);
        }
        let delivery = DeliveryContext {
            source,
            now,
            observed,
            origin,
        };
        match event {
            PodEvent::Applied(snapshot) => self.see(&snapshot, &delivery, reporter),
            PodEvent::Deleted(snapshot) => self.delete(&snapshot, &delivery, reporter),
            PodEvent::Listed { pods, .. } => self.list(pods, &delivery, reporter),
            PodEvent::StreamedListClosed { listed } => {
                self.sources.regain_sync(source);
                self.sweep(source, listed, reporter);
            }
            PodEvent::Bookmark => {}
            PodEvent::SyncLost => self.sources.lose_sync(source),
            PodEvent::Resumed => self.sources.resume(source, now),
            PodEvent::RolledBack => self.roll_back(source),
        }
        self.sources.account(source, version, complete_at);
        self.end_step(now, reporter);
    }

    /// Every pod in flight waits for each SLO at most once.
    fn tidy_timers(&mut self) {
        let SharedState {
            order,
            timers,
            rules,
        } = &mut self.shared;
        let pods = &mut self.pods;
        let live = order.len().saturating_mul(rules.len());
        timers.tidy(live, |uid, slo| {
            matches!(pods.get_mut(uid),
                Some(Record::InFlight(pod)) if pod.undecided().any(|waiting| waiting == slo))
        });
    }

    fn see(
        &mut self,
        snapshot: &PodSnapshot,
        delivery: &DeliveryContext,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let fold = self.fold(delivery, false);
        match self.pods.get_mut(snapshot.uid) {
            None => self.discover(snapshot, delivery, reporter),
            Some(Record::Deleted { .. }) => self.see_deleted(snapshot, delivery),
            Some(Record::Finished(kept)) => {
                let mut last_seen = kept.last_seen();
                let mut emit = |again| reporter.pod(&snapshot.info, again);
                last_seen.accept(snapshot, fold.baseline, &mut emit);
                *kept = last_seen.into();
            }
            Some(Record::InFlight(pod)) => {
                if let Some(outcome) = pod.fold(snapshot, fold, &mut self.shared, reporter) {
                    self.finish(snapshot.uid, outcome, reporter);
                }
            }
        }
    }

    fn fold(&self, delivery: &DeliveryContext, adopted: bool) -> UpdateContext {
        let DeliveryContext {
            source,
            now,
            observed,
            ..
        } = *delivery;
        let context = SnapshotContext {
            mode: self.timestamps,
            observed,
            live: !adopted,
        };
        UpdateContext {
            context,
            now,
            adopted,
            baseline: self.sources.reentry_baseline(source),
        }
    }

    fn discover(
        &mut self,
        snapshot: &PodSnapshot,
        delivery: &DeliveryContext,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        if let Err(reason) = self.admit(snapshot, delivery.now, reporter) {
            reporter.pod(&snapshot.info, PodObservation::Refused(reason));
            return;
        }
        match Classification::of(snapshot, delivery.origin, self.backfill) {
            Classification::New => self.follow(snapshot, delivery, false, reporter),
            Classification::Adopted => self.follow(snapshot, delivery, true, reporter),
            Classification::Static => self.exclude(snapshot, delivery, Outcome::Static, reporter),
            Classification::Preexisting => {
                self.exclude(snapshot, delivery, Outcome::Preexisting, reporter)
            }
            Classification::Accounted => self.remember(snapshot, delivery),
        }
    }

    /// Whether an unknown pod may be discovered, with room made for it where there is none.
    fn admit(
        &mut self,
        snapshot: &PodSnapshot,
        now: Timestamp,
        reporter: &mut Reporter<'_, impl Sink>,
    ) -> Result<(), RefusalReason> {
        let created = snapshot.created;
        if self.cap.may_know(created) {
            return Err(RefusalReason::MaybeKnown);
        }
        let in_flight = self.shared.order.len();
        let room = self
            .cap
            .make_room(&mut self.pods, in_flight, Record::evictable);
        let Some(evicted) = room else {
            self.cap.refuse(created, now);
            return Err(RefusalReason::Full);
        };
        if evicted != Evicted::default() {
            let pods = &mut self.pods;
            self.deleted.retain(|(_, uid)| pods.get_mut(*uid).is_some());
            reporter.tracker(TrackerObservation::Evicted(evicted));
        }
        match self.cap.may_know(created) {
            true => Err(RefusalReason::MaybeKnown),
            false => Ok(()),
        }
    }

    /// Discovers a pod that has no startup to be observed.
    fn exclude(
        &mut self,
        snapshot: &PodSnapshot,
        delivery: &DeliveryContext,
        outcome: Outcome,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let mut emit = |observation| reporter.pod(&snapshot.info, observation);
        let (from, to) = (PodState::Undiscovered, PodState::Finished(outcome));
        emit(PodObservation::Moved { from, to });
        let mut last_seen = LastSeen::new(snapshot, delivery.source, delivery.now);
        last_seen.accept(snapshot, ReentryBaseline::Last, &mut emit);
        SloProgress::of(&self.shared.rules, &snapshot.info).end(outcome, &mut emit);
        self.pods
            .insert(snapshot.uid, Record::Finished(last_seen.into()));
    }

    /// Begins to follow the startup of a pod.
    fn follow(
        &mut self,
        snapshot: &PodSnapshot,
        delivery: &DeliveryContext,
        adopted: bool,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let fold = self.fold(delivery, adopted);
        let shared = &mut self.shared;
        let mut pod = PodInFlight::discover(snapshot, delivery.source, fold.now, shared, reporter);
        let record = match pod.fold(snapshot, fold, shared, reporter) {
            None => Record::InFlight(Box::new(pod)),
            Some(outcome) => {
                pod.finish(outcome, shared, reporter);
                Record::Finished(pod.last_seen.into())
            }
        };
        self.pods.insert(snapshot.uid, record);
    }

    /// Ends the startup of a pod, if it is in flight, and remembers it as finished.
    pub(super) fn finish(
        &mut self,
        uid: PodUid,
        outcome: Outcome,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let Some(record) = self.pods.get_mut(uid) else {
            return;
        };
        if let Record::InFlight(pod) = record {
            pod.finish(outcome, &mut self.shared, reporter);
            *record = Record::Finished(pod.last_seen.into());
        }
    }

    /// The object of a DELETED event is the pod's last snapshot, unless it is an older version;
    /// then the pod ends, in any case (§5 rule 1).
    fn delete(
        &mut self,
        snapshot: &PodSnapshot,
        delivery: &DeliveryContext,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        let uid = snapshot.uid;
        let created = match self.pods.get_mut(uid) {
            None | Some(Record::Deleted { .. }) => return,
            Some(record) => record.created(),
        };
        self.see(snapshot, delivery, reporter);
        self.finish(uid, Outcome::Deleted, reporter);
        let at = delivery.now;
        self.pods.insert(uid, Record::Deleted { created, at });
        self.deleted.push_back((at, uid));
    }

    /// Accounted time does not go back, so the deleted pods stand in the order of their deletion.
    fn forget_deleted(&mut self, now: Timestamp) {
        while let Some((deleted_at, uid)) = self.deleted.front().copied()
            && now.nanos_since(deleted_at) > DELETED_NANOS
        {
            self.deleted.pop_front();
            // A backup may have brought it back, and it may have been deleted once more since.
            if let Some(Record::Deleted { at, .. }) = self.pods.get(uid)
                && *at == deleted_at
            {
                self.pods.remove(uid);
            }
        }
    }

    /// A completed list: what stands in it is seen, what is known but absent is gone (§5 rules 2,
    /// 4 and 5). The list gives its memory back as it is seen: what it says of a large cluster is
    /// not to stand in memory twice.
    fn list(
        &mut self,
        mut pods: Vec<PodSnapshot>,
        delivery: &DeliveryContext,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        const GIVE_BACK: usize = 4096;
        let listed = pods.iter().map(|snapshot| snapshot.uid).collect();
        pods.reverse();
        while let Some(snapshot) = pods.pop() {
            self.see(&snapshot, delivery, reporter);
            if pods.len().is_multiple_of(GIVE_BACK) {
                pods.shrink_to_fit();
            }
        }
        self.sweep(delivery.source, listed, reporter);
    }

    /// Ends or forgets every pod of `source` that does not stand.
    fn sweep(
        &mut self,
        source: SourceId,
        mut listed: Vec<PodUid>,
        reporter: &mut Reporter<'_, impl Sink>,
    ) {
        listed.sort_unstable();
        let absent: Vec<PodUid> = self
            .pods
            .iter()
            .filter(|(uid, record)| {
                record.source() == Some(source) && listed.binary_search(uid).is_err()
            })
            .map(|(uid, _)| uid)
            .collect();
        for uid in absent {
            self.finish(uid, Outcome::Vanished, reporter);
            self.pods.remove(uid);
        }
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
