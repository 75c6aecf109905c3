//! What the program has counted, pod by pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use podinit_core::lifecycle::{
    CustomMilestone, CustomMilestones, Observation, Observer, PodObservation, PodState, SloVerdict,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::Recorder;
use podinit_sim::life::MODEL_LOADED;

use crate::proof::injected_bug::InjectedBug;

/// The SLOs in force, as in [`crate::proof::exporter::OBJECTIVES`].
pub const SLOS: [&str; 4] = ["scheduling", "network", "ready", "created"];

/// What is counted: its kind, what it is about, and what was said of that.
pub type Count = (&'static str, &'static str, &'static str);

/// How often each thing was counted of one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    times: BTreeMap<Count, u32>,
    /// Moves from where the pod did not stand
    pub torn_moves: u32,
    stands: Option<PodState>,
}

impl Counted {
    /// How often something of this kind was counted that is about one of these.
    pub fn times(&self, kind: &str, about: &[&str]) -> u32 {
        let is_it = |(of, what, _): &Count| *of == kind && about.contains(what);
        self.times.iter().filter(|(count, _)| is_it(count)).map(|(_, times)| times).sum()
    }

    /// How often exactly this was counted.
    pub fn said(&self, kind: &'static str, about: &'static str, said: &'static str) -> u32 {
        self.times.get(&(kind, about, said)).copied().unwrap_or_default()
    }

    /// How often anything of this kind was counted.
    pub fn all(&self, kind: &str) -> u32 {
        self.each().filter(|((of, ..), _)| *of == kind).map(|(_, times)| times).sum()
    }

    pub fn each(&self) -> impl Iterator<Item = (Count, u32)> {
        self.times.iter().map(|(count, times)| (*count, *times))
    }

    /// Adds what another shard has counted, of the same pod or of others.
    pub fn add(&mut self, other: &Self) {
        for (count, times) in other.each() {
            *self.times.entry(count).or_default() += times;
        }
        self.torn_moves += other.torn_moves;
        self.stands = other.stands.or(self.stands);
    }

    fn count(&mut self, observation: PodObservation) {
        let count = match observation {
            PodObservation::Moved { from, to } => {
                let stood = self.stands.unwrap_or(PodState::Undiscovered);
                self.torn_moves += u32::from(stood != from);
                self.stands = Some(to);
                if from == PodState::Undiscovered {
                    *self.times.entry(("discovered", "", "")).or_default() += 1;
                }
                match to {
                    PodState::Finished(outcome) => ("outcome", outcome.as_str(), ""),
                    _ => return,
                }
            }
            PodObservation::Measured { interval, .. } => {
                ("interval", interval.as_str(), "measured")
            }
            PodObservation::Unobserved { stage, reason } => {
                ("interval", stage.as_str(), reason.as_str())
            }
            PodObservation::CustomMeasured { interval, .. } => {
                ("milestone", interval.from.as_str(), "measured")
            }
            PodObservation::CustomUnobserved { reason, .. } => {
                ("milestone", "created", reason.as_str())
            }
            PodObservation::Reentered(milestone) => ("re-entry", milestone.as_str(), ""),
            PodObservation::Slo { slo, verdict } => {
                let verdict = match verdict {
                    SloVerdict::Good => "good",
                    SloVerdict::Bad(_) => "bad",
                    SloVerdict::Excluded(_) => "excluded",
                };
                ("SLO", SLOS[usize::from(slo.0)], verdict)
            }
            _ => return,
        };
        *self.times.entry(count).or_default() += 1;
    }
}

/// The one milestone of your own, as `--milestone` states it: `model=condition:example.com/ModelLoaded`.
pub fn milestones() -> CustomMilestones {
    let text = format!("model=condition:{MODEL_LOADED}");
    Arc::new(vec![CustomMilestone::parse(&text).unwrap()])
}

/// Counts for each pod what the recorder counts for all of them.
pub struct Tally {
    pub pods: Vec<Counted>,
    pub recorder: Recorder,
    pub injected: InjectedBug,
}

impl Observer for Tally {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        let Observation::Pod(pod, of_pod) = observation else {
            self.recorder.observe(now, observation);
            return;
        };
        for _ in 0..self.injected.times(&of_pod) {
            let number = number_of(pod);
            if self.pods.len() <= number {
                self.pods.resize(number + 1, Counted::default());
            }
            self.pods[number].count(of_pod);
            self.recorder.observe_pod(now, pod, of_pod);
        }
    }
}

/// The number that the pod's label states.
pub fn number_of(pod: &PodInfo) -> usize {
    pod.pod_labels[0].parse().expect("every pod is numbered")
}
