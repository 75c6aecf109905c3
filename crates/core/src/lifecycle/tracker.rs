//! The accounting ([§5](crate::specification#s5)): which pods are known, the state of each, and what
//! every delivery changes.

mod deadlines;
mod deletion;
mod discovery;
mod following;
mod holds;
mod in_flight;
mod interruptions;
mod kube_events;
mod listing;
mod messages;
mod nodes;
mod one_list;
mod overdue;
mod relapses;
mod remembered_pod;
mod resharding;
mod saving;

use std::collections::VecDeque;
use std::sync::Arc;

use self::overdue::OverduePods;
use self::remembered_pod::{FinishedPod, RememberedPod};
use super::classification::Backfill;
use super::crashes::ReadyPods;
use super::delivery::{Delivery, PodEvent, SourceId};
use super::estimate::TimestampMode;
use super::eviction::EvictionCap;
use super::followed::{FollowedPods, UnfollowReason};
use super::in_place::{DeliveryView, OpenInPlace};
use super::label_hold::LabelHold;
use super::name_index::NameIndex;
use super::named::CustomMilestones;
use super::nodes::KnownNodes;
use super::observation::{TimedObserver, TrackerObservation};
use super::observer::Observer;
use super::outcome::Outcome;
use super::pod_in_flight::{PodInFlight, SharedState};
use super::record::{InFlightPosition, InFlightRecord};
use super::rollouts::{RolloutProgress, Rollouts};
use super::snapshot_context::SnapshotContext;

use super::slo::{SloMatches, SloRule};
use super::sources::DeliveredSources;
use super::stuck::{StuckAfter, StuckBefore};
use super::table::PodTable;
use crate::pod::{Ending, PodSnapshot, PodUid};
use crate::shard::Shard;
use crate::timestamp::Timestamp;

/// Options of the accounting.
#[derive(Clone, Debug)]
pub struct TrackerConfig {
    /// Which times durations are computed from
    pub timestamps: TimestampMode,
    /// Which pods of the first list are observed as if they had been watched
    pub backfill: Backfill,
    /// The SLOs in force; a [`SloId`](super::SloId) is an index into them
    pub slos: Arc<[SloRule]>,
    /// When a pod in flight counts as stuck
    pub stuck_after: StuckAfter,
    /// The most pods that are remembered, in whatever state
    pub max_pods: usize,
    /// Whether Events are a source of evidence ([§9](crate::specification#s9))
    pub events: bool,
    /// Whether nodes are a source of evidence ([§14](crate::specification#s14))
    pub nodes: bool,
    /// The shard whose nodes are counted; without one all are
    pub shard: Option<Shard>,
    /// The milestones of your own ([§16.5](crate::specification#s16-5)), in the order in which snapshots have their
    /// conditions
    pub milestones: CustomMilestones,
    /// The most deadlines that pass with one delivery, or as time passes; the rest pass one step later, each
    /// before its pod changes
    pub deadlines_at_once: usize,
}

impl Default for TrackerConfig {
    /// API times, no SLOs, no Events, no cap and no steps: a recording is finite, and nobody waits.
    fn default() -> Self {
        Self {
            timestamps: TimestampMode::default(),
            backfill: Backfill::Nothing,
            slos: Arc::default(),
            stuck_after: StuckAfter::default(),
            max_pods: usize::MAX,
            events: false,
            nodes: false,
            shard: None,
            milestones: CustomMilestones::default(),
            deadlines_at_once: usize::MAX,
        }
    }
}

/// Accounts for every pod. One owner passes it the deliveries; it has no clock and does no I/O.
#[derive(Debug, Default)]
pub struct Tracker {
    timestamps: TimestampMode,
    backfill: Backfill,
    pods: PodTable<RememberedPod>,
    /// The pods in flight by name
    names: NameIndex,
    cap: EvictionCap,
    /// When each pod with a tombstone was deleted, in that order
    tombstones: VecDeque<(Timestamp, PodUid)>,
    sources: DeliveredSources,
    shared: SharedState,
    /// Which deadlines have passed
    overdue: OverduePods,
    /// What is changed in place of pods whose startup is over
    in_place: OpenInPlace,
    rollouts: Rollouts,
    /// Which pods crash right after they were ready
    crashes: ReadyPods,
    /// The pods that were ready before a milestone of your own
    followed: FollowedPods,
    /// The pod in flight whose message was let go last
    messages_forgotten: Option<InFlightPosition>,
    /// The moment whose pods are being saved
    saving_at: Option<Timestamp>,
    /// The newest second of creation of any pod that was known and is forgotten; 0 before the first
    forgotten: u32,
    /// Accounted time: the latest time of any delivery so far
    now: Option<Timestamp>,
}

impl Tracker {
    /// A tracker that knows no pod.
    pub fn new(config: TrackerConfig) -> Self {
        Self {
            timestamps: config.timestamps,
            backfill: config.backfill,
            cap: EvictionCap::new(config.max_pods),
            shared: SharedState {
                matches: SloMatches::new(&config.slos),
                rules: config.slos,
                events: config.events,
                nodes: config.nodes.then(|| KnownNodes::new(config.shard)),
                stuck: StuckBefore::new(config.stuck_after),
                milestones: config.milestones,
                ..SharedState::default()
            },
            overdue: OverduePods::new(config.deadlines_at_once),
            // A shard has parts of workloads.
            rollouts: Rollouts::new(!config.shard.is_none_or(Shard::is_all)),
            ..Self::default()
        }
    }

    /// How many pods are remembered, in whatever state.
    pub fn remembered(&self) -> usize {
        self.pods.len()
    }

    /// States that `source` delivers something else before any list, so that none of its lists is a
    /// first list, and every list closes a gap. Its pods are observed in full, but for those that were old when it
    /// `began`, if that is known ([§8.4](crate::specification#s8-4)).
    pub fn begin_without_list(&mut self, source: SourceId, began: Option<Timestamp>) {
        self.sources.begin_without_list(source, began);
    }

    /// Advances accounted time to `now`, unless it is later already: deliveries of several sources
    /// are merged in one queue, and the clock of a machine can be set back.
    fn not_before(&mut self, now: Timestamp) -> Timestamp {
        *self.now.insert(self.now.map_or(now, |latest| latest.max(now)))
    }

    /// Accounts for time that has passed until `now`: deadlines pass, and tombstones are dropped. Call
    /// [`Tracker::pass_more`] as long as it [is behind](Tracker::is_behind).
    pub fn advance(&mut self, now: Timestamp, sink: &mut impl Observer) {
        let now = self.not_before(now);
        self.overdue.begin_step();
        self.drop_old_tombstones(now);
        let reporter = &mut TimedObserver::new(now, sink);
        self.end_step(now, reporter);
        self.rollouts.divide_all(now, true, reporter);
    }

    /// Accounts for one delivery. If the delivery says when its event was observed, the deadlines
    /// that passed before that pass first. Otherwise, and for lists, which close a gap, the delivery
    /// is accounted for first ([§6.7](crate::specification#s6-7), [§8.7](crate::specification#s8-7)).
    pub fn apply(&mut self, delivery: Delivery, sink: &mut impl Observer) {
        if self.repeats_node(&delivery) {
            return;
        }
        let Delivery { source, event, now, observed, version } = delivery;
        let now = self.not_before(now);
        let reporter = &mut TimedObserver::new(now, sink);
        self.drop_old_tombstones(now);
        self.pass_rollouts(now, reporter);
        self.overdue.begin_step();
        if let Some(observed) = observed {
            self.pass_deadlines(now.min(observed), reporter);
        }
        if self.apply_kube_events(&event, now, reporter) {
            // Events and nodes are of no list-watch of pods.
            self.end_step(now, reporter);
            return;
        }
        let event = match event {
            PodEvent::Nodes(event) => {
                self.apply_nodes(event, now, observed, reporter);
                self.end_step(now, reporter);
                return;
            }
            event => event,
        };
        let (origin, complete_at) = match &event {
            PodEvent::Listed { began, .. } => {
                if self.sources.is_blocked(source) {
                    self.pass_all(reporter);
                }
                self.shared.matches.begin(now);
                if let Some(nanos) = self.sources.gap_before(source, *began) {
                    reporter.tracker(TrackerObservation::GapClosed { nanos });
                }
                (self.sources.list(source, *began), *began)
            }
            _ => (self.sources.event(source), now),
        };
        if self.sources.is_in_sync(source) {
            self.shared.lags.in_sync(source, now);
        }
        let is_listed = matches!(event, PodEvent::Listed { .. } | PodEvent::Reconciled { .. });
        let seen = SnapshotContext {
            source,
            now,
            observed,
            origin,
            is_listed,
            mode: self.timestamps,
            in_sync: self.sources.may_pass_deadlines(source, now),
            baseline: self.sources.reentry_baseline(source),
            adopted: false,
            unbound: false,
            exact_network: false,
        };
        if is_listed || !self.sources.is_in_sync(source) {
            self.rollouts.defer(source);
        }
        match event {
            PodEvent::Applied(snapshot) => {
                self.take_name(&snapshot, source, reporter);
                self.shared.revisions.see(&snapshot);
                self.apply_snapshot(&snapshot, &seen, reporter);
            }
            PodEvent::Deleted(snapshot) => self.apply_deleted(&snapshot, &seen, reporter),
            PodEvent::Listed { pods, .. } => self.apply_list(pods, None, &seen, reporter),
            PodEvent::Reconciled { pods, version, .. } => {
                self.apply_list(pods, Some(version), &seen, reporter)
            }
            PodEvent::StreamedListClosed { listed } => {
                self.pass_all(reporter);
                self.sources.regain_sync(source);
                self.shared.lags.in_sync(source, now);
                self.close_list(source, listed, reporter);
            }
            PodEvent::Bookmark | PodEvent::OtherShard => {}
            // Accounted for above.
            PodEvent::Event(_) | PodEvent::OtherShardEvents(_) | PodEvent::Nodes(_) => {}
            PodEvent::SyncLost => {
                self.pass_all(reporter);
                self.sources.lose_sync(source, now);
                self.shared.lags.out_of_sync(source);
            }
            PodEvent::Resumed => {
                self.pass_all(reporter);
                self.sources.resume(source, now);
                self.shared.lags.in_sync(source, now);
            }
            PodEvent::CaughtUp => {
                self.pass_all(reporter);
                self.sources.regain_sync(source);
                self.shared.lags.in_sync(source, now);
            }
            PodEvent::RolledBack => self.roll_back(source),
        }
        if self.rollouts.defers(source) && self.sources.is_in_sync(source) {
            self.rollouts.judge(&seen, reporter);
        }
        self.sources.account(source, version, complete_at);
        self.end_step(now, reporter);
    }

    /// Accounted time has reached `now`, and everything delivered until then is accounted for.
    fn end_step(&mut self, now: Timestamp, reporter: &mut TimedObserver<'_, impl Observer>) {
        self.move_labels(reporter);
        self.tidy_deadlines();
        self.make_room_for_messages();
        self.pass_deadlines(now, reporter);
        self.pass_rollouts(now, reporter);
        self.rollouts.divide_all(now, false, reporter);
        if let Some(nodes) = &mut self.shared.nodes {
            nodes.advance(now, &mut |observation| reporter.node(observation));
        }
        reporter.tracker(self.advanced(now));
    }

    /// The rollouts in progress.
    pub fn rollouts(&self) -> impl Iterator<Item = RolloutProgress> {
        let is_ending = |uid| self.pods.get(uid).is_some_and(|pod| pod.rollout().is_ending());
        let nodes = self.shared.nodes.as_ref();
        let is_not_ready =
            move |name: &str| nodes.and_then(|nodes| nodes.not_ready(name)).is_some();
        self.rollouts.in_progress().map(move |mut progress| {
            progress.ending.retain(|pod| is_ending(pod.uid));
            for pod in &mut progress.ending {
                pod.node_is_not_ready = pod.node.as_deref().is_some_and(is_not_ready);
            }
            progress
        })
    }

    /// Whether a pod in flight is one of those that hold the rollout of its workload
    /// ([§17.3](crate::specification#s17-3)).
    pub fn holds_rollout(&self, pod: InFlightRecord<'_>) -> bool {
        self.rollouts.is_held_by(pod.pod.last_seen.rollout)
    }

    /// Divides the time until the latest delivery of the rollouts in progress ([§17.3](crate::specification#s17-3)).
    pub fn divide_rollouts(&mut self, sink: &mut impl Observer) {
        if let Some(now) = self.now {
            self.rollouts.divide_all(now, true, &mut TimedObserver::new(now, sink));
        }
    }

    /// Ends of rollouts count that have lasted until `now`.
    fn pass_rollouts(&mut self, now: Timestamp, reporter: &mut TimedObserver<'_, impl Observer>) {
        let Self { rollouts, sources, .. } = self;
        rollouts.pass(now, |source| sources.may_pass_deadlines(source, now), reporter);
    }

    /// The observation that everything until `now` is accounted for.
    fn advanced(&self, now: Timestamp) -> TrackerObservation {
        let lags = &self.shared.lags;
        TrackerObservation::Advanced {
            remembered: self.pods.len(),
            judged: self.sources.judged_until(now.plus_nanos(-lags.longest_hold())),
            lag: lags.greatest(),
        }
    }

    /// Accounts for a snapshot of a pod that exists, or did until this DELETED event.
    fn apply_snapshot(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        self.pass_deadlines_of(snapshot.uid, reporter);
        match self.pods.get_mut(snapshot.uid) {
            None => self.discover(snapshot, seen, reporter),
            Some(RememberedPod::Deleted { .. }) => {
                self.apply_to_tombstone(snapshot, seen, reporter)
            }
            Some(RememberedPod::Finished(finished)) => {
                let mut last_seen = finished.last_seen();
                let mut emit = |again| reporter.pod(&snapshot.info, again);
                let is_newest = last_seen.accept(snapshot, seen.baseline, &mut emit);
                if is_newest {
                    let rollout = last_seen.rollout;
                    last_seen.rollout = self.rollouts.see(rollout, snapshot, seen, false, reporter);
                }
                let ready = finished.ready();
                let is_unknown = finished.hold() == LabelHold::UNKNOWN;
                finished.update(last_seen, ready);
                if is_unknown {
                    self.hold_finished(snapshot, reporter);
                }
                let may_relapse = ready.is_some();
                if is_newest {
                    self.follow(snapshot, seen, reporter);
                    self.crashes.see(snapshot, seen.now);
                    if may_relapse {
                        self.see_relapse(snapshot, reporter);
                    }
                    self.see_in_place(snapshot, seen, false, reporter);
                }
            }
            Some(RememberedPod::InFlight(pod)) => {
                let knew = pod.knows_labels();
                let is_newest = pod.last_seen.is_newest(snapshot);
                let outcome = pod.fold(snapshot, seen, &mut self.shared, reporter);
                if is_newest {
                    let rollout = pod.last_seen.rollout;
                    pod.last_seen.rollout =
                        self.rollouts.see(rollout, snapshot, seen, false, reporter);
                }
                if pod.knows_labels() != knew {
                    Self::hold_again(pod, reporter);
                }
                if let Some(outcome) = outcome {
                    self.finish(snapshot.uid, outcome, snapshot.ending.as_deref(), reporter);
                    // It may be over with the same snapshot.
                    self.follow(snapshot, seen, reporter);
                    self.crashes.see(snapshot, seen.now);
                    self.see_relapse(snapshot, reporter);
                    self.see_in_place(snapshot, seen, false, reporter);
                }
            }
        }
    }

    /// Accounts for what a snapshot says of changes in place, if the startup of its pod is over.
    fn see_in_place(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        first: bool,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let view = DeliveryView { first, observed: seen.observed };
        let changes = snapshot.in_place.as_deref();
        let mut emit = |observation| reporter.tracker(observation);
        (self.in_place).see(snapshot.uid, changes, view, &mut emit);
    }

    /// Remembers a pod in flight.
    fn remember_in_flight(&mut self, pod: Box<PodInFlight>) {
        let uid = pod.uid;
        self.pods.insert(uid, RememberedPod::InFlight(pod));
        let Self { pods, names, .. } = self;
        if let Some(slot) = pods.slot(uid) {
            names.insert(slot, |slot| match pods.at(slot)? {
                RememberedPod::InFlight(pod) => Some(pod.names()),
                RememberedPod::Finished(_) | RememberedPod::Deleted { .. } => None,
            });
        }
    }

    /// Ends the startup of a pod, if it is in flight, and remembers the pod as finished. A followed pod is no longer
    /// followed. `ending` is how the pod ended, where its status says so.
    fn finish(
        &mut self,
        uid: PodUid,
        outcome: Outcome,
        ending: Option<&Ending>,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let slot = self.pods.slot(uid);
        let Some((remembered, slot)) = self.pods.get_mut(uid).zip(slot) else {
            return;
        };
        if let RememberedPod::InFlight(pod) = remembered {
            self.names.remove(pod.names(), slot);
            let outcome = pod.finish(outcome, &mut self.shared, reporter);
            let now = reporter.now();
            let finished = FinishedPod::from_pod(pod, outcome, now, &self.shared);
            let finished = RememberedPod::Finished(finished);
            if let RememberedPod::InFlight(pod) = std::mem::replace(remembered, finished) {
                if outcome == Outcome::Ready {
                    self.crashes.add(uid, pod.ready_at(now));
                }
                reporter.ended(self.shared.ended(pod, outcome, now, ending));
            }
            self.begin_following(uid, reporter);
        } else {
            self.leave(uid, UnfollowReason::Ended(outcome), reporter);
        }
    }
}

#[cfg(test)]
mod bound_revisions_tests;
#[cfg(test)]
mod event_messages_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod holds_tests;
#[cfg(test)]
mod lateness_tests;
#[cfg(test)]
mod never_ready_tests;
#[cfg(test)]
mod rejected_tests;
#[cfg(test)]
mod rollouts_tests;
#[cfg(test)]
mod scheduler_event_tests;
#[cfg(test)]
mod slo_change_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unmatched_tests;
