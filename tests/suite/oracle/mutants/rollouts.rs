//! Planted bugs in rollouts ([§17](crate::specification#s17)).

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{End, RolloutRules, RolloutState, Rules, Snapshot, SpecRollouts};

mutants! {
    RolloutRules as rollouts;
    PrefersTheTemplateHashOfReplicaSets {
        fn labels(&self) -> [&'static str; 3] {
            ["pod-template-hash", "rollouts-pod-template-hash", "controller-revision-hash"]
        }
    }
    JobsRollOut {
        fn has_part(&self, _: &str, is_static: bool) -> bool {
            !is_static
        }
    }
    StaticPodsRollOut {
        fn has_part(&self, controller: &str, _: bool) -> bool {
            controller != "Job"
        }
    }
    KeepsTheFirstRevision {
        fn states_revision(&self, _: usize) -> usize {
            0
        }
    }
    TerminalPodsLive {
        fn is_live(&self, _: &Snapshot) -> bool {
            true
        }
    }
    EndingPodsAreUp {
        fn is_up(&self, pod: &Snapshot) -> bool {
            pod.is_ready()
        }
    }
    PodsOfAListWereNeverUp {
        fn was_up_before(&self, _: bool) -> bool {
            false
        }
    }
    ALabelThatMovesBegins {
        fn moved_label_begins(&self) -> bool {
            true
        }
    }
    OwnRevisionIsNeverMoved {
        fn own_by_moving(&self) -> bool {
            false
        }
    }
    RemembersForEver {
        fn remembers(&self, _: Nanos) -> bool {
            true
        }
    }
    ForgetsWhatWent {
        fn remembers(&self, _: Nanos) -> bool {
            false
        }
    }
    TenMinutesAgoIsRemembered {
        fn remembers(&self, ago: Nanos) -> bool {
            ago <= 600 * SECOND
        }
    }
    OldPodsBegin {
        fn old_pods_begin(&self) -> bool {
            true
        }
    }
    TakesAListInItsOrder {
        fn order(&self, _: Nanos, place: usize) -> Nanos {
            place as Nanos
        }
    }
    NeverMovesTheBegin {
        fn moves_begin(&self, _: &str, _: bool) -> bool {
            false
        }
    }
    StatefulSetsBeginAtTheCreation {
        fn moves_begin(&self, _: &str, others_stay: bool) -> bool {
            !others_stay
        }
    }
    RecreateBeginsAtTheCreation {
        fn moves_begin(&self, kind: &str, _: bool) -> bool {
            SpecRollouts.moves_begin(kind, true)
        }
    }
    EveryBeginIsMoved {
        fn moves_begin(&self, _: &str, _: bool) -> bool {
            true
        }
    }
    WhatWentAMinuteAgoMovesTheBegin {
        fn just_went(&self, before: Nanos) -> bool {
            before < 60 * SECOND
        }
    }
    LeavesOutTheGracePeriod {
        fn asked(&self, deletion: Nanos, _: Nanos) -> Nanos {
            deletion
        }
    }
    BeginsAtTheFirstDeletion {
        fn last_asked(&self, asked: &[Nanos]) -> Option<Nanos> {
            asked.iter().copied().min()
        }
    }
    WantsWhatEverLived {
        fn in_window(&self, _: (Nanos, Nanos), _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    WantsTheSurgeOfTheRolloutBefore {
        fn in_window(&self, stood: (Nanos, Nanos), created: Nanos, _: Nanos) -> bool {
            SpecRollouts.in_window(stood, created, Nanos::MIN)
        }
    }
    WantsWhatLivesAtTheBegin {
        fn wanted(&self, numbers: &[usize]) -> usize {
            numbers.last().copied().unwrap_or(0).max(1)
        }
    }
    WantsTheLeast {
        fn wanted(&self, numbers: &[usize]) -> usize {
            numbers.iter().copied().min().unwrap_or(0).max(1)
        }
    }
    WantsNothing {
        fn wanted(&self, numbers: &[usize]) -> usize {
            numbers.iter().copied().max().unwrap_or(0)
        }
    }
    EndingPodsAreWanted {
        fn is_wanted(&self, _: &RolloutState) -> bool {
            true
        }
    }
    NothingSupersedes {
        fn supersedes(&self, _: &str, _: (&str, &str), _: &[String]) -> bool {
            false
        }
    }
    TheOwnRevisionSupersedes {
        fn supersedes(&self, revision: &str, (new, own): (&str, &str), lived: &[String]) -> bool {
            revision == own || SpecRollouts.supersedes(revision, (new, own), lived)
        }
    }
    WhatLivedAtTheBeginSupersedes {
        fn supersedes(&self, revision: &str, (new, own): (&str, &str), _: &[String]) -> bool {
            revision != new && revision != own
        }
    }
    AThirdRevisionSupersedesAnEnd {
        fn third_finds_end(&self, _: End) -> bool {
            false
        }
    }
    TheNextWantsAnew {
        fn wanted_of_next(&self, _: usize, window: usize) -> usize {
            window
        }
    }
    EndingPodsAreOfARevision {
        fn tells_revision(&self, _: &RolloutState) -> bool {
            true
        }
    }
    AwaitsNobody {
        fn is_awaited(&self, _: bool) -> bool {
            false
        }
    }
    LaterPodsExtend {
        fn is_awaited(&self, _: bool) -> bool {
            true
        }
    }
    AwaitsEndingPods {
        fn is_settled(&self, state: Option<&RolloutState>) -> bool {
            state.is_none_or(|state| state.been_up)
        }
    }
    AwaitsPodsThatAreDown {
        fn is_settled(&self, state: Option<&RolloutState>) -> bool {
            state.is_none_or(|state| state.up || state.ending)
        }
    }
    NeedsNoNumber {
        fn are_enough(&self, _: usize, _: usize, _: usize) -> bool {
            true
        }
    }
    NeedsAllUpAtOnce {
        fn are_enough(&self, _: usize, up: usize, wanted: usize) -> bool {
            up >= wanted
        }
    }
    NeverEndsWithFewer {
        fn ends_with_fewer(&self, _: usize, _: usize, _: bool) -> bool {
            false
        }
    }
    EndsWithFewerWhileOthersEnd {
        fn ends_with_fewer(&self, live: usize, wanted: usize, _: bool) -> bool {
            live < wanted
        }
    }
    EndsAtOnce {
        fn lasts(&self, end: End) -> Nanos {
            if end == End::Enough { 0 } else { SpecRollouts.lasts(end) }
        }
    }
    EndsAfterMoreThanTenSeconds {
        fn lasts(&self, end: End) -> Nanos {
            SpecRollouts.lasts(end) + 1
        }
    }
    WithFewerItEndsAsSoon {
        fn lasts(&self, end: End) -> Nanos {
            if end == End::Fewer { 10 * SECOND } else { SpecRollouts.lasts(end) }
        }
    }
    RemovedAtOnce {
        fn lasts(&self, end: End) -> Nanos {
            if end == End::Removed { 10 * SECOND } else { SpecRollouts.lasts(end) }
        }
    }
    NeverRemoved {
        fn lasts(&self, end: End) -> Nanos {
            if end == End::Removed { Nanos::MAX } else { SpecRollouts.lasts(end) }
        }
    }
    EndsWhenItCounts {
        fn ended(&self, _: Nanos, counted: Nanos) -> Nanos {
            counted
        }
    }
    ARollbackCompletes {
        fn outcome(&self, _: &str, _: &str, _: bool) -> &'static str {
            "completed"
        }
    }
    MovedPodsRollBack {
        fn outcome(&self, revision: &str, new: &str, _: bool) -> &'static str {
            SpecRollouts.outcome(revision, new, false)
        }
    }
    ObservesRollbacks {
        fn observes(&self, outcome: &str, found: bool) -> bool {
            !found && (outcome == "completed" || outcome == "rolled_back")
        }
    }
    FindsRevisionsOfOneSecond {
        fn tells_apart(&self, _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    ObservesWhatWasFound {
        fn observes(&self, outcome: &str, _: bool) -> bool {
            outcome == "completed"
        }
        fn observes_unknown(&self) -> bool {
            true
        }
    }
    ObservesWhatIsNotKnown {
        fn observes_unknown(&self) -> bool {
            true
        }
    }
    CountsWhatWasFound {
        fn counts(&self, _: &str, _: bool) -> bool {
            true
        }
    }
    CountsNothingThatWasFound {
        fn counts(&self, _: &str, found: bool) -> bool {
            !found
        }
    }
    BeginsOutOfSync {
        fn begins(&self, _: bool) -> bool {
            true
        }
    }
    EndsOutOfSync {
        fn ends(&self, _: bool) -> bool {
            true
        }
    }
    HeldByWhatIsDownFirst {
        fn held_by(&self, [starting, down, ending]: [bool; 3]) -> &'static str {
            if down { "not_ready" } else { SpecRollouts.held_by([starting, down, ending]) }
        }
    }
    HeldByWhatEndsFirst {
        fn held_by(&self, [starting, down, ending]: [bool; 3]) -> &'static str {
            if ending { "ending" } else { SpecRollouts.held_by([starting, down, ending]) }
        }
    }
    EndingPodsAlwaysHold {
        fn ending_holds(&self, _: usize, _: usize) -> bool {
            true
        }
    }
    OldPodsHold {
        fn holds(&self, _: bool, _: bool) -> bool {
            true
        }
    }
    OldPodsNeverHold {
        fn holds(&self, is_new: bool, _: bool) -> bool {
            is_new
        }
    }
    HeldUntilTheEndCounts {
        fn held_until(&self, _: Nanos, now: Nanos) -> Nanos {
            now
        }
    }
    CountsTimeTwice {
        fn held_since(&self, begin: Nanos, _: Nanos) -> Nanos {
            begin
        }
    }
    FindsNothing {
        fn finds(&self) -> bool {
            false
        }
    }
    FindsTheOldest {
        fn found_new(&self, oldest: &[Nanos]) -> Option<usize> {
            SpecRollouts.found_own(oldest)
        }
        fn found_own(&self, oldest: &[Nanos]) -> Option<usize> {
            SpecRollouts.found_new(oldest)
        }
    }
}
