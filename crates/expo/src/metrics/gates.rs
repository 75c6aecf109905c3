//! Gates by name ([§16](crate::specification#s16)), within the cap on the values of a label.

use super::capped::{CappedFamilies, MetValue};
use super::label_values::OTHER_ID;
use super::labels::{DEFAULT_MAX_VALUES, GATE, OTHER};
use podinit_core::lifecycle::{
    GateEvent, GateKind, GateObservation, GatesEvent, GatesObservation, LabelMove,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{Gauge, GaugeVec, Histogram, HistogramVec, SavedFamilies, families};
use podinit_text::strangers_text::label;

families! {
    /// The gates with one name, which can be of both kinds. A kind is shown once it was met.
    pub(super) capped struct GateFamilies {
        pub(super) duration: HistogramVec<GateKind> =
            "podinit_gate_duration_seconds", ["kind", "gate"], experimental, saved,
            "Time for which a gate held up pods, from their creation (scheduling) or from when their containers were ready (readiness).";
        pub(super) holding: GaugeVec<GateKind> =
            "podinit_gated_pods", ["kind", "gate"], experimental, not_saved,
            "Pods that are starting up and that the gate holds now.";
    }
}

impl GateFamilies {
    /// What is counted of this kind, which is shown from now on.
    fn with(&self, kind: GateKind) -> (&Histogram, &Gauge) {
        (self.duration.with(kind), self.holding.with(kind))
    }
}

/// The series of all gates: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct GateSeries {
    pub(super) by_name: CappedFamilies<GateFamilies>,
}

impl Default for GateSeries {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_VALUES)
    }
}

impl GateSeries {
    pub(super) fn new(max_gates: usize) -> Self {
        Self { by_name: CappedFamilies::new(GATE, max_gates) }
    }

    /// Counts what happened at `now` to all gates of `pod`, which each have a pod in flight more or less. Those that get a
    /// place while the rest has pods in flight are added to `moves`.
    pub(super) fn observe_all(
        &self,
        now: Timestamp,
        pod: &PodInfo,
        all: GatesObservation<'_>,
        moves: &mut Vec<LabelMove>,
    ) {
        let Self { by_name } = self;
        let mut without = Vec::new();
        for (kind, gate) in all.each() {
            let name = label(gate);
            match all.event {
                GatesEvent::Left => by_name.leave(by_name.id(&name), now),
                GatesEvent::Restored => by_name.enter(by_name.id(&name)),
                // Those that have a place keep it before others get one.
                GatesEvent::Met => match by_name.known(&name) {
                    None => without.push((kind, gate, name)),
                    Some(MetValue { id, series, .. }) => {
                        by_name.enter(id);
                        series.with(kind);
                    }
                },
            }
        }
        let mut is_dropped = false;
        for (kind, gate, name) in without {
            let MetValue { id, series, is_new } = by_name.meet(&name, Some(&pod.namespace), now);
            series.with(kind);
            by_name.enter(id);
            is_dropped |= id == OTHER_ID;
            if is_new && by_name.has_rest() {
                moves.push(LabelMove::Gate(gate.into()));
            }
        }
        if is_dropped {
            by_name.dropped.increment();
        }
    }

    /// Adds what was saved, once places are restored.
    pub(super) fn restore(&self, saved: &SavedFamilies) {
        self.by_name.restore(saved);
        for (_, families) in self.by_name.met() {
            let is_met = |kind: &GateKind| families.duration.get(*kind).is_some();
            GateKind::ALL.into_iter().filter(is_met).for_each(|kind| _ = families.with(kind));
        }
    }

    /// Counts what happened at `at` to a gate of `pod`.
    pub(super) fn observe(&self, at: Timestamp, pod: &PodInfo, observation: GateObservation<'_>) {
        let GateObservation { kind, gate, event } = observation;
        let name = label(gate);
        let series = self.by_name.get(&name);
        let (duration, holding) = series.with(kind);
        match event {
            GateEvent::Held => holding.increment(),
            GateEvent::Released => holding.decrement(),
            GateEvent::Passed(latency) => duration.observe_pod(latency, pod, at),
            GateEvent::Moved { is_holding } => {
                self.by_name.leave(OTHER_ID, at);
                self.by_name.enter(self.by_name.id(&name));
                if is_holding {
                    self.by_name.get(OTHER).holding.with(kind).decrement();
                    holding.increment();
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
