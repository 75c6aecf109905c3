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

/// What became of a pod after its startup, as long as it is followed ([§16.5](crate::specification#s16-5)): all of it so far.
#[derive(Clone, Debug)]
pub struct RecordAmendment {
    pub(in crate::lifecycle) named: Option<Box<Named>>,
    /// The events for SLOs, by name
    pub(in crate::lifecycle) slos: Vec<(Arc<str>, SloVerdict)>,
}

impl EndedStartup {
    /// Takes in what became of the pod since.
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
        &mut self.pod.info
    }

    /// The SLOs that were in force when it ended.
    pub const fn rules(&self) -> &Arc<[SloRule]> {
        &self.rules
    }

    /// What was known of the pod.
    pub fn known(&self) -> &PodInFlight {
        &self.pod
    }

    /// What was known of the pod, and the SLOs, to put back what a checkpoint holds beside them.
    pub fn known_mut(&mut self) -> (&mut PodInFlight, &mut Arc<[SloRule]>) {
        (&mut self.pod, &mut self.rules)
    }

    /// How the pod ended, by its status.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_deref()
    }

    /// Keeps how the pod ended, as far as records do ([`Ending::kept`]).
    pub(super) fn take_ending(&mut self, ending: Option<&Ending>) {
        self.ending = ending.map(|ending| Box::new(ending.kept()));
    }

    /// The same, of a pod whose first snapshot ended its startup.
    pub(in crate::lifecycle) fn at_first_sight(self) -> Self {
        Self { is_unseen: true, ..self }
    }

    /// What the pod claims, as its newest version says.
    pub const fn claims(&self) -> Claims {
        self.pod.startup.traits.claims()
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
