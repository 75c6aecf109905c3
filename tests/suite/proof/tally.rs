//! What the program has counted, pod by pod.

use podinit::metrics::Recorder;
use podinit_core::lifecycle::{
    EndedStartup, Interval, Milestone, NetworkEvidence, Observation, Observer, Outcome,
    PodObservation, PodState, PullResult, Sink, SloVerdict, Stage, StartupSli, Step,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;

use crate::proof::injected_bug::InjectedBug;
use crate::proof::kube_events::Applied;
use crate::proof::nodes::CountedNodes;

/// How many SLOs are in force.
pub const SLOS: usize = 4;

pub const INTERVALS: usize = Interval::WITHOUT_NODES;
/// The intervals that begin or end with NetworkReady.
const OF_NETWORK: [Interval; 5] = [
    Interval::Stage(Stage::Network),
    Interval::Stage(Stage::Init),
    Interval::Stage(Stage::Containers),
    Interval::Step(Step::Sandbox),
    Interval::Step(Step::Start),
];

/// The SLO on one of them.
const SLO_OF_NETWORK: usize = 1;

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
    /// By source: how often its network became ready
    pub network: [u32; NetworkEvidence::ALL.len()],
    /// By result
    pub pulls: [u32; PullResult::ALL.len()],
    /// The startup SLI: observed, excluded
    pub sli: [u32; 2],
    /// Moves from where the pod did not stand
    pub torn_moves: u32,
    stands: Option<PodState>,
}

impl Counted {
    /// What is counted of the pod alone, whatever Events say of it: all but what follows from the time of
    /// NetworkReady, pulls and the startup SLI.
    pub fn without_events(&self) -> Self {
        let mut rest = self.clone();
        rest.network = Default::default();
        rest.pulls = Default::default();
        rest.sli = Default::default();
        rest.stands = None;
        for interval in Interval::ALL {
            let index = interval.index();
            if OF_NETWORK.contains(&interval) {
                rest.measured[index] = 0;
                rest.latencies[index] = 0;
                rest.unobserved[index] = Default::default();
            }
        }
        rest.slos[SLO_OF_NETWORK] = Default::default();
        rest
    }

    /// How often it was counted, not how long anything took.
    pub fn without_latencies(&self) -> Self {
        Self { latencies: Default::default(), ..self.clone() }
    }

    /// Adds what another shard has counted of the same pod.
    pub fn add(&mut self, other: &Self) {
        fn sum(to: &mut [u32], from: &[u32]) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        self.discovered += other.discovered;
        self.torn_moves += other.torn_moves;
        sum(&mut self.outcomes, &other.outcomes);
        sum(&mut self.measured, &other.measured);
        sum(&mut self.returns, &other.returns);
        sum(&mut self.network, &other.network);
        sum(&mut self.pulls, &other.pulls);
        sum(&mut self.sli, &other.sli);
        sum(self.unobserved.as_flattened_mut(), other.unobserved.as_flattened());
        sum(self.slos.as_flattened_mut(), other.slos.as_flattened());
        for (index, latency) in other.latencies.iter().enumerate() {
            if other.measured[index] > 0 {
                self.latencies[index] = *latency;
            }
        }
        self.stands = other.stands.or(self.stands);
    }

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
                let position = Milestone::REENTERABLE.iter().position(|of| *of == milestone);
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
            PodObservation::NetworkReady { evidence, .. } => self.network[evidence as usize] += 1,
            PodObservation::StartupSli(StartupSli::Observed(_)) => self.sli[0] += 1,
            PodObservation::StartupSli(StartupSli::Excluded(_)) => self.sli[1] += 1,
            PodObservation::OldestInFlight { .. }
            | PodObservation::Stuck { .. }
            | PodObservation::Bound
            | PodObservation::NodeKnown
            | PodObservation::Startup { .. }
            | PodObservation::Anomaly(_)
            | PodObservation::Disrupted(_)
            | PodObservation::Refused(_)
            | PodObservation::SetAside { .. }
            | PodObservation::Delivered(_) => {}
        }
    }
}

/// Counts for each pod what the recorder counts for all of them.
pub struct Tally {
    pub pods: Vec<Counted>,
    /// The Events of pods that it was given
    pub applied: Vec<Applied>,
    /// Whether Events are a source of evidence
    pub events: bool,
    pub nodes: CountedNodes,
    pub recorder: Recorder,
    pub injected: InjectedBug,
}

impl Observer for Tally {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(pod, observation) => self.observe_pod(now, pod, observation),
            Observation::Pull(pod, pull) => {
                for _ in 0..self.injected.times_of_pull() {
                    self.counted(pod).pulls[pull.result as usize] += 1;
                    self.recorder.observe(now, observation);
                }
            }
            Observation::Node(node) => {
                self.nodes.count(node);
                self.recorder.observe(now, observation);
            }
            Observation::Tracker(_) => self.recorder.observe(now, observation),
        }
    }
}

impl Sink for Tally {
    fn ended(&mut self, _: EndedStartup) {}
}

impl Tally {
    fn counted(&mut self, pod: &PodInfo) -> &mut Counted {
        let number: usize = pod.pod_labels[0].parse().expect("every pod is numbered");
        if self.pods.len() <= number {
            self.pods.resize(number + 1, Counted::default());
        }
        &mut self.pods[number]
    }

    fn observe_pod(&mut self, now: Timestamp, pod: &PodInfo, observation: PodObservation) {
        for _ in 0..self.injected.times(&observation) {
            self.counted(pod).count(observation);
            self.recorder.observe_pod(now, pod, observation);
        }
    }
}
