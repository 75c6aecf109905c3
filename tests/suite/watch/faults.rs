//! An API server that fails: deadlines, waits, and what is reported about the sync meanwhile.

use std::time::Duration;

use crate::support::watch::{FakeApi, Writer, page, pod};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason};
use tokio::time::sleep;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[tokio::test(start_paused = true)]
async fn a_list_that_never_answers_is_given_up_and_repeated() {
    let mut api = FakeApi::start();
    let unanswered = api.call().await;
    let again = api.call().await;
    assert!(api.elapsed() >= seconds(30) && api.elapsed() < seconds(31));
    // Nor does one that stops in the middle of a page,
    let writer = again.stream();
    writer.write("{\"kind\":");
    let again = api.call().await;
    assert!(api.elapsed() < seconds(63));
    drop((unanswered, writer));
    // or one that trickles for ever.
    let writer = again.stream();
    let trickle = async {
        loop {
            writer.write(" ");
            sleep(seconds(20)).await;
        }
    };
    let again = tokio::select! {
        again = api.call() => again,
        () = trickle => unreachable!("it has no end"),
    };
    assert!(api.elapsed() < seconds(190));
    again.list("5", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    assert_eq!(api.errors(WatchErrorReason::Timeout), 3);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_wakes_up_before_it_is_replaced_is_in_sync_again() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    assert_eq!(api.next_delivery().await, "SyncLost");
    watch.event("ADDED", &pod("a", 11));
    assert_eq!(api.next_delivery().await, "Applied a@11");
    assert_eq!(api.next_delivery().await, "Resumed");
    assert_eq!(api.all_errors(), 0);
}

/// A watch from `version` that breaks after a silence, and the one that takes its place.
async fn broken(api: &mut FakeApi, watch: Writer, version: &str) -> Writer {
    // One that brings nothing is asked about before it is opened again.
    watch.bookmark(version);
    sleep(seconds(3)).await;
    watch.reset();
    assert_eq!(api.next_delivery().await, "SyncLost");
    api.watch_from(version).await.stream()
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_breaks_and_is_resumed_within_two_seconds_stays_in_sync() {
    let mut api = FakeApi::start();
    let mut watch = api.synced("10", &[]).await;
    for version in 11..60 {
        sleep(seconds(9)).await;
        watch.event("ADDED", &pod("a", version));
        watch.reset();
        watch = api.watch_from(&version.to_string()).await.stream();
        assert_eq!(api.next_delivery().await, format!("Applied a@{version}"));
    }
    assert!(api.stats.synced() && api.no_delivery());
    // One that is opened and brings nothing, again and again, does not.
    for _ in 0..4 {
        watch.reset();
        sleep(seconds(1)).await;
        watch = api.watch_from("59").await.stream();
    }
    assert_eq!(api.next_delivery().await, "SyncLost");
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_is_delivered_before_the_watch_is_in_sync_again() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    // An event of the version that the API server is at, or a later one, shows it,
    let watch = broken(&mut api, watch, "10").await;
    api.asked().await.list("14", Some("more"), &page(0..1));
    for version in [11, 12, 14] {
        assert!(!api.stats.synced());
        watch.event("ADDED", &pod("a", version));
        assert_eq!(api.next_delivery().await, format!("Applied a@{version}"));
    }
    let before = api.elapsed();
    assert_eq!(api.next_delivery().await, "CaughtUp");
    assert_eq!(api.elapsed(), before);
    // or a bookmark, before the API server has answered.
    let watch = broken(&mut api, watch, "14").await;
    watch.bookmark("20");
    let before = api.elapsed();
    assert_eq!(api.next_delivery().await, "CaughtUp");
    assert_eq!(api.elapsed(), before);
    // Where nothing was missed, silence shows it, once the API server has stated its version.
    let watch = broken(&mut api, watch, "20").await;
    sleep(seconds(2)).await;
    assert!(api.no_delivery());
    let before = api.elapsed();
    api.asked().await;
    api.asked().await.list("900", Some("more"), &page(0..1));
    assert_eq!(api.next_delivery().await, "CaughtUp");
    assert!(api.elapsed() - before < seconds(1));
    // A long backlog is awaited, however long it takes: the server is well, and silent only at its end.
    let watch = broken(&mut api, watch, "20").await;
    api.asked().await.list("250", Some("more"), &page(0..1));
    for version in 21..=250 {
        watch.event("ADDED", &pod("a", version));
        assert_eq!(api.next_delivery().await, format!("Applied a@{version}"));
        assert!(!api.stats.synced() || version == 250);
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(api.next_delivery().await, "CaughtUp");
    drop(watch);
}

/// A watch that each time brings what it brings a quarter of a minute later: all that it shows is of the past.
#[tokio::test(start_paused = true)]
async fn after_a_silence_the_watch_is_in_sync_once_it_shows_the_present() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    assert_eq!(api.next_delivery().await, "SyncLost");
    watch.event("ADDED", &pod("a", 11));
    assert_eq!(api.next_delivery().await, "Applied a@11");
    for (stated, shown) in [(15, 15), (25, 30)] {
        api.asked().await.list(&stated.to_string(), Some("more"), &page(0..1));
        // Neither silence nor a bookmark shows what happens now,
        watch.bookmark(&(stated - 1).to_string());
        sleep(seconds(15)).await;
        assert!(api.no_delivery() && !api.stats.synced());
        // nor what was stated long ago.
        watch.event("ADDED", &pod("a", shown));
        assert_eq!(api.next_delivery().await, format!("Applied a@{shown}"));
    }
    api.asked().await.list("35", Some("more"), &page(0..1));
    sleep(seconds(4)).await;
    watch.bookmark("35");
    assert_eq!(api.next_delivery().await, "CaughtUp");
}

#[tokio::test(start_paused = true)]
async fn after_a_silence_a_watch_that_ends_when_it_was_to_end_shows_that_deliveries_are_in_time() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    assert_eq!(api.next_delivery().await, "SyncLost");
    // One of at most 28 s, which ends after 40.
    sleep(seconds(10)).await;
    drop(watch);
    let watch = api.watch_from("10").await.stream();
    api.asked().await.list("900", Some("more"), &page(0..1));
    sleep(seconds(25)).await;
    assert!(api.no_delivery());
    drop(watch);
    let watch = api.watch_from("10").await.stream();
    api.asked().await.list("900", Some("more"), &page(0..1));
    assert_eq!(api.next_delivery().await, "CaughtUp");
    assert!(api.elapsed() < seconds(67));
    drop(watch);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_state_its_version_is_believed_in_the_end() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    let watch = broken(&mut api, watch, "10").await;
    let before = api.elapsed();
    api.asked().await.refuse(503, "starting");
    assert_eq!(api.next_delivery().await, "Resumed");
    assert!(api.elapsed() - before <= seconds(1));
    assert_eq!(api.errors(WatchErrorReason::ServerError), 1);
    // Nor does a stream that is never quiet say it before.
    let watch = broken(&mut api, watch, "10").await;
    let before = api.elapsed();
    let mut version = 10;
    loop {
        version += 1;
        watch.event("ADDED", &pod("a", version));
        if api.next_delivery().await == "Resumed" {
            break;
        }
        sleep(Duration::from_millis(100)).await;
    }
    let waited = api.elapsed() - before;
    assert!(waited >= seconds(9) && waited <= seconds(11), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn errors_for_ten_minutes_make_the_waits_long_and_only_progress_makes_them_short() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    drop(watch);
    let mut longest = Duration::ZERO;
    let mut requests = 0;
    while api.elapsed() < seconds(600) {
        let before = api.elapsed();
        api.watch_from("10").await.refuse(500, "etcd is away");
        longest = longest.max(api.elapsed() - before);
        requests += 1;
    }
    assert!(longest > seconds(15) && longest <= seconds(30), "{longest:?}");
    assert!((20..90).contains(&requests), "{requests}");
    // Opened, but it brings nothing and ends: the next wait is still a long one in the limit.
    let mut waits = Vec::new();
    for _ in 0..20 {
        drop(api.watch_from("10").await.stream());
        let before = api.elapsed();
        let call = api.watch_from("10").await;
        waits.push(api.elapsed() - before);
        call.refuse(503, "starting");
    }
    assert!(waits.iter().max().unwrap() > &seconds(10));
    // One that brings something makes them short.
    let watch = api.watch_from("10").await.stream();
    watch.event("ADDED", &pod("a", 11));
    watch.reset();
    let before = api.elapsed();
    api.watch_from("11").await;
    assert!(api.elapsed() - before <= Duration::from_millis(500));
    assert!(api.errors(WatchErrorReason::ServerError) >= 40);
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_are_answered_by_waiting_as_long_as_asked() {
    let mut api = FakeApi::start();
    for (retry_after, at_least, at_most) in [(7, 7, 8), (86_400, 60, 61)] {
        api.call().await.refuse_with(429, "busy", Some(retry_after));
        let before = api.elapsed();
        let call = api.call().await;
        let waited = api.elapsed() - before;
        assert!(waited >= seconds(at_least) && waited <= seconds(at_most), "{waited:?}");
        call.list("10", None, &[]);
        assert_eq!(api.next_delivery().await, "Listed ");
        drop(api);
        api = FakeApi::start();
    }
    // The same for a watch.
    let watch = api.synced("10", &[]).await;
    watch.error(429, "too many requests");
    assert_eq!(api.next_delivery().await, "SyncLost");
    api.watch_from("10").await.refuse_with(429, "busy", Some(9));
    let before = api.elapsed();
    api.watch_from("10").await;
    assert!(api.elapsed() - before >= seconds(9));
    assert_eq!(api.errors(WatchErrorReason::TooManyRequests), 2);
    assert_eq!(api.relists(RelistReason::Stuck), 0);
}

#[tokio::test(start_paused = true)]
async fn lost_rights_and_credentials_are_waited_out() {
    let mut api = FakeApi::start();
    drop(api.synced("10", &page(0..1)).await);
    for _ in 0..10 {
        api.watch_from("10").await.refuse(401, "Unauthorized");
        api.watch_from("10").await.refuse(403, "pods is forbidden");
        drop(api.watch_from("10").await);
    }
    assert_eq!(api.next_delivery().await, "SyncLost");
    let watch = api.watch_from("10").await.stream();
    watch.event("ADDED", &pod("a", 11));
    assert_eq!(api.next_delivery().await, "Applied a@11");
    assert_eq!(api.next_delivery().await, "Resumed");
    for reason in
        [WatchErrorReason::Unauthorized, WatchErrorReason::Forbidden, WatchErrorReason::Transport]
    {
        assert_eq!(api.errors(reason), 10);
    }
    assert!(RelistReason::ALL.into_iter().all(|reason| api.relists(reason) == 0));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_at_the_same_version_again_and_again_is_given_up() {
    let mut api = FakeApi::start();
    api.synced("10", &[]).await.error(500, "cannot decode event");
    assert_eq!(api.next_delivery().await, "SyncLost");
    for _ in 0..2 {
        api.watch_from("10").await.stream().error(500, "cannot decode event");
    }
    let list = api.call().await;
    assert!(list.uri.contains("resourceVersion=10&resourceVersionMatch=NotOlderThan"));
    list.list("30", None, &[]);
    assert_eq!(api.next_delivery().await, "Listed ");
    api.watch_from("30").await;
    assert_eq!(api.relists(RelistReason::Stuck), 1);
    assert_eq!(api.errors(WatchErrorReason::ServerError), 3);
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_the_tasks_wherever_they_are() {
    // Waiting for an answer,
    let mut api = FakeApi::start();
    let call = api.call().await;
    api.cancel.cancel();
    assert!(api.tasks.join_next().await.unwrap().is_ok());
    drop(call);
    // reading a watch,
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    api.cancel.cancel();
    assert!(api.tasks.join_next().await.unwrap().is_ok());
    watch.abandoned().await;
    // waiting for the queue to have room.
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    for version in 11..1000 {
        watch.event("ADDED", &pod("a", version));
    }
    sleep(seconds(1)).await;
    api.cancel.cancel();
    assert!(api.tasks.join_next().await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_tasks_end_when_nobody_receives() {
    let mut api = FakeApi::start();
    let watch = api.synced("10", &[]).await;
    api.deliveries.close();
    watch.event("ADDED", &pod("a", 11));
    assert!(api.tasks.join_next().await.unwrap().is_ok());
}
