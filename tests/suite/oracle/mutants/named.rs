//! Planted bugs in gates and milestones by name ([§16](crate::specification#s16)).

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{Folded, NamedRules, Rules, Showing, Snapshot, SpecNamed};

mutants! {
    NamedRules as named;
    NeedsTheTimeOfACondition {
        fn takes_o_without_a_time(&self, _: usize) -> bool {
            false
        }
    }
    TakesOOfTheFirstSnapshot {
        fn takes_o_without_a_time(&self, _: usize) -> bool {
            true
        }
    }
    FollowsSevenGates {
        fn followed(&self, stated: &[String]) -> Vec<String> {
            let mut names = SpecNamed.followed(stated);
            names.truncate(7);
            names
        }
    }
    FollowsNineGates {
        fn followed(&self, stated: &[String]) -> Vec<String> {
            let mut names: Vec<String> = Vec::new();
            for name in stated {
                if !name.is_empty() && !names.contains(name) {
                    names.push(name.clone());
                }
            }
            names.truncate(9);
            names
        }
    }
    FollowsRepetitions {
        fn followed(&self, stated: &[String]) -> Vec<String> {
            let names = stated.iter().filter(|name| !name.is_empty());
            names.take(8).cloned().collect()
        }
    }
    FollowsEmptyNames {
        fn followed(&self, stated: &[String]) -> Vec<String> {
            let mut names = stated.to_vec();
            names.dedup();
            names.truncate(8);
            names
        }
    }
    FollowsTheNewestGates {
        fn states_gates<'a>(&self, seen: &'a [Folded]) -> &'a Snapshot {
            &seen[seen.len() - 1].pod
        }
    }
    PassesASchedulingGateWhenItIsGoneForGood {
        fn place_without(&self, has_it: &[bool]) -> Option<usize> {
            let last = has_it.iter().rposition(|has_it| *has_it);
            let place = last.map_or(0, |last| last + 1);
            (place < has_it.len()).then_some(place)
        }
    }
    TimesASchedulingGateByTheWatchAlone {
        fn time_without(&self, o: Option<Nanos>, _: Option<Nanos>) -> Option<Nanos> {
            o
        }
    }
    TimesASchedulingGateByScheduled {
        fn time_without(&self, o: Option<Nanos>, scheduled: Option<Nanos>) -> Option<Nanos> {
            scheduled.or(o)
        }
    }
    TimesASchedulingGateWithoutTheWatch {
        fn time_without(&self, o: Option<Nanos>, scheduled: Option<Nanos>) -> Option<Nanos> {
            SpecNamed.time_without(o, scheduled).or(scheduled)
        }
    }
    LatchesNamesAtTheLastTime {
        fn latching(&self, showing: &[Showing]) -> Option<Showing> {
            showing.last().copied()
        }
    }
    TakesADifferenceForAGatePassedBefore {
        fn held_up(&self, containers_ready: Nanos, passed: Nanos) -> Nanos {
            passed - containers_ready
        }
    }
    TakesZeroForEveryReadinessGate {
        fn held_up(&self, _: Nanos, _: Nanos) -> Nanos {
            0
        }
    }
    JudgesAGateTwice {
        fn times_judged(&self, shown: usize) -> usize {
            shown.min(2)
        }
    }
    ObservesWhatHadEndedBeforeAdoption {
        fn is_observed_of_adopted(&self, _: bool) -> bool {
            true
        }
    }
    JudgesAfterTheEnd {
        fn last_that_counts(&self, _: usize, last: usize) -> usize {
            last
        }
    }
    LeavesOutTheEndingSnapshot {
        fn last_that_counts(&self, ending: usize, last: usize) -> usize {
            if ending < last { ending } else { last.saturating_sub(1) }
        }
    }
    ASchedulingGateHoldsForever {
        fn holds_from_scheduling(&self, has_it: &[bool]) -> bool {
            has_it.contains(&true)
        }
    }
    ASchedulingGateHoldsUntilItIsGoneOnce {
        fn holds_from_scheduling(&self, has_it: &[bool]) -> bool {
            !has_it.contains(&false)
        }
    }
    AFallenGateHoldsNothing {
        fn holds_from_ready(&self, containers_ready: bool, is_true: bool, was_true: bool) -> bool {
            containers_ready && !is_true && !was_true
        }
    }
    AReadinessGateHoldsBeforeContainersReady {
        fn holds_from_ready(&self, _: bool, is_true: bool, _: bool) -> bool {
            !is_true
        }
    }
    GatesHoldWhatHasEnded {
        fn holds_pod(&self, _: bool) -> bool {
            true
        }
    }
    MeasuresFromContainersThatStartedLater {
        fn is_before_the_start(
            &self,
            _: (usize, Option<Nanos>),
            started: Option<(usize, Option<Nanos>)>,
        ) -> bool {
            started.is_none()
        }
    }
    AnEarlyNameGetsItsSecondDuration {
        fn is_before_the_start(
            &self,
            name: (usize, Option<Nanos>),
            started: Option<(usize, Option<Nanos>)>,
        ) -> bool {
            started.is_none_or(|started| started.0 > name.0)
        }
    }
    AnEarlyNameIsOneByAnything {
        fn is_before_the_start(
            &self,
            name: (usize, Option<Nanos>),
            started: Option<(usize, Option<Nanos>)>,
        ) -> bool {
            let times = started.and_then(|started| started.1.zip(name.1));
            SpecNamed.is_before_the_start(name, started)
                || times.is_some_and(|(started, name)| name < started)
        }
    }
    ASecondIsMoreThanASecond {
        fn is_before_the_start(
            &self,
            name: (usize, Option<Nanos>),
            started: Option<(usize, Option<Nanos>)>,
        ) -> bool {
            let times = started.and_then(|started| started.1.zip(name.1));
            SpecNamed.is_before_the_start(name, started)
                || times.is_some_and(|(started, name)| started - name >= SECOND)
        }
    }
    FollowsNothingAfterReady {
        fn is_followed(&self, _: &str) -> bool {
            false
        }
    }
    FollowsForTenMinutesAlone {
        fn followed_until(&self, ready: Nanos, _: &[Nanos]) -> Nanos {
            SpecNamed.followed_until(ready, &[])
        }
    }
    FollowsUntilDeadlinesAlone {
        fn followed_until(&self, ready: Nanos, deadlines: &[Nanos]) -> Nanos {
            let last = deadlines.iter().copied().max();
            last.unwrap_or_else(|| SpecNamed.followed_until(ready, &[]))
        }
    }
    FollowsASecondLess {
        fn followed_until(&self, ready: Nanos, deadlines: &[Nanos]) -> Nanos {
            SpecNamed.followed_until(ready - SECOND, deadlines)
        }
    }
    FollowsForEver {
        fn followed_until(&self, _: Nanos, _: &[Nanos]) -> Nanos {
            Nanos::MAX
        }
    }
    FollowsWhatIsOver {
        fn is_over(&self, _: &Snapshot) -> bool {
            false
        }
    }
    LatchesStartsAfterReady {
        fn last_with_starts(&self, place: usize, _: usize) -> usize {
            place
        }
    }
    BlamesWhatIsReady {
        fn blames(&self, place: usize, _: Option<usize>) -> Option<usize> {
            Some(place)
        }
    }
    OnlyReadyTellsWhatNeverCame {
        fn tells_what_never_came(&self, outcome: &str) -> bool {
            outcome == "ready"
        }
    }
    EveryEndTellsWhatNeverCame {
        fn tells_what_never_came(&self, _: &str) -> bool {
            true
        }
    }
    SwapsAbsentAndNotSeen {
        fn reason_without(&self, type_stood: bool) -> &'static str {
            SpecNamed.reason_without(!type_stood)
        }
    }
    CountsTheSecondDurationAsUnobserved {
        fn counts_without_time(&self, _: bool) -> bool {
            true
        }
    }
    NeverCountsAnUnusableName {
        fn counts_without_time(&self, _: bool) -> bool {
            false
        }
    }
    ExcludesEveryReadyPodAsNotSeen {
        fn slo_ended(&self, outcome: &'static str, _: bool) -> &'static str {
            SpecNamed.slo_ended(outcome, true)
        }
    }
    ExcludesAbsentTypesWhateverTheOutcome {
        fn slo_ended(&self, outcome: &'static str, type_stood: bool) -> &'static str {
            if type_stood { SpecNamed.slo_ended(outcome, true) } else { "condition_absent" }
        }
    }
    JudgesWhatCanComeNoMore {
        fn excludes_what_can_come_no_more(&self) -> bool {
            false
        }
    }
    CountsOddTimesOfNames {
        fn counts_anomalies(&self) -> bool {
            true
        }
    }
}
