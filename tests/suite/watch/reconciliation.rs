//! The list that finds now and then what a watch has lost without a sign.

use std::time::Duration;

use crate::support::watch::{Call, FakeApi, Writer, page, pod};
use podinit_kube::watch::config::{ListMode, ReflectorConfig};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::RelistReason;
use tokio::time::sleep;

const OF_THE_CACHE: &str = "/api/v1/pods?&resourceVersion=0";

fn hourly(config: &mut ReflectorConfig) {
    config.lists = ListMode::Whole;
    config.reconcile_interval = Some(Duration::from_secs(3600));
}

fn scripted(adjust: impl FnOnce(&mut ReflectorConfig)) -> FakeApi {
    FakeApi::start_with(vec![PodScope::Cluster], PodSelectors::default(), adjust)
}

/// The next request, while the watch is told again and again that nothing happens.
async fn call_beside(api: &mut FakeApi, watch: &Writer, version: &str) -> Call {
    loop {
        tokio::select! {
            call = api.call() => return call,
            () = sleep(Duration::from_secs(20)) => watch.bookmark(version),
        }
        // The queue is bounded, and a full one stops the watch.
        assert!(api.no_delivery());
    }
}

/// Lets what is under way be done, and then the watch brings a bookmark.
async fn bookmark(watch: &Writer, version: &str) {
    sleep(Duration::from_secs(1)).await;
    watch.bookmark(version);
    sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_list_each_hour_finds_what_the_watch_has_lost() {
    let mut api = scripted(hourly);
    let watch = api.synced("1000", &page(0..2)).await;
    for hour in 1..=3 {
        let [before, of_list, after] = [0, 1, 10].map(|more| (990 + 10 * hour + more).to_string());
        let list = call_beside(&mut api, &watch, &before).await;
        assert_eq!(list.uri, OF_THE_CACHE);
        assert_eq!(api.elapsed().as_secs() / 3600, hour);
        assert!(api.no_delivery());
        // It waits for the watch to come as far.
        list.list(&of_list, None, &[pod("p0", 0), pod("lost", 1001)]);
        bookmark(&watch, &before).await;
        assert!(api.no_delivery() && api.stats.synced());
        bookmark(&watch, &after).await;
        let reconciled = format!("Reconciled {of_list}: p0@0 lost@1001");
        assert_eq!(api.next_delivery().await, reconciled);
        bookmark(&watch, &after).await;
        assert!(api.no_delivery() && api.stats.synced());
        assert_eq!(api.relists(RelistReason::Reconciliation), hour);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_older_than_the_watch_is_left_out() {
    let mut api = scripted(hourly);
    let watch = api.synced("1000", &page(0..2)).await;
    let old: fn(Call) = |call| call.list("999", None, &[]);
    let answers = [old, |call| call.refuse(503, "busy"), |call| call.list("abc", None, &[])];
    for answer in answers {
        answer(call_beside(&mut api, &watch, "1000").await);
        bookmark(&watch, "1000").await;
        assert!(api.no_delivery() && api.stats.synced());
    }
    assert_eq!(api.relists(RelistReason::Reconciliation), 3);
    // Another list takes its place, and the next one is an hour away.
    let list = call_beside(&mut api, &watch, "1000").await;
    watch.error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    api.call().await.list("1005", None, &[]);
    assert_eq!(api.next_delivery().await, "Listed ");
    let watch = api.watch_from("1005").await.stream();
    list.list("1001", None, &page(0..2));
    let listed_at = api.elapsed();
    let next = call_beside(&mut api, &watch, "1005").await;
    assert_eq!(next.uri, OF_THE_CACHE);
    assert!(api.elapsed() - listed_at >= Duration::from_secs(3600));
    assert!(api.no_delivery());
}

#[tokio::test(start_paused = true)]
async fn without_an_interval_there_is_no_list() {
    let mut api = scripted(|config| config.lists = ListMode::Whole);
    let watch = api.synced("1000", &page(0..2)).await;
    let day = Duration::from_secs(86_400);
    tokio::select! {
        call = call_beside(&mut api, &watch, "1000") => panic!("{}", call.uri),
        () = sleep(day) => {}
    }
}
