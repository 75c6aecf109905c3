//! Gates by name ([§16](crate::specification#s16)), within the cap on the values of a label.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::capped::Capped;
use super::histogram::{Histogram, HistogramEncoder, SavedHistogram, Snapshot};
use super::labels::DEFAULT_MAX_VALUES;
use super::start_times::StartTimes;
use crate::instruments::{AnyText, Counter, Gauge, Head, Number};
use crate::{computed_families, family_type};
use podinit_core::lifecycle::{GateEvent, GateKind, GateObservation};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_text::strangers_text::label;

/// The label, as `podinit_label_overflow_pods_total` names it too.
pub(super) const GATE: &str = "gate";

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
            "Time for which a gate held up pods: a scheduling gate from the creation of the pod, a readiness gate from the time at which its containers were ready.";
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
struct Named([OnceLock<Box<GateSeries>>; GateKind::ALL.len()]);

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
    by_name: Capped<Named>,
    /// Gates of pods whose name lay past the cap
    pub(super) dropped: Counter,
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
        Self { by_name: Capped::new(max_gates), dropped: Counter::default() }
    }

    /// Counts what happened at `at` to a gate of `pod`.
    pub(super) fn observe(&self, at: Timestamp, pod: &PodInfo, observation: GateObservation<'_>) {
        let GateObservation { kind, gate, event } = observation;
        let name = label(gate);
        let named = self.by_name.get(&name);
        let series = named.of(kind);
        match event {
            GateEvent::Met => {
                if self.by_name.drops(&name) {
                    self.dropped.increment();
                }
            }
            GateEvent::Held => series.holding.increment(),
            GateEvent::Released => series.holding.decrement(),
            GateEvent::Passed(latency) => series.duration.observe_pod(latency, pod, at),
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
            let named = self.by_name.get(&label(gate));
            named.of(*kind).duration.restore(duration, cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::labels::OTHER;
    use podinit_core::lifecycle::Latency;

    #[test]
    fn gates_past_the_cap_are_one_for_both_kinds() {
        let gates = Gates::new(1);
        let observe = |kind, gate: &str, event| {
            let gate = &Arc::from(gate);
            let (at, pod) = (Timestamp::from_seconds(1), PodInfo::default());
            gates.observe(at, &pod, GateObservation { kind, gate, event });
        };
        use GateKind::{Readiness, Scheduling};
        for (kind, gate) in
            [(Scheduling, "a"), (Readiness, "a"), (Scheduling, "b"), (Readiness, "c")]
        {
            observe(kind, gate, GateEvent::Met);
            observe(kind, gate, GateEvent::Held);
        }
        observe(Scheduling, "b", GateEvent::Passed(Latency::from_nanos(5)));
        observe(Scheduling, "b", GateEvent::Released);
        let counts = |gates: &Gates| {
            let saved = gates.saved().into_iter().map(|SavedGate { kind, gate, .. }| {
                let named = gates.by_name.get(&gate);
                let series = named.of(kind);
                (kind, gate, series.holding.get(), series.duration.snapshot().count())
            });
            saved.collect::<Vec<_>>()
        };
        assert_eq!(
            counts(&gates),
            [
                (Scheduling, OTHER.to_owned(), 0, 1),
                (Readiness, OTHER.to_owned(), 1, 0),
                (Scheduling, "a".to_owned(), 1, 0),
                (Readiness, "a".to_owned(), 1, 0),
            ]
        );
        assert_eq!(gates.dropped.get(), 2);
        let again = Gates::new(1);
        let cells: Vec<usize> = (0..podinit_histogram::layout::LAYOUT.cells().len()).collect();
        again.restore(&gates.saved(), &cells);
        assert_eq!(again.saved(), gates.saved());
    }
}
