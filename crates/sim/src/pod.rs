//! A simulated pod as the API server holds it, and how the changes of its life move it.

use super::component_fault::SECRET_MISSING;
use super::container::{ContainerRef, ContainerWaiting, KubeletReport, PodContainerRuns};
use super::image::PullFault;
use super::kubelet::{self, ConditionVerdict, SimulatedPhase};
use super::life::{ConditionWriter, PodChange, PodManifest, ResizeStep};
use super::node::{KubeletMinor, SimulatedNode};
use super::sim_clock::SECOND;
use podinit_core::timestamp::Timestamp;

/// How far the scheduler's clock is ahead of the API server's.
pub(super) const SCHEDULER_SKEW: i64 = 15_000_000;
/// How long a static pod had run when its mirror was made.
const MIRROR_LEAD: i64 = 20 * SECOND;

/// One condition of the status.
#[derive(Clone, Debug, PartialEq)]
pub struct PodCondition {
    /// `type`
    pub kind: &'static str,
    /// What it says
    pub verdict: ConditionVerdict,
    /// `lastTransitionTime` by the clock of its writer, not yet truncated
    pub since: Timestamp,
    /// `observedGeneration`
    pub(super) observed_generation: Option<u32>,
}

/// A pod's present state.
#[derive(Clone, Debug)]
pub struct SimulatedPod {
    /// What of it never changes
    pub manifest: PodManifest,
    /// `metadata.creationTimestamp`, not yet truncated
    pub created: Timestamp,
    /// `metadata.generation`
    pub generation: u32,
    /// `metadata.deletionTimestamp` and `deletionGracePeriodSeconds`
    pub deletion: Option<(Timestamp, i64)>,
    /// Its scheduling gates that are still set
    pub gates: Vec<&'static str>,
    /// The node that it is bound to
    pub node: Option<SimulatedNode>,
    /// The kubelet of that node, which may be upgraded
    pub kubelet: KubeletMinor,
    /// `status.conditions`
    pub(crate) conditions: Vec<PodCondition>,
    /// `status.phase`
    pub phase: SimulatedPhase,
    /// `status.startTime`, not yet truncated
    pub started: Option<Timestamp>,
    /// What the kubelet last wrote, and when by its clock
    pub report: Option<(KubeletReport, Timestamp)>,
    /// What the kubelet has seen of its containers
    pub runs: PodContainerRuns,
    /// Its sandbox has been made at least once
    pub(super) had_sandbox: bool,
    /// How often its sandbox could not be made
    pub(super) sandbox_attempts: u32,
    /// The last pull of an image, which may have ended
    pub pull: Option<SimulatedPull>,
    /// Its kubelet has rejected it
    pub rejected: bool,
}

/// A pull of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedPull {
    /// When the kubelet wanted it, by the API server's clock
    pub since: Timestamp,
    /// Nanoseconds that it takes, the wait for its turn not included
    pub takes: i64,
}

impl SimulatedPod {
    /// The pod as it is created at `created`.
    pub fn new(manifest: PodManifest, created: Timestamp) -> Self {
        let mut pod = Self {
            gates: manifest.scheduling_gates.clone(),
            node: manifest.preset_node,
            kubelet: (manifest.preset_node).map_or(KubeletMinor::V1_37, |node| node.kubelet),
            runs: PodContainerRuns::new(manifest.init_containers.len(), manifest.containers.len()),
            manifest,
            created,
            generation: 1,
            deletion: None,
            conditions: Vec::new(),
            phase: SimulatedPhase::Pending,
            started: None,
            report: None,
            had_sandbox: false,
            sandbox_attempts: 0,
            pull: None,
            rejected: false,
        };
        if pod.is_gated() {
            // The API server sets this one when it creates the pod.
            let verdict = ConditionVerdict::fails(
                "SchedulingGated",
                "Scheduling is blocked due to non-empty scheduling gates",
            );
            pod.set("PodScheduled", verdict, created, None);
        }
        pod
    }

    /// Whether any scheduling gate is still set.
    pub fn is_gated(&self) -> bool {
        !self.gates.is_empty()
    }

    /// The condition of type `kind`.
    pub fn condition(&self, kind: &str) -> Option<&PodCondition> {
        let mut conditions = self.conditions.iter();
        conditions.find(|condition| condition.kind == kind)
    }

    /// Applies `change` at `now` of the API server's clock. [`PodChange::Remove`] changes nothing:
    /// the object goes as it is.
    pub fn apply(&mut self, change: &PodChange, now: Timestamp) {
        match change {
            PodChange::Unschedulable(why) => {
                let verdict = ConditionVerdict::fails("Unschedulable", why.message());
                let at = now.plus_nanos(SCHEDULER_SKEW);
                self.set("PodScheduled", verdict, at, None);
            }
            PodChange::Ungate(gate) => {
                self.gates.retain(|held| held != gate);
                self.generation += 1;
            }
            PodChange::Bind { node, stamped } => {
                self.node = Some(*node);
                self.kubelet = node.kubelet;
                if *stamped {
                    self.set("PodScheduled", ConditionVerdict::HOLDS, now, None);
                }
            }
            PodChange::MakeSandbox => self.had_sandbox = true,
            PodChange::Pull { takes, .. } => {
                let (since, takes) = (now, *takes);
                self.pull = Some(SimulatedPull { since, takes });
            }
            PodChange::Pulled(container) | PodChange::FindImage(container) => {
                if let Some(run) = self.runs.get_mut(*container) {
                    run.waiting = None;
                }
            }
            PodChange::FailPull(container, fault) => self.fail_pull(*container, *fault, false),
            PodChange::BackOffPull(container, fault) => self.fail_pull(*container, *fault, true),
            PodChange::FailCreate(container) => {
                if let Some(run) = self.runs.get_mut(*container) {
                    run.waiting = Some(ContainerWaiting {
                        reason: "CreateContainerConfigError",
                        message: SECRET_MISSING.to_owned(),
                    });
                }
            }
            PodChange::Start(container) => {
                let at = self.node_time(now);
                if let Some(run) = self.runs.get_mut(*container) {
                    run.unreported = Some(at);
                }
            }
            PodChange::Report(report) => self.report(*report, now),
            PodChange::Reject => self.reject(now),
            PodChange::SetCondition { kind, verdict, writer } => {
                let at = match writer {
                    ConditionWriter::Controller => now,
                    ConditionWriter::Application => self.node_time(now),
                };
                if self.condition(kind).is_none() {
                    self.conditions.insert(0, condition(kind, at));
                }
                self.set(kind, verdict.clone(), at, None);
            }
            PodChange::LoseNode => {
                self.set("Ready", ConditionVerdict::FAILS, now, None);
            }
            PodChange::UpgradeKubelet(kubelet) => {
                self.kubelet = *kubelet;
                if let Some((report, _)) = self.report {
                    self.report(report, now);
                }
            }
            PodChange::Disrupt(reason) => {
                let verdict =
                    ConditionVerdict::holds(reason, format!("{reason}: deleting the pod"));
                self.set("DisruptionTarget", verdict, now, None);
            }
            PodChange::Resize(step) => self.resize(*step, now),
            PodChange::Terminate { grace_seconds } => {
                let at = now.plus_nanos(grace_seconds.saturating_mul(SECOND));
                self.deletion = Some((at, *grace_seconds));
                self.generation += 1;
            }
            PodChange::FailSandbox(_) => self.sandbox_attempts += 1,
            PodChange::Autoscale(_)
            | PodChange::Mount
            | PodChange::FailMount
            | PodChange::Remove => {}
        }
    }

    /// The time of the pod's node when the API server's is `now`.
    fn node_time(&self, now: Timestamp) -> Timestamp {
        let skew = self.node.map_or(0, |node| node.skew);
        let lead = if self.manifest.mirror { MIRROR_LEAD } else { 0 };
        now.plus_nanos(skew - lead)
    }

    /// The kubelet's conditions of a change of resources in place.
    fn resize(&mut self, step: Option<ResizeStep>, now: Timestamp) {
        let at = self.node_time(now);
        let kinds = ["PodResizePending", "PodResizeInProgress"];
        (self.conditions).retain(|condition| !kinds.contains(&condition.kind));
        match step {
            Some(ResizeStep::Deferred) => {
                let message = "Node didn't have enough resource: cpu";
                let verdict = ConditionVerdict::holds("Deferred", message);
                self.set(kinds[0], verdict, at, None);
            }
            Some(ResizeStep::InProgress) => self.set(kinds[1], ConditionVerdict::HOLDS, at, None),
            None => {}
        }
    }

    /// The next status says that the image of `container` cannot be pulled.
    fn fail_pull(&mut self, container: ContainerRef, fault: PullFault, backs_off: bool) {
        let Some(image) = self.manifest.container(container).map(|of| of.image) else {
            return;
        };
        let error = fault.message(&image);
        let back_off = format!("Back-off pulling image \"{}\"", image.name);
        let (reason, message) = match backs_off {
            false => ("ErrImagePull", error),
            true => ("ImagePullBackOff", format!("{back_off}: ErrImagePull: {error}")),
        };
        if let Some(run) = self.runs.get_mut(container) {
            run.waiting = Some(ContainerWaiting { reason, message });
        }
    }

    /// The kubelet's status of a pod that it rejects has no conditions and no containers
    /// (`pkg/kubelet/kubelet.go`, `rejectPod`).
    fn reject(&mut self, now: Timestamp) {
        self.rejected = true;
        self.phase = SimulatedPhase::Failed;
        self.conditions.clear();
        self.started = Some(self.node_time(now));
    }

    fn report(&mut self, report: KubeletReport, now: Timestamp) {
        let at = self.node_time(now);
        let init_containers = self.manifest.init_containers.len();
        self.phase = self.phase.after(&report, init_containers);
        if self.started.is_none() {
            self.started = Some(at);
            self.arrange();
        }
        self.had_sandbox |= report.sandbox;
        self.runs.show(&self.manifest.init_containers, &report, at);
        self.report = Some((report, at));
        let generation = (self.kubelet.observes_generation()).then_some(self.generation);
        let containers = kubelet::containers_ready(&self.manifest, &report, self.phase);
        let gate = |kind: &str| Some(self.condition(kind)?.verdict.holds);
        let ready = kubelet::ready(&self.manifest, containers.clone(), gate);
        let initialized = kubelet::initialized(&self.manifest, &report, self.phase);
        if let Some(kind) = self.kubelet.network_condition() {
            if self.condition(kind).is_none() {
                self.conditions.insert(0, condition(kind, at));
            }
            let existed = self.had_sandbox;
            let verdict = kubelet::network_ready(self.kubelet, &report, existed);
            self.set(kind, verdict, at, generation);
        }
        self.set("Initialized", initialized, at, generation);
        self.set("Ready", ready, at, generation);
        self.set("ContainersReady", containers, at, generation);
        // What the scheduler wrote stays, also where it is wrong (k/k#139602).
        let scheduled = self.condition("PodScheduled");
        let scheduled =
            scheduled.map_or(ConditionVerdict::HOLDS, |condition| condition.verdict.clone());
        self.set("PodScheduled", scheduled, at, generation);
    }

    /// A kubelet writes its own conditions before the one that it found.
    fn arrange(&mut self) {
        let kept = std::mem::take(&mut self.conditions);
        let at = self.started.unwrap_or(self.created);
        self.conditions = ["Initialized", "Ready", "ContainersReady"]
            .into_iter()
            .map(|kind| condition(kind, at))
            .chain(kept)
            .collect();
    }

    /// Writes one condition: its time moves only when its status does.
    fn set(
        &mut self,
        kind: &'static str,
        verdict: ConditionVerdict,
        at: Timestamp,
        observed_generation: Option<u32>,
    ) {
        let position = self.conditions.iter().position(|known| known.kind == kind);
        let position = position.unwrap_or_else(|| {
            self.conditions.push(condition(kind, at));
            self.conditions.len() - 1
        });
        let condition = &mut self.conditions[position];
        if condition.verdict.holds != verdict.holds {
            condition.since = at;
        }
        condition.verdict = verdict;
        condition.observed_generation = observed_generation;
    }
}

/// A condition that does not hold yet.
fn condition(kind: &'static str, since: Timestamp) -> PodCondition {
    PodCondition { kind, verdict: ConditionVerdict::FAILS, since, observed_generation: None }
}
