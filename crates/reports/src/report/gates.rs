//! The gates of pods by name: how long they took, and how many pods they hold ([§16.10](crate::specification#s16-10)).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::durations::IntervalDurations;
use super::summary::{GateSummary, IntervalSummary};
use podinit_core::lifecycle::{
    GateEvent, GateKind, GateObservation, GatesObservation, Progress, Record,
};

/// So many gates are followed by name, the first that pods have. The others are counted together.
const MOST_FOLLOWED: usize = 100;
/// So many are in the report, those that most pods have.
const MOST_SHOWN: usize = 20;

/// What became of one gate, or of the others together.
#[derive(Default)]
struct GateOutcomes {
    /// How many pods have had it
    pods: u64,
    /// How many pods in flight it holds
    holding: u64,
    durations: IntervalDurations,
}

impl GateOutcomes {
    fn merge(&mut self, other: &Self) {
        self.pods += other.pods;
        self.holding += other.holding;
        self.durations.merge(&other.durations);
    }

    fn observe(&mut self, event: GateEvent) {
        match event {
            GateEvent::Held => self.holding += 1,
            GateEvent::Released => self.holding -= 1,
            GateEvent::Passed(latency) => self.durations.add(latency),
            // A report names as many as it follows.
            GateEvent::Moved { .. } => {}
        }
    }

    fn summary(&self, gate: Option<(GateKind, &str)>) -> GateSummary {
        let IntervalSummary { count, p50, p90, p99, max, .. } = self.durations.summary("");
        GateSummary {
            kind: gate.map(|(kind, _)| kind),
            gate: gate.map(|(_, name)| name.to_owned()),
            pods: self.pods,
            holding: self.holding,
            count,
            p50,
            p90,
            p99,
            max,
        }
    }
}

/// What became of the gates of all pods.
#[derive(Default)]
pub(super) struct PodGates {
    by_name: BTreeMap<(GateKind, Arc<str>), GateOutcomes>,
    others: GateOutcomes,
}

impl PodGates {
    fn outcomes_mut(&mut self, kind: GateKind, gate: &str) -> &mut GateOutcomes {
        let name = (kind, Arc::from(gate));
        if self.by_name.len() >= MOST_FOLLOWED && !self.by_name.contains_key(&name) {
            return &mut self.others;
        }
        self.by_name.entry(name).or_default()
    }

    /// Counts a pod that is discovered.
    pub(super) fn meet(&mut self, gates: GatesObservation<'_>) {
        for (kind, gate) in gates.each() {
            self.outcomes_mut(kind, gate).pods += 1;
        }
    }

    /// Counts an event of a pod.
    pub(super) fn observe(&mut self, GateObservation { kind, gate, event }: GateObservation<'_>) {
        self.outcomes_mut(kind, gate).observe(event);
    }

    /// Counts all that a record says.
    pub(super) fn add(&mut self, record: &Record) {
        for gate in &record.gates {
            let of_gate = self.outcomes_mut(gate.kind, &gate.gate);
            of_gate.pods += 1;
            if let Some(took) = record.gate_seconds(gate) {
                of_gate.durations.add(took);
            }
        }
        if let Progress::InFlight { .. } = record.progress {
            for gate in record.holding_gates() {
                self.outcomes_mut(gate.kind, &gate.gate).observe(GateEvent::Held);
            }
        }
    }

    /// The gates that most pods have, and the others together, if there are any.
    pub(super) fn summaries(self) -> Vec<GateSummary> {
        let Self { by_name, mut others } = self;
        let mut gates: Vec<_> = by_name.into_iter().collect();
        // The sort is stable: gates of as many pods stay in the order of their names.
        gates.sort_by_key(|(_, gate)| Reverse(gate.pods));
        for (_, gate) in gates.drain(MOST_SHOWN.min(gates.len())..) {
            others.merge(&gate);
        }
        let shown = gates.iter().map(|((kind, name), gate)| gate.summary(Some((*kind, name))));
        let rest = (others.pods > 0).then(|| others.summary(None));
        shown.chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_core::lifecycle::{GatesEvent, Latency};
    use podinit_core::pod::GateNames;

    #[test]
    fn gates_beyond_the_most_are_summed() {
        let mut gates = PodGates::default();
        let observe = |gates: &mut PodGates, gate: &str, event| {
            gates.observe(GateObservation { kind: GateKind::Scheduling, gate, event });
        };
        for number in 0..MOST_FOLLOWED + 7 {
            let gate = &*format!("gate-{number:03}");
            let names =
                GateNames { scheduling: [gate].into_iter().collect(), ..GateNames::default() };
            // The last one that is followed is that of most pods.
            let pods = if number == MOST_FOLLOWED - 1 { 2 } else { 1 };
            for _ in 0..pods {
                gates.meet(GatesObservation { gates: &names, event: GatesEvent::Met });
                observe(&mut gates, gate, GateEvent::Held);
            }
            observe(&mut gates, gate, GateEvent::Released);
            let took = Latency::from_nanos(1_000_000_000 * number as u64);
            observe(&mut gates, gate, GateEvent::Passed(took));
        }
        let found = gates.summaries();
        assert_eq!(found.len(), MOST_SHOWN + 1);
        let first = &found[0];
        assert_eq!(first.gate.as_deref(), Some("gate-099"));
        assert_eq!((first.pods, first.holding, first.count, first.p50), (2, 1, 1, Some(99.0)));
        let rest = found.last().unwrap();
        let others = (MOST_FOLLOWED + 7 - MOST_SHOWN) as u64;
        assert_eq!((&rest.gate, rest.pods, rest.holding), (&None, others, 0));
        assert_eq!((rest.count, rest.max), (others, Some((MOST_FOLLOWED + 6) as f64)));
    }
}
