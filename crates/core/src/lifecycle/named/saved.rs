//! The form in which a checkpoint has gates and milestones: by their names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{EARLY, Named, UNKNOWN};
use crate::lifecycle::custom_milestone::CustomMilestone;
use crate::lifecycle::gate::GateKind;
use crate::pod::{GateNames, MOST_GATES, MOST_OWN_MILESTONES};
use crate::timestamp::Timestamp;

/// The saved form of [`Named`].
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SavedNamed {
    gates: Vec<SavedPodGate>,
    milestones: Vec<SavedPodMilestone>,
}

#[derive(Serialize, Deserialize)]
struct SavedPodGate {
    kind: GateKind,
    gate: Arc<str>,
    #[serde(default)]
    passed: bool,
    #[serde(default)]
    time: Option<Timestamp>,
    #[serde(default)]
    holds: bool,
    #[serde(default)]
    judged: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedPodMilestone {
    milestone: CustomMilestone,
    #[serde(default)]
    reached: bool,
    #[serde(default)]
    time: Option<Timestamp>,
    #[serde(default)]
    seen: bool,
    #[serde(default)]
    early: bool,
}

impl From<Named> for SavedNamed {
    fn from(named: Named) -> Self {
        let (scheduling, _) = named.counts();
        let gates = named.gates().map(|(position, kind, gate)| SavedPodGate {
            kind,
            gate: gate.into(),
            passed: named.reached(position).is_reached(),
            time: named.reached(position).usable(),
            holds: named.holding >> position & 1 != 0,
            judged: (position.checked_sub(scheduling))
                .is_some_and(|number| named.judged >> number & 1 != 0),
        });
        let milestones = named.milestones.iter().flat_map(|all| all.iter()).enumerate();
        let milestones = milestones.map(|(number, milestone)| {
            let reached = named.reached(named.position(number));
            SavedPodMilestone {
                milestone: milestone.clone(),
                reached: reached.is_reached(),
                time: reached.usable(),
                seen: named.seen >> number & 1 != 0,
                early: named.passed >> (EARLY + number) & 1 != 0,
            }
        });
        Self { gates: gates.collect(), milestones: milestones.collect() }
    }
}

impl From<SavedNamed> for Named {
    /// Leaves out what exceeds the limits.
    fn from(saved: SavedNamed) -> Self {
        let SavedNamed { gates, milestones } = saved;
        let of_kind = |kind| {
            let gates = gates.iter().filter(move |gate| gate.kind == kind);
            gates.take(MOST_GATES)
        };
        let names = |kind| of_kind(kind).map(|saved| &saved.gate).collect();
        let names = GateNames {
            scheduling: names(GateKind::Scheduling),
            readiness: names(GateKind::Readiness),
        };
        let scheduling = names.scheduling.len();
        let mut named = Self {
            times: vec![UNKNOWN; scheduling + names.readiness.len()].into(),
            gates: (!names.is_empty()).then(|| Arc::new(names)),
            ..Self::default()
        };
        let all = of_kind(GateKind::Scheduling).chain(of_kind(GateKind::Readiness));
        for (position, saved) in all.enumerate() {
            if saved.passed || saved.time.is_some() {
                named.reach(position, saved.time);
            }
            named.holding |= u16::from(saved.holds) << position;
            if let Some(number) = position.checked_sub(scheduling) {
                named.judged |= u8::from(saved.judged) << number;
            }
        }
        let milestones = milestones.get(..MOST_OWN_MILESTONES).unwrap_or(&milestones);
        if !milestones.is_empty() {
            named.follow(&Arc::new(milestones.iter().map(|one| one.milestone.clone()).collect()));
        }
        for (number, saved) in milestones.iter().enumerate() {
            named.seen |= u8::from(saved.seen) << number;
            named.passed |= u32::from(saved.early) << (EARLY + number);
            if saved.reached || saved.time.is_some() {
                named.reach(named.position(number), saved.time);
            }
        }
        named
    }
}
