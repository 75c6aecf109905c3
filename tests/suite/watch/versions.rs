//! Versions that cannot be used, and versions that go back: the list that answers them states no version.

use std::time::Duration;

use crate::support::watch::{Call, FakeApi, page, pod};
use podinit_core::lifecycle::{SourceId, Version};
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::RelistReason;
use tokio::time::sleep;

/// The most recent list, for any reason but a question for the version.
const MOST_RECENT: &str = "/api/v1/pods?&limit=500";

#[tokio::test(start_paused = true)]
async fn a_watch_at_a_version_that_is_no_number_never_waits_for_ever() {
    type Fault = fn(Call);
    let faults: [(u32, Fault); 4] = [
        (1, |call| call.refuse(400, "invalid resource version: abc")),
        (3, |call| call.refuse(500, "strconv.ParseUint: parsing abc")),
        (3, |call| drop(call)),
        (3, |call| call.stream().reset()),
    ];
    for (times, fault) in faults {
        let mut api = FakeApi::start();
        api.call().await.list("abc", None, &[]);
        assert_eq!(api.next_delivery().await, "Listed ");
        for _ in 0..times {
            fault(api.watch_from("abc").await);
        }
        finds_the_pods(&mut api).await;
        assert!(api.elapsed() < Duration::from_secs(10));
    }
    // One that accepts any version, and knows nothing that comes after it.
    let mut api = FakeApi::start();
    let watch = api.synced("abc", &[]).await;
    sleep(Duration::from_secs(25)).await;
    drop(watch);
    finds_the_pods(&mut api).await;
}

/// The next list states no version, and those after it are as always.
async fn finds_the_pods(api: &mut FakeApi) {
    let list = api.call().await;
    assert_eq!(list.uri, MOST_RECENT);
    list.list("1000", None, &page(0..2));
    assert_eq!(api.relists(RelistReason::UnusableVersion), 1);
    while api.next_delivery().await != "Listed p0@0 p1@1" {}
    let watch = api.watch_from("1000").await.stream();
    watch.event("ADDED", &pod("new", 1001));
    assert_eq!(api.next_delivery().await, "Applied new@1001");
    assert!(api.stats.synced());
    watch.error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    let list = api.call().await;
    assert!(list.uri.contains("&resourceVersion=1001&"), "{}", list.uri);
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_that_is_no_number_is_not_resumed_from() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..1)).await;
    watch.bookmark("garbage");
    assert_eq!(api.next_delivery().await, "SyncLost");
    finds_the_pods(&mut api).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_of_a_cache_without_a_version_is_asked_for_without_one() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..1)).await;
    watch.error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    let list = api.call().await;
    assert!(list.uri.contains("&resourceVersion=1000&"), "{}", list.uri);
    list.list("", None, &[]);
    finds_the_pods(&mut api).await;
}

/// The versions of a restored API server catch up within seconds: the list that follows is newer than all that is
/// known, and it is of another history all the same.
#[tokio::test(start_paused = true)]
async fn a_bookmark_that_goes_back_in_a_watch_is_of_another_history() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..2)).await;
    watch.event("MODIFIED", &pod("p0", 1005));
    assert_eq!(api.next_delivery().await, "Applied p0@1005");
    watch.bookmark("1004");
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await, "RolledBack");
    let list = api.call().await;
    assert_eq!(list.uri, MOST_RECENT);
    assert_eq!(api.elapsed(), Duration::ZERO);
    list.list("2000", None, &[pod("p1", 1004)]);
    assert_eq!(api.next_delivery().await, "Listed p1@1004");
    assert_eq!(api.relists(RelistReason::Restored), 1);
    api.watch_from("2000").await;
}

#[tokio::test(start_paused = true)]
async fn events_that_come_again_or_late_are_no_other_history() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..2)).await;
    for version in [1005, 1005] {
        watch.event("MODIFIED", &pod("p0", version));
        assert_eq!(api.next_delivery().await, "Applied p0@1005");
    }
    watch.bookmark("1005");
    // A watch that begins too early tells again what it has told.
    watch.event("MODIFIED", &pod("p1", 1004));
    assert_eq!(api.next_delivery().await, "Applied p1@1004");
    // Some servers state the last version of the pod instead of that of its deletion.
    watch.event("DELETED", &pod("p0", 1003));
    assert_eq!(api.next_delivery().await, "Deleted p0@1003");
    watch.event("ADDED", &pod("p0", 1006));
    assert_eq!(api.next_delivery().await, "Applied p0@1006");
    assert!(api.stats.synced() && api.no_delivery());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_behind_the_checkpoint_when_it_was_looked_for_was_restored() {
    for (stated, restored) in [(999, true), (1000, false), (5000, false)] {
        let mut api = FakeApi::start_as(WatchConfig {
            scopes: vec![PodScope::Cluster],
            resume: vec![Some(Version::Number(1000))],
            stated: vec![Some(Version::Number(stated))],
            knows_pods: true,
            ..WatchConfig::default()
        });
        if !restored {
            api.watch_from("1000").await;
            continue;
        }
        assert_eq!(api.next_delivery().await, "RolledBack");
        let list = api.call().await;
        assert_eq!(list.uri, MOST_RECENT);
        list.list("2000", None, &page(0..1));
        assert_eq!(api.next_delivery().await, "Listed p0@0");
        assert_eq!(api.relists(RelistReason::Restored), 1);
        api.watch_from("2000").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_was_not_delivered_is_followed_by_a_list() {
    let mut api = FakeApi::start();
    let watch = api.synced("1000", &page(0..2)).await;
    api.stats.lose_deletion(SourceId(0));
    watch.bookmark("1001");
    assert_eq!(api.next_delivery().await, "SyncLost");
    let list = api.call().await;
    assert!(list.uri.contains("&resourceVersion=1001&"), "{}", list.uri);
    list.list("1001", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    assert_eq!(api.relists(RelistReason::LostDelete), 1);
    let watch = api.watch_from("1001").await.stream();
    watch.bookmark("1002");
    watch.event("ADDED", &pod("new", 1003));
    assert_eq!(api.next_delivery().await, "Applied new@1003");
}
