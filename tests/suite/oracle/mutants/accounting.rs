//! Planted bugs in the accounting ([§5](crate::specification#s5)), and in how the documents are
//! read ([§8](crate::specification#s8)).

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{
    Classification, Container, Entry, Folded, Interval, PRESENT, Rules, Snapshot, Spec, State,
};

mutants! {
    IgnoresVersionOrder {
        fn is_older(&self, _: Option<u64>, _: Option<u64>) -> bool {
            false
        }
    }
    ComparesVersionsAsText {
        fn is_older(&self, version: Option<u64>, newest: Option<u64>) -> bool {
            let text = |version: Option<u64>| version.map(|version| version.to_string());
            version.is_some() && newest.is_some() && text(version) < text(newest)
        }
    }
    TakesNoVersionForOlder {
        fn is_older(&self, version: Option<u64>, newest: Option<u64>) -> bool {
            version < newest
        }
    }
    TakesDuplicatesForNew {
        fn is_same_life(&self, _: &Snapshot, is_added: bool) -> bool {
            !is_added
        }
    }
    FoldsOlderDeleted {
        fn folds_deleted(&self, _: bool) -> bool {
            true
        }
    }
    NeverFoldsDeleted {
        fn folds_deleted(&self, _: bool) -> bool {
            false
        }
    }
    ForgetsDeletedAtOnce {
        fn remembers_deleted(&self, _: Nanos, _: Nanos) -> bool {
            false
        }
    }
    ForgetsDeletedAtTenMinutes {
        fn remembers_deleted(&self, deleted_at: Nanos, now: Nanos) -> bool {
            now < deleted_at + 600 * SECOND
        }
    }
    NeverForgetsDeleted {
        fn remembers_deleted(&self, _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    TakesEachBarePodForAnEvent {
        fn ends_bare_list(&self, _: bool, pods: usize) -> bool {
            pods > 0
        }
    }
    ListsBarePodsTwice {
        fn ends_bare_list(&self, _: bool, _: usize) -> bool {
            false
        }
    }
    BelievesTheFuture {
        fn latest_that_tells_time(&self, _: Option<Nanos>) -> Nanos {
            Nanos::MAX
        }
    }
    HasNoToleranceForClocks {
        fn latest_that_tells_time(&self, observed: Option<Nanos>) -> Nanos {
            observed.unwrap_or(PRESENT)
        }
    }
    IgnoresObservedTimesInThePresent {
        fn latest_that_tells_time(&self, _: Option<Nanos>) -> Nanos {
            PRESENT + 5 * SECOND
        }
    }
    IgnoresAbsence {
        fn forgets_absent(&self, _: bool) -> bool {
            false
        }
    }
    KeepsFinishedThoughAbsent {
        fn forgets_absent(&self, is_finished: bool) -> bool {
            !is_finished
        }
    }
    KeepsPodsWhoseNameIsTaken {
        fn vanishes_for_namesake(&self, _: Nanos, _: Option<Nanos>) -> bool {
            false
        }
    }
    EndsPodsWhoseNameAnOlderOneHas {
        fn vanishes_for_namesake(&self, _: Nanos, _: Option<Nanos>) -> bool {
            true
        }
    }
    CountsPreexistingAsObserved {
        fn entry(&self, sight: Classification<'_>) -> Entry {
            Spec.entry(Classification { backfill: true, ..sight })
        }
    }
    AdoptsPreexisting {
        fn entry(&self, sight: Classification<'_>) -> Entry {
            match Spec.entry(sight) {
                Entry::Preexisting => Entry::Adopted,
                entry => entry,
            }
        }
    }
    IgnoresBackfill {
        fn entry(&self, sight: Classification<'_>) -> Entry {
            Spec.entry(Classification { backfill: false, ..sight })
        }
    }
    IgnoresSelectorChanges {
        fn entry(&self, sight: Classification<'_>) -> Entry {
            Spec.entry(Classification { first_list_began: None, ..sight })
        }
    }
    ThirtySecondsAreOld {
        fn entry(&self, sight: Classification<'_>) -> Entry {
            let began = sight.first_list_began.map(|began| began + 1);
            Spec.entry(Classification { first_list_began: began, ..sight })
        }
    }
    StaticPodsArePods {
        fn entry(&self, sight: Classification<'_>) -> Entry {
            let pod = &Snapshot { is_static: false, ..sight.pod.clone() };
            Spec.entry(Classification { pod, ..sight })
        }
    }
    MissesThatAPodWasReady {
        fn was_ready_before(&self, _: &Snapshot) -> bool {
            false
        }
    }
    FiveSecondsAreMoreThanFive {
        fn was_ready_before(&self, pod: &Snapshot) -> bool {
            let started = pod.started.map(|started| started - 1);
            Spec.was_ready_before(&Snapshot { started, ..pod.clone() })
        }
    }
    TerminalBeforeReady {
        fn outcome(&self, pod: &Snapshot) -> Option<&'static str> {
            match pod.phase.as_str() {
                "Succeeded" => Some("completed"),
                "Failed" => Some("failed"),
                _ => Spec.outcome(pod),
            }
        }
    }
    DeletionEndsNothing {
        fn is_ended_by_deletion(&self, _: &Snapshot) -> bool {
            false
        }
    }
    DeletionEndsWhatHasAReason {
        fn is_ended_by_deletion(&self, pod: &Snapshot) -> bool {
            let reason = String::new();
            Spec.is_ended_by_deletion(&Snapshot { reason, ..pod.clone() })
        }
    }
    DeletionEndsJobs {
        fn is_ended_by_deletion(&self, pod: &Snapshot) -> bool {
            let restart_policy = String::new();
            Spec.is_ended_by_deletion(&Snapshot { restart_policy, ..pod.clone() })
        }
    }
    DeletionCompletesPods {
        fn is_ended_by_deletion(&self, pod: &Snapshot) -> bool {
            pod.phase == "Failed" && Spec.is_ended_by_deletion(pod)
        }
    }
    RejectsWhatExceedsItsLimits {
        fn exceeded_its_limits(&self, _: &Snapshot) -> bool {
            false
        }
    }
    TakesPressureForLimits {
        fn exceeded_its_limits(&self, pod: &Snapshot) -> bool {
            pod.reason == "Evicted"
        }
    }
    HasNoFirstPods {
        fn began_without_list(&self, _: Option<Nanos>, _: Option<Nanos>) -> Option<Nanos> {
            None
        }
    }
    BeginsWithWhatPodsState {
        fn began_without_list(&self, _: Option<Nanos>, stated: Option<Nanos>) -> Option<Nanos> {
            stated
        }
    }
    BeginsWithItsFirstPod {
        fn ends_first_pods(&self, _: &str, _: bool, _: bool) -> bool {
            true
        }
    }
    BeginsWithEveryEvent {
        fn ends_first_pods(&self, _: &str, comes_again: bool, is_duplicate: bool) -> bool {
            comes_again && !is_duplicate
        }
    }
    BeginsUpToADuplicate {
        fn ends_first_pods(&self, kind: &str, comes_again: bool, _: bool) -> bool {
            kind != "ADDED" || comes_again
        }
    }
    BoundsAllByObservedTimes {
        fn bound(&self, _: Option<Nanos>, greatest: Option<Nanos>) -> Option<Nanos> {
            greatest
        }
    }
    FailedIsCompleted {
        fn outcome(&self, pod: &Snapshot) -> Option<&'static str> {
            Spec.outcome(pod).map(|outcome| if outcome == "failed" { "completed" } else { outcome })
        }
    }
    RejectsByTheLastSnapshot {
        fn is_rejected(&self, seen: &[Folded]) -> bool {
            Spec.is_rejected(&seen[seen.len() - 1..])
        }
    }
    RejectsPodsWithoutANode {
        fn is_rejected(&self, seen: &[Folded]) -> bool {
            let bound = |folded: &Folded| {
                let mut folded = folded.clone();
                folded.pod.node_name = "node-1".to_owned();
                folded
            };
            Spec.is_rejected(&seen.iter().map(bound).collect::<Vec<_>>())
        }
    }
    NeverRejects {
        fn is_rejected(&self, _: &[Folded]) -> bool {
            false
        }
    }
    OnlyStartsAreRuns {
        fn has_run(&self, container: &Container) -> bool {
            !container.starts.is_empty()
        }
    }
    RejectedPodsWereNeverScheduled {
        fn rejection_schedules(&self) -> bool {
            false
        }
    }
    RelapsesForEver {
        fn may_relapse(&self, _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    InitContainersRelapse {
        fn shows_relapse(&self, container: &Container) -> bool {
            container.state == State::Waiting("CrashLoopBackOff".to_owned())
        }
    }
    CountsEveryRelapse {
        fn counted_relapses(&self, shown: usize) -> usize {
            shown
        }
    }
    CallsAbsentNotSeen {
        fn reason_not_judged(&self, _: bool) -> &'static str {
            "not_seen"
        }
    }
    ObservesAdoptedStages {
        fn excuses_adopted(&self, _: Interval, _: bool) -> bool {
            false
        }
    }
    ExcusesTheStageInProgress {
        fn excuses_adopted(&self, interval: Interval, end_is_reached: bool) -> bool {
            end_is_reached || interval == Interval::Network
        }
    }
    ReentersPodScheduled {
        fn reentry_types(&self) -> &'static [(&'static str, &'static str)] {
            &[
                ("PodScheduled", "PodScheduled"),
                ("PodReadyToStartContainers", "PodReadyToStartContainers"),
                ("PodHasNetwork", "PodReadyToStartContainers"),
                ("Initialized", "Initialized"),
                ("ContainersReady", "ContainersReady"),
                ("Ready", "Ready"),
            ]
        }
    }
    ReentersOneNetworkNameOnly {
        fn reentry_types(&self) -> &'static [(&'static str, &'static str)] {
            &[
                ("PodReadyToStartContainers", "PodReadyToStartContainers"),
                ("Initialized", "Initialized"),
                ("ContainersReady", "ContainersReady"),
                ("Ready", "Ready"),
            ]
        }
    }
    ReentersAfterTheGreatest {
        fn last_seen(&self, before: Option<Nanos>, now: Nanos) -> Nanos {
            before.map_or(now, |before| before.max(now))
        }
    }
    ReentersInFlightOnly {
        fn counts_reentries(&self, entry: Entry, after_the_end: bool) -> bool {
            !after_the_end && Spec.counts_reentries(entry, after_the_end)
        }
    }
    ReentersStaticPods {
        fn counts_reentries(&self, _: Entry, _: bool) -> bool {
            true
        }
    }
    DropsTheSecondPage {
        fn pages_that_count(&self, _: usize, is_complete: bool) -> Option<usize> {
            is_complete.then_some(1)
        }
    }
    BelievesIncompleteLists {
        fn pages_that_count(&self, pages: usize, _: bool) -> Option<usize> {
            Some(pages)
        }
    }
    OverlooksTheEndOfStreamedLists {
        fn closes_streamed_list(&self, _: bool) -> bool {
            false
        }
    }
}
