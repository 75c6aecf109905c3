//! Planted bugs in the events of SLOs ([§6](crate::specification#s6)).

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{
    Container, Entry, Interval, Kind, Milestone, Moment, Namespaces, Rules, Slo, SloEvent,
    SloInterval, SloRules, Snapshot, SpecSlo, State, Traits, Verdict, View,
};

mutants! {
    SloRules as slo;
    TakesAnyScheduledForABinding {
        fn is_binding(&self, _: bool) -> bool {
            true
        }
    }
    KnowsNoCreations {
        fn creations_tell(&self, _: usize) -> bool {
            false
        }
    }
    TakesTheGreaterOfTheMiddleTwo {
        fn median(&self, sorted: &[Nanos]) -> Option<Nanos> {
            sorted.get(sorted.len() / 2).copied()
        }
    }
    CountsWhatWasMissed {
        fn states_since_sync(&self, _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    IsNeverLate {
        fn is_late(&self, _: bool, _: Nanos, _: Nanos) -> bool {
            false
        }
    }
    IsLateForALittle {
        fn is_late(&self, _: bool, lag: Nanos, _: Nanos) -> bool {
            2 * lag > 5 * SECOND
        }
    }
    IsLateNoLongerThanItsLag {
        fn is_late(&self, _: bool, lag: Nanos, newest: Nanos) -> bool {
            SpecSlo.is_late(false, lag, newest)
        }
    }
    StaysLateForALastFew {
        fn is_late(&self, was_late: bool, lag: Nanos, _: Nanos) -> bool {
            lag > 5 * SECOND || (was_late && 2 * lag >= 5 * SECOND)
        }
    }
    HoldsForTheLagOnce {
        fn hold(&self, greatest: Nanos) -> Nanos {
            SpecSlo.hold(greatest) / 2
        }
    }
    HoldsForEver {
        fn hold(&self, greatest: Nanos) -> Nanos {
            2 * greatest
        }
    }
    BadWhenThePodArrives {
        fn fires(&self, _: bool) -> bool {
            false
        }
    }
    PassesAtItsInstant {
        fn has_passed(&self, deadline: Nanos, now: Nanos) -> bool {
            deadline <= now
        }
    }
    ForgetsTheGrace {
        fn deadline(&self, start: Nanos, threshold: Nanos) -> Nanos {
            start + threshold
        }
    }
    AccusesWhileBlind {
        fn fires(&self, _: bool) -> bool {
            true
        }
    }
    RegainsSyncWithAnEvent {
        fn event_regains_sync(&self) -> bool {
            true
        }
    }
    FoldsBeforeDeadlinesThoughObserved {
        fn moments_of_event(&self, _: bool) -> &'static [Moment] {
            &[Moment::After]
        }
    }
    FiresBeforeTheFoldThoughNotObserved {
        fn moments_of_event(&self, _: bool) -> &'static [Moment] {
            &[Moment::Before, Moment::After]
        }
    }
    LeavesWhatAnEventMadeOverdue {
        fn moments_of_event(&self, is_observed: bool) -> &'static [Moment] {
            match is_observed {
                true => &[Moment::Before],
                false => &[Moment::After],
            }
        }
    }
    FiresBeforeLists {
        fn moments_of_list(&self) -> &'static [Moment] {
            &[Moment::Before, Moment::After]
        }
    }
    UntilMovesNoTime {
        fn fires_at_until(&self) -> bool {
            false
        }
    }
    LessThanTheThreshold {
        fn event(&self, verdict: Verdict, threshold: Nanos) -> SloEvent {
            SpecSlo.event(verdict, threshold - 1)
        }
    }
    JudgesWithTheGrace {
        fn event(&self, verdict: Verdict, threshold: Nanos) -> SloEvent {
            SpecSlo.event(verdict, SpecSlo.deadline(0, threshold))
        }
    }
    TooLongIsExcluded {
        fn event(&self, verdict: Verdict, threshold: Nanos) -> SloEvent {
            match verdict {
                Verdict::Unusable(_) => SloEvent::Excluded("time"),
                verdict => SpecSlo.event(verdict, threshold),
            }
        }
    }
    UnusableIsBad {
        fn event(&self, verdict: Verdict, threshold: Nanos) -> SloEvent {
            match verdict {
                Verdict::Unusable(_) => SloEvent::Bad,
                verdict => SpecSlo.event(verdict, threshold),
            }
        }
    }
    RoundedIsExcluded {
        fn event(&self, verdict: Verdict, threshold: Nanos) -> SloEvent {
            match verdict {
                Verdict::Rounded => SloEvent::Excluded("time"),
                verdict => SpecSlo.event(verdict, threshold),
            }
        }
    }
    ExcludedIsBad {
        fn ended(&self, _: &'static str) -> SloEvent {
            SloEvent::Bad
        }
    }
    NotSeenIsGood {
        fn ended(&self, outcome: &'static str) -> SloEvent {
            match outcome {
                "ready" => SloEvent::Good,
                outcome => SloEvent::Excluded(outcome),
            }
        }
    }
    CountsPreexisting {
        fn excluded_on_entry(&self, entry: Entry) -> Option<SloEvent> {
            SpecSlo.excluded_on_entry(entry).filter(|_| entry != Entry::Preexisting)
        }
    }
    CountsStatic {
        fn excluded_on_entry(&self, entry: Entry) -> Option<SloEvent> {
            SpecSlo.excluded_on_entry(entry).filter(|_| entry != Entry::Static)
        }
    }
    WaitsForWhatEndedBeforeFirstSight {
        fn lay_before_first_sight(&self, _: bool, deadline_did: bool) -> bool {
            deadline_did
        }
    }
    AccusesOfWhatPassedBeforeFirstSight {
        fn lay_before_first_sight(&self, interval_did: bool, _: bool) -> bool {
            interval_did
        }
    }
    SchedulesTheUnschedulable {
        fn not_entered(&self, interval: SloInterval, traits: Traits, is_scheduled: bool) -> bool {
            interval != SloInterval::Scheduling
                && SpecSlo.not_entered(interval, traits, is_scheduled)
        }
    }
    TakesTheScheduledForUnschedulable {
        fn not_entered(&self, interval: SloInterval, traits: Traits, is_scheduled: bool) -> bool {
            interval != SloInterval::Unschedulable
                && SpecSlo.not_entered(interval, traits, is_scheduled)
        }
    }
    EntersInitOfEveryPod {
        fn not_entered(&self, interval: SloInterval, traits: Traits, is_scheduled: bool) -> bool {
            interval != SloInterval::Other(Interval::Init)
                && SpecSlo.not_entered(interval, traits, is_scheduled)
        }
    }
    EntersReadinessOfEveryPod {
        fn not_entered(&self, interval: SloInterval, traits: Traits, is_scheduled: bool) -> bool {
            interval != SloInterval::Other(Interval::Readiness)
                && SpecSlo.not_entered(interval, traits, is_scheduled)
        }
    }
    EntersGatedOfEveryPod {
        fn not_entered(&self, interval: SloInterval, traits: Traits, is_scheduled: bool) -> bool {
            interval != SloInterval::Other(Interval::Gated)
                && SpecSlo.not_entered(interval, traits, is_scheduled)
        }
    }
    TimesPodsNeverUnschedulable {
        fn has_entered(&self, _: SloInterval, _: Traits) -> bool {
            true
        }
    }
    NeverMissesACondition {
        fn tells_what_is_absent(&self, _: &Snapshot) -> bool {
            false
        }
    }
    MissesConditionsWithoutStartTime {
        fn tells_what_is_absent(&self, pod: &Snapshot) -> bool {
            let started = pod.started.or(Some(0));
            SpecSlo.tells_what_is_absent(&Snapshot { started, ..pod.clone() })
        }
    }
    MissesConditionsBeforeTheKubelet {
        fn tells_what_is_absent(&self, pod: &Snapshot) -> bool {
            pod.started.is_some() && !pod.is_terminal()
        }
    }
    MissesConditionsOfTerminalPods {
        fn tells_what_is_absent(&self, pod: &Snapshot) -> bool {
            let phase = "Running".to_owned();
            SpecSlo.tells_what_is_absent(&Snapshot { phase, ..pod.clone() })
        }
    }
    MissesTheOldNetworkName {
        fn is_absent(&self, view: &View<'_>, pod: &Snapshot, milestone: Milestone) -> bool {
            let types = milestone.condition_types().iter().take(1);
            view.milestone(milestone).is_none()
                && types.into_iter().all(|kind| pod.condition(kind).is_none())
        }
    }
    MissesWhatWasReached {
        fn is_absent(&self, _: &View<'_>, pod: &Snapshot, milestone: Milestone) -> bool {
            let mut types = milestone.condition_types().iter();
            types.all(|kind| pod.condition(kind).is_none())
        }
    }
    MissesWhatNeverStood {
        fn is_absent(&self, view: &View<'_>, _: &Snapshot, milestone: Milestone) -> bool {
            !view.a_type_stood(milestone)
        }
    }
    NeedsTheEndOnly {
        fn needed(&self, interval: Interval, _: Traits) -> Vec<Milestone> {
            vec![interval.to()]
        }
    }
    NeedsNoInitialized {
        fn needed(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
            let mut needed = SpecSlo.needed(interval, traits);
            needed.retain(|milestone| {
                interval != Interval::Containers || *milestone != Milestone::Initialized
            });
            needed
        }
    }
    IgnoresNamespaces {
        fn matches(&self, slo: &Slo, pod: &Snapshot) -> bool {
            Slo { namespaces: Namespaces::All, ..slo.clone() }.matches(pod)
        }
    }
    WaitsForWhatHasEnded {
        fn never_is_ready(&self, _: &Snapshot) -> bool {
            false
        }
    }
    TakesASidecarThatEndedForTheEnd {
        fn never_is_ready(&self, pod: &Snapshot) -> bool {
            let mut pod = pod.clone();
            for one in &mut pod.containers {
                one.kind = Kind::Regular;
            }
            SpecSlo.never_is_ready(&pod)
        }
    }
    EndsWithAFailureForGood {
        fn never_is_ready(&self, pod: &Snapshot) -> bool {
            let mut pod = pod.clone();
            for one in &mut pod.containers {
                if matches!(one.state, State::Terminated(_)) {
                    one.state = State::Terminated(Some(0));
                }
            }
            SpecSlo.never_is_ready(&pod)
        }
    }
    AsksThePodOnly {
        fn runs_again(&self, pod: &Snapshot, container: &Container) -> bool {
            let policy = None;
            SpecSlo.runs_again(pod, &Container { policy, ..container.clone() })
        }
    }
    AsksNoRules {
        fn runs_again(&self, pod: &Snapshot, container: &Container) -> bool {
            let rules = Vec::new();
            SpecSlo.runs_again(pod, &Container { rules, ..container.clone() })
        }
    }
    TakesEveryRuleForAMatch {
        fn runs_again(&self, pod: &Snapshot, container: &Container) -> bool {
            !container.rules.is_empty() || SpecSlo.runs_again(pod, container)
        }
    }
    RunsAgainUnlessNever {
        fn runs_again(&self, pod: &Snapshot, container: &Container) -> bool {
            let fails = |policy: &str| policy == "OnFailure";
            container.policy.as_deref().is_some_and(fails)
                || (container.policy.is_none() && fails(&pod.restart_policy))
                || SpecSlo.runs_again(pod, container)
        }
    }
    TakesNoPolicyForNever {
        fn runs_again(&self, pod: &Snapshot, container: &Container) -> bool {
            let no_policy = container.policy.is_none() && pod.restart_policy.is_empty();
            !no_policy && SpecSlo.runs_again(pod, container)
        }
    }
    RestartsNothingElse {
        fn may_restart_all(&self, _: &Snapshot) -> bool {
            false
        }
    }
    RestartsAllOfRegularContainersOnly {
        fn may_restart_all(&self, pod: &Snapshot) -> bool {
            let mut pod = pod.clone();
            pod.containers.retain(|one| one.kind == Kind::Regular);
            SpecSlo.may_restart_all(&pod)
        }
    }
    CannotEndOtherwiseThanReady {
        fn cannot_end(&self, interval: Interval) -> bool {
            interval.to() == Milestone::Ready
        }
    }
    CannotEndAnything {
        fn cannot_end(&self, _: Interval) -> bool {
            true
        }
    }
    IgnoresCapacity {
        fn selects_by(&self, slo: &Slo) -> [bool; 2] {
            [false, slo.present_images]
        }
    }
    IgnoresImages {
        fn selects_by(&self, slo: &Slo) -> [bool; 2] {
            [slo.existing_capacity, false]
        }
    }
    CountsBeforeItIsKnown {
        fn holds_until_known(&self) -> bool {
            false
        }
    }
    CountsWhatIsNeverKnown {
        fn leaves_out_what_is_never_known(&self) -> bool {
            false
        }
    }
    RejectedIsExcluded {
        fn rejected(&self, _: Option<Option<Nanos>>) -> SloEvent {
            SloEvent::Excluded("rejected")
        }
    }
    RejectedMissesWhatItHasNotEntered {
        fn rejected(&self, _: Option<Option<Nanos>>) -> SloEvent {
            SloEvent::BadByRejection
        }
    }
    RejectedNeedsAKnownTime {
        fn rejected(&self, start: Option<Option<Nanos>>) -> SloEvent {
            SpecSlo.rejected(start.filter(Option::is_some))
        }
    }
    IgnoresOwners {
        fn matches(&self, slo: &Slo, pod: &Snapshot) -> bool {
            Slo { owner_kinds: Vec::new(), ..slo.clone() }.matches(pod)
        }
    }
}
