//! Gates by name ([§16](crate::specification#s16)), within the cap on the values of a label.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::capped::{Capped, Met};
use super::histogram::{Histogram, HistogramEncoder, SavedHistogram, Snapshot};
use super::label_values::OTHER_ID;
use super::labels::{DEFAULT_MAX_VALUES, GATE, OTHER};
use super::start_times::StartTimes;
use crate::instruments::{AnyText, Gauge, Head, Number};
use crate::{computed_families, family_type};
use podinit_core::lifecycle::{
    GateEvent, GateKind, GateObservation, GatesEvent, GatesObservation, LabelMove,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_text::strangers_text::label;

family_type! {
    /// A histogram for each gate.
    struct HistogramByGate = Histogram [GateKind, AnyText];
}

family_type! {
    /// A gauge for each gate.
    struct GaugeByGate = Gauge [GateKind, AnyText];
}

computed_families! {
    /// What gates hold up, and how long they did.
    pub(super) const GATE_FAMILIES {
        GATE_DURATION: HistogramByGate =
            "podinit_gate_duration_seconds", ["kind", "gate"], experimental, saved,
            "Time for which a gate held up pods, from their creation (scheduling) or from when their containers were ready (readiness).";
        GATED_PODS: GaugeByGate =
            "podinit_gated_pods", ["kind", "gate"], experimental, not_saved,
            "Pods that are starting up and that the gate holds now.";
    }
}

/// The series of a gate of one kind.
#[derive(Debug, Default)]
struct GateSeries {
    duration: Histogram,
    holding: Gauge,
}

/// The series of the gates with one name, which can be of both kinds.
#[derive(Debug, Default)]
pub(super) struct Named([OnceLock<Box<GateSeries>>; GateKind::ALL.len()]);

impl Named {
    fn of(&self, kind: GateKind) -> &GateSeries {
        self.0[kind as usize].get_or_init(Box::default)
    }

    fn met(&self, kind: GateKind) -> Option<&GateSeries> {
        self.0[kind as usize].get().map(|series| &**series)
    }
}

/// The series of all gates: written by the recorder, read by scrapes.
#[derive(Debug)]
pub(super) struct Gates {
    pub(super) by_name: Capped<Named>,
}

/// The histogram of a gate as it is kept while no process runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGate {
    pub kind: GateKind,
    pub gate: String,
    #[serde(default)]
    pub duration: SavedHistogram,
}

impl Default for Gates {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_VALUES)
    }
}

impl Gates {
    pub(super) fn new(max_gates: usize) -> Self {
        Self { by_name: Capped::new(GATE, max_gates) }
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
                    Some(Met { id, series, .. }) => {
                        by_name.enter(id);
                        // It is shown from now on.
                        series.of(kind);
                    }
                },
            }
        }
        let mut is_dropped = false;
        for (kind, gate, name) in without {
            let Met { id, series, is_new } = by_name.meet(&name, Some(&pod.namespace), now);
            series.of(kind);
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

    /// Counts what happened at `at` to a gate of `pod`.
    pub(super) fn observe(&self, at: Timestamp, pod: &PodInfo, observation: GateObservation<'_>) {
        let GateObservation { kind, gate, event } = observation;
        let name = label(gate);
        let series = self.by_name.get(&name);
        let series = series.of(kind);
        match event {
            GateEvent::Held => series.holding.increment(),
            GateEvent::Released => series.holding.decrement(),
            GateEvent::Passed(latency) => series.duration.observe_pod(latency, pod, at),
            GateEvent::Moved { is_holding } => {
                self.by_name.leave(OTHER_ID, at);
                self.by_name.enter(self.by_name.id(&name));
                if is_holding {
                    self.by_name.get(OTHER).of(kind).holding.decrement();
                    series.holding.increment();
                }
            }
        }
    }

    pub(super) fn collect(&self, out: &mut dyn HistogramEncoder, starts: &StartTimes) {
        let met = self.by_name.met();
        let series = || {
            GateKind::ALL.into_iter().flat_map(|kind| {
                let of_kind =
                    met.iter().filter_map(move |(gate, named)| Some((gate, named.met(kind)?)));
                of_kind
                    .map(move |(gate, series)| ([("kind", kind.as_str()), (GATE, &**gate)], series))
            })
        };
        if met.is_empty() {
            return;
        }
        let mut buffer = Snapshot::since(starts.of(GATE_DURATION.name));
        let with_exemplars = out.wants_exemplars();
        out.family(Head::from(&GATE_DURATION));
        for (labels, series) in series() {
            series.duration.read(&mut buffer, with_exemplars, |snapshot| {
                out.histogram(&labels, snapshot);
            });
        }
        out.family(Head::from(&GATED_PODS));
        for (labels, series) in series() {
            out.number(&labels, Number::Integer(series.holding.get()));
        }
    }

    pub(super) fn saved(&self) -> Vec<SavedGate> {
        let met = self.by_name.met();
        let saved = met.iter().flat_map(|(gate, named)| {
            GateKind::ALL.into_iter().filter_map(|kind| {
                let duration = named.met(kind)?.duration.saved();
                Some(SavedGate { kind, gate: gate.to_string(), duration })
            })
        });
        saved.collect()
    }

    pub(super) fn restore(&self, saved: &[SavedGate], cells: &[usize]) {
        for SavedGate { kind, gate, duration } in saved {
            let named = self.by_name.restored(&label(gate));
            named.of(*kind).duration.restore(duration, cells);
        }
    }
}

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
