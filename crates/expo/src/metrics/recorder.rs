//! From observations to atomics. The ingest task owns the recorder; nothing it does here waits.

mod saving;

use std::sync::Arc;

use super::holds::PodHolds;
use super::label_sets::{LabelSets, ResolvedLabelSet};
use super::labels::SeriesLabel;
use super::namespaces::{NamespacePlaces, OTHER_PLACE};
use super::slo::{SloCounter, SloDoc};
use super::store::MetricStore;
use podinit_core::lifecycle::{
    CustomInterval, EndedStartup, EvictedState, GateObservation, Interval, LabelHold, LabelMove,
    LabelObserver, Latency, NodeObservation, Observation, Observer, PodObservation, PodState,
    PullObservation, Stage, StartupSli, TrackerObservation, WaitReason,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{FamilySource, SpanRef};

/// Counts what the tracker observes.
pub struct Recorder {
    pub(super) store: Arc<MetricStore>,
    pub(super) labels: LabelSets,
    pub(super) namespaces: NamespacePlaces,
    pub(super) holds: PodHolds,
    /// By the number of a saved hold, which it is now; until [`Recorder::restore_holds`]
    pub(super) restored_holds: Vec<LabelHold>,
    /// What pods in flight may move to from the rest, until the tracker asks
    moves: Vec<LabelMove>,
    pub(super) slos: SloCounter,
    /// What counts something that is saved, besides the store
    pub(super) sources: Arc<[Box<dyn FamilySource>]>,
    observations: u64,
}

impl Recorder {
    pub(super) fn new(
        store: Arc<MetricStore>,
        labels: LabelSets,
        namespaces: NamespacePlaces,
        slos: SloCounter,
        sources: Arc<[Box<dyn FamilySource>]>,
    ) -> Self {
        Self {
            store,
            labels,
            namespaces,
            holds: PodHolds::default(),
            restored_holds: Vec::new(),
            moves: Vec::new(),
            slos,
            sources,
            observations: 0,
        }
    }

    /// How many observations there have been: while the number stays, nothing has been counted.
    pub const fn observations(&self) -> u64 {
        self.observations
    }

    /// Shows the series of a pod to which these conditional stages apply, at zero if they are new.
    pub fn show(&mut self, pod: &PodInfo, stages: impl IntoIterator<Item = Stage>) {
        let process = self.store.starts.process();
        self.set_of(process, pod);
        stages.into_iter().for_each(|stage| self.expose(process, pod, stage));
    }

    /// Puts other SLOs in force; one that keeps its name keeps its counts.
    pub fn set_slos(&mut self, docs: &[SloDoc]) {
        self.slos.replace(docs);
    }

    /// The pod's label set, shown to scrapes if it is new.
    fn set_of(&mut self, now: Option<Timestamp>, pod: &PodInfo) -> ResolvedLabelSet {
        let resolved = self.labels.resolve(pod);
        if resolved.new {
            self.store.add_set(resolved.set, self.labels.values(), now);
        }
        resolved
    }

    /// Shows the pod's histogram of a conditional stage.
    fn expose(&mut self, now: Option<Timestamp>, pod: &PodInfo, stage: Stage) {
        let resolved = self.set_of(now, pod);
        if let Some(set) = self.store.set(resolved.set) {
            set.expose(stage);
        }
    }

    /// Makes room for values of `pod` that have just become known, of the labels that `is_new` chooses: those of others
    /// that have been without a pod for a day end, where a cap is reached.
    fn make_room(&mut self, now: Timestamp, pod: &PodInfo, is_new: impl Fn(&SeriesLabel) -> bool) {
        if self.holds.may_have_any() {
            return;
        }
        let store = &self.store;
        let mut has_room = false;
        self.labels.make_room(
            now,
            pod,
            &is_new,
            |label| {
                has_room = true;
                store.expire(label);
            },
            |set| store.end_set(set),
        );
        let slos = &self.slos;
        let room = is_new(&SeriesLabel::Namespace)
            .then(|| self.namespaces.make_room(pod, now, |place| slos.end(place)));
        if let Some((place, others)) = room.flatten() {
            has_room = true;
            store.pod_counts.transfer(OTHER_PLACE, place, &others.waiting.0);
            store.stuck.transfer(OTHER_PLACE, place, &others.stuck.0);
            if self.labels.position_of(&SeriesLabel::Namespace).is_none() {
                store.expire_namespace();
            }
        }
        if has_room && self.holds.has_rest() {
            self.moves.push(LabelMove::Held);
        }
    }

    /// Shows the pod's series at zero before it is counted ([§7.2](crate::specification#s7-2)), and
    /// counts the values that were dropped: each once, the node when it is known.
    fn discover(&mut self, now: Timestamp, pod: &PodInfo) {
        self.make_room(now, pod, |_| true);
        if self.set_of(Some(now), pod).overflow {
            self.store.drop_whole_set();
        }
        let store = &self.store;
        let drops_namespace = self.namespaces.drops(pod);
        let mut is_counted = false;
        let of_namespace = self.labels.position_of(&SeriesLabel::Namespace);
        let mut count = |label| {
            is_counted |= Some(label) == of_namespace;
            store.dropped[label].increment();
        };
        self.labels.each_dropped(pod, |_| true, &mut count);
        if drops_namespace && !is_counted {
            store.drop_namespace();
        }
    }

    /// The labels that `is_new` chooses have become known.
    fn bind(&mut self, now: Timestamp, pod: &PodInfo, is_new: impl Fn(&SeriesLabel) -> bool) {
        if !self.labels.has_any(&is_new) {
            return;
        }
        self.make_room(now, pod, &is_new);
        if self.set_of(Some(now), pod).overflow && !self.labels.overflowed_without(pod, &is_new) {
            self.store.drop_whole_set();
        }
        let store = &self.store;
        self.labels.each_dropped(pod, is_new, |label| store.dropped[label].increment());
    }

    fn observe_node(&mut self, now: Timestamp, observation: NodeObservation<'_>) {
        self.observations += 1;
        let Some(nodes) = &self.store.nodes else {
            return;
        };
        match observation {
            NodeObservation::Moved { from, to } => nodes.move_node(from, to),
            NodeObservation::Measured(step) => nodes.observe(now, step),
            NodeObservation::PoolEntered(pool) => nodes.enter_pool(pool),
            NodeObservation::PoolLeft(pool) => nodes.leave_pool(pool, now),
            NodeObservation::Anomaly(kind) => {
                self.store.pods.count(PodObservation::Anomaly(kind));
            }
            NodeObservation::Late(late) => nodes.set_late(late),
        }
    }

    fn measure(&mut self, now: Timestamp, pod: &PodInfo, interval: Interval, latency: Latency) {
        let resolved = self.set_of(Some(now), pod);
        let Some(set) = self.store.set(resolved.set) else {
            return;
        };
        set.start.not_after(now);
        set.interval(interval).observe_pod(latency, pod, now);
    }

    fn measure_custom(
        &mut self,
        now: Timestamp,
        pod: &PodInfo,
        interval: CustomInterval,
        latency: Latency,
    ) {
        let resolved = self.set_of(Some(now), pod);
        if let Some(set) = self.store.set(resolved.set)
            && let Some(histogram) = set.milestones.histogram(interval)
        {
            set.start.not_after(now);
            histogram.observe_pod(latency, pod, now);
        }
    }

    fn count_gate(&mut self, now: Timestamp, pod: &PodInfo, gate: GateObservation<'_>) {
        self.observations += 1;
        self.store.gates.observe(now, pod, gate);
    }

    /// Names the spans of a startup in the exemplars of its durations: its trace is going to be sent.
    pub fn link_trace(&mut self, startup: &EndedStartup, span_of: impl Fn(Interval) -> SpanRef) {
        let resolved = self.set_of(Some(startup.ended()), startup.pod());
        let Some(set) = self.store.set(resolved.set) else {
            return;
        };
        for (interval, latency) in startup.measured() {
            let histogram = set.interval(interval);
            let span = span_of(interval);
            histogram.link_trace(latency, startup.pod(), startup.ended(), span);
        }
    }

    fn count_startup_sli(&mut self, now: Timestamp, pod: &PodInfo, sli: StartupSli) {
        match sli {
            StartupSli::Observed(latency) => {
                let resolved = self.set_of(Some(now), pod);
                let set = self.store.set(resolved.set);
                if let Some(set) = set
                    && let Some(histogram) = set.startup_sli()
                {
                    set.start.not_after(now);
                    histogram.observe_pod(latency, pod, now);
                }
            }
            StartupSli::Excluded(reason) => {
                if let Some(events) = &self.store.events {
                    events.families.sli_excluded.with(reason).increment();
                }
            }
        }
    }

    fn count_pull(&mut self, now: Timestamp, pod: &PodInfo, pull: PullObservation<'_>) {
        self.observations += 1;
        if let Some(events) = &self.store.events {
            events.pulls.observe(now, pod, pull);
        }
    }

    /// Counts what happened to `pod` at `now`.
    pub fn observe_pod(&mut self, now: Timestamp, pod: &PodInfo, observation: PodObservation) {
        self.observations += 1;
        self.store.starts.not_after(now);
        match observation {
            PodObservation::Moved { from, to } => {
                if from == PodState::Undiscovered {
                    self.discover(now, pod);
                }
                let place = self.namespaces.place_of(pod);
                self.store.pod_counts.move_pod(place, from, to);
                let [from, to] = [from, to].map(waiting);
                self.namespaces.move_waiting(place, pod, from, to);
            }
            PodObservation::OldestInFlight { stage, entered } => {
                self.store.oldest[stage as usize].set(entered);
            }
            PodObservation::Stuck { from, to } => {
                let place = self.namespaces.place_of(pod);
                self.store.stuck.move_pod(place, from, to);
                self.namespaces.move_stuck(place, pod, from, to);
            }
            PodObservation::Bound => self.bind(now, pod, SeriesLabel::is_known_when_bound),
            PodObservation::NodeKnown => self.bind(now, pod, SeriesLabel::is_of_node),
            PodObservation::Applies(stage) => self.expose(Some(now), pod, stage),
            PodObservation::Startup { node_age, images, latency } => {
                if let Some(cold_starts) = &self.store.cold_starts {
                    cold_starts.histogram(node_age, images).observe_pod(latency, pod, now);
                }
            }
            PodObservation::Measured { interval, latency } => {
                self.measure(now, pod, interval, latency)
            }
            PodObservation::CustomMeasured { interval, latency } => {
                self.measure_custom(now, pod, interval, latency)
            }
            PodObservation::CustomUnobserved { milestone, reason } => {
                self.store.milestones.count_unobserved(milestone, reason);
            }
            PodObservation::Slo { slo, verdict } => {
                let place = self.namespaces.place_of(pod);
                self.slos.count(slo, verdict, place);
            }
            PodObservation::StartupSli(sli) => self.count_startup_sli(now, pod, sli),
            PodObservation::Refused(reason) => self.store.tracker.refused.with(reason).increment(),
            PodObservation::Delivered(latency) => self.store.deliveries.delay.observe(latency),
            other => self.store.pods.count(other),
        }
    }

    fn observe_tracker(&mut self, observation: TrackerObservation) {
        match observation {
            TrackerObservation::Advanced { remembered, judged, lag } => {
                self.store.tracker.judged.set(Some(judged));
                self.store.tracker.lag.set(lag);
                self.store.tracker.remembered.set(remembered as u64);
            }
            TrackerObservation::GapClosed { nanos } => {
                self.observations += 1;
                self.store.tracker.gaps.add_nanos(nanos);
            }
            TrackerObservation::EventDropped(reason) => {
                self.observations += 1;
                if let Some(events) = &self.store.events {
                    events.families.dropped.with(reason).increment();
                }
            }
            // It is the list after it that counts.
            TrackerObservation::DeletionLost(_) => {}
            TrackerObservation::Relapsed => {
                self.observations += 1;
                self.store.pods.relapsed.increment();
            }
            TrackerObservation::Evicted(pods) => {
                self.observations += 1;
                for (state, pods) in EvictedState::ALL.into_iter().zip(pods) {
                    self.store.tracker.evicted.with(state).add(pods);
                }
            }
            other => {
                self.observations += 1;
                self.store.in_place.count(other);
            }
        }
    }
}

impl Observer for Recorder {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(pod, observation) => self.observe_pod(now, pod, observation),
            Observation::Pull(pod, pull) => self.count_pull(now, pod, pull),
            Observation::Gate(pod, gate) => self.count_gate(now, pod, gate),
            Observation::Gates(pod, gates) => {
                self.observations += 1;
                self.store.gates.observe_all(now, pod, gates, &mut self.moves);
            }
            Observation::Node(observation) => self.observe_node(now, observation),
            Observation::Rollout(workload, observation) => {
                self.observations += 1;
                if let Some(rollouts) = &self.store.rollouts {
                    self.store.starts.not_after(now);
                    rollouts.observe(now, workload, observation);
                }
            }
            Observation::Tracker(observation) => self.observe_tracker(observation),
        }
    }

    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(self)
    }
}

impl LabelObserver for Recorder {
    fn hold(&mut self, now: Timestamp, pod: &PodInfo) -> LabelHold {
        let set = self.set_of(Some(now), pod).set;
        let place = self.namespaces.place_of(pod);
        (self.holds).enter(set, place, &mut self.labels, &mut self.namespaces)
    }

    fn release(&mut self, now: Timestamp, hold: LabelHold) {
        (self.holds).leave(hold, now, &mut self.labels, &mut self.namespaces);
    }

    fn is_of_rest(&self, hold: LabelHold) -> bool {
        self.holds.is_of_rest(hold)
    }

    fn next_move(&mut self) -> Option<LabelMove> {
        self.moves.pop()
    }
}

/// Why a pod waits, if it is in flight.
const fn waiting(state: PodState) -> Option<WaitReason> {
    match state {
        PodState::InFlight(waiting, _) => Some(waiting),
        PodState::Undiscovered | PodState::Finished(_) => None,
    }
}

#[cfg(test)]
mod conditional_tests;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod tests;
