//! An API server whose etcd was restored from a backup: versions begin again below those that are
//! known, and pods come back that were gone. What happens from then on is counted in full, and
//! nothing twice.

use std::time::Duration;

use crate::support::embedded::{Embedded, NAMESPACE, cluster, create};
use crate::support::watch::{FakeApi, event, page, pod};
use podinit_kube::watch::stats::RelistReason;
use podinit_sim::container::{AppState, KubeletReport};
use podinit_sim::faults::StreamFault;
use podinit_sim::life::PodChange;
use podinit_sim::node::CURRENT;
use tokio::time::sleep;

struct World(Embedded);

impl World {
    async fn start() -> Self {
        let mut world = Self(Embedded::watching(cluster().await));
        world.0.pass(2).await;
        world
    }

    /// A pod that is bound to a node.
    fn begin(&self, name: &str) {
        create(&self.0.cluster, name);
        let (node, stamped) = (CURRENT, true);
        self.apply(name, &PodChange::Bind { node, stamped });
    }

    fn ready(&self, name: &str) {
        let report = KubeletReport {
            sandbox: true,
            init_done: 0,
            app: AppState::Running { ready: true },
            restarts: 0,
        };
        self.apply(name, &PodChange::Report(report));
    }

    fn apply(&self, name: &str, change: &PodChange) {
        assert!(self.0.cluster.apply(name, change), "{name} is gone");
    }

    fn assert_counted(&self, discovered: f64, outcomes: [(&str, f64); 3]) {
        let scrape = self.0.scrape();
        scrape.assert_conserved();
        assert_eq!(scrape.sum("podinit_pods_discovered_total"), discovered);
        let name = "podinit_pods_finished_total";
        for (outcome, pods) in outcomes {
            let counted = scrape.sum_where(name, "outcome", outcome);
            assert_eq!(counted, pods, "{outcome}");
        }
        let all: f64 = outcomes.iter().map(|(_, pods)| pods).sum();
        assert_eq!(scrape.sum(name), all);
        let ready = outcomes[0].1;
        let latencies = "podinit_created_to_ready_duration_seconds_count";
        assert_eq!(scrape.sum(latencies), ready);
        assert_eq!(scrape.sum("podinit_reentries_total"), 0.0);
    }
}

#[tokio::test(start_paused = true)]
async fn pods_after_a_rollback_are_counted_in_full_and_none_twice() {
    // Deleted pods are remembered for ten minutes, and a backup may be older.
    for (server_replaced, age) in [(true, 30), (true, 700), (false, 30), (false, 700)] {
        let mut world = World::start().await;
        for name in ["in-flight", "done", "gone-ready", "gone-early"] {
            world.begin(name);
        }
        world.0.pass(1).await;
        world.ready("done");
        world.0.pass(1).await;
        let backup = world.0.cluster.store().version();

        world.ready("gone-ready");
        world.begin("lost");
        world.begin("lost-ready");
        world.0.pass(2).await;
        world.ready("lost-ready");
        world.apply("gone-ready", &PodChange::Remove);
        world.apply("gone-early", &PodChange::Remove);
        world.0.cluster.store().skip_versions(5_000);
        world.0.pass(age).await;
        world.assert_counted(6.0, [("ready", 3.0), ("deleted", 1.0), ("vanished", 0.0)]);

        world.0.cluster.store().roll_back(backup).unwrap();
        if server_replaced {
            world.0.cluster.faults().stream(StreamFault::Cut);
        }
        world.0.pass(3).await;
        world.ready("in-flight");
        world.begin("new");
        world.0.pass(5).await;
        world.ready("new");
        world.0.pass(if server_replaced { 50 } else { 130 }).await;
        let after = [("ready", 5.0), ("deleted", 1.0), ("vanished", 1.0)];
        world.assert_counted(7.0, after);
        assert_eq!(world.0.relists(RelistReason::Restored), 1);
        assert!(world.0.stats.synced());

        // The pods that came back stay accounted for, whatever becomes of them and however late.
        world.0.pass(700).await;
        for name in ["gone-ready", "gone-early"] {
            world.0.cluster.delete_json(NAMESPACE, name).unwrap();
        }
        world.begin("newer");
        world.0.pass(2).await;
        world.ready("newer");
        world.0.pass(2).await;
        let in_the_end = [("ready", 6.0), ("deleted", 1.0), ("vanished", 1.0)];
        world.assert_counted(8.0, in_the_end);
        assert_eq!(world.0.all_relists(), 1);
    }
}

/// An event whose version lies far ahead makes the watch resume where the API server never was: it is silent
/// there but for further lies. No backup was restored, so that pods that were missed meanwhile are new.
#[tokio::test(start_paused = true)]
async fn pods_that_were_missed_behind_versions_that_lied_are_counted() {
    for lies in [1, 7] {
        let mut world = World::start().await;
        world.0.cluster.faults().set_modes(|modes| modes.no_bookmarks = true);
        world.begin("liar");
        world.0.pass(1).await;
        for number in 0..70 {
            if number % 8 == 2 && number / 8 < lies {
                let version = 1_000_000_000_000_u64 + number;
                let lie = event("MODIFIED", &pod("liar", version).replace("uid-", ""));
                let fault = StreamFault::Raw(lie.into());
                world.0.cluster.faults().stream(fault);
            }
            let name = format!("pod-{number}");
            world.begin(&name);
            world.0.pass(1).await;
            world.ready(&name);
            world.0.pass(1).await;
        }
        world.0.pass(150).await;
        world.assert_counted(71.0, [("ready", 70.0), ("deleted", 0.0), ("vanished", 0.0)]);
        assert!(world.0.relists(RelistReason::Restored) >= 1);
        // What is seen of the liar from now on is not older than its lie.
        world.ready("liar");
        world.0.pass(2).await;
        world.assert_counted(71.0, [("ready", 71.0), ("deleted", 0.0), ("vanished", 0.0)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_replaced_and_says_nothing_is_asked_for_its_version_soon() {
    let mut api = FakeApi::start();
    api.synced("1000", &page(0..2)).await.reset();
    let watch = api.watch_from("1000").await.stream();
    sleep(Duration::from_secs(25)).await;
    drop(watch);
    let asked = api.asked().await;
    assert!(api.elapsed() < Duration::from_secs(30));
    // It is not behind: the watch goes on.
    asked.list("1000", Some("more"), &page(0..1));
    let watch = api.watch_from("1000").await.stream();
    sleep(Duration::from_secs(25)).await;
    drop(watch);
    api.watch_from("1000").await;
    assert!(api.stats.synced() && api.no_delivery());
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_resumes_finds_out_at_once_that_the_server_was_restored() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..2)).await;
    watch.bookmark("1000");
    sleep(Duration::from_secs(5)).await;
    watch.reset();
    assert_eq!(api.next_delivery().await, "SyncLost");
    let _watch = api.watch_from("1000").await.stream();
    api.asked().await.list("510", Some("more"), &page(0..1));
    assert_eq!(api.next_delivery().await, "RolledBack");
    api.call().await.list("511", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    assert!(api.elapsed() < Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_lags_is_not_taken_for_a_restored_server() {
    let mut api = FakeApi::start();
    drop(api.synced("1000", &page(0..2)).await);
    api.watch_from("1000").await.refuse(504, "Too large resource version: 1000, current: 990");
    assert_eq!(api.next_delivery().await, "SyncLost");
    api.call().await.refuse(504, "Too large resource version");
    // The most recent list is of all replicas.
    api.call().await.list("1001", None, &page(0..2));
    assert_eq!(api.next_delivery().await, "Listed p0@0 p1@1");
    api.watch_from("1001").await;
}
