//! What the program has counted, pod by pod.

use podinit::lifecycle::{
    Interval, Milestone, Observation, Outcome, PodObservation, PodState, Sink, SloVerdict,
};
use podinit::metrics::Recorder;
use podinit::pod::PodInfo;
use podinit::timestamp::Timestamp;

use crate::proof::injected_bug::InjectedBug;

/// How many SLOs are in force.
pub const SLOS: usize = 4;

pub const INTERVALS: usize = Interval::ALL.len();
const OUTCOMES: usize = Outcome::ALL.len();

/// What was counted of one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub discovered: u32,
    pub outcomes: [u32; OUTCOMES],
    pub measured: [u32; INTERVALS],
    /// The last latency of each interval, in nanoseconds
    pub latencies: [u64; INTERVALS],
    /// By interval and reason
    pub unobserved: [[u32; 4]; INTERVALS],
    /// NetworkReady, Initialized, ContainersReady, Ready
    pub returns: [u32; 4],
    /// By SLO: good, bad, excluded
    pub slos: [[u32; 3]; SLOS],
    /// Moves from where the pod did not stand
    pub torn_moves: u32,
    stands: Option<PodState>,
}

impl Counted {
    fn count(&mut self, observation: PodObservation) {
        match observation {
            PodObservation::Moved { from, to } => {
                let stood = self.stands.unwrap_or(PodState::Undiscovered);
                self.torn_moves += u32::from(stood != from);
                self.stands = Some(to);
                self.discovered += u32::from(from == PodState::Undiscovered);
                if let PodState::Finished(outcome) = to {
                    self.outcomes[outcome as usize] += 1;
                }
            }
            PodObservation::Measured { interval, latency } => {
                self.measured[interval.index()] += 1;
                self.latencies[interval.index()] = latency.as_nanos();
            }
            PodObservation::Unobserved { stage, reason } => {
                self.unobserved[stage.interval().index()][reason as usize] += 1;
            }
            PodObservation::Reentered(milestone) => {
                let position = Milestone::REENTERABLE
                    .iter()
                    .position(|of| *of == milestone);
                self.returns[position.unwrap_or_default()] += 1;
            }
            PodObservation::Slo { slo, verdict } => {
                let column = match verdict {
                    SloVerdict::Good => 0,
                    SloVerdict::Bad(_) => 1,
                    SloVerdict::Excluded(_) => 2,
                };
                self.slos[usize::from(slo.0)][column] += 1;
            }
            PodObservation::NetworkReady { .. }
            | PodObservation::StartupSli(_)
            | PodObservation::OldestInFlight { .. }
            | PodObservation::Stuck { .. }
            | PodObservation::Bound
            | PodObservation::Anomaly(_)
            | PodObservation::Disrupted(_)
            | PodObservation::Refused(_)
            | PodObservation::Delivered(_) => {}
        }
    }
}

/// Counts for each pod what the recorder counts for all of them.
pub struct Tally {
    pub pods: Vec<Counted>,
    pub recorder: Recorder,
    pub injected: InjectedBug,
}

impl Sink for Tally {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(pod, observation) => self.observe_pod(now, pod, observation),
            Observation::Pull(..) | Observation::Tracker(_) => {
                self.recorder.observe(now, observation)
            }
        }
    }
}

impl Tally {
    fn observe_pod(&mut self, now: Timestamp, pod: &PodInfo, observation: PodObservation) {
        let number: usize = pod.pod_labels[0].parse().expect("every pod is numbered");
        if self.pods.len() <= number {
            self.pods.resize(number + 1, Counted::default());
        }
        for _ in 0..self.injected.times(&observation) {
            self.pods[number].count(observation);
            self.recorder.observe_pod(now, pod, observation);
        }
    }
}
