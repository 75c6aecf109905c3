//! The state of one pod for each SLO that matches it.

use serde::{Deserialize, Serialize, Serializer};

use super::selection::SelectionVerdict;
use super::{SloRule, SloTimers, StartupKind};
use crate::lifecycle::cause::{BadReason, WaitReason};
use crate::lifecycle::custom_milestone::SloInterval;
use crate::lifecycle::judgement::AnomalyKind;
use crate::lifecycle::judgement::DurationJudgement;
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::observation::PodObservation;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::{disrupted, terminal};
use crate::lifecycle::reached::Reached;
use crate::lifecycle::scheduler_event::begins_with_scheduled;
use crate::lifecycle::slo_verdict::{ExclusionReason, SloId, SloVerdict};
use crate::lifecycle::startup::Startup;
use crate::pod::{ConditionType, PodInfo, PodPhase, PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// A snapshot or Event that was folded, as the SLOs need it.
#[derive(Clone, Copy, Debug)]
pub(in crate::lifecycle) struct SloInput<'a> {
    pub uid: PodUid,
    /// `None` for an Event
    pub snapshot: Option<&'a PodSnapshot>,
    /// Whether Events are a source of evidence
    pub events: bool,
    /// What is known of the startup
    pub kind: StartupKind,
    /// When it is accounted for
    pub now: Timestamp,
    /// Whether it is the first one of a pod that was adopted in flight
    pub adopted: bool,
    /// How the pod ended with it, if it did
    pub outcome: Option<Outcome>,
    /// Where the pod was before, and why it waited there; `None` where it was not known
    pub before: Option<WaitReason>,
}

/// How far a pod is for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SloPodState {
    /// No event yet, and the interval has not begun at a known time
    Open,
    /// No event yet; the deadline is set
    Timed,
    /// A good event that may not count ([§6.10](crate::specification#s6-10))
    HeldGood,
    /// A bad event that may not count, with the index of its reason. That is one byte, because a pod in flight has
    /// little room. An index past all reasons stands for an unknown one
    HeldBad(u8),
    /// It has had its event; `None` where that is not known any more
    Decided(Option<SloVerdict>),
}

/// The saved form of a state: whether the pod has had its event, and that or the one that is held.
#[derive(Serialize, Deserialize)]
struct SavedState {
    slo: SloId,
    #[serde(default)]
    decided: bool,
    #[serde(default)]
    verdict: Option<SloVerdict>,
}

impl Serialize for SloProgress {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|(slo, state)| SavedState {
            slo: *slo,
            decided: state.is_decided(),
            verdict: state.verdict().or(state.held()),
        }))
    }
}

impl From<Vec<SavedState>> for SloProgress {
    fn from(saved: Vec<SavedState>) -> Self {
        let all = saved.into_iter().map(|SavedState { slo, decided, verdict }| {
            let mut state = if decided { SloPodState::Decided(verdict) } else { SloPodState::Open };
            if let Some(verdict) = verdict.filter(|_| !decided) {
                state.hold(verdict);
            }
            (slo, state)
        });
        Self(all.collect())
    }
}

impl SloPodState {
    const fn is_decided(self) -> bool {
        matches!(self, Self::Decided(_))
    }

    const fn verdict(self) -> Option<SloVerdict> {
        match self {
            Self::Decided(verdict) => verdict,
            Self::Open | Self::Timed | Self::HeldGood | Self::HeldBad(_) => None,
        }
    }

    /// The event that may not count; `None` in other states.
    fn held(self) -> Option<SloVerdict> {
        match self {
            Self::HeldGood => Some(SloVerdict::Good),
            Self::HeldBad(waiting) => {
                let waiting = WaitReason::ALL.get(usize::from(waiting));
                Some(SloVerdict::Bad(BadReason::of_known(waiting.copied())))
            }
            Self::Open | Self::Timed | Self::Decided(_) => None,
        }
    }

    /// Holds a good or bad event. An excluded event is never held.
    fn hold(&mut self, verdict: SloVerdict) {
        const _: () = assert!(WaitReason::COUNT <= u8::MAX as usize);
        match verdict {
            SloVerdict::Good => *self = Self::HeldGood,
            SloVerdict::Bad(BadReason::Waiting(waiting)) => {
                *self = Self::HeldBad(waiting.index() as u8);
            }
            // A pod that was rejected has ended: what is held of it is resolved at once.
            SloVerdict::Bad(BadReason::NotKnown | BadReason::Rejected(_)) => {
                *self = Self::HeldBad(u8::MAX);
            }
            SloVerdict::Excluded(_) => {}
        }
    }
}

/// The SLOs that match a pod, each with the pod's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<SavedState>")]
pub(in crate::lifecycle) struct SloProgress(Box<[(SloId, SloPodState)]>);

impl SloProgress {
    /// The SLOs that match `pod`, without an event yet.
    pub(in crate::lifecycle) fn from_pod(rules: &[SloRule], pod: &PodInfo) -> Self {
        let ids = (0..).map(SloId).zip(rules);
        let matching = ids.filter(|(_, rule)| rule.matches(pod));
        Self(matching.map(|(id, _)| (id, SloPodState::Open)).collect())
    }

    /// The `wanted` SLOs without an event yet.
    pub(in crate::lifecycle) fn waiting_of(
        &self,
        rules: &[SloRule],
        wanted: impl Fn(&SloRule) -> bool,
    ) -> Self {
        let waiting = self.0.iter().filter(|(slo, state)| {
            !state.is_decided() && rules.get(usize::from(slo.0)).is_some_and(&wanted)
        });
        Self(waiting.copied().collect())
    }

    /// Each event so far, with its SLO.
    pub(in crate::lifecycle) fn verdicts<'a>(
        &'a self,
        rules: &'a [SloRule],
    ) -> impl Iterator<Item = (&'a SloRule, SloVerdict)> {
        let decided = self.0.iter().filter_map(|(slo, state)| Some((slo, state.verdict()?)));
        decided.filter_map(|(slo, verdict)| Some((rules.get(usize::from(slo.0))?, verdict)))
    }

    /// Sets the event for the SLO of this name, which came after the startup.
    pub(in crate::lifecycle) fn settle(
        &mut self,
        name: &str,
        verdict: SloVerdict,
        rules: &[SloRule],
    ) {
        for (slo, state) in self.waiting() {
            if rules.get(usize::from(slo.0)).is_some_and(|rule| *rule.name == *name) {
                *state = SloPodState::Decided(Some(verdict));
            }
        }
    }

    /// Keeps the first `rules` SLOs.
    pub(in crate::lifecycle) fn keep_first(&mut self, rules: usize) {
        let is_first = |(slo, _): &(SloId, SloPodState)| usize::from(slo.0) < rules;
        if !self.0.iter().all(is_first) {
            self.0 = self.0.iter().copied().filter(is_first).collect();
        }
    }

    fn waiting(&mut self) -> impl Iterator<Item = (SloId, &mut SloPodState)> {
        let all = self.0.iter_mut();
        all.filter(|(_, state)| !state.is_decided()).map(|(slo, state)| (*slo, state))
    }

    /// The SLOs that have not had their event of this pod.
    pub(in crate::lifecycle) fn undecided(&self) -> impl Iterator<Item = SloId> {
        self.0.iter().filter(|(_, state)| !state.is_decided()).map(|(id, _)| *id)
    }

    /// Replaces the rules: `successors` has for each old one the new one that continues it, if any.
    /// Sets all deadlines again.
    pub(in crate::lifecycle) fn replace(
        &mut self,
        successors: &[Option<SloId>],
        rules: &[SloRule],
        uid: PodUid,
        startup: &Startup,
        timers: &mut SloTimers,
    ) {
        let kept = self.0.iter().filter_map(|(old, state)| {
            let slo = (*successors.get(usize::from(old.0))?)?;
            let rule = rules.get(usize::from(slo.0))?;
            let state = match (*state, deadline(rule, startup)) {
                (SloPodState::Decided(_) | SloPodState::HeldGood | SloPodState::HeldBad(_), _) => {
                    *state
                }
                (SloPodState::Open | SloPodState::Timed, None) => SloPodState::Open,
                (SloPodState::Open | SloPodState::Timed, Some(deadline)) => {
                    timers.add(deadline, uid, slo);
                    SloPodState::Timed
                }
            };
            Some((slo, state))
        });
        self.0 = kept.collect();
    }

    /// Sets the deadlines anew that count from Scheduled, whose time an Event has sharpened. Those that were set before
    /// pass too, and decide nothing that the new ones do not.
    pub(in crate::lifecycle) fn follow_scheduled(
        &mut self,
        startup: &Startup,
        uid: PodUid,
        rules: &[SloRule],
        timers: &mut SloTimers,
    ) {
        for (slo, state) in self.waiting() {
            if *state == SloPodState::Timed
                && let Some(rule) = rules.get(usize::from(slo.0))
                && rule.interval.standard().is_some_and(begins_with_scheduled)
                && let Some(deadline) = deadline(rule, startup)
            {
                timers.add(deadline, uid, slo);
            }
        }
    }

    /// Each SLO with its deadline, where that is known, and its event, once it has had it.
    pub(in crate::lifecycle) fn results<'a>(
        &'a self,
        rules: &'a [SloRule],
        startup: &'a Startup,
    ) -> impl Iterator<Item = (&'a SloRule, Option<Timestamp>, Option<SloVerdict>)> {
        self.0.iter().filter_map(move |(slo, state)| {
            let rule = rules.get(usize::from(slo.0))?;
            Some((rule, deadline(rule, startup), state.verdict()))
        })
    }

    /// Reports the event of every undecided SLO as excluded, but for those that `stay` undecided.
    pub(in crate::lifecycle) fn end(
        &mut self,
        reason: ExclusionReason,
        rules: &[SloRule],
        stay: impl Fn(&SloRule) -> bool,
        emit: &mut impl FnMut(PodObservation),
    ) {
        for (slo, state) in self.waiting() {
            if !rules.get(usize::from(slo.0)).is_some_and(&stay) {
                decide(slo, state, SloVerdict::Excluded(reason), emit);
            }
        }
    }

    /// Reports the event of every SLO that holds one, and of those that `stay` undecided, as excluded where what the SLO
    /// selects by was never known: the startup has ended.
    pub(in crate::lifecycle) fn exclude_unselected(
        &mut self,
        kind: StartupKind,
        rules: &[SloRule],
        stay: impl Fn(&SloRule) -> bool,
        emit: &mut impl FnMut(PodObservation),
    ) {
        for (slo, state) in self.waiting() {
            if let Some(rule) = rules.get(usize::from(slo.0))
                && (state.held().is_some() || stay(rule))
                && let SelectionVerdict::No(reason) | SelectionVerdict::NotKnown(reason) =
                    rule.selection.counts(kind)
            {
                decide(slo, state, SloVerdict::Excluded(reason), emit);
            }
        }
    }

    /// Reports the event of every undecided SLO that waits for a network condition which the cluster does
    /// not have: the pod has ended.
    pub(in crate::lifecycle) fn exclude_without_network(
        &mut self,
        startup: &Startup,
        rules: &[SloRule],
        emit: &mut impl FnMut(PodObservation),
    ) {
        let verdict = SloVerdict::Excluded(ExclusionReason::ConditionAbsent);
        for (slo, state) in self.waiting() {
            let rule = rules.get(usize::from(slo.0));
            if rule.is_some_and(|rule| waits_for_network(&rule.interval, startup)) {
                decide(slo, state, verdict, emit);
            }
        }
    }

    /// A deadline that was set for the UID passes at `now`, or all of them do. Does nothing if the event was
    /// reported already, or if the deadline was set before the UID was forgotten and discovered again, and
    /// the present deadline has not passed.
    pub(in crate::lifecycle) fn pass_deadlines(
        &mut self,
        missed: Option<SloId>,
        now: Timestamp,
        (startup, kind): (&Startup, StartupKind),
        why: BadReason,
        rules: &[SloRule],
        emit: &mut impl FnMut(PodObservation),
    ) {
        for (slo, state) in self.waiting() {
            if missed.is_none_or(|missed| missed == slo)
                && let Some(rule) = rules.get(usize::from(slo.0))
                && deadline(rule, startup).is_some_and(|deadline| deadline < now)
                && state.held().is_none()
            {
                decide_or_hold(slo, state, SloVerdict::Bad(why), rule.selection.counts(kind), emit);
            }
        }
    }

    /// Decides what a folded snapshot decides, and sets the deadlines that are now known.
    pub(in crate::lifecycle) fn update(
        &mut self,
        startup: &Startup,
        input: SloInput<'_>,
        rules: &[SloRule],
        timers: &mut SloTimers,
        emit: &mut impl FnMut(PodObservation),
    ) {
        for (slo, state) in self.waiting() {
            let Some(rule) = rules.get(usize::from(slo.0)) else {
                continue;
            };
            let counts = rule.selection.counts(input.kind);
            let found = state.held().or_else(|| verdict(rule, startup, input));
            if let Some(verdict) = found {
                decide_or_hold(slo, state, verdict, counts, emit);
            } else if let SelectionVerdict::No(reason) = counts {
                decide(slo, state, SloVerdict::Excluded(reason), emit);
            } else if rule.interval.never_ends(startup) {
                let reason = ExclusionReason::Ended(Outcome::Completed);
                decide(slo, state, SloVerdict::Excluded(reason), emit);
            } else if let (SloPodState::Open, Some(deadline)) = (*state, deadline(rule, startup)) {
                *state = SloPodState::Timed;
                timers.add(deadline, input.uid, slo);
            }
        }
    }
}

/// Reports the event that a pod has for an SLO if the startup counts, or that it does not. As long as that is not
/// known, a good or bad event is held ([§6.10](crate::specification#s6-10)).
fn decide_or_hold(
    slo: SloId,
    state: &mut SloPodState,
    verdict: SloVerdict,
    counts: SelectionVerdict,
    emit: &mut impl FnMut(PodObservation),
) {
    match (verdict, counts) {
        (SloVerdict::Excluded(_), _) | (_, SelectionVerdict::Yes) => {
            decide(slo, state, verdict, emit)
        }
        (_, SelectionVerdict::No(reason)) => decide(slo, state, SloVerdict::Excluded(reason), emit),
        (_, SelectionVerdict::NotKnown(_)) => state.hold(verdict),
    }
}

/// Reports the one event of the pod for an SLO.
fn decide(
    slo: SloId,
    state: &mut SloPodState,
    verdict: SloVerdict,
    emit: &mut impl FnMut(PodObservation),
) {
    *state = SloPodState::Decided(Some(verdict));
    emit(PodObservation::Slo { slo, verdict });
}

/// When the deadline passes, once the interval has begun at a known time.
fn deadline(rule: &SloRule, startup: &Startup) -> Option<Timestamp> {
    match rule.interval.start(startup) {
        Reached::At(Some(from)) if rule.interval.applies(startup) => {
            Some(from.plus(rule.threshold.saturating_add(rule.grace)))
        }
        _ => None,
    }
}

/// The event that a snapshot decides, if it does.
fn verdict(rule: &SloRule, startup: &Startup, input: SloInput<'_>) -> Option<SloVerdict> {
    use ExclusionReason as Reason;
    let interval = &rule.interval;
    let excluded = |reason| Some(SloVerdict::Excluded(reason));
    if !interval.can_enter(startup) {
        return excluded(Reason::NotEntered);
    }
    let ended = interval.end(startup).is_reached();
    let overdue = deadline(rule, startup).is_some_and(|deadline| deadline < input.now);
    if input.adopted && (ended || overdue) {
        return excluded(Reason::Ended(Outcome::Preexisting));
    }
    if let (Reached::At(from), Reached::At(to)) = (interval.start(startup), interval.end(startup))
        && interval.applies(startup)
    {
        let before = BadReason::of_known(input.before);
        return Some(judged(rule, DurationJudgement::from_times(from, to), before));
    }
    // With Events, one may still show the network, until the pod ends.
    let network_may_come = input.events && input.outcome.is_none();
    let needs = |milestone: &Milestone| !network_may_come || *milestone != Milestone::NetworkReady;
    if lacks_a_type(interval, startup, input.snapshot, needs) {
        return excluded(Reason::ConditionAbsent);
    }
    Some(match input.outcome? {
        Outcome::Rejected if has_begun(interval, startup) => {
            SloVerdict::Bad(BadReason::Rejected(startup.stage()))
        }
        // The pod is followed until it comes, or its time has passed, unless it is over already.
        Outcome::Ready if interval.milestone().is_some() => {
            let snapshot = input.snapshot?;
            let over = disrupted(terminal(snapshot)?, snapshot.disruption);
            SloVerdict::Excluded(Reason::from_outcome(over))
        }
        outcome => SloVerdict::Excluded(Reason::from_outcome(outcome)),
    })
}

fn judged(rule: &SloRule, judgement: DurationJudgement, before: BadReason) -> SloVerdict {
    match judgement {
        DurationJudgement::Usable { latency, .. } => {
            if u128::from(latency.as_nanos()) <= rule.threshold.as_nanos() {
                SloVerdict::Good
            } else {
                SloVerdict::Bad(before)
            }
        }
        DurationJudgement::Unusable(AnomalyKind::TooLong) => SloVerdict::Bad(before),
        DurationJudgement::Unusable(_) => SloVerdict::Excluded(ExclusionReason::Time),
    }
}

/// Whether the interval is one of the pod and has begun, at a known time or not.
fn has_begun(interval: &SloInterval, startup: &Startup) -> bool {
    interval.applies(startup) && interval.start(startup).is_reached()
}

/// Whether a kubelet wrote this status and it lacks a condition type that the interval still needs, of
/// those that `needs` says: then the type does not exist on this cluster.
fn lacks_a_type(
    interval: &SloInterval,
    startup: &Startup,
    snapshot: Option<&PodSnapshot>,
    needs: impl Fn(&Milestone) -> bool,
) -> bool {
    let Some(snapshot) = snapshot.filter(|snapshot| is_of_kubelet(snapshot)) else {
        return false;
    };
    let mut needed = interval.needed_conditions(startup).filter(needs);
    needed.any(|milestone| {
        !startup.reached(milestone).is_reached()
            && milestone.condition(&snapshot.conditions).is_none()
    })
}

/// Whether a kubelet wrote the status of a pod that has not ended.
fn is_of_kubelet(snapshot: &PodSnapshot) -> bool {
    let by_kubelet = ConditionType::ALL
        .into_iter()
        .filter(|kind| *kind != ConditionType::PodScheduled)
        .any(|kind| snapshot.conditions.get(kind).is_some());
    by_kubelet && snapshot.started.is_some() && snapshot.phase == PodPhase::Active
}

/// Whether the status shows that the cluster has no network condition.
pub(in crate::lifecycle) fn shows_no_network_condition(snapshot: &PodSnapshot) -> bool {
    let network = Milestone::NetworkReady.condition(&snapshot.conditions);
    network.is_none() && is_of_kubelet(snapshot)
}

/// Whether the interval still needs the network condition.
fn waits_for_network(interval: &SloInterval, startup: &Startup) -> bool {
    !startup.reached(Milestone::NetworkReady).is_reached()
        && (interval.needed_conditions(startup))
            .any(|milestone| milestone == Milestone::NetworkReady)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pod in flight has little room.
    #[test]
    fn what_is_held_takes_no_room() {
        assert_eq!(size_of::<SloPodState>(), size_of::<Option<SloVerdict>>());
        assert_eq!(size_of::<(SloId, SloPodState)>(), 4);
    }
}
