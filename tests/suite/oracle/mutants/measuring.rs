//! Planted bugs in what is measured: [§2](crate::specification#s2) to
//! [§4](crate::specification#s4).

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{
    Condition, Interval, Milestone, Rules, Showing, Snapshot, Spec, Timestamps, Traits, Verdict,
};

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
    StaysInTheStatedSecond {
        fn estimate(&self, t: Nanos, o: Option<Nanos>) -> Nanos {
            Spec.estimate(t, o.map(|o| o.max(t - SECOND)))
        }
    }
    TakesWhatArrivesASecondBefore {
        fn estimate(&self, t: Nanos, o: Option<Nanos>) -> Nanos {
            match o {
                Some(o) if o == t - SECOND => o,
                o => Spec.estimate(t, o),
            }
        }
    }
    TakesAllThatArrivesBefore {
        fn estimate(&self, t: Nanos, o: Option<Nanos>) -> Nanos {
            match o {
                Some(o) if o < t => o,
                o => Spec.estimate(t, o),
            }
        }
    }
    LacksReadyWithoutATime {
        fn takes_o_without_a_time(&self, _: Milestone, _: Timestamps) -> bool {
            false
        }
    }
    TakesReadyWithoutATimeInEveryMode {
        fn takes_o_without_a_time(&self, milestone: Milestone, _: Timestamps) -> bool {
            milestone == Milestone::Ready
        }
    }
    TakesContainersReadyWithoutATime {
        fn takes_o_without_a_time(&self, milestone: Milestone, timestamps: Timestamps) -> bool {
            milestone == Milestone::ContainersReady && timestamps == Timestamps::Fused
                || Spec.takes_o_without_a_time(milestone, timestamps)
        }
    }
    TakesInitializedWithoutATime {
        fn takes_o_without_a_time(&self, milestone: Milestone, timestamps: Timestamps) -> bool {
            milestone == Milestone::Initialized && timestamps == Timestamps::Fused
                || Spec.takes_o_without_a_time(milestone, timestamps)
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
}
