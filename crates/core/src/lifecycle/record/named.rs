//! Gates and milestones of your own in a record ([§16](crate::specification#s16)).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntervalResult, Record};
use crate::label_values;
use crate::lifecycle::cause::Cause;
use crate::lifecycle::custom_milestone::{CustomStart, SloInterval};
use crate::lifecycle::gate::GateKind;
use crate::lifecycle::interval::{Interval, Stage};
use crate::lifecycle::judgement::{DurationJudgement, Latency, UnobservedReason};
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::startup::Startup;
use crate::timestamp::Timestamp;

label_values! {
    /// Where a gate and its pod are.
    pub enum GateState {
        /// It holds the pod
        Holding => "holding",
        /// It does not hold the pod yet: containers are not ready
        Waiting => "waiting",
        /// It was passed
        Passed => "passed",
    }
}

/// A gate of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "gate")]
pub struct RecordedGate {
    pub kind: GateKind,
    /// The name of the scheduling gate, or the condition type of the readiness gate
    pub gate: Arc<str>,
    pub state: GateState,
    /// Since when it holds the pod: since its creation, or since its containers are ready; left out where that is not known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it was first passed, where that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<Timestamp>,
}

/// A milestone of your own of which the pod has had the condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "custom_milestone")]
pub struct RecordedCustomMilestone {
    /// Its name
    pub milestone: Arc<str>,
    /// The condition type that shows it
    pub condition: Arc<str>,
    /// When it was reached, where it was and that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// How long it took since the pod was created, where that was observed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_seconds: Option<Latency>,
    /// How long it took since all containers had started, where that was observed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers_started_seconds: Option<Latency>,
    /// Why the first of the two was not observed, once that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unobserved: Option<UnobservedReason>,
}

impl RecordedCustomMilestone {
    /// One of its durations, where that was observed.
    pub const fn seconds(&self, from: CustomStart) -> Option<Latency> {
        match from {
            CustomStart::Created => self.created_seconds,
            CustomStart::ContainersStarted => self.containers_started_seconds,
        }
    }

    /// One of its durations by name; `None` where no milestone can have this name, which only a stranger's record has.
    pub fn interval(&self, from: CustomStart) -> Option<SloInterval> {
        let interval = SloInterval::Custom { milestone: Arc::clone(&self.milestone), from };
        (SloInterval::from_text(&interval.text())? == interval).then_some(interval)
    }
}

impl Startup {
    /// The gates of the pod; of a startup that is over none holds it.
    pub(super) fn recorded_gates(&self) -> Vec<RecordedGate> {
        let states = self.named.iter().flat_map(|named| named.gate_states());
        let recorded = states.map(|(kind, gate, state)| {
            let begin = match kind {
                GateKind::Scheduling => Milestone::Created,
                GateKind::Readiness => Milestone::ContainersReady,
            };
            let is_passed = state.passed.is_reached();
            RecordedGate {
                kind,
                gate: gate.into(),
                state: match (state.is_holding, is_passed) {
                    (true, _) => GateState::Holding,
                    (false, true) => GateState::Passed,
                    (false, false) => GateState::Waiting,
                },
                since: (self.reached(begin).usable()).filter(|_| state.is_holding && !is_passed),
                passed: state.passed.usable(),
            }
        });
        recorded.collect()
    }

    /// The milestones of your own.
    pub(super) fn recorded_custom_milestones(
        &self,
        outcome: Option<Outcome>,
    ) -> Vec<RecordedCustomMilestone> {
        let states = self.named.iter().flat_map(|named| named.custom_states());
        let recorded = states.map(|(milestone, state)| {
            let created_seconds = self.custom_latency(CustomStart::Created, state);
            RecordedCustomMilestone {
                milestone: Arc::clone(&milestone.name),
                condition: Arc::clone(&milestone.condition),
                time: state.reached.usable(),
                created_seconds,
                containers_started_seconds: self
                    .custom_latency(CustomStart::ContainersStarted, state),
                unobserved: match state.reached.is_reached() {
                    true if state.is_preexisting => Some(UnobservedReason::Preexisting),
                    true => created_seconds.is_none().then_some(UnobservedReason::Time),
                    // A pod that is ready is followed until it comes.
                    false => outcome
                        .is_some_and(|outcome| outcome != Outcome::Ready)
                        .then_some(UnobservedReason::NotSeen),
                },
            }
        });
        recorded.collect()
    }
}

impl Record {
    /// The gates that hold the pod.
    pub fn holding_gates(&self) -> impl Iterator<Item = &RecordedGate> {
        self.gates.iter().filter(|gate| gate.state == GateState::Holding)
    }

    /// How long a gate took that was passed, where that was observed ([§16.10](crate::specification#s16-10),
    /// [§16.3](crate::specification#s16-3)). A readiness gate was not where it and ContainersReady had been reached when
    /// the pod was adopted.
    pub fn gate_seconds(&self, gate: &RecordedGate) -> Option<Latency> {
        let passed = gate.passed?;
        let judgement = match gate.kind {
            GateKind::Scheduling => {
                DurationJudgement::from_times(self.reached(Milestone::Created), Some(passed))
            }
            GateKind::Readiness => {
                let ready = self.reached(Milestone::ContainersReady)?;
                if self.was_preexisting(Stage::Containers) && passed <= self.discovered {
                    return None;
                }
                DurationJudgement::of_nanos(passed.nanos_since(ready).max(0))
            }
        };
        match judgement {
            DurationJudgement::Usable { latency, .. } => Some(latency),
            DurationJudgement::Unusable(_) => None,
        }
    }

    /// Whether the stage had ended when the pod was adopted.
    fn was_preexisting(&self, stage: Stage) -> bool {
        let mut intervals = self.intervals.iter();
        let reason = UnobservedReason::Preexisting;
        intervals.any(|one| {
            one.interval == Interval::Stage(stage)
                && one.result == IntervalResult::Unobserved { reason }
        })
    }

    /// The first gate that holds a pod which waits for this cause, where it waits for a gate.
    pub fn gate_of(&self, cause: Cause) -> Option<&RecordedGate> {
        let kind = match cause {
            Cause::Gate => GateKind::Scheduling,
            Cause::ReadinessGate => GateKind::Readiness,
            _ => return None,
        };
        self.holding_gates().find(|gate| gate.kind == kind)
    }
}
