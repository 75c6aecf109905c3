//! Planted bugs in steps and evidence ([§9](crate::specification#s9)).

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{
    Container, Entry, EvidenceRules, Found, Kind, KubeEvent, Rules, Snapshot, Source, SpecEvidence,
    Timestamps,
};

mutants! {
    EvidenceRules as evidence;
    StartsAtTheLatestStart {
        fn start_of(&self, container: &Container) -> Option<Nanos> {
            container.starts.iter().max().copied()
        }
    }
    StartsAtTheState {
        fn start_of(&self, container: &Container) -> Option<Nanos> {
            container.starts.first().copied()
        }
    }
    StartsWithTheFirstContainer {
        fn containers_started(&self, pod: &Snapshot) -> Option<Nanos> {
            let regular = pod.containers.iter().filter(|one| one.kind == Kind::Regular);
            regular.filter_map(|one| self.start_of(one)).min()
        }
    }
    StartsWithAllButInitContainers {
        fn containers_started(&self, pod: &Snapshot) -> Option<Nanos> {
            let long = pod.containers.iter().filter(|one| one.kind != Kind::Init);
            let starts: Option<Vec<Nanos>> = long.map(|one| self.start_of(one)).collect();
            starts?.into_iter().max()
        }
    }
    StartsAtTheEarliestOfAll {
        fn containers_started(&self, pod: &Snapshot) -> Option<Nanos> {
            SpecEvidence.containers_started(pod)?;
            let regular = pod.containers.iter().filter(|one| one.kind == Kind::Regular);
            regular.filter_map(|one| self.start_of(one)).min()
        }
    }
    KnowsPodsByTheirUid {
        fn is_about(&self, _: &KubeEvent, _: &Snapshot) -> bool {
            true
        }
    }
    TakesAnyNameInTheNamespace {
        fn is_about(&self, event: &KubeEvent, pod: &Snapshot) -> bool {
            event.namespaces.contains(&pod.namespace)
        }
    }
    TakesTheNameInAnyNamespace {
        fn is_about(&self, event: &KubeEvent, pod: &Snapshot) -> bool {
            event.object.as_ref() == Some(&pod.name)
        }
    }
    TrustsAnyReporter {
        fn is_from_kubelet(&self, _: &KubeEvent) -> bool {
            true
        }
    }
    TrustsTheSourceFirst {
        fn is_from_kubelet(&self, event: &KubeEvent) -> bool {
            event.source_component == "kubelet"
        }
    }
    KnowsNoOlderReporter {
        fn is_from_kubelet(&self, event: &KubeEvent) -> bool {
            event.reporting_component == "kubelet"
        }
    }
    TakesAnyContainer {
        fn is_evidence(&self, event: &KubeEvent, _: &Snapshot) -> bool {
            let reasons = ["Pulling", "Pulled", "Created", "Started"];
            reasons.contains(&event.reason.as_str()) && self.is_from_kubelet(event)
        }
    }
    TakesAnyReason {
        fn is_evidence(&self, event: &KubeEvent, pod: &Snapshot) -> bool {
            self.container_of(event, pod).is_some()
        }
    }
    TakesNoPulling {
        fn is_evidence(&self, event: &KubeEvent, pod: &Snapshot) -> bool {
            event.reason != "Pulling" && SpecEvidence.is_evidence(event, pod)
        }
    }
    NamesNoInstant {
        fn time_of(&self, event: &KubeEvent, timestamps: Timestamps) -> Option<Nanos> {
            let event = KubeEvent { name: String::new(), ..event.clone() };
            SpecEvidence.time_of(&event, timestamps)
        }
    }
    TrustsTheNamedInstant {
        fn time_of(&self, event: &KubeEvent, timestamps: Timestamps) -> Option<Nanos> {
            let named = event.instant_in_name().filter(|_| timestamps == Timestamps::Fused);
            named.or_else(|| SpecEvidence.time_of(event, timestamps))
        }
    }
    NamesInstantsInApiMode {
        fn time_of(&self, event: &KubeEvent, _: Timestamps) -> Option<Nanos> {
            SpecEvidence.time_of(event, Timestamps::Fused)
        }
    }
    StartsAtTheSecond {
        fn time_of_start(&self, start: Nanos, _: Timestamps) -> Nanos {
            start
        }
    }
    ForgetsEvidenceBeforeScheduled {
        fn latches_at(&self, event: usize, scheduled: Option<usize>) -> Option<usize> {
            scheduled.filter(|scheduled| *scheduled <= event).map(|_| event)
        }
    }
    LooksAtConditionsFirst {
        fn event_comes_first(&self, event: usize, condition: usize) -> bool {
            event < condition
        }
    }
    PrefersEvents {
        fn event_comes_first(&self, _: usize, _: usize) -> bool {
            true
        }
    }
    IgnoresStarts {
        fn earliest(&self, condition: Option<Nanos>, _: Option<Nanos>) -> (Option<Nanos>, Source) {
            (condition, Source::Condition)
        }
    }
    TakesTheContainerOnATie {
        fn earliest(&self, condition: Option<Nanos>, start: Option<Nanos>) -> (Option<Nanos>, Source) {
            match condition.is_some() && condition == start {
                true => (start, Source::Container),
                false => SpecEvidence.earliest(condition, start),
            }
        }
    }
    NeedsTheConditionsTime {
        fn earliest(&self, condition: Option<Nanos>, start: Option<Nanos>) -> (Option<Nanos>, Source) {
            SpecEvidence.earliest(condition, start.filter(|_| condition.is_some()))
        }
    }
    NeverRaises {
        fn raised(&self, time: Nanos, _: Option<Nanos>) -> Nanos {
            time
        }
    }
    RaisesFromAfar {
        fn raised(&self, time: Nanos, scheduled: Option<Nanos>) -> Nanos {
            time.max(scheduled.unwrap_or(time))
        }
    }
    RaisesByLessThanASecond {
        fn raised(&self, time: Nanos, scheduled: Option<Nanos>) -> Nanos {
            match scheduled {
                Some(scheduled) if scheduled - time == SECOND => time,
                _ => SpecEvidence.raised(time, scheduled),
            }
        }
    }
    CountsWhatAdoptionLatched {
        fn counts_source(&self, entry: Entry, _: bool) -> bool {
            matches!(entry, Entry::Full | Entry::Adopted)
        }
    }
    CountsNoneAtFirstSight {
        fn counts_source(&self, entry: Entry, at_first_sight: bool) -> bool {
            !at_first_sight && matches!(entry, Entry::Full | Entry::Adopted)
        }
    }
    CountsPreexisting {
        fn counts_source(&self, entry: Entry, at_first_sight: bool) -> bool {
            entry == Entry::Preexisting || SpecEvidence.counts_source(entry, at_first_sight)
        }
    }
    MissesTheNetworkAtOnce {
        fn waits_for_the_end(&self) -> bool {
            false
        }
    }
    NeverMissesTheNetwork {
        fn misses_the_network_at_the_end(&self) -> bool {
            false
        }
    }
    CountsTheLastPull {
        fn counted(&self, of_container: &[Found]) -> Option<usize> {
            of_container.len().checked_sub(1)
        }
    }
    TakesRunsOfTheNewestSnapshotOff {
        fn place_of_runs(&self, _: usize, judged: usize) -> usize {
            judged
        }
    }
    TakesRunsBelowZeroOff {
        fn time_of_init(&self, pod: &Snapshot) -> Nanos {
            let init = pod.containers.iter().filter(|one| one.kind == Kind::Init);
            init.flat_map(|one| &one.runs).sum()
        }
    }
    LeavesInitInside {
        fn time_of_init(&self, _: &Snapshot) -> Nanos {
            0
        }
    }
    TakesOneRunOff {
        fn time_of_init(&self, pod: &Snapshot) -> Nanos {
            let init = pod.containers.iter().filter(|one| one.kind == Kind::Init);
            init.filter_map(|one| one.runs.first()).map(|run| (*run).max(0)).sum()
        }
    }
    TakesSidecarsOff {
        fn time_of_init(&self, pod: &Snapshot) -> Nanos {
            let init = pod.containers.iter().filter(|one| one.is_init());
            init.flat_map(|one| &one.runs).map(|run| (*run).max(0)).sum()
        }
    }
    AddsOverlappingPulls {
        fn union(&self, intervals: &[(Nanos, Nanos)]) -> Nanos {
            intervals.iter().map(|(from, to)| to - from).sum()
        }
    }
    TakesWholePullsOff {
        fn clipped(&self, interval: (Nanos, Nanos), _: (Nanos, Nanos)) -> (Nanos, Nanos) {
            interval
        }
    }
    LeavesPullsOfInitContainersInside {
        fn counts_for_sli(&self, container: &Container) -> bool {
            container.kind == Kind::Regular
        }
    }
    PromisesForStatefulPods {
        fn sli_reasons(&self) -> [&'static str; 3] {
            ["gated", "unschedulable", "unschedulable"]
        }
    }
    PromisesForGatedPods {
        fn sli_reasons(&self) -> [&'static str; 3] {
            ["unschedulable", "unschedulable", "stateful"]
        }
    }
    PutsStatefulFirst {
        fn sli_reasons(&self) -> [&'static str; 3] {
            ["stateful", "gated", "unschedulable"]
        }
    }
    KnowsNoScheduler {
        fn binding(&self, _: &KubeEvent) -> Option<Nanos> {
            None
        }
    }
    TakesAnythingForABinding {
        fn binding(&self, event: &KubeEvent) -> Option<Nanos> {
            event.event_time
        }
    }
    SharpensInApiMode {
        fn sharpens_in(&self, _: Timestamps) -> bool {
            true
        }
    }
    TrustsTheSchedulersClock {
        fn sharpens(&self, _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    SharpensTheNextSecondToo {
        fn sharpens(&self, told: Nanos, estimate: Nanos) -> bool {
            let second = estimate.div_euclid(SECOND) * SECOND;
            (second..=second + SECOND).contains(&told)
        }
    }
    SharpensWhatHasEnded {
        fn is_in_time(&self, _: usize, _: Option<usize>) -> bool {
            true
        }
    }
    SharpensNothingLater {
        fn is_in_time(&self, _: usize, _: Option<usize>) -> bool {
            false
        }
    }
    PutsEventsAtTheEndOfTheirSecond {
        fn time_of(&self, event: &KubeEvent, timestamps: Timestamps) -> Option<Nanos> {
            let named = KubeEvent { name: String::new(), ..event.clone() };
            let is_late = SpecEvidence.time_of(event, timestamps)
                != SpecEvidence.time_of(&named, timestamps);
            SpecEvidence.time_of(event, timestamps).map(|time| match is_late {
                true => time / SECOND * SECOND + SECOND - 1,
                false => time,
            })
        }
    }
}
