//! What really happened to each pod, to compare with what was measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::container::{ContainerRef, ContainerRun};
use super::kubelet::SimulatedPhase;
use super::life::PodChange;
use super::pod::SimulatedPod;
use super::profile::LifeKind;
use podinit_core::timestamp::Timestamp;

/// How many pods are remembered.
const REMEMBERED: usize = 20_000;

/// When a milestone was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MilestoneReached {
    /// By the clock of the component that stated it; the API shows this second
    pub stamped: Timestamp,
    /// By the API server's clock, when it was written
    pub written: Timestamp,
}

/// How a pod's startup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PodEnding {
    /// Ready
    Ready,
    /// Succeeded without having been Ready
    Completed,
    /// Failed without having been Ready
    Failed,
    /// Removed without having been Ready
    Removed,
}

/// A container's image that came over the network, by the API server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullTruth {
    /// Whose image it is
    pub container: ContainerRef,
    /// When the kubelet wanted it
    pub since: Timestamp,
    /// When it was there
    pub until: Timestamp,
    /// Nanoseconds of that in which it was pulled; the rest it waited for its turn
    pub takes: i64,
}

/// What happened to one pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodTruth {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// Its kind of life; `None` for a pod that a test moves by hand
    pub kind: Option<LifeKind>,
    /// When it was created
    pub created: Timestamp,
    /// The node that it was bound to
    pub node_name: Option<&'static str>,
    /// When its last scheduling gate was removed
    pub ungated: Option<Timestamp>,
    /// When each of its scheduling gates was removed, in the order of time; by the API server's clock
    pub gates_removed: Vec<(&'static str, Timestamp)>,
    /// First `True` of each condition that is not of Kubernetes: those of readiness gates and of applications, in the
    /// order of time
    pub conditions: Vec<(&'static str, MilestoneReached)>,
    /// First `PodScheduled=True`
    pub scheduled: Option<MilestoneReached>,
    /// First `PodReadyToStartContainers=True` or `PodHasNetwork=True`
    pub network_ready: Option<MilestoneReached>,
    /// When its first sandbox and its network were ready, whatever the status says then; by the API
    /// server's clock
    pub sandbox_ready: Option<Timestamp>,
    /// When its volumes were mounted, if that took time
    pub mounted: Option<Timestamp>,
    /// First `status.startTime`
    pub acknowledged: Option<MilestoneReached>,
    /// First status that states a start of every container of the spec, and the latest of these starts
    pub containers_started: Option<MilestoneReached>,
    /// When each container was started for the first time, in the order of time; by the API server's
    /// clock
    pub starts: Vec<(ContainerRef, Timestamp)>,
    /// The images that were pulled, for each container the last time
    pub pulls: Vec<PullTruth>,
    /// First `Initialized=True`
    pub initialized: Option<MilestoneReached>,
    /// First `ContainersReady=True`
    pub containers_ready: Option<MilestoneReached>,
    /// First `Ready=True`
    pub ready: Option<MilestoneReached>,
    /// It has been marked for its deletion (`DisruptionTarget`)
    pub disrupted: bool,
    /// How its startup ended, once it has
    pub ending: Option<PodEnding>,
    /// When it was removed
    pub removed: Option<Timestamp>,
    /// The removal was kept from all watches
    pub unseen: bool,
}

/// The records of a simulated cluster. Clones share them; they hold the last 20,000
/// pods.
#[derive(Clone, Debug, Default)]
pub struct GroundTruth(Arc<Mutex<BTreeMap<u64, PodTruth>>>);

impl GroundTruth {
    /// The pods in the order of their creation.
    pub fn pods(&self) -> Vec<PodTruth> {
        self.0.lock().values().cloned().collect()
    }

    /// The pod with this UID.
    pub fn pod(&self, uid: &str) -> Option<PodTruth> {
        self.0.lock().values().find(|pod| pod.uid == uid).cloned()
    }

    /// Notes the present state of the pod numbered `id`.
    pub(super) fn note(&self, id: u64, kind: Option<LifeKind>, pod: &SimulatedPod, now: Timestamp) {
        let mut pods = self.0.lock();
        let truth = pods.entry(id).or_insert_with(|| PodTruth::new(kind, pod));
        truth.note(pod, now);
        if pods.len() > REMEMBERED {
            pods.pop_first();
        }
    }

    /// Notes what happened on the node of the pod numbered `id`, which no status may show.
    pub(super) fn happened(&self, id: u64, change: &PodChange, pod: &SimulatedPod, now: Timestamp) {
        if let Some(truth) = self.0.lock().get_mut(&id) {
            truth.happened(change, pod, now);
        }
    }

    /// Notes the removal of the pod numbered `id`.
    pub(super) fn removed(&self, id: u64, now: Timestamp, unseen: bool) {
        if let Some(truth) = self.0.lock().get_mut(&id) {
            truth.removed = Some(now);
            truth.unseen = unseen;
            truth.ending.get_or_insert(PodEnding::Removed);
        }
    }
}

impl PodTruth {
    fn new(kind: Option<LifeKind>, pod: &SimulatedPod) -> Self {
        Self {
            uid: pod.manifest.uid.clone(),
            namespace: pod.manifest.namespace.clone(),
            name: pod.manifest.name.clone(),
            kind,
            created: pod.created,
            node_name: None,
            ungated: None,
            gates_removed: Vec::new(),
            conditions: Vec::new(),
            scheduled: None,
            network_ready: None,
            sandbox_ready: None,
            mounted: None,
            acknowledged: None,
            containers_started: None,
            starts: Vec::new(),
            pulls: Vec::new(),
            initialized: None,
            containers_ready: None,
            ready: None,
            disrupted: false,
            ending: None,
            removed: None,
            unseen: false,
        }
    }

    fn happened(&mut self, change: &PodChange, pod: &SimulatedPod, now: Timestamp) {
        match change {
            PodChange::Mount => self.mounted = self.mounted.or(Some(now)),
            PodChange::Ungate(gate) if self.gate_removed(gate).is_none() => {
                self.gates_removed.push((gate, now));
                self.ungated = (!pod.is_gated()).then_some(now);
            }
            PodChange::SetCondition { kind, verdict, .. }
                if verdict.holds && self.condition(kind).is_none() =>
            {
                let stamped = pod.condition(kind).map_or(now, |condition| condition.since);
                self.conditions.push((kind, MilestoneReached { stamped, written: now }));
            }
            PodChange::MakeSandbox => self.sandbox_ready = self.sandbox_ready.or(Some(now)),
            PodChange::Start(container) if !self.has_started(*container) => {
                self.starts.push((*container, now));
            }
            PodChange::Pulled(container) => {
                self.pulls.retain(|pull| pull.container != *container);
                self.pulls.extend(pod.pull.map(|pull| PullTruth {
                    container: *container,
                    since: pull.since,
                    until: now,
                    takes: pull.takes,
                }));
            }
            _ => {}
        }
    }

    /// When the scheduling gate of this name was removed.
    pub fn gate_removed(&self, name: &str) -> Option<Timestamp> {
        self.gates_removed.iter().find(|(known, _)| *known == name).map(|(_, removed)| *removed)
    }

    /// When the condition of this type was True first, if it is not of Kubernetes.
    pub fn condition(&self, kind: &str) -> Option<MilestoneReached> {
        self.conditions.iter().find(|(known, _)| *known == kind).map(|(_, reached)| *reached)
    }

    fn has_started(&self, container: ContainerRef) -> bool {
        self.starts.iter().any(|(known, _)| *known == container)
    }

    fn note(&mut self, pod: &SimulatedPod, now: Timestamp) {
        self.disrupted |= pod.condition("DisruptionTarget").is_some();
        self.node_name = pod.node.map(|node| node.name);
        let reach = |milestone: &mut Option<MilestoneReached>, stamped: Option<Timestamp>| {
            let written = now;
            let reached = stamped.map(|stamped| MilestoneReached { stamped, written });
            *milestone = milestone.or(reached);
        };
        let since = |kind| {
            let condition = pod.condition(kind).filter(|condition| condition.verdict.holds);
            condition.map(|condition| condition.since)
        };
        let network = since("PodReadyToStartContainers").or_else(|| since("PodHasNetwork"));
        let starts = pod.runs.regular.iter().map(ContainerRun::start);
        let starts = starts.collect::<Option<Vec<_>>>().unwrap_or_default();
        reach(&mut self.acknowledged, pod.started);
        reach(&mut self.containers_started, starts.into_iter().max());
        reach(&mut self.scheduled, since("PodScheduled"));
        reach(&mut self.network_ready, network);
        reach(&mut self.initialized, since("Initialized"));
        reach(&mut self.containers_ready, since("ContainersReady"));
        reach(&mut self.ready, since("Ready"));
        let ending = match pod.phase {
            _ if self.ready.is_some() => Some(PodEnding::Ready),
            SimulatedPhase::Succeeded => Some(PodEnding::Completed),
            SimulatedPhase::Failed => Some(PodEnding::Failed),
            SimulatedPhase::Pending | SimulatedPhase::Running => None,
        };
        self.ending = self.ending.or(ending);
    }
}
