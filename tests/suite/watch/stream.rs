//! The stream of the list-watch: resuming, bookmarks, and what cannot be used in it.

use std::time::Duration;

use crate::support::watch::{FakeApi, START, event, page, pod};
use podinit_core::lifecycle::{PodEvent, Version};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{EventType, RelistReason, WatchErrorReason};
use tokio::time::{sleep, timeout};

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_is_resumed_at_once_and_in_silence() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    watch.event("ADDED", &pod("a", 12));
    watch.event("MODIFIED", &pod("a", 11));
    watch.event("DELETED", &pod("b", 13));
    drop(watch);
    for expected in ["Applied a@12", "Applied a@11", "Deleted b@13"] {
        assert_eq!(api.next_delivery().await, expected);
    }
    let before = api.elapsed();
    let watch = api.watch_from("13").await.stream();
    assert_eq!(api.elapsed(), before);
    watch.event("ADDED", &pod("c", 14));
    assert_eq!(api.next_delivery().await, "Applied c@14");
    assert!(api.stats.synced());
    assert_eq!(api.all_errors(), 0);
    assert_eq!(api.stats.events(EventType::Added), 2);
    assert_eq!(api.stats.events(EventType::Deleted), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_carries_the_time_of_its_arrival() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    sleep(Duration::from_secs(5)).await;
    watch.event("ADDED", &pod("a", 12));
    let delivery = api.deliveries.recv().await.unwrap();
    let arrival = START.plus_nanos(5_000_000_000);
    assert_eq!((delivery.now, delivery.observed), (arrival, Some(arrival)));
}

#[tokio::test(start_paused = true)]
async fn bookmarks_move_the_version_and_say_so() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    watch.bookmark("500");
    drop(watch);
    api.watch_from("500").await;
    let delivery = api.deliveries.recv().await.unwrap();
    assert_eq!(delivery.event, PodEvent::Bookmark);
    assert_eq!(delivery.version, Some(Version::Number(500)));
    assert!(api.no_delivery());
    assert_eq!(api.stats.events(EventType::Bookmark), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delivery_says_where_the_watch_stands_with_it() {
    let mut api = FakeApi::start();
    api.call().await.list("10", None, &page(0..2));
    let watch = api.watch_from("10").await.stream();
    watch.event("ADDED", &pod("a", 12));
    // Told out of order: the watch goes on from the newest.
    watch.event("MODIFIED", &pod("a", 11));
    watch.event("DELETED", &pod("b", 13));
    watch.bookmark("15");
    watch.reset();
    for version in [10, 12, 12, 13, 15] {
        let delivery = api.deliveries.recv().await.unwrap();
        assert_eq!(delivery.version, Some(Version::Number(version)));
    }
    let delivery = api.deliveries.recv().await.unwrap();
    assert_eq!((delivery.event, delivery.version), (PodEvent::SyncLost, None));
}

#[tokio::test(start_paused = true)]
async fn an_odd_event_costs_only_itself_and_the_version_moves_on() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    watch.event("ADDED", r#"{"kind":"Pod","metadata":{"resourceVersion":"20"}}"#);
    watch.event("ADDED", "[]");
    watch.event("SURPRISE", &pod("s", 21));
    watch.write("{\"type\":\"ADDED\",\"obj\n");
    watch.write("\n\r\n");
    watch.bytes(b"{\"type\":\"ADDED\xff\xfe\"}\n".to_vec());
    watch.event("ADDED", &pod("a", 15));
    assert_eq!(api.next_delivery().await, "Applied a@15");
    drop(watch);
    api.watch_from("21").await;
    assert_eq!(api.errors(WatchErrorReason::Decode), 5);
    assert!(api.stats.synced());
}

#[tokio::test(start_paused = true)]
async fn a_line_that_does_not_say_what_it_tells_of_may_have_been_a_deletion() {
    for line in ["<html>", "[]", "\"DELE", "{\"type\":7}", "{\"object\":{}}"] {
        let mut api = FakeApi::start();
        let watch = api.synced("10", &page(0..2)).await;
        watch.write(&format!("{line}\n"));
        let delivery = timeout(Duration::from_secs(5), api.next_delivery()).await;
        assert_eq!(delivery.as_deref(), Ok("SyncLost"), "{line}");
        api.call().await.list("10", None, &page(0..1));
        assert_eq!(api.next_delivery().await, "Listed p0@0");
        assert_eq!(api.relists(RelistReason::LostDelete), 1);
        assert_eq!(api.errors(WatchErrorReason::Decode), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_without_end_is_skipped_in_bounded_memory() {
    let adjust = |config: &mut podinit_kube::watch::config::ReflectorConfig| {
        config.max_line_bytes = 1 << 16;
    };
    let mut api = FakeApi::start_with(vec![PodScope::Cluster], PodSelectors::default(), adjust);
    let watch = api.synced("10", &[]).await;
    watch.write("{\"type\":\"MODIFIED\",\"object\":{\"x\":\"");
    for _ in 0..1600 {
        watch.bytes(vec![b'x'; 1 << 16]);
        tokio::task::yield_now().await;
    }
    watch.write("\"}}\n");
    watch.event("ADDED", &pod("a", 15));
    assert_eq!(api.next_delivery().await, "Applied a@15");
    assert_eq!(api.errors(WatchErrorReason::LineTooLong), 1);
    assert!(api.stats.synced());
    watch.write(&format!("{{\"type\":\"DELETED\",\"x\":\"{}\"}}\n", "y".repeat(1 << 16)));
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert!(api.call().await.uri.contains("NotOlderThan"));
}

#[tokio::test(start_paused = true)]
async fn an_event_cut_into_single_bytes_is_whole_again() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    for byte in event("ADDED", &pod("a", 11)).into_bytes() {
        watch.bytes(vec![byte]);
    }
    assert_eq!(api.next_delivery().await, "Applied a@11");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_replaying_and_closing_is_not_reopened_in_a_hot_loop() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    watch.event("ADDED", &pod("a", 10));
    drop(watch);
    for _ in 0..20 {
        let watch = api.watch_from("10").await.stream();
        watch.event("ADDED", &pod("a", 10));
        drop(watch);
        while api.deliveries.try_recv().is_ok() {}
    }
    assert!(api.elapsed().as_secs() > 60, "{:?}", api.elapsed());
    assert_eq!(api.all_errors(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_found_to_have_been_rolled_back() {
    let mut api = FakeApi::start();
    drop(api.synced("1000", &page(0..2)).await);
    loop {
        let call = api.any_call().await;
        if !call.uri.contains("watch=true") {
            assert_eq!(call.uri, "/api/v1/pods?&limit=1");
            call.list("500", Some("more"), &page(0..1));
            break;
        }
        let watch = call.stream();
        sleep(Duration::from_secs(25)).await;
        drop(watch);
    }
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await, "RolledBack");
    api.call().await.list("500", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    api.watch_from("500").await;
    assert_eq!(api.relists(RelistReason::Restored), 1);
    assert!(api.elapsed() < Duration::from_secs(180));
}
