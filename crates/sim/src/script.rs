//! Builds lives step by step: time passes, then the kubelet or another component reports something.

use super::component_fault::ScaleUp;
use super::container::{AppState, ContainerRef, KubeletReport};
use super::life::{LifeStep, PodChange, PodManifest};
use super::node::SimulatedNode;
use super::profile::LifeSpeed;
use super::rng::Rng;
use super::sim_clock::{MILLI, SECOND};

/// A latency: its median and its bounds, in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct LatencyBounds {
    median: i64,
    low: i64,
    high: i64,
}

const fn latency(median: i64, low: i64, high: i64) -> LatencyBounds {
    LatencyBounds { median, low, high }
}

pub(super) const SCHEDULING: LatencyBounds = latency(60 * MILLI, 10 * MILLI, SECOND);
/// Shorter than what counts as a problem ([§13.2](crate::specification#s13-2)).
pub(super) const WAIT_FOR_NODE: LatencyBounds = latency(20 * SECOND, 8 * SECOND, 45 * SECOND);
/// A third of what counts as a problem, so that how long other pods were gated does not move the limit
/// ([§13.2](crate::specification#s13-2)).
pub(super) const GATE: LatencyBounds = latency(5 * SECOND, 2 * SECOND, 10 * SECOND);
/// Until the controller of a load balancer has made a ready pod its target.
pub(super) const REGISTRATION: LatencyBounds = latency(300 * MILLI, 100 * MILLI, SECOND);
pub(super) const FIRST_SYNC: LatencyBounds = latency(60 * MILLI, 15 * MILLI, 400 * MILLI);
pub(super) const SANDBOX: LatencyBounds = latency(800 * MILLI, 300 * MILLI, 3 * SECOND);
pub(super) const MOUNT: LatencyBounds = latency(2 * SECOND, 600 * MILLI, 8 * SECOND);
pub(super) const PULL: LatencyBounds = latency(2 * SECOND, 400 * MILLI, 9 * SECOND);
pub(super) const CREATE: LatencyBounds = latency(60 * MILLI, 15 * MILLI, 400 * MILLI);
pub(super) const CACHED: LatencyBounds = latency(80 * MILLI, 20 * MILLI, 400 * MILLI);
pub(super) const INIT: LatencyBounds = latency(3 * SECOND, SECOND, 20 * SECOND);
/// Until the startup probe of a sidecar succeeds.
pub(super) const SIDECAR: LatencyBounds = latency(500 * MILLI, 200 * MILLI, 1_500 * MILLI);
pub(super) const PROBE: LatencyBounds = latency(4 * SECOND, SECOND, 15 * SECOND);
pub(super) const RUN: LatencyBounds = latency(90 * SECOND, 20 * SECOND, 1_200 * SECOND);
/// An autoscaler looks for pods without a node so often.
const AUTOSCALER_LOOP: i64 = 2 * SECOND;
/// The namespace whose pods are on nodes of Karpenter.
const OF_KARPENTER: &str = "payments";
/// The kubelet checks its containers once a second, whatever the speed.
pub(super) const RELIST: LatencyBounds = latency(500 * MILLI, 20 * MILLI, SECOND);

/// A life that is being written.
pub(super) struct LifeScript<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) manifest: &'a PodManifest,
    pub(super) node: SimulatedNode,
    pub(super) steps: Vec<LifeStep>,
    pub(super) report: KubeletReport,
    speed: LifeSpeed,
    at: i64,
}

impl<'a> LifeScript<'a> {
    pub(super) fn new(
        rng: &'a mut Rng,
        manifest: &'a PodManifest,
        node: SimulatedNode,
        speed: LifeSpeed,
    ) -> Self {
        Self {
            rng,
            manifest,
            node,
            steps: Vec::new(),
            report: manifest.first_report(),
            speed,
            at: 0,
        }
    }

    /// Advances time by `latency`, at the life's speed.
    pub(super) fn wait(&mut self, latency: LatencyBounds) {
        self.at += self.draw(latency);
    }

    /// A time within `latency`, at the life's speed.
    fn draw(&mut self, latency: LatencyBounds) -> i64 {
        let drawn = self.rng.around(latency.median, 1.0);
        drawn.clamp(latency.low, latency.high) / self.speed.divisor()
    }

    /// Whether the life is one of those with which a demonstration begins.
    pub(super) fn is_brisk(&self) -> bool {
        self.speed == LifeSpeed::Brisk
    }

    /// An autoscaler adds a node: as a rule cluster-autoscaler, for the pods of one namespace Karpenter.
    pub(super) fn autoscale(&mut self) {
        let scale_up = match self.manifest.namespace == OF_KARPENTER {
            true => ScaleUp::Nominated,
            false => ScaleUp::Triggered,
        };
        let looked = AUTOSCALER_LOOP / self.speed.divisor();
        self.pass(looked);
        self.then(PodChange::Autoscale(scale_up));
        // The pod has waited for its node since before that.
        self.pass(-looked);
    }

    /// Advances time by exactly `nanos`.
    pub(super) fn pass(&mut self, nanos: i64) {
        self.at += nanos;
    }

    /// Advances time to `nanos` after the creation.
    pub(super) fn pass_until(&mut self, nanos: i64) {
        self.at = self.at.max(nanos);
    }

    /// After `latency`, `change` happens.
    pub(super) fn wait_then(&mut self, latency: LatencyBounds, change: PodChange) {
        self.wait(latency);
        self.then(change);
    }

    /// Now `change` happens.
    pub(super) fn then(&mut self, change: PodChange) {
        self.steps.push(LifeStep { after: self.at, change });
    }

    /// Now the kubelet writes what it sees.
    pub(super) fn write(&mut self) {
        self.then(PodChange::Report(self.report));
    }

    /// Now the kubelet writes that the containers are in this state.
    pub(super) fn write_app(&mut self, app: AppState) {
        self.report.app = app;
        self.write();
    }

    /// Now the kubelet writes whether there is a sandbox.
    pub(super) fn write_sandbox(&mut self, sandbox: bool) {
        self.report.sandbox = sandbox;
        self.write();
    }

    /// The scheduler binds the pod.
    pub(super) fn bind(&mut self, stamped: bool) {
        let node = self.node;
        self.wait_then(SCHEDULING, PodChange::Bind { node, stamped });
    }

    /// The kubelet writes its first status: nothing is ready yet, but `Initialized` is True where
    /// there are no init containers.
    pub(super) fn first_sync(&mut self) {
        self.wait(FIRST_SYNC);
        self.write();
    }

    /// Volumes are mounted, then the sandbox and its network come up; a kubelet that does so says it
    /// at once.
    pub(super) fn sandbox(&mut self) {
        self.make_sandbox();
        if self.node.kubelet.reports_sandbox_at_once() {
            self.write_sandbox(true);
        }
    }

    /// The same, of which no status tells yet.
    pub(super) fn make_sandbox(&mut self) {
        if self.manifest.claim.is_some() {
            if self.rng.chance(0.2) {
                self.wait_then(CREATE, PodChange::FailMount);
            }
            self.wait_then(MOUNT, PodChange::Mount);
        }
        self.wait_then(SANDBOX, PodChange::MakeSandbox);
    }

    /// The init containers run one after the other.
    pub(super) fn initialize(&mut self) {
        for (index, container) in self.manifest.init_containers.iter().enumerate() {
            self.start(ContainerRef::Init(index));
            self.wait(RELIST);
            self.write_sandbox(true);
            self.wait(if container.restartable { SIDECAR } else { INIT });
            self.report.init_done += 1;
            self.write();
        }
    }

    /// The containers are pulled and started one after the other, and the next sync shows them all.
    /// The main one is ready at once where nothing probes it.
    pub(super) fn run(&mut self) {
        for index in 0..self.manifest.containers.len() {
            self.start(ContainerRef::Regular(index));
        }
        self.show_running();
    }

    /// The next sync shows the containers running.
    pub(super) fn show_running(&mut self) {
        self.wait(RELIST);
        self.report.sandbox = true;
        let ready = !self.manifest.readiness_probe;
        self.write_app(AppState::Running { ready });
    }

    /// The readiness probe succeeds.
    pub(super) fn probe(&mut self) {
        if self.manifest.readiness_probe {
            self.wait(PROBE);
            self.write_app(AppState::Running { ready: true });
        }
    }

    /// From the first sync to readiness.
    pub(super) fn start_up(&mut self) {
        self.first_sync();
        self.sandbox();
        self.initialize();
        self.run();
        self.probe();
    }

    /// The container ends and is not restarted; its sandbox ends a moment later.
    pub(super) fn end(&mut self, app: AppState) {
        self.write_app(app);
        self.pass(SECOND);
        self.write_sandbox(false);
    }

    /// The pod runs for a while, whatever the speed, which shortens startups, and is deleted.
    pub(super) fn run_and_delete(&mut self, least: i64) {
        self.wait(RUN);
        self.pass(least);
        self.delete();
    }

    /// Drops all but the first `kept` steps, and continues at some time before the next one.
    pub(super) fn break_off(&mut self, kept: usize) {
        let until = self.steps.get(kept).map_or(self.at, |step| step.after);
        self.steps.truncate(kept);
        let since = self.steps.last().map_or(0, |step| step.after);
        self.at = self.rng.between(since, until);
        self.report = (self.steps.iter().rev())
            .find_map(|step| match step.change {
                PodChange::Report(report) => Some(report),
                _ => None,
            })
            .unwrap_or_else(|| self.manifest.first_report());
    }

    /// The pod is deleted: a grace period on a node, at once without one.
    pub(super) fn delete(&mut self) {
        let binds = |step: &LifeStep| matches!(step.change, PodChange::Bind { .. });
        if self.manifest.preset_node.is_some() || self.steps.iter().any(binds) {
            self.then(PodChange::Terminate { grace_seconds: 30 });
            self.pass(700 * MILLI);
            if matches!(self.report.app, AppState::Running { .. }) {
                self.report.sandbox = false;
                self.write_app(AppState::Completed);
            }
            self.pass(200 * MILLI);
        }
        self.then(PodChange::Remove);
    }

    /// The image comes from the node or over the network, as always on a new node; then the container starts.
    fn start(&mut self, container: ContainerRef) {
        if self.rng.chance(0.6) && !self.node.is_added() {
            self.find_image(container);
        } else {
            let takes = self.draw(PULL);
            self.then(PodChange::Pull { container, takes });
            self.pass(takes);
            self.then(PodChange::Pulled(container));
        }
        self.start_found(container);
    }

    /// The image of the main container is on the node, and it starts.
    pub(super) fn start_main(&mut self) {
        self.find_image(ContainerRef::MAIN);
        self.start_found(ContainerRef::MAIN);
    }

    /// The image is on the node already.
    fn find_image(&mut self, container: ContainerRef) {
        self.wait_then(CACHED, PodChange::FindImage(container));
    }

    /// A container whose image is there is created and started.
    fn start_found(&mut self, container: ContainerRef) {
        self.wait_then(CREATE, PodChange::Start(container));
    }
}
