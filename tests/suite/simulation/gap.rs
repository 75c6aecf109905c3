//! What happens while the watch is blind, with each pod's fate written out by hand: the list that
//! closes the gap is the only report of it ([§5.1](crate::specification#s5-1),
//! [§5.3](crate::specification#s5-3) and [§5.4](crate::specification#s5-4)).

use std::time::Duration;

use crate::support::PATIENCE;
use crate::support::cluster::pipeline::Pipeline;
use podinit_sim::container::{AppState, KubeletReport};
use podinit_sim::faults::{FaultAnswer, FaultTarget, ReceivedRequest, StreamFault};
use podinit_sim::life::{PodChange, PodManifest};
use podinit_sim::node::CURRENT;
use podinit_sim::status::Failure;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use tokio::time::timeout;

const NAMESPACE: &str = "shop";

struct Blind {
    cluster: SimulatedCluster,
    pipeline: Pipeline,
}

impl Blind {
    async fn start() -> Self {
        let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
        let mut pipeline = Pipeline::start(&cluster).await;
        pipeline.relisted().await;
        Self { cluster, pipeline }
    }

    fn create(&self, name: &str, uid: &str) {
        let manifest = PodManifest {
            namespace: NAMESPACE.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            ..PodManifest::default()
        };
        assert!(self.cluster.create(manifest));
    }

    fn apply(&self, uid: &str, change: &PodChange) {
        assert!(self.cluster.apply(uid, change), "{uid} is gone");
    }

    fn bind(&self, uid: &str) {
        let (node, stamped) = (CURRENT, true);
        self.apply(uid, &PodChange::Bind { node, stamped });
    }

    /// The kubelet finds a sandbox, and the container like this.
    fn report(&self, uid: &str, app: AppState) {
        let report = KubeletReport {
            sandbox: !matches!(app, AppState::Completed),
            init_done: 0,
            app,
            restarts: 0,
        };
        self.apply(uid, &PodChange::Report(report));
    }

    fn step(&self, millis: u64) {
        self.cluster.step(Duration::from_millis(millis));
    }

    /// Lets the pipeline learn of everything up to now, of which the last is a pod of its own.
    async fn see(&mut self) {
        self.create("seen", "uid-seen");
        let version = self.cluster.store().version();
        self.pipeline.catch_up(NAMESPACE, "seen", version).await;
    }

    /// From now on no event arrives, and no list succeeds.
    async fn go_blind(&self) {
        let faults = self.cluster.faults();
        let is_list = |request: &&ReceivedRequest| request.target == FaultTarget::List;
        let before = faults.requests().iter().filter(is_list).count();
        let busy = Failure::internal("the test wills it");
        faults.answer(FaultTarget::List, u32::MAX, FaultAnswer::Fail(busy));
        faults.stream(StreamFault::Gone);
        let lists = faults.requests_until(|all| all.iter().filter(is_list).count() > before);
        timeout(PATIENCE, lists).await.expect("the client lists");
    }

    async fn open_eyes(&mut self) {
        self.cluster.faults().clear();
        self.pipeline.relisted().await;
    }
}

const READY: AppState = AppState::Running { ready: true };
const STARTING: AppState = AppState::Waiting("ContainerCreating");

#[tokio::test(start_paused = true)]
async fn the_list_after_a_gap_tells_who_arrived_who_left_and_who_is_somebody_else() {
    let mut world = Blind::start().await;
    world.step(200);
    for name in ["arrives", "leaves", "done", "replaced", "job"] {
        world.create(name, &format!("uid-{name}"));
        world.bind(&format!("uid-{name}"));
    }
    world.report("uid-done", READY);
    world.see().await;

    world.go_blind().await;
    world.apply("uid-leaves", &PodChange::Remove);
    world.apply("uid-done", &PodChange::Remove);
    world.apply("uid-replaced", &PodChange::Remove);
    world.create("flash", "uid-flash");
    world.apply("uid-flash", &PodChange::Remove);
    world.step(3_000);
    world.report("uid-arrives", STARTING);
    world.report("uid-job", AppState::Completed);
    world.create("replaced", "uid-successor");
    world.create("newcomer", "uid-newcomer");
    world.bind("uid-newcomer");
    world.step(2_000);
    world.report("uid-arrives", READY);
    world.report("uid-newcomer", READY);
    world.open_eyes().await;

    let scrape = world.pipeline.scrape();
    scrape.assert_conserved();
    // Five from before, the successor, the newcomer, and the one that showed what was seen.
    assert_eq!(scrape.sum("podinit_pods_discovered_total"), 8.0);
    for (outcome, pods) in [
        ("ready", 3.0),     // done, arrives, newcomer
        ("vanished", 2.0),  // leaves, and the first of the name "replaced"
        ("completed", 1.0), // job
        ("deleted", 0.0),   // no deletion was delivered
        ("preexisting", 0.0),
    ] {
        let name = "podinit_pods_finished_total";
        assert_eq!(scrape.sum_where(name, "outcome", outcome), pods, "{outcome}");
    }
    assert_eq!(scrape.sum("podinit_reentries_total"), 0.0);

    // Seen by the watch: 0.2 and 0.2. By the list alone: the middle of second 3 and of second 5.
    let total = |name: &str, stage: &str| {
        let name = format!("podinit_{name}");
        match stage {
            "" => scrape.sum(&name),
            stage => scrape.sum_where(&name, "stage", stage),
        }
    };
    let near = |actual: f64, expected: f64| (actual - expected).abs() < 1e-6;
    // done: nothing yet; arrives: from 0.2 to 3.5; newcomer: from 3.5 to 5.5.
    assert_eq!(total("stage_duration_seconds_count", "network"), 3.0);
    assert!(near(total("stage_duration_seconds_sum", "network"), 3.3 + 2.0));
    // arrives: from 3.5 to 5.5; the others got both at once.
    assert_eq!(total("stage_duration_seconds_count", "containers"), 3.0);
    assert!(near(total("stage_duration_seconds_sum", "containers"), 2.0));
    assert_eq!(total("scheduled_to_ready_duration_seconds_count", ""), 3.0);
    assert!(near(total("scheduled_to_ready_duration_seconds_sum", ""), 5.3 + 2.0));
    world.pipeline.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_name_that_was_freed_in_a_gap_is_nobodys() {
    let mut world = Blind::start().await;
    world.create("web-0", "uid-first");
    world.bind("uid-first");
    world.report("uid-first", READY);
    world.see().await;
    world.go_blind().await;
    world.apply("uid-first", &PodChange::Remove);
    world.open_eyes().await;
    // A StatefulSet's next pod, delivered by the watch: it starts from nothing.
    world.step(1_000);
    world.create("web-0", "uid-second");
    world.bind("uid-second");
    world.report("uid-second", READY);
    let version = world.cluster.store().version();
    world.pipeline.catch_up(NAMESPACE, "web-0", version).await;
    let scrape = world.pipeline.scrape();
    scrape.assert_conserved();
    assert_eq!(scrape.sum_where("podinit_pods_finished_total", "outcome", "ready"), 2.0);
    assert_eq!(scrape.sum("podinit_created_to_ready_duration_seconds_count"), 2.0);
    assert_eq!(scrape.sum("podinit_reentries_total"), 0.0);
    world.pipeline.end().await;
}
