//! Signs that ask for a list: however often they come, lists are few, and every pod counts once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::embedded::{Embedded, NAMESPACE, cluster, create};
use crate::support::watch::{FakeApi, event, page, pod};
use kube::Client;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::stats::RelistReason;
use podinit_sim::faults::StreamFault;
use serde_json::json;
use tokio::time::sleep;

async fn world(adjust: impl FnOnce(&mut ReflectorConfig)) -> Embedded {
    let mut world = Embedded::adjusted(cluster().await, adjust);
    world.pass(2).await;
    world
}

/// How many pods have been discovered, and how many of them are in flight.
fn counted(world: &Embedded) -> [f64; 2] {
    let scrape = world.scrape();
    scrape.assert_conserved();
    let discovered = scrape.sum("podinit_pods_discovered_total");
    [discovered, discovered - scrape.sum("podinit_pods_finished_total")]
}

fn bookmark(version: u64) -> StreamFault {
    let object = json!({"kind": "Pod", "metadata": {"resourceVersion": version.to_string()}});
    StreamFault::Raw(event("BOOKMARK", &object.to_string()).into())
}

/// What stands before the API server answers from a cache that lies far behind.
#[tokio::test(start_paused = true)]
async fn bookmarks_of_the_past_ask_for_few_lists_and_every_pod_counts_once() {
    let mut world = world(|_| {}).await;
    let mut in_sync = 0;
    for second in 0..300 {
        create(&world.cluster, &format!("a-{second}"));
        world.cluster.faults().stream(bookmark(1));
        create(&world.cluster, &format!("b-{second}"));
        if second >= 5 {
            world.cluster.delete_json(NAMESPACE, &format!("a-{}", second - 5)).unwrap();
        }
        world.pass(1).await;
        in_sync += u32::from(world.stats.synced());
    }
    // At 0, 10, 30, 70, 150 s, and then no more before 310 s.
    assert_eq!(world.relists(RelistReason::Restored), 5);
    assert!(in_sync >= 295, "{in_sync}");
    world.pass(60).await;
    assert_eq!(counted(&world), [600.0, 305.0]);
    // Ten minutes without a sign, and the next list comes at once.
    world.pass(610).await;
    let lists = world.relists(RelistReason::Restored);
    world.cluster.faults().stream(bookmark(1));
    world.pass(1).await;
    assert_eq!(world.relists(RelistReason::Restored), lists + 1);
}

/// Two API servers behind one address, each with an etcd of its own.
#[tokio::test(start_paused = true)]
async fn two_histories_in_turn_ask_for_few_lists_and_count_no_pod_twice() {
    let (one, other) = (cluster().await, cluster().await);
    other.store().skip_versions(500);
    let use_other = Arc::new(AtomicBool::new(false));
    let routers = [one.router(), other.router()];
    let chosen = Arc::clone(&use_other);
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let router = routers[usize::from(chosen.load(Ordering::Relaxed))].clone();
        tower::ServiceExt::oneshot(router, request.map(axum::body::Body::new))
    });
    let client = Client::new(service, "default");
    let faults = one.faults();
    let mut world = Embedded::before(client, one, |_| {});
    world.pass(2).await;
    let mut seen = 0;
    for second in 0..1_000_u64 {
        let is_other = use_other.load(Ordering::Relaxed);
        create(if is_other { &other } else { &world.cluster }, &format!("pod-{second}"));
        seen += 1;
        other.step(Duration::from_secs(1));
        world.pass(1).await;
        if second % 7 == 6 {
            use_other.store(!is_other, Ordering::Relaxed);
            faults.stream(StreamFault::Cut);
            other.faults().stream(StreamFault::Cut);
        }
    }
    world.pass(400).await;
    let [discovered, _] = counted(&world);
    assert!(discovered <= f64::from(seen), "{discovered} of {seen}");
    let lists = world.relists(RelistReason::Restored);
    assert!((1..=10).contains(&lists), "{lists} lists, {discovered} of {seen}");
}

/// An etcd that was restored from a backup of 12 s ago, whose versions catch up while podinit's watch is open again.
#[tokio::test(start_paused = true)]
async fn a_restore_is_found_out_after_every_broken_watch() {
    for fault in [StreamFault::Cut, StreamFault::End] {
        let mut world = world(|_| {}).await;
        let mut backup = 0;
        for second in 0..60 {
            create(&world.cluster, &format!("pod-{second}"));
            world.cluster.store().skip_versions(10);
            world.pass(1).await;
            if second == 47 {
                backup = world.cluster.store().version();
            }
        }
        world.cluster.store().roll_back(backup).unwrap();
        world.cluster.faults().stream(fault);
        for second in 60..100 {
            create(&world.cluster, &format!("pod-{second}"));
            world.cluster.store().skip_versions(7);
            world.pass(1).await;
        }
        assert_eq!(world.relists(RelistReason::Restored), 1);
        assert_eq!(counted(&world), [100.0, 88.0]);
    }
}

/// The versions have caught up before podinit could ask: a list beside the watch shows what was missed.
#[tokio::test(start_paused = true)]
async fn a_restore_during_an_outage_is_found_by_a_list_soon_after() {
    let hourly = Some(Duration::from_secs(3600));
    let mut world = world(|config| config.reconcile_interval = hourly).await;
    for second in 0..60 {
        create(&world.cluster, &format!("pod-{second}"));
        world.pass(1).await;
    }
    world.cluster.faults().set_modes(|modes| modes.forbidden = true);
    world.cluster.faults().stream(StreamFault::Cut);
    world.cluster.store().roll_back(world.cluster.store().version() - 12).unwrap();
    for second in 60..80 {
        create(&world.cluster, &format!("pod-{second}"));
        world.pass(1).await;
    }
    world.cluster.faults().set_modes(|modes| modes.forbidden = false);
    world.pass(660).await;
    assert_eq!(world.relists(RelistReason::Restored), 0);
    assert_eq!(world.relists(RelistReason::Reconciliation), 1);
    assert_eq!(counted(&world), [80.0, 68.0]);
}

#[tokio::test(start_paused = true)]
async fn versions_that_are_never_usable_ask_for_a_list_every_30_s() {
    let mut api = FakeApi::start();
    api.call().await.list("abc", None, &[]);
    let mut lists = Vec::new();
    while lists.len() < 6 {
        let call = api.call().await;
        match call.uri.contains("watch=true") {
            true => call.refuse(400, "invalid resource version: abc"),
            false => {
                lists.push(api.elapsed().as_secs());
                call.list("abc", None, &[]);
            }
        }
        while api.deliveries.try_recv().is_ok() {}
    }
    assert_eq!(lists, [0, 10, 30, 60, 90, 120]);
    assert_eq!(api.relists(RelistReason::UnusableVersion), 6);
}

/// One list answers all signs that came before it.
#[tokio::test(start_paused = true)]
async fn a_watch_is_followed_until_the_list_that_a_sign_asks_for() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..2)).await;
    watch.bookmark("500");
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await, "RolledBack");
    api.call().await.list("700", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    // It was older than what was known: no cache lags, and the next sign is as grave.
    let watch = api.watch_from("700").await.stream();
    watch.bookmark("600");
    assert_eq!(api.next_delivery().await, "SyncLost");
    watch.event("ADDED", &pod("new", 701));
    assert_eq!(api.next_delivery().await, "Applied new@701");
    watch.bookmark("600");
    watch.event("DELETED", "7");
    sleep(Duration::from_secs(9)).await;
    assert!(api.no_delivery() && !api.stats.synced());
    assert_eq!(api.next_delivery().await, "RolledBack");
    assert_eq!(api.elapsed().as_secs(), 10);
    api.call().await.list("800", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    // It was not, and a cache that lags has lost nothing.
    let watch = api.watch_from("800").await.stream();
    watch.bookmark("600");
    sleep(Duration::from_secs(19)).await;
    watch.bookmark("600");
    sleep(Duration::from_secs(2)).await;
    api.call().await.list("801", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    assert_eq!((api.elapsed().as_secs(), api.relists(RelistReason::Restored)), (31, 3));
}
