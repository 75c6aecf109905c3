//! What a version of a pod shows, read from the simulator's own pod, without JSON and without code of the
//! program.

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_sim::container::Run;
use podinit_sim::life::PodManifest;
use podinit_sim::pod::Pod;

use crate::proof::shard;

/// The five milestones that a condition states, in the order in which they are usually reached.
pub const SCHEDULED: usize = 0;
pub const NETWORK: usize = 1;
pub const INITIALIZED: usize = 2;
pub const CONTAINERS: usize = 3;
pub const READY: usize = 4;
pub const MILESTONES: usize = 5;

/// The condition types of the simulator, each with its milestone. The current name of the network
/// condition comes before the old one, over which it wins.
const TYPES: [(&str, usize); 6] = [
    ("PodScheduled", SCHEDULED),
    ("PodReadyToStartContainers", NETWORK),
    ("PodHasNetwork", NETWORK),
    ("Initialized", INITIALIZED),
    ("ContainersReady", CONTAINERS),
    ("Ready", READY),
];

/// Which of [`TYPES`] can be entered again.
const RETURNING: std::ops::Range<usize> = 1..TYPES.len();

/// A condition: whether it holds, and the second since when.
pub type Stated = Option<(bool, i64)>;

/// One version of one pod.
#[derive(Clone, Debug)]
pub struct Shows {
    conditions: [Stated; TYPES.len()],
    pub unschedulable: bool,
    pub gated: bool,
    /// `status.startTime`
    pub started: Option<i64>,
    /// The earliest start of any container, init containers included
    pub first_start: Option<i64>,
    /// The latest start of the regular containers, where each has one
    pub all_started: Option<i64>,
    /// It has a node
    pub bound: bool,
    /// A container, init containers included, has a start
    pub ran: bool,
    pub succeeded: bool,
    pub failed: bool,
    pub disrupted: bool,
}

impl Shows {
    pub fn of(pod: &Pod) -> Self {
        use podinit_sim::kubelet::Phase;
        let stated = |kind: &str| {
            let condition = pod.condition(kind)?;
            Some((condition.verdict.holds, second(condition.since)))
        };
        let scheduled = pod.condition("PodScheduled");
        // A kubelet that has not reported states nothing of containers.
        let runs = pod.report.is_some().then_some(&pod.runs);
        let init = runs.into_iter().flat_map(|runs| &runs.init);
        let regular = || runs.into_iter().flat_map(|runs| &runs.regular);
        let starts: Option<Vec<_>> = regular().map(Run::start).collect();
        Self {
            conditions: TYPES.map(|(kind, _)| stated(kind)),
            unschedulable: scheduled.is_some_and(|scheduled| {
                !scheduled.verdict.holds && scheduled.verdict.reason == Some("Unschedulable")
            }),
            gated: pod.gated,
            started: pod.started.map(second),
            first_start: init.clone().chain(regular()).filter_map(Run::start).min().map(second),
            all_started: starts.and_then(|starts| starts.into_iter().max()).map(second),
            bound: pod.node.is_some(),
            ran: init.chain(regular()).any(|run| run.start().is_some()),
            succeeded: pod.phase == Phase::Succeeded,
            failed: pod.phase == Phase::Failed,
            disrupted: pod.condition("DisruptionTarget").is_some(),
        }
    }

    /// The condition that stands for a milestone.
    pub fn milestone(&self, milestone: usize) -> Stated {
        let mut of_it = (TYPES.iter().zip(self.conditions))
            .filter(|((_, stands_for), _)| *stands_for == milestone);
        of_it.find_map(|(_, stated)| stated)
    }

    /// The second since when the milestone's condition holds.
    pub fn reached(&self, milestone: usize) -> Option<i64> {
        let (holds, since) = self.milestone(milestone)?;
        holds.then_some(since)
    }

    /// Whether the phase is a last one.
    pub fn is_over(&self) -> bool {
        self.succeeded || self.failed
    }
}

/// How often a condition came to hold again in these versions, one after the other, by milestone.
/// From the version number `restored` on, of an API server that was restored from a backup, what was
/// seen before may be delivered once more, and counts once.
pub fn returns<'a>(
    versions: impl Iterator<Item = &'a Shows>,
    restored: Option<usize>,
) -> [u32; MILESTONES] {
    let mut counts = [0; MILESTONES];
    let mut held: [Option<i64>; TYPES.len()] = [None; TYPES.len()];
    for (number, shows) in versions.enumerate() {
        let repeated = restored.is_some_and(|restored| number >= restored);
        for kind in RETURNING {
            let Some((true, since)) = shows.conditions[kind] else {
                continue;
            };
            let before = held[kind];
            held[kind] = match before {
                Some(before) if repeated => Some(since.max(before)),
                _ => Some(since),
            };
            counts[TYPES[kind].1] += u32::from(before.is_some_and(|before| since > before));
        }
    }
    counts
}

/// What of a pod never changes.
#[derive(Clone, Debug)]
pub struct Nature {
    pub namespace: String,
    pub name: String,
    /// The hash of its UID
    pub hash: u64,
    pub created: i64,
    pub has_init: bool,
    pub readiness_gated: bool,
    pub mirror: bool,
    /// How many regular containers it has
    pub containers: usize,
}

impl Nature {
    pub fn of(manifest: &PodManifest, created: Timestamp) -> Self {
        Self {
            namespace: manifest.namespace.clone(),
            name: manifest.name.clone(),
            hash: shard::hash(&manifest.uid),
            created: second(created),
            has_init: !manifest.init_containers.is_empty(),
            readiness_gated: manifest.readiness_gated,
            mirror: manifest.mirror,
            containers: manifest.containers.len(),
        }
    }
}

fn second(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(NANOS_PER_SECOND)
}
