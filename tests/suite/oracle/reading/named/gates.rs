//! [§16.1](crate::specification#s16-1) to [§16.4](crate::specification#s16-4): what each gate of a pod came to.

use super::rules::NamedRules;
use crate::oracle::instant::Nanos;
use crate::oracle::reading::Timestamps;
use crate::oracle::reading::rules::{Entry, Verdict};
use crate::oracle::reading::snapshot::Condition;
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::view::{Latched, View};
use crate::oracle::reading::vocabulary::Milestone;

/// The label value `kind`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateKind {
    Scheduling,
    Readiness,
}

impl GateKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scheduling => "scheduling",
            Self::Readiness => "readiness",
        }
    }
}

/// A gate of one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) kind: GateKind,
    pub(crate) name: String,
}

impl Startup<'_> {
    fn named(&self) -> &dyn NamedRules {
        self.rules.named()
    }

    /// The gates that are followed of the pod.
    pub(crate) fn gates(&self) -> Vec<Gate> {
        let pod = self.named().states_gates(&self.life.folded);
        let of_kind = |kind, stated: &[String]| {
            let names = self.named().followed(stated).into_iter();
            names.map(move |name| Gate { kind, name }).collect::<Vec<_>>()
        };
        let mut gates = of_kind(GateKind::Scheduling, &pod.scheduling_gates);
        gates.extend(of_kind(GateKind::Readiness, &pod.readiness_gates));
        gates
    }

    /// What was judged of a gate: mostly once, or not at all.
    pub(crate) fn judged_of_gate(&self, gate: &Gate) -> Vec<Verdict> {
        let entry = self.entry();
        if !matches!(entry, Entry::Full | Entry::Adopted) {
            return Vec::new();
        }
        let last = self.named().last_that_counts(self.last_of_startup(), self.last_place());
        let view = self.view(last);
        let (from, passed) = match gate.kind {
            GateKind::Scheduling => (Milestone::Created, self.place_without(&view, &gate.name)),
            GateKind::Readiness => {
                let latched = view.latched_by_type(&gate.name);
                (Milestone::ContainersReady, latched.map(|latched| latched.place))
            }
        };
        let (Some(start), Some(passed)) = (view.milestone(from), passed) else {
            return Vec::new();
        };
        let place = passed.max(start.place);
        let had_ended = entry == Entry::Adopted && place == 0;
        if !self.named().is_observed_of_adopted(had_ended) {
            return Vec::new();
        }
        let verdict = match (view.time(from).flatten(), self.time_of_gate(&view, gate, passed)) {
            (Some(start), Some(passed)) => self.rules.verdict(match gate.kind {
                GateKind::Scheduling => passed - start,
                GateKind::Readiness => self.named().held_up(start, passed),
            }),
            _ => Verdict::Unusable("missing"),
        };
        let times = self.named().times_judged(last + 1 - place);
        vec![verdict; times]
    }

    /// Whether the gate holds the pod now.
    pub(crate) fn is_held_by(&self, gate: &Gate) -> bool {
        if !self.named().holds_pod(self.end().is_none()) {
            return false;
        }
        let view = self.view(self.last_place());
        match gate.kind {
            GateKind::Scheduling => self.named().holds_from_scheduling(&has_it(&view, &gate.name)),
            GateKind::Readiness => {
                let is_ready = view.milestone(Milestone::ContainersReady).is_some();
                let newest = &self.life.folded[self.last_place()].pod;
                let is_true = newest.condition(&gate.name).is_some_and(Condition::is_true);
                let was_true = view.latched_by_type(&gate.name).is_some();
                self.named().holds_from_ready(is_ready, is_true, was_true)
            }
        }
    }

    fn place_without(&self, view: &View<'_>, gate: &str) -> Option<usize> {
        self.named().place_without(&has_it(view, gate))
    }

    fn time_of_gate(&self, view: &View<'_>, gate: &Gate, passed: usize) -> Option<Nanos> {
        if gate.kind == GateKind::Readiness {
            return view.estimated_by_type(view.latched_by_type(&gate.name)?);
        }
        let folded = &self.life.folded[passed];
        let o = folded.o.map(|o| match self.timestamps {
            Timestamps::Api => self.rules.ungated_in_api_mode(o),
            Timestamps::Fused => o,
        });
        let shows = folded.pod.condition("PodScheduled").is_some_and(Condition::is_true);
        let scheduled = view.time(Milestone::Scheduled).flatten().filter(|_| shows);
        self.named().time_without(o, scheduled)
    }
}

/// Of each snapshot whether it has the scheduling gate.
fn has_it(view: &View<'_>, gate: &str) -> Vec<bool> {
    let stated = view.seen.iter().map(|folded| &folded.pod.scheduling_gates);
    stated.map(|gates| gates.iter().any(|stated| stated == gate)).collect()
}

impl View<'_> {
    /// When the condition of a type was first True.
    pub(crate) fn latched_by_type(&self, kind: &str) -> Option<Latched> {
        let latching = self.rules.named().latching(&self.showing_type(kind))?;
        let o = self.seen[latching.place].o;
        Some(Latched { place: latching.place, api: latching.last_transition, o })
    }
}
