//! A startup that has ended, as the tracker hands it over.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Record;
use crate::lifecycle::cause::Cause;
use crate::lifecycle::interval::Interval;
use crate::lifecycle::judgement::Latency;
use crate::lifecycle::named::Named;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::slo::SloRule;
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::pod::{Claims, Ending, PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// A startup that has ended: what the tracker knew of the pod, moved out of it as it was. So a record
/// costs the accounting a move, and whoever reads it makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedStartup {
    pub(in crate::lifecycle) pod: Box<PodInFlight>,
    pub(in crate::lifecycle) outcome: Outcome,
    pub(in crate::lifecycle) at: Timestamp,
    /// How the pod ended, where its status says that
    #[serde(default)]
    ending: Option<Box<Ending>>,
    /// Its first snapshot ended it: nobody saw what the pod waited for
    #[serde(default)]
    is_unseen: bool,
    /// The SLOs that were in force when it ended; saved beside it, since records have them in common
    #[serde(skip)]
    pub(in crate::lifecycle) rules: Arc<[SloRule]>,
}

/// What became of a pod since its startup, while it is followed ([§16.5](crate::specification#s16-5)). Each amendment
/// replaces the one before.
#[derive(Clone, Debug)]
pub struct RecordAmendment {
    pub(in crate::lifecycle) named: Option<Box<Named>>,
    /// The events for SLOs, by name
    pub(in crate::lifecycle) slos: Vec<(Arc<str>, SloVerdict)>,
}

impl EndedStartup {
    /// Adds what became of the pod since its startup.
    pub fn amend(&mut self, RecordAmendment { named, slos }: &RecordAmendment) {
        let pod = &mut self.pod;
        if let Some(named) = named {
            pod.startup.named.get_or_insert_default().take_milestones(named);
        }
        for (slo, verdict) in slos {
            pod.slos.settle(slo, *verdict, &self.rules);
        }
    }

    pub(in crate::lifecycle) const fn new(
        pod: Box<PodInFlight>,
        outcome: Outcome,
        at: Timestamp,
        rules: Arc<[SloRule]>,
    ) -> Self {
        Self { pod, outcome, at, ending: None, is_unseen: false, rules }
    }

    /// The UID of the pod.
    pub fn uid(&self) -> PodUid {
        self.pod.uid
    }

    /// The names and labels of the pod.
    pub fn pod(&self) -> &PodInfo {
        &self.pod.info
    }

    /// The names and labels of the pod, so that a reader can share equal texts.
    pub fn pod_mut(&mut self) -> &mut PodInfo {
        &mut self.pod.info
    }

    /// The SLOs that were in force when it ended.
    pub const fn rules(&self) -> &Arc<[SloRule]> {
        &self.rules
    }

    /// The state of the pod when the startup ended.
    pub fn known(&self) -> &PodInFlight {
        &self.pod
    }

    /// The state of the pod and the SLOs, so that a reader can restore what a checkpoint has beside them.
    pub fn known_mut(&mut self) -> (&mut PodInFlight, &mut Arc<[SloRule]>) {
        (&mut self.pod, &mut self.rules)
    }

    /// How the pod ended; `None` where its status does not say.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_deref()
    }

    /// Keeps as much of the ending as records show ([`Ending::kept`]).
    pub(super) fn take_ending(&mut self, ending: Option<&Ending>) {
        self.ending = ending.map(|ending| Box::new(ending.kept()));
    }

    /// Marks a startup that ended with the first snapshot of its pod.
    pub(in crate::lifecycle) fn at_first_sight(self) -> Self {
        Self { is_unseen: true, ..self }
    }

    /// The claims in the newest version of the pod.
    pub const fn claims(&self) -> Claims {
        self.pod.startup.traits.claims()
    }

    /// How the startup ended.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// When the pod became ready; `None` of a startup that ended otherwise.
    pub fn became_ready(&self) -> Option<Timestamp> {
        (self.outcome == Outcome::Ready).then(|| self.pod.ready_at(self.at))
    }

    /// When the startup ended, in accounted time.
    pub const fn ended(&self) -> Timestamp {
        self.at
    }

    /// The duration of an interval; `None` where it was not observed.
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
        !self.is_unseen && causes.any(|recorded| recorded.waiting.cause() == cause)
    }

    /// The record of the startup.
    pub fn record(&self) -> Record {
        let ending = self.ending.clone();
        let mut record = (self.pod).record_ended(self.outcome, self.at, ending, &self.rules);
        if self.is_unseen {
            record.causes.clear();
        }
        record
    }
}
