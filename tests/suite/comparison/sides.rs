//! Random sides of a comparison, as records and as the reference reads them.

use std::sync::Arc;

use podinit_core::lifecycle::{
    Cause, GateKind, GateState, Interval, IntervalKind, IntervalResult, Latency, Milestone,
    MilestoneSource, Outcome, Progress, Record, RecordedCause, RecordedContainer, RecordedGate,
    RecordedImage, RecordedInterval, RecordedMilestone, RecordedPull, Stage, UnobservedReason,
    WaitReason,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::{PodInfo, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_reports::comparison::{ComparisonSide, WorkloadAspect};
use podinit_testing::records;

/// A pod in plain values.
#[derive(Clone, Debug, Default)]
pub struct Pod {
    /// Seconds since the epoch
    pub created: i64,
    /// Namespace, kind and name
    pub workload: Option<(String, String, String)>,
    pub node: String,
    /// What its node states, where that is known
    pub labels: Option<NodeLabels>,
    pub images: Vec<String>,
    /// Containers without images, and gates
    pub names: Vec<(WorkloadAspect, String)>,
    /// Nanoseconds
    pub durations: Vec<(Interval, u64)>,
    /// What applies to it and was not observed
    pub unobserved: Vec<Interval>,
    pub end: End,
    /// What keeps it from starting, where that is not the network
    pub fault: Option<Fault>,
    /// After how many seconds it became ready, and which of its images it had pulled
    pub pulled: Option<(i64, Vec<usize>)>,
}

/// What keeps a pod from starting.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub cause: Cause,
    /// The image of the container that gives it
    pub image: usize,
    /// So many seconds after the creation
    pub since: i64,
}

impl Fault {
    fn waiting(self) -> WaitReason {
        WaitReason::new(Stage::Containers, self.cause).unwrap()
    }

    /// The fault comes twice, with another one in between. A pod that is over was deleted before.
    fn causes(self, created: Timestamp, is_over: bool) -> Vec<RecordedCause> {
        let cause = |seconds: i64, stage, cause, image: Option<usize>| RecordedCause {
            waiting: WaitReason::new(stage, cause).unwrap(),
            began: created.plus_nanos(seconds * 1_000_000_000),
            container: image.map(|image| image as u8),
        };
        let own = |seconds| cause(seconds, Stage::Containers, self.cause, Some(self.image));
        let mut all = vec![
            cause(0, Stage::Network, Cause::Unknown, None),
            own(self.since),
            cause(self.since + 1, Stage::Containers, Cause::Create, Some(0)),
            own(self.since + 2),
        ];
        if is_over {
            all.push(cause(self.since + 3, Stage::Containers, Cause::Terminating, None));
        }
        all
    }
}

/// How the startup of a pod ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    #[default]
    Ready,
    Completed,
    Failed,
    Rejected,
    /// So many seconds after its creation
    Deleted(i64),
    /// It waits for the network
    InFlight,
    /// Another shard follows it
    Moved,
}

impl End {
    fn progress(self, created: Timestamp, fault: Option<Fault>) -> Progress {
        let ended = |outcome, seconds: i64| Progress::Ended {
            outcome,
            at: created.plus_nanos(seconds * 1_000_000_000),
            ending: None,
        };
        let network = WaitReason::new(Stage::Network, Cause::Cni).unwrap();
        match self {
            Self::Ready => ended(Outcome::Ready, 0),
            Self::Completed => ended(Outcome::Completed, 0),
            Self::Failed => ended(Outcome::Failed, 0),
            Self::Rejected => ended(Outcome::Rejected, 0),
            Self::Deleted(seconds) => ended(Outcome::Deleted, seconds),
            Self::Moved => ended(Outcome::Moved, 0),
            Self::InFlight => Progress::InFlight {
                waiting: fault.map_or(network, Fault::waiting),
                entered: created,
                stuck_at: created,
                is_stuck: false,
                is_never_ready: false,
            },
        }
    }
}

/// The side with these pods.
pub fn side(pods: &[Pod]) -> ComparisonSide {
    let records: Vec<Record> = pods.iter().enumerate().map(record).collect();
    ComparisonSide::of_records(&records)
}

fn record((number, pod): (usize, &Pod)) -> Record {
    let created = Timestamp::from_seconds(pod.created);
    let namespace = pod.workload.as_ref().map_or("default", |(namespace, ..)| namespace);
    let name = format!("pod-{number}");
    let image = |(number, image): (usize, &String)| RecordedContainer {
        volume_image: None,
        name: format!("c{number}").into(),
        init: false,
        is_sidecar: false,
        image: Some(Arc::from(image.as_str())),
        registry: None,
        problem: pod.fault.filter(|fault| fault.image == number).map(|fault| fault.cause),
    };
    let pulled = |image: &usize| RecordedPull {
        container: format!("c{image}").into(),
        init: false,
        registry: "registry".into(),
        has_failed: false,
        image: RecordedImage::Pulled { ended: None, with_wait: Latency::from_nanos(0) },
    };
    let milestone = |milestone, seconds: i64| RecordedMilestone {
        milestone,
        time: Some(created.plus_nanos(seconds * 1_000_000_000)),
        source: Some(MilestoneSource::Condition),
    };
    let ready = pod.pulled.iter().map(|(seconds, _)| milestone(Milestone::Ready, *seconds));
    let named = pod.names.iter().filter(|(aspect, _)| gate_kind(*aspect).is_none());
    let named = named.map(|(aspect, name)| RecordedContainer {
        name: name.as_str().into(),
        init: *aspect != WorkloadAspect::Container,
        is_sidecar: *aspect == WorkloadAspect::Sidecar,
        image: None,
        ..image((0, &String::new()))
    });
    let gate = |(aspect, name): &(WorkloadAspect, String)| {
        Some(RecordedGate {
            kind: gate_kind(*aspect)?,
            gate: name.as_str().into(),
            state: GateState::Holding,
            since: None,
            passed: None,
        })
    };
    let interval = |(interval, nanos): &(Interval, u64)| RecordedInterval {
        interval: *interval,
        kind: IntervalKind::from_interval(*interval),
        began: None,
        ended: None,
        result: IntervalResult::Measured { seconds: Latency::from_nanos(*nanos) },
    };
    let unobserved = pod.unobserved.iter().map(|interval| RecordedInterval {
        interval: *interval,
        kind: IntervalKind::from_interval(*interval),
        began: None,
        ended: None,
        result: IntervalResult::Unobserved { reason: UnobservedReason::NotSeen },
    });
    Record {
        node_labels: pod.labels.clone().map(Arc::new),
        pod: PodInfo {
            namespace: namespace.into(),
            name: name.as_str().into(),
            node: Some(pod.node.as_str().into()),
            workload: pod.workload.as_ref().map(|(_, kind, name)| {
                let (kind, name) = (kind.as_str().into(), name.as_str().into());
                Arc::new(Workload { kind, name })
            }),
            ..PodInfo::default()
        },
        discovered: created,
        progress: pod.end.progress(created, pod.fault),
        milestones: [milestone(Milestone::Created, 0)].into_iter().chain(ready).collect(),
        intervals: pod.durations.iter().map(interval).chain(unobserved).collect(),
        containers: pod.images.iter().enumerate().map(image).chain(named).collect(),
        gates: pod.names.iter().filter_map(gate).collect(),
        pulls: pod.pulled.iter().flat_map(|(_, images)| images.iter().map(pulled)).collect(),
        causes: (pod.fault)
            .map_or_else(Vec::new, |fault| fault.causes(created, pod.end != End::InFlight)),
        ..records::record(namespace, &name)
    }
}

const fn gate_kind(aspect: WorkloadAspect) -> Option<GateKind> {
    match aspect {
        WorkloadAspect::SchedulingGate => Some(GateKind::Scheduling),
        WorkloadAspect::ReadinessGate => Some(GateKind::Readiness),
        _ => None,
    }
}

/// The labels of a node in this pool and zone, with a kubelet of version 1.35.
pub fn node_labels(pool: &str, zone: &str) -> NodeLabels {
    NodeLabels {
        pool: pool.into(),
        zone: zone.into(),
        kubelet_version: "v1.35.0".into(),
        ..NodeLabels::default()
    }
}

/// Random pods: a few workloads, images and minutes, and durations of one interval or of several, with ties where
/// `whole_seconds` asks for them.
pub fn random(
    random: &mut fastrand::Rng,
    most: usize,
    whole_seconds: bool,
    slower: f64,
) -> Vec<Pod> {
    let minutes = random.i64(1..30);
    // The last ones are those of the whole startup, which are broken down.
    let intervals = match random.bool() {
        true => &Interval::ALL[..],
        false => &Interval::ALL[..random.usize(1..=Interval::COUNT)],
    };
    let workloads = [random.u32(1..6), 20][usize::from(random.u32(..4) == 0)];
    let broken = [0.0, 0.1, 0.6][random.usize(..3)];
    (0..random.usize(4..most))
        .map(|_| {
            let workload = random.u32(..workloads + 1);
            let mut images = vec![format!("registry:5000/app:v{}", random.u32(..3))];
            if random.bool() {
                images.push("side/car@sha256:12".to_owned());
            }
            let (mut durations, mut unobserved) = (Vec::new(), Vec::new());
            for interval in intervals {
                let seconds = random.f64() * 9.0 * slower;
                let nanos = match whole_seconds {
                    true => seconds.round() as u64 * 1_000_000_000,
                    false => (seconds * 1e9) as u64,
                };
                match random.u32(..20) {
                    0 => {}
                    1 => unobserved.push(*interval),
                    _ => durations.push((*interval, nanos)),
                }
            }
            let is_ready = random.f64() >= broken;
            let end = match random.u32(..6) {
                _ if is_ready => End::Ready,
                0 => End::Failed,
                1 => End::Rejected,
                2 => End::Deleted(random.i64(0..60)),
                3 => End::InFlight,
                4 => End::Completed,
                _ => End::Moved,
            };
            if end != End::Ready {
                let whole = [Interval::CreatedToReady, Interval::ScheduledToReady];
                durations.retain(|(interval, _)| !whole.contains(interval));
                unobserved.retain(|interval| !whole.contains(interval));
            }
            let node = random.u32(..4);
            // In half of the sides nodes are known, but for one.
            let pool = ["a", "a", "_none"].get(node as usize);
            let zone = ["z1", "z2", ""].get(node as usize);
            let labels = pool.zip(zone).filter(|_| minutes % 2 == 0);
            Pod {
                created: 1_770_000_000 + 60 * random.i64(0..minutes) + random.i64(0..60),
                workload: (workload > 0).then(|| {
                    let name = format!("web-{workload}");
                    let kind = ["Job", "Deployment", "CronJob"][workload as usize % 3];
                    ("shop".to_owned(), kind.to_owned(), name)
                }),
                node: format!("node-{node}"),
                labels: labels.map(|(pool, zone)| node_labels(pool, zone)),
                images,
                names: Vec::new(),
                durations,
                unobserved,
                end,
                ..Pod::default()
            }
        })
        .collect()
}
