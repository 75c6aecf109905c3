//! A startup that has ended, as the tracker hands it over.

use std::sync::{Arc, OnceLock};

use super::Record;
use crate::lifecycle::capacity::SavedCapacity;
use crate::lifecycle::cause::Cause;
use crate::lifecycle::interval::Interval;
use crate::lifecycle::judgement::Latency;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::pod_node::SavedPodNode;
use crate::lifecycle::saved::{SavedEnded, UnreadWaiting, WaitingTable};
use crate::lifecycle::slo::SloRule;
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::node::NodeLabels;
use crate::pod::{Claims, Ending, PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// A startup that has ended: what the tracker knew of the pod, moved out of it as it was. So a record
/// costs the accounting a move, and whoever reads it makes it.
#[derive(Debug)]
pub struct EndedStartup {
    pub(in crate::lifecycle) pod: Box<PodInFlight>,
    pub(in crate::lifecycle) outcome: Outcome,
    pub(in crate::lifecycle) at: Timestamp,
    /// How the pod ended, where its status says that
    ending: Option<Box<Ending>>,
    /// The SLOs that were in force when it ended
    pub(in crate::lifecycle) rules: Arc<[SloRule]>,
    /// Its saved form, once that was written: every checkpoint has the same
    written: OnceLock<Box<[u8]>>,
}

impl PartialEq for EndedStartup {
    fn eq(&self, other: &Self) -> bool {
        let all = |one: &Self| {
            let rules = Arc::clone(&one.rules);
            (one.outcome, one.at, one.ending.clone(), rules)
        };
        self.pod == other.pod && all(self) == all(other)
    }
}

impl Eq for EndedStartup {}

impl EndedStartup {
    pub(in crate::lifecycle) const fn new(
        pod: Box<PodInFlight>,
        outcome: Outcome,
        at: Timestamp,
        rules: Arc<[SloRule]>,
    ) -> Self {
        Self { pod, outcome, at, ending: None, rules, written: OnceLock::new() }
    }

    /// Which pod.
    pub fn uid(&self) -> PodUid {
        self.pod.uid
    }

    /// Its names.
    pub fn pod(&self) -> &PodInfo {
        &self.pod.info
    }

    /// Its names, to change them.
    pub fn pod_mut(&mut self) -> &mut PodInfo {
        self.written = OnceLock::new();
        &mut self.pod.info
    }

    /// The SLOs that were in force when it ended.
    pub const fn rules(&self) -> &Arc<[SloRule]> {
        &self.rules
    }

    /// The bytes of its saved form. `write` makes them, the first time.
    pub fn written(&self, write: impl FnOnce(&SavedEnded<&PodInFlight>) -> Box<[u8]>) -> &[u8] {
        self.written.get_or_init(|| write(&self.saved()))
    }

    /// What is saved of it; [`EndedStartup::rules`] stand beside it.
    fn saved(&self) -> SavedEnded<&PodInFlight> {
        let mut collected = self.pod.collected();
        if self.pod.is_message_announced() {
            collected.message = None;
        }
        SavedEnded {
            pod: &self.pod,
            collected,
            images: (self.pod.info.images.as_ref()).map_or_else(Vec::new, |images| images.to_vec()),
            waiting: self.pod.waiting.into(),
            outcome: self.outcome,
            at: self.at,
        }
    }

    /// What is known of its capacity, which is saved beside it.
    pub fn capacity(&self) -> Option<SavedCapacity> {
        self.pod.capacity()
    }

    /// Takes back what was known of its capacity.
    pub fn take_capacity(&mut self, saved: SavedCapacity) {
        self.pod.take_capacity(saved);
    }

    /// A startup that ended when the SLOs `rules` were in force, as it was saved with the numbers of `table`.
    ///
    /// # Errors
    /// If one of the numbers stands for nothing that is known here.
    pub fn restored(
        saved: SavedEnded,
        rules: Arc<[SloRule]>,
        table: &WaitingTable,
    ) -> Result<Self, UnreadWaiting> {
        let mut pod = saved.pod;
        pod.waiting = table.get(saved.waiting)?;
        pod.take_collected(saved.collected, table)?;
        pod.info.images = (!saved.images.is_empty()).then(|| Arc::new(saved.images));
        Ok(Self::new(pod, saved.outcome, saved.at, rules))
    }

    /// What is saved of its node (see [`PodInFlight::saved_node`]).
    pub fn saved_node(&self, number: impl FnMut(&Arc<NodeLabels>) -> u32) -> Option<SavedPodNode> {
        self.pod.saved_node(number)
    }

    /// Takes back what was known of its node.
    pub fn take_node(&mut self, saved: &SavedPodNode, labels: &[Arc<NodeLabels>]) {
        self.pod.take_node(saved, labels);
    }

    /// How the pod ended, by its status; saved beside it.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_deref()
    }

    /// Keeps how the pod ended, as far as records do ([`Ending::kept`]).
    pub fn take_ending(&mut self, ending: Option<&Ending>) {
        self.ending = ending.map(|ending| Box::new(ending.kept()));
    }

    /// What the pod claims, which is saved beside it.
    pub const fn claims(&self) -> Claims {
        self.pod.startup.traits.claims()
    }

    /// Takes back what the pod claims.
    pub const fn take_claims(&mut self, claims: Claims) {
        self.pod.startup.traits.set_claims(claims);
    }

    /// How it ended.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// When the pod became ready, of a startup that ended so.
    pub fn became_ready(&self) -> Option<Timestamp> {
        (self.outcome == Outcome::Ready).then(|| self.pod.ready_at(self.at))
    }

    /// When it ended, in accounted time.
    pub const fn ended(&self) -> Timestamp {
        self.at
    }

    /// The duration of an interval, where it was observed.
    pub fn duration(&self, interval: Interval) -> Option<Latency> {
        self.pod.startup.observed(interval)
    }

    /// The intervals that were observed, and their durations.
    pub fn measured(&self) -> impl Iterator<Item = (Interval, Latency)> {
        let all = Interval::ALL.into_iter();
        all.filter_map(|interval| Some((interval, self.duration(interval)?)))
    }

    /// Whether the pod missed an SLO.
    pub fn missed_slo(&self) -> bool {
        let mut results = self.pod.slos.results(&self.rules, &self.pod.startup);
        results.any(|(_, _, verdict)| matches!(verdict, Some(SloVerdict::Bad(_))))
    }

    /// Whether the cause is among the last for which the pod waited.
    pub fn had_cause(&self, cause: Cause) -> bool {
        let mut causes = self.pod.recorded_causes();
        causes.any(|recorded| recorded.waiting.cause() == cause)
    }

    /// The record of the startup.
    pub fn record(&self) -> Record {
        let ending = self.ending.clone();
        (self.pod).record_ended(self.outcome, self.at, ending, &self.rules)
    }
}
