//! Planted bugs: readings of the specification that are wrong in one clause each. The random
//! histories have to tell every one of them from the right reading; otherwise they would not
//! notice the same mistake in the implementation either.

use super::instant::{Nanos, SECOND};
use super::reading::{
    Condition, Entry, FirstSight, Interval, Milestone, Rules, Showing, Snapshot, Spec, Traits,
    Verdict,
};

/// A wrong reading and what is wrong about it.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) rules: &'static (dyn Rules + Sync),
}

/// Declares a wrong reading: the overridden clauses, and the list of all of them.
macro_rules! mutants {
    ($($name:ident { $($clause:item)* })*) => {
        $(struct $name;
        impl Rules for $name { $($clause)* })*

        /// Every planted bug.
        pub(crate) const ALL: &[Mutant] = &[
            $(Mutant { name: stringify!($name), rules: &$name }),*
        ];
    };
}

mutants! {
    KeysByName {
        fn identity(&self, pod: &Snapshot) -> String {
            format!("{}/{}", pod.namespace, pod.name)
        }
    }
    RelatchesReady {
        fn latching(&self, milestone: Milestone, showing: &[Showing]) -> Option<Showing> {
            match milestone {
                Milestone::Ready => showing.last().copied(),
                _ => Spec.latching(milestone, showing),
            }
        }
        fn ending(&self, places: &[usize]) -> Option<usize> {
            places.last().copied()
        }
    }
    RelatchesEarlierMilestones {
        fn latching(&self, _: Milestone, showing: &[Showing]) -> Option<Showing> {
            showing.last().copied()
        }
    }
    LatchesTheGreatestTime {
        fn latching(&self, _: Milestone, showing: &[Showing]) -> Option<Showing> {
            showing.iter().max_by_key(|showing| showing.last_transition).copied()
        }
    }
    LatchesTheFirstUsableTime {
        fn latching(&self, _: Milestone, showing: &[Showing]) -> Option<Showing> {
            let usable = showing.iter().find(|showing| showing.last_transition.is_some());
            usable.or(showing.first()).copied()
        }
    }
    OldNetworkNameUnknown {
        fn network_condition<'a>(&self, pod: &'a Snapshot) -> Option<&'a Condition> {
            pod.condition("PodReadyToStartContainers")
        }
    }
    EitherNetworkNameWins {
        fn network_condition<'a>(&self, pod: &'a Snapshot) -> Option<&'a Condition> {
            let holds = |kind| pod.condition(kind).filter(|condition| condition.is_true());
            holds("PodReadyToStartContainers").or_else(|| holds("PodHasNetwork"))
        }
    }
    NeverImpliesScheduled {
        fn scheduled_is_implied(&self) -> bool {
            false
        }
    }
    MeasuresInitOfEveryPod {
        fn applies(&self, interval: Interval, traits: Traits) -> bool {
            interval == Interval::Init || Spec.applies(interval, traits)
        }
    }
    MeasuresReadinessOfEveryPod {
        fn applies(&self, interval: Interval, traits: Traits) -> bool {
            interval == Interval::Readiness || Spec.applies(interval, traits)
        }
    }
    SchedulesFromCreatedThoughGated {
        fn from(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
            match interval {
                Interval::UntilScheduled => vec![Milestone::Created],
                interval => Spec.from(interval, traits),
            }
        }
    }
    NetworkStartsAtInitialized {
        fn from(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
            match interval {
                Interval::Network => vec![Milestone::Initialized],
                interval => Spec.from(interval, traits),
            }
        }
    }
    ContainersStartAtInitialized {
        fn from(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
            match interval {
                Interval::Containers => vec![Milestone::Initialized],
                interval => Spec.from(interval, traits),
            }
        }
    }
    ContainersIgnoreInit {
        fn from(&self, interval: Interval, traits: Traits) -> Vec<Milestone> {
            match interval {
                Interval::Containers => vec![Milestone::NetworkReady],
                interval => Spec.from(interval, traits),
            }
        }
    }
    EstimatesLikeTheApi {
        fn estimate(&self, t: Nanos, _: Option<Nanos>) -> Nanos {
            t
        }
    }
    EstimatesOutsideTheSecond {
        fn estimate(&self, t: Nanos, o: Option<Nanos>) -> Nanos {
            o.unwrap_or(t + SECOND / 2)
        }
    }
    EstimatesTheLastInstantOfTheSecond {
        fn estimate(&self, t: Nanos, o: Option<Nanos>) -> Nanos {
            match o {
                Some(o) if o == t + SECOND => o,
                o => Spec.estimate(t, o),
            }
        }
    }
    KeepsTheFractionOfUngated {
        fn ungated_in_api_mode(&self, o: Nanos) -> Nanos {
            o
        }
    }
    ClampsNegativesToZero {
        fn verdict(&self, duration: Nanos) -> Verdict {
            Spec.verdict(duration.max(0))
        }
    }
    RoundsAllNegatives {
        fn verdict(&self, duration: Nanos) -> Verdict {
            match Spec.verdict(duration) {
                Verdict::Unusable("negative") => Verdict::Rounded,
                verdict => verdict,
            }
        }
    }
    RoundsLessThanASecond {
        fn verdict(&self, duration: Nanos) -> Verdict {
            match duration {
                duration if duration == -SECOND => Verdict::Unusable("negative"),
                duration => Spec.verdict(duration),
            }
        }
    }
    ObservesTooLong {
        fn verdict(&self, duration: Nanos) -> Verdict {
            Spec.verdict(duration.min(30 * 86_400 * SECOND))
        }
    }
    ThirtyDaysAreTooLong {
        fn verdict(&self, duration: Nanos) -> Verdict {
            match duration {
                duration if duration == 30 * 86_400 * SECOND => Verdict::Unusable("too_long"),
                duration => Spec.verdict(duration),
            }
        }
    }
    JudgesAfterTheEnd {
        fn snapshots_judged(&self, _: usize, all: usize) -> usize {
            all
        }
    }
    JudgesBeforeTheEndOnly {
        fn snapshots_judged(&self, ending: usize, _: usize) -> usize {
            ending.max(1)
        }
    }
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
    CountsPreexistingAsObserved {
        fn entry(&self, sight: FirstSight<'_>) -> Entry {
            Spec.entry(FirstSight { backfill: true, ..sight })
        }
    }
    AdoptsPreexisting {
        fn entry(&self, sight: FirstSight<'_>) -> Entry {
            match Spec.entry(sight) {
                Entry::Preexisting => Entry::Adopted,
                entry => entry,
            }
        }
    }
    IgnoresBackfill {
        fn entry(&self, sight: FirstSight<'_>) -> Entry {
            Spec.entry(FirstSight { backfill: false, ..sight })
        }
    }
    IgnoresSelectorChanges {
        fn entry(&self, sight: FirstSight<'_>) -> Entry {
            Spec.entry(FirstSight { first_list_began: None, ..sight })
        }
    }
    ThirtySecondsAreOld {
        fn entry(&self, sight: FirstSight<'_>) -> Entry {
            let began = sight.first_list_began.map(|began| began + 1);
            Spec.entry(FirstSight { first_list_began: began, ..sight })
        }
    }
    StaticPodsArePods {
        fn entry(&self, sight: FirstSight<'_>) -> Entry {
            let pod = &Snapshot { is_static: false, ..sight.pod.clone() };
            Spec.entry(FirstSight { pod, ..sight })
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
    FailedIsCompleted {
        fn outcome(&self, pod: &Snapshot) -> Option<&'static str> {
            Spec.outcome(pod).map(|outcome| if outcome == "failed" { "completed" } else { outcome })
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
    DeliversWhatWasAdopted {
        fn is_live(&self, _: Entry, _: bool) -> bool {
            true
        }
    }
    DeliversNothingOfAdopted {
        fn is_live(&self, entry: Entry, _: bool) -> bool {
            entry == Entry::Full
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
