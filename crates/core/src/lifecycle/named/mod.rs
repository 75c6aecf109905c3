//! What is known of the gates of a pod, and of the milestones of your own ([§16](crate::specification#s16)).
//!
//! Few pods have either, so both are in a box, and take no more there than they must.

mod followed;
mod saved;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::saved::SavedNamed;
use super::custom_milestone::{
    CustomInterval, CustomMilestone, CustomStart, CustomUnobservedReason,
};
use super::gate::{GateEvent, GateKind, GateObservation, GatesEvent, GatesObservation};
use super::judgement::{DurationJudgement, Latency};
use super::milestone::Milestone;
use super::observation::PodObservation;
use super::reached::Reached;
use super::snapshot_context::SnapshotContext;
use super::startup::Startup;
use crate::pod::{
    ConditionType, GateNames, MOST_GATES, MOST_OWN_MILESTONES, NamedConditions, PodSnapshot,
    StatusCondition,
};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// The configured milestones, which all pods share.
pub type CustomMilestones = Arc<Vec<CustomMilestone>>;

/// The gates of a pod, and the milestones whose conditions it has had. The positions are those of the scheduling gates,
/// then those of the readiness gates, then those of the milestones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedNamed", into = "SavedNamed")]
pub(super) struct Named {
    gates: Option<Arc<GateNames>>,
    /// The configured milestones, once the pod has had a condition of one
    milestones: Option<CustomMilestones>,
    /// By position: when it was passed or reached; [`UNKNOWN`] where that is not known
    times: Box<[Timestamp]>,
    /// A bit for each position: it was passed or reached. Behind [`EARLY`] a bit for each milestone: it was reached before
    /// all containers had started
    passed: u32,
    /// A bit for each gate: it holds the pod, as the newest snapshot says
    holding: u16,
    /// A bit for each readiness gate: its duration was judged, or is never going to be
    judged: u8,
    /// A bit for each milestone: its condition was there. One that had been reached when the pod was adopted has none.
    seen: u8,
}

/// The position of the first bit that says that a milestone was reached before the containers had started.
const EARLY: usize = 2 * MOST_GATES + MOST_OWN_MILESTONES;
const _: () = assert!(EARLY + MOST_OWN_MILESTONES <= u32::BITS as usize);
const _: () = assert!(2 * MOST_GATES <= u16::BITS as usize);
const _: () = assert!(MOST_GATES <= u8::BITS as usize && MOST_OWN_MILESTONES <= u8::BITS as usize);

/// Stands in place of a time that is not known.
const UNKNOWN: Timestamp = Timestamp::from_nanos(i64::MIN);

/// What became of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GateResolution {
    pub(super) passed: Reached,
    pub(super) is_holding: bool,
}

/// What became of a milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CustomState {
    pub(super) reached: Reached,
    /// It had been reached when the pod was adopted
    pub(super) is_preexisting: bool,
    /// It was reached before all containers had started
    pub(super) is_early: bool,
}

impl Named {
    /// The gates in the first snapshot of a pod; `None` without gates.
    pub(super) fn from_snapshot(snapshot: &PodSnapshot) -> Option<Box<Self>> {
        let gates = Arc::clone(snapshot.named.as_ref()?.gates.as_ref()?);
        let times = vec![UNKNOWN; gates.scheduling.len() + gates.readiness.len()].into();
        Some(Box::new(Self { gates: Some(gates), times, ..Self::default() }))
    }

    /// How many gates of each kind there are.
    fn counts(&self) -> (usize, usize) {
        self.gates.as_ref().map_or((0, 0), |gates| (gates.scheduling.len(), gates.readiness.len()))
    }

    /// The observation that `event` happens to all gates; `None` without gates.
    fn observation(&self, event: GatesEvent) -> Option<GatesObservation<'_>> {
        Some(GatesObservation { gates: self.gates.as_ref()?, event })
    }

    /// Each gate with its position.
    fn gates(&self) -> impl Iterator<Item = (usize, GateKind, &str)> {
        let all = self.observation(GatesEvent::Met).into_iter().flat_map(GatesObservation::each);
        all.enumerate().map(|(position, (kind, gate))| (position, kind, gate))
    }

    /// Each gate, and what became of it.
    pub(super) fn gate_states(&self) -> impl Iterator<Item = (GateKind, &str, GateResolution)> {
        self.gates().map(|(position, kind, gate)| {
            let is_holding = self.holding >> position & 1 != 0;
            (kind, gate, GateResolution { passed: self.reached(position), is_holding })
        })
    }

    /// Each milestone whose condition the pod has had, and what became of it.
    pub(super) fn custom_states(&self) -> impl Iterator<Item = (&CustomMilestone, CustomState)> {
        let milestones = self.milestones.iter().flat_map(|all| all.iter()).enumerate();
        milestones.filter_map(|(number, milestone)| {
            let reached = self.reached(self.position(number));
            let has_seen = self.seen >> number & 1 != 0;
            let state = CustomState {
                reached,
                is_preexisting: reached.is_reached() && !has_seen,
                is_early: self.passed >> (EARLY + number) & 1 != 0,
            };
            (has_seen || reached.is_reached()).then_some((milestone, state))
        })
    }

    /// The position of the milestone with this number.
    fn position(&self, milestone: usize) -> usize {
        let (scheduling, readiness) = self.counts();
        scheduling + readiness + milestone
    }

    fn reached(&self, position: usize) -> Reached {
        match self.passed >> position & 1 != 0 {
            true => Reached::At(self.times.get(position).copied().filter(|time| *time != UNKNOWN)),
            false => Reached::No,
        }
    }

    fn reach(&mut self, position: usize, at: Option<Timestamp>) {
        self.passed |= 1 << position;
        if let Some(time) = self.times.get_mut(position) {
            *time = at.unwrap_or(UNKNOWN);
        }
    }

    /// Makes room for the milestones.
    fn follow(&mut self, milestones: &CustomMilestones) {
        let all = self.position(milestones.len());
        if self.times.len() < all {
            let times = self.times.iter().copied().chain(std::iter::repeat(UNKNOWN));
            self.times = times.take(all).collect();
        }
        self.milestones = Some(Arc::clone(milestones));
    }

    /// Takes the place of milestones that were configured before a restart: those with the same name and type keep what
    /// is known of them, and the others begin anew ([§16.9](crate::specification#s16-9)).
    pub(super) fn configure(&mut self, milestones: &CustomMilestones) {
        let Some(before) = self.milestones.take() else { return };
        let known = (milestones.iter().enumerate()).filter_map(|(number, milestone)| {
            let old = before.iter().position(|old| old == milestone)?;
            let is_early = self.passed >> (EARLY + old) & 1;
            Some((number, self.reached(self.position(old)), self.seen >> old & 1, is_early))
        });
        let known: Vec<_> = known.collect();
        let gates = self.position(0);
        let mut new = Self {
            gates: self.gates.take(),
            milestones: None,
            times: self.times.iter().copied().take(gates).collect(),
            passed: self.passed & ((1 << gates) - 1),
            holding: self.holding,
            judged: self.judged,
            seen: 0,
        };
        for (number, reached, has_seen, is_early) in known {
            new.follow(milestones);
            new.seen |= has_seen << number;
            new.passed |= is_early << (EARLY + number);
            if let Reached::At(at) = reached {
                new.reach(new.position(number), at);
            }
        }
        *self = new;
    }
}

/// A snapshot to fold, and how it was delivered.
pub(super) struct NamedFold<'a, S> {
    pub(super) snapshot: &'a PodSnapshot,
    pub(super) seen: &'a SnapshotContext,
    /// No snapshot of the pod was folded before
    pub(super) is_first: bool,
    pub(super) milestones: &'a CustomMilestones,
    /// Receives each observation
    pub(super) emit: S,
}

/// An observation of a gate, or of a milestone of your own.
pub(super) enum NamedObservation<'a> {
    Gate(GateObservation<'a>),
    Pod(PodObservation),
}

impl Startup {
    /// Takes in what a snapshot says of gates and milestones of your own, once it has latched all others.
    pub(super) fn fold_named(&mut self, fold: NamedFold<'_, impl FnMut(NamedObservation<'_>)>) {
        let NamedFold { snapshot, seen, is_first, milestones, mut emit } = fold;
        let says = snapshot.named.as_deref();
        let has_milestones = says.is_some_and(|says| !says.milestones.is_empty());
        let mut named = match self.named.take() {
            Some(named) => named,
            None if has_milestones => Box::default(),
            None => return,
        };
        named.share(says);
        named.fold_scheduling_gates(self, snapshot, seen, &mut emit);
        let since = ConditionSince { seen, is_first };
        named.fold_readiness_gates(self, says, since, &mut emit);
        if let Some(says) = says.filter(|_| has_milestones) {
            named.follow(milestones);
            named.fold_milestones(self, says, since, &mut emit);
        }
        self.named = Some(named);
    }

    /// What became of the milestone of your own with this name; `None` where its condition was never there.
    pub(super) fn custom(&self, milestone: &str) -> Option<CustomState> {
        let mut states = self.named.iter().flat_map(|named| named.custom_states());
        states.find(|(one, _)| *one.name == *milestone).map(|(_, state)| state)
    }

    /// When a duration of a milestone of your own began.
    pub(super) fn custom_start(&self, from: CustomStart) -> Reached {
        Startup::reached(
            self,
            match from {
                CustomStart::Created => Milestone::Created,
                CustomStart::ContainersStarted => Milestone::ContainersStarted,
            },
        )
    }

    /// Whether the duration of a milestone of your own can come no more: the milestone was reached before what begins it
    /// ([§16.6](crate::specification#s16-6)).
    pub(super) fn can_never_begin(&self, from: CustomStart, state: CustomState) -> bool {
        if from == CustomStart::Created || !state.reached.is_reached() {
            return false;
        }
        let ends = self.custom_start(from).usable().zip(state.reached.usable());
        state.is_early
            || ends.is_some_and(|(start, end)| end.nanos_since(start) < -NANOS_PER_SECOND)
    }

    /// The observed duration of a milestone of your own.
    pub(super) fn custom_latency(&self, from: CustomStart, state: CustomState) -> Option<Latency> {
        let start = self.custom_start(from);
        if state.is_preexisting || self.can_never_begin(from, state) {
            return None;
        }
        latency(start, state.reached)
    }

    /// Reports what happens to all gates of the pod, if it has any.
    pub(super) fn report_gates(&self, event: GatesEvent, emit: impl FnMut(GatesObservation<'_>)) {
        let named = self.named.iter();
        named.filter_map(|named| named.observation(event)).for_each(emit);
    }

    /// Reports that the pod, which is in flight, moves to the label value that the gate with this name has got.
    pub(super) fn move_gate(&self, name: &str, mut emit: impl FnMut(GateObservation<'_>)) {
        for (kind, gate, state) in self.named.iter().flat_map(|named| named.gate_states()) {
            if gate == name {
                let event = GateEvent::Moved { is_holding: state.is_holding };
                emit(GateObservation { kind, gate, event });
            }
        }
    }

    /// Reports that no gate holds the pod any more.
    pub(super) fn release_gates(&mut self, emit: impl FnMut(GateObservation<'_>)) {
        if let Some(named) = &mut self.named {
            named.hold(0, emit);
        }
    }

    /// Reports the gates that hold a restored pod.
    pub(super) fn restore_gates(&mut self, emit: impl FnMut(GateObservation<'_>)) {
        if let Some(named) = &mut self.named {
            let holding = std::mem::take(&mut named.holding);
            named.hold(holding, emit);
        }
    }
}

impl Named {
    /// Shares the names with the snapshot where they are equal: those of a checkpoint are not shared yet.
    fn share(&mut self, says: Option<&NamedConditions>) {
        let theirs = says.and_then(|says| says.gates.as_ref());
        if let (Some(own), Some(theirs)) = (&mut self.gates, theirs)
            && !Arc::ptr_eq(own, theirs)
            && own == theirs
        {
            *own = Arc::clone(theirs);
        }
    }

    fn fold_scheduling_gates(
        &mut self,
        startup: &Startup,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        emit: &mut impl FnMut(NamedObservation<'_>),
    ) {
        let Some(gates) = self.gates.clone().filter(|gates| !gates.scheduling.is_empty()) else {
            return;
        };
        let still = snapshot.named.as_ref().and_then(|says| says.names());
        let shows_scheduled = snapshot.conditions.holding(ConditionType::PodScheduled).is_some();
        let scheduled = startup.reached(Milestone::Scheduled).usable().filter(|_| shows_scheduled);
        let mut holding = self.holding & !((1 << gates.scheduling.len()) - 1);
        for (position, gate) in gates.scheduling.iter().enumerate() {
            if still.is_some_and(|still| still.scheduling.iter().any(|one| one == gate)) {
                holding |= 1 << position;
            } else if !self.reached(position).is_reached() {
                let at = seen.mode.estimate_ungated(seen.observed, scheduled);
                self.reach(position, at);
                let took = latency(startup.reached(Milestone::Created), Reached::At(at));
                emit_passed(GateKind::Scheduling, gate, took, emit);
            }
        }
        self.hold(holding, |gate| emit(NamedObservation::Gate(gate)));
    }

    fn fold_readiness_gates(
        &mut self,
        startup: &Startup,
        says: Option<&NamedConditions>,
        since: ConditionSince<'_>,
        emit: &mut impl FnMut(NamedObservation<'_>),
    ) {
        let Some(gates) = self.gates.clone().filter(|gates| !gates.readiness.is_empty()) else {
            return;
        };
        let first = gates.scheduling.len();
        let containers_ready = startup.reached(Milestone::ContainersReady);
        let mut holding = self.holding & ((1 << first) - 1);
        for (number, gate) in gates.readiness.iter().enumerate() {
            let position = first + number;
            let condition = says.and_then(|says| condition_of_gate(says, gate));
            let held = condition.filter(|condition| condition.is_true());
            if let Some(held) = held
                && !self.reached(position).is_reached()
            {
                self.reach(position, since.reached_at(held));
            }
            if held.is_none() && containers_ready.is_reached() {
                holding |= 1 << position;
            }
            let passed = self.reached(position);
            let is_judged = self.judged >> number & 1 != 0;
            if passed.is_reached() && containers_ready.is_reached() && !is_judged {
                self.judged |= 1 << number;
                let took = held_up(containers_ready, passed).filter(|_| !since.seen.adopted);
                emit_passed(GateKind::Readiness, gate, took, emit);
            }
        }
        self.hold(holding, |gate| emit(NamedObservation::Gate(gate)));
    }

    fn fold_milestones(
        &mut self,
        startup: &Startup,
        says: &NamedConditions,
        since: ConditionSince<'_>,
        emit: &mut impl FnMut(NamedObservation<'_>),
    ) {
        let milestones = self.milestones.as_ref().map_or(0, |all| all.len());
        for number in 0..milestones.min(MOST_OWN_MILESTONES) {
            let Some(condition) = says.milestone(number) else { continue };
            let position = self.position(number);
            if self.reached(position).is_reached() {
                continue;
            }
            if !condition.is_true() {
                self.seen |= 1 << number;
                continue;
            }
            self.reach(position, since.reached_at(condition));
            let is_early = !startup.reached(Milestone::ContainersStarted).is_reached();
            self.passed |= u32::from(is_early) << (EARLY + number);
            let milestone = number as u8;
            let unobserved = |reason| {
                NamedObservation::Pod(PodObservation::CustomUnobserved { milestone, reason })
            };
            if since.seen.adopted {
                self.seen &= !(1 << number);
                emit(unobserved(CustomUnobservedReason::Preexisting));
                continue;
            }
            self.seen |= 1 << number;
            let reached = self.reached(position);
            let state = CustomState { reached, is_preexisting: false, is_early };
            for from in CustomStart::ALL {
                let interval = CustomInterval { milestone, from };
                match startup.custom_latency(from, state) {
                    Some(latency) => {
                        let measured = PodObservation::CustomMeasured { interval, latency };
                        emit(NamedObservation::Pod(measured));
                    }
                    None if from == CustomStart::Created => {
                        emit(unobserved(CustomUnobservedReason::Time))
                    }
                    None => {}
                }
            }
        }
    }

    /// These gates hold the pod from now on, and no others. Reports what changes.
    fn hold(&mut self, holding: u16, mut emit: impl FnMut(GateObservation<'_>)) {
        let before = std::mem::replace(&mut self.holding, holding);
        if before == holding {
            return;
        }
        for (position, kind, gate) in self.gates() {
            let [was, is] = [before, holding].map(|bits| bits >> position & 1 != 0);
            let event = match (was, is) {
                (false, true) => GateEvent::Held,
                (true, false) => GateEvent::Released,
                _ => continue,
            };
            emit(GateObservation { kind, gate, event });
        }
    }
}

/// The condition of a readiness gate.
fn condition_of_gate(says: &NamedConditions, gate: &str) -> Option<StatusCondition> {
    let mut types = says.names()?.readiness.iter();
    says.readiness(types.position(|kind| kind == gate)?)
}

/// What decides since when a condition is True.
#[derive(Clone, Copy)]
struct ConditionSince<'a> {
    seen: &'a SnapshotContext,
    /// No earlier snapshot of the pod lacked the condition
    is_first: bool,
}

impl ConditionSince<'_> {
    /// When a condition became True that a snapshot is the first to show. Without a usable time it is the arrival of
    /// the snapshot, if an earlier one lacked it ([§16.3](crate::specification#s16-3)).
    fn reached_at(self, condition: StatusCondition) -> Option<Timestamp> {
        let Self { seen, is_first } = self;
        let stated = condition.last_transition;
        match is_first {
            true => seen.mode.estimate(stated, seen.observed).at,
            false => seen.mode.estimate_or_observed(stated, seen.observed).at,
        }
    }
}

/// The duration between two ends that are reached, where it is usable.
fn latency(from: Reached, to: Reached) -> Option<Latency> {
    let (Reached::At(from), Reached::At(to)) = (from, to) else {
        return None;
    };
    usable(DurationJudgement::from_times(from, to))
}

/// How long a readiness gate held the pod up: not at all if it was passed before.
fn held_up(containers_ready: Reached, passed: Reached) -> Option<Latency> {
    let (from, to) = (containers_ready.usable()?, passed.usable()?);
    usable(DurationJudgement::of_nanos(to.nanos_since(from).max(0)))
}

const fn usable(judgement: DurationJudgement) -> Option<Latency> {
    match judgement {
        DurationJudgement::Usable { latency, .. } => Some(latency),
        DurationJudgement::Unusable(_) => None,
    }
}

/// Reports how long a gate took, where that is known.
fn emit_passed(
    kind: GateKind,
    gate: &str,
    took: Option<Latency>,
    emit: &mut impl FnMut(NamedObservation<'_>),
) {
    if let Some(latency) = took {
        let event = GateEvent::Passed(latency);
        emit(NamedObservation::Gate(GateObservation { kind, gate, event }));
    }
}

#[cfg(test)]
mod tests;
