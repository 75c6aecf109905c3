//! Versions that cannot be used, and versions that go back: the list that answers them states no version.

use std::time::Duration;

use crate::support::watch::{Call, FakeApi, page, pod};
use podinit::watch::stats::RelistReason;
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
