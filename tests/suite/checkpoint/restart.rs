//! `podinit serve --state-dir` as a process: what a restart recovers, what it cannot, and what
//! becomes of a checkpoint that cannot be used.

use std::fs;

use crate::support::restart::{Exporter, World, files};
use crate::support::scrape::Scrape;
use podinit_sim::container::{AppState, KubeletReport};
use podinit_sim::faults::{FaultTarget, ReceivedRequest};
use podinit_sim::life::{PodChange, PodManifest};
use podinit_sim::node::CURRENT;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::Value;

const READY: AppState = AppState::Running { ready: true };

impl World {
    fn create(&self, name: &str) {
        let manifest = PodManifest {
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            uid: name.to_owned(),
            ..PodManifest::default()
        };
        assert!(self.cluster.create(manifest));
    }

    fn apply(&self, name: &str, change: &PodChange) {
        assert!(self.cluster.apply(name, change), "{name} is gone");
    }

    fn bind(&self, name: &str) {
        let (node, stamped) = (CURRENT, true);
        self.apply(name, &PodChange::Bind { node, stamped });
    }

    fn report(&self, name: &str, app: AppState) {
        let report = KubeletReport { sandbox: true, init_done: 0, app, restarts: 0 };
        self.apply(name, &PodChange::Report(report));
    }

    /// Everything that a pod can do, at once.
    fn live(&self, name: &str) {
        self.create(name);
        self.bind(name);
        self.report(name, READY);
    }

    /// The lists that were asked for, probes aside.
    fn lists(&self) -> usize {
        let is_list = |request: &&ReceivedRequest| {
            request.target == FaultTarget::List && request.query.contains("limit=500")
        };
        self.cluster.faults().requests().iter().filter(is_list).count()
    }
}

fn discovered(pods: f64) -> impl Fn(&Scrape) -> bool {
    move |seen| seen.sum("podinit_pods_discovered_total") == pods
}

fn finished(seen: &Scrape, outcome: &str) -> f64 {
    seen.sum_where("podinit_pods_finished_total", "outcome", outcome)
}

fn loaded(seen: &Scrape, result: &str) -> f64 {
    seen.sum_where("podinit_checkpoint_loads_total", "result", result)
}

/// The startup of a pod among those that were answered.
fn named<'a>(startups: &'a [Value], name: &str) -> &'a Value {
    let found = startups.iter().find(|startup| startup["name"] == name);
    found.unwrap_or_else(|| panic!("no startup of {name} in {startups:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_survive_a_kill() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        world.live("done");
        world.create("starts");
        podinit.until("both", discovered(2.0));
        world.bind("starts");
        podinit.until("that it is bound", |seen| {
            seen.sum_where("podinit_inflight_pods", "stage", "network") == 1.0
        });
        // A scrape has shown all that, so that it is durable.
        let done = podinit.startups("/api/v1/startups");
        let waits = podinit.startups("/api/v1/inflight");
        assert_eq!((done.len(), waits.len()), (1, 1));
        podinit.kill();

        let mut podinit = world.podinit();
        podinit.until_synced();
        assert_eq!(podinit.startups("/api/v1/startups"), done);
        assert_eq!(podinit.startups("/api/v1/inflight"), waits);
        let before = named(&waits, "starts")["causes"].as_array().unwrap();
        assert!(before.len() >= 2, "{before:?}");
        world.report("starts", READY);
        podinit.until("that it is ready", |seen| finished(seen, "ready") == 2.0);
        let after = podinit.startups("/api/v1/startups");
        assert_eq!(named(&after, "done"), named(&done, "done"));
        // The record of a pod in flight across the restart is whole.
        let whole = named(&after, "starts");
        let causes = whole["causes"].as_array().unwrap();
        assert_eq!(causes[..before.len()], before[..]);
        let open = |result: &Value| result["result"] != "measured";
        let intervals = whole["intervals"].as_array().unwrap();
        assert!(!intervals.iter().any(open), "{intervals:?}");
        assert_eq!(whole["ended"]["outcome"], "ready");
    });
}

const GAP: &str = "podinit_observation_gap_seconds_total";

async fn world() -> World {
    World::start().await
}

/// The tests ask the process in a way that blocks, and the cluster needs a thread of its own.
fn blocking<T>(test: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(test)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happened_while_nobody_watched_is_recovered_from_the_watch() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        world.create("starts");
        world.bind("starts");
        podinit.until("the pod", discovered(1.0));
        podinit.kill();
        // One moves on, one comes and stays, one comes and goes.
        world.report("starts", READY);
        world.live("comes");
        world.live("flashes");
        world.apply("flashes", &PodChange::Remove);
        let lists = world.lists();

        let mut podinit = world.podinit();
        let seen = podinit.until("all three", discovered(3.0));
        let seen = match finished(&seen, "ready") {
            3.0 => seen,
            _ => podinit.until("all three ready", |seen| finished(seen, "ready") == 3.0),
        };
        seen.assert_conserved();
        assert_eq!(seen.sum("podinit_created_to_ready_duration_seconds_count"), 3.0);
        assert_eq!(seen.sum("podinit_unobserved_total"), 0.0);
        assert_eq!((seen.sum(GAP), loaded(&seen, "restored")), (0.0, 1.0));
        assert_eq!(world.lists(), lists, "it was resumed");
        podinit.until_synced();
        assert!(podinit.terminate());
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_compaction_the_gap_is_counted_and_a_list_tells_what_is_left() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        for name in ["starts", "leaves"] {
            world.create(name);
            world.bind(name);
        }
        world.live("done");
        podinit.until("the pods", |seen| finished(seen, "ready") == 1.0);
        let seen = podinit.until("all of them", discovered(3.0));
        assert_eq!(seen.sum(GAP), 0.0);
        podinit.kill();
        world.report("starts", READY);
        world.apply("leaves", &PodChange::Remove);
        world.live("comes");
        world.live("flashes");
        world.apply("flashes", &PodChange::Remove);
        world.cluster.store().compact();

        let mut podinit = world.podinit();
        let seen = podinit.until("the list", |seen| finished(seen, "vanished") == 1.0);
        seen.assert_conserved();
        // The one that came and went within the gap is lost, and the gap says so.
        assert_eq!(seen.sum("podinit_pods_discovered_total"), 4.0);
        assert_eq!(finished(&seen, "ready"), 3.0);
        assert_eq!(seen.sum("podinit_scheduled_to_ready_duration_seconds_count"), 3.0);
        assert!(seen.sum(GAP) > 0.0);
        assert_eq!(seen.sum_where("podinit_relists_total", "reason", "gone"), 1.0);
    });
}

/// Starts podinit on what `spoil` has made of a good checkpoint, and returns what it shows.
fn spoiled(world: &World, result: &str, spoil: impl FnOnce(&std::path::Path)) -> Scrape {
    let mut podinit = world.podinit();
    podinit.until_synced();
    assert!(podinit.terminate());
    let rejected = world.state_dir().join(format!("checkpoint.rejected-{result}"));
    spoil(&world.checkpoint());
    let spoiled = fs::read(world.checkpoint()).ok();
    let mut podinit = world.podinit();
    let seen = podinit.until_synced();
    assert_eq!(loaded(&seen, result), 1.0, "{result}");
    assert_eq!(loaded(&seen, "restored"), 0.0, "{result}");
    assert_eq!(fs::read(&rejected).ok(), spoiled, "set aside as it was");
    podinit.kill();
    // And from then on there is a good one again.
    let mut podinit = world.podinit();
    let again = podinit.until_synced();
    assert_eq!((loaded(&again, result), loaded(&again, "restored")), (1.0, 1.0));
    seen
}

/// The other reasons are in the tests of the store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_that_cannot_be_used_is_set_aside_and_podinit_begins_anew() {
    let world = world().await;
    world.live("old");
    blocking(|| {
        let shorter = |path: &std::path::Path| {
            let checkpoint = fs::read(path).unwrap();
            fs::write(path, &checkpoint[..checkpoint.len() - 1]).unwrap();
        };
        let seen = spoiled(&world, "corrupt", shorter);
        assert_eq!(finished(&seen, "preexisting"), 1.0);
        let _ = fs::remove_dir_all(world.state_dir());
        spoiled(&world, "unreadable", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        });
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checkpoint_of_another_cluster_is_not_mixed_into_this_one() {
    let first = world().await;
    first.live("theirs");
    let config = ClusterConfig { start: None, preexisting: 60, ..ClusterConfig::manual() };
    let second = World::of(SimulatedCluster::start(config).await.unwrap());
    blocking(|| {
        let mut podinit = first.podinit();
        podinit.until("the pod", discovered(1.0));
        assert!(podinit.terminate());
        let mut podinit = Exporter::spawn(&mut second.command_in(&first.state_dir()));
        let seen = podinit.until_synced();
        assert_eq!(loaded(&seen, "foreign_cluster"), 1.0);
        assert_eq!(finished(&seen, "ready"), 0.0);
        assert!(seen.sum("podinit_pods_discovered_total") >= 60.0);
        assert!(
            files(&first.state_dir()).contains(&"checkpoint.rejected-foreign_cluster".to_owned())
        );
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_labels_begin_at_zero_and_everything_else_goes_on() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        world.live("done");
        world.create("starts");
        world.bind("starts");
        let before =
            podinit.until("both", |seen| finished(seen, "ready") == 1.0 && discovered(2.0)(seen));
        assert!(podinit.terminate());
        let mut command = world.command();
        let mut podinit = Exporter::spawn(command.args(["--labels", "namespace,host_network"]));
        let seen = podinit.until_synced();
        assert_eq!(loaded(&seen, "restored"), 1.0);
        assert_eq!(finished(&seen, "ready"), 1.0);
        assert!(before.sum("podinit_created_to_ready_duration_seconds_count") > 0.0);
        let series = "podinit_created_to_ready_duration_seconds_count{namespace=\"shop\",host_network=\"false\"}";
        assert_eq!(seen.value(series), Some(0.0), "shown before it counts");
        world.report("starts", READY);
        podinit.until("the other", |seen| seen.value(series) == Some(1.0));
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_are_watched_no_longer_vanish() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        world.create("starts");
        podinit.until("the pod", discovered(1.0));
        assert!(podinit.terminate());
        let mut command = world.command();
        let mut podinit = Exporter::spawn(command.args(["--namespace", "other"]));
        let seen = podinit.until_synced();
        assert_eq!((finished(&seen, "vanished"), seen.sum("podinit_inflight_pods")), (1.0, 0.0));
        assert!(podinit.terminate());
        // Another selection of the same scope: what it does not hold is gone too.
        world.create("again");
        let mut podinit = world.podinit();
        podinit.until("them all", discovered(3.0));
        assert!(podinit.terminate());
        let mut command = world.command();
        let mut podinit = Exporter::spawn(command.args(["--label-selector", "app=web"]));
        let seen = podinit.until("the list", |seen| finished(seen, "vanished") == 3.0);
        seen.assert_conserved();
        assert_eq!(seen.sum(GAP), 0.0, "a first list closes no gap");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_on_the_same_directory_is_refused() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        let second = world.command().output().unwrap();
        assert_eq!(second.status.code(), Some(1));
        let line = String::from_utf8(second.stderr).unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains("another process is using it"), "{line}");
        podinit.until_synced();
    });
}

/// Not even the first scrape that shows counters says that they are on disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_scrape_says_that_nothing_can_be_written() {
    let world = world().await;
    blocking(|| {
        // What is in the way of the file cannot be removed.
        fs::create_dir_all(world.state_dir().join("checkpoint.tmp/full")).unwrap();
        let mut podinit = world.podinit();
        let first =
            podinit.until("counters", |seen| seen.value("podinit_pods_discovered_total").is_some());
        assert_eq!(first.value("podinit_checkpoint_durable"), Some(0.0));
        podinit.says("podinit cannot write the checkpoint");
        assert!(podinit.terminate());
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_is_gone_is_told_of_and_does_not_keep_podinit_from_serving() {
    let world = world().await;
    blocking(|| {
        let mut podinit = world.podinit();
        podinit.until_synced();
        fs::remove_dir_all(world.state_dir()).unwrap();
        world.live("pod");
        let seen = podinit.until("that it is behind", |seen| {
            seen.value("podinit_checkpoint_durable") == Some(0.0)
        });
        assert!(seen.sum_where("podinit_checkpoint_writes_total", "result", "failure") >= 1.0);
        podinit.until("the pod", discovered(1.0));
        podinit.says("podinit cannot write the checkpoint");
        assert!(podinit.terminate());
    });
}
