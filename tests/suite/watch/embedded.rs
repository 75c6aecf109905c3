//! The embedded API server that fails, and the list-watch with the settings of production: requests
//! that are not answered, or not rightly. One fault of the table in tests/README.md each.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::embedded::{Embedded, cluster, encoding, put};
use podinit_kube::watch::config::{ListMode, ReflectorConfig};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason};
use podinit_sim::faults::{FaultAnswer, FaultTarget, StreamFault};
use podinit_sim::status::StatusFailure;
use tokio::time::sleep;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

const TEN_MINUTES: Duration = Duration::from_secs(600);

fn in_pages(config: &mut ReflectorConfig) {
    config.lists = ListMode::Pages;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_never_opened_is_opened_again_within_65_s() {
    let cluster = cluster().await;
    cluster.faults().answer(FaultTarget::Watch, 1, FaultAnswer::Never);
    let mut api = Embedded::watching_in(encoding!(), cluster);
    assert_eq!(api.next_delivery().await, "Listed ");
    api.put("a");
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert!(api.elapsed() <= seconds(3) && !api.stats.synced());
    assert_eq!(api.next_delivery().await, "Applied a@1001");
    assert_eq!(api.next_delivery().await, "CaughtUp");
    assert!(api.elapsed() < seconds(65), "{:?}", api.elapsed());
    assert_eq!(api.errors(WatchErrorReason::Timeout), 1);
    assert_eq!(api.all_relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_half_open_connection_shows_within_30_s_and_is_replaced_within_65_s() {
    let mut api = Embedded::watching_in(encoding!(), cluster().await);
    assert_eq!(api.next_delivery().await, "Listed ");
    api.put("a");
    assert_eq!(api.next_delivery().await, "Applied a@1001");
    let silent_since = api.elapsed();
    let faults = api.cluster.faults();
    faults.set_modes(|modes| modes.silent_streams = true);
    let missed = api.put("missed");
    let is_age = |api: &Embedded, seconds: f64| {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let before = now();
        let contact = api.scrape().value("podinit_watch_last_contact_timestamp_seconds").unwrap();
        before - contact <= seconds + 0.1 && now() - contact >= seconds - 0.1
    };
    sleep(seconds(20)).await;
    assert_eq!(api.scrape().value("podinit_synced"), Some(1.0));
    assert!(is_age(&api, 20.0));
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.elapsed() - silent_since, seconds(30));
    assert_eq!(api.scrape().value("podinit_synced"), Some(0.0));
    assert!(is_age(&api, 30.0));
    // The connection that takes its place works.
    api.request(FaultTarget::Watch, 2).await;
    faults.set_modes(|modes| modes.silent_streams = false);
    assert_eq!(api.next_delivery().await, format!("Applied missed@{missed}"));
    assert_eq!(api.next_delivery().await, "CaughtUp");
    assert!(api.elapsed() - silent_since < seconds(65));
    assert_eq!(api.scrape().value("podinit_synced"), Some(1.0));
    assert!(is_age(&api, 0.0));
    assert_eq!(api.errors(WatchErrorReason::Timeout), 1);
    assert_eq!(api.all_relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_last_contact_is_absent_before_the_first() {
    let cluster = cluster().await;
    cluster.faults().answer(FaultTarget::List, 1, FaultAnswer::Never);
    let api = Embedded::watching_in(encoding!(), cluster);
    sleep(seconds(10)).await;
    let contact = "podinit_watch_last_contact_timestamp_seconds";
    assert_eq!(api.scrape().value(contact), None);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_gone_is_followed_by_a_list() {
    for in_stream in [false, true] {
        let mut api = Embedded::watching_in(encoding!(), cluster().await);
        assert_eq!(api.next_delivery().await, "Listed ");
        api.put("stays");
        let version = api.put("goes");
        assert_eq!(api.next_delivery().await, "Applied stays@1001");
        assert_eq!(api.next_delivery().await, "Applied goes@1002");
        let faults = api.cluster.faults();
        if in_stream {
            faults.stream(StreamFault::Gone);
        } else {
            faults.answer(FaultTarget::Watch, 1, FaultAnswer::Expired);
            faults.stream(StreamFault::End);
        }
        api.cluster.delete_json("ns", "goes");
        assert_eq!(api.next_delivery().await, "SyncLost");
        assert_eq!(api.next_delivery().await, "Listed stays@1001");
        let query = api.request(FaultTarget::List, 2).await;
        let known = format!("resourceVersion={version}&resourceVersionMatch=NotOlderThan");
        assert!(query.contains(&known), "{query}");
        assert_eq!(api.relists(RelistReason::Gone), 1);
        assert_eq!(api.errors(WatchErrorReason::Gone), 1);
        assert!(api.elapsed() < seconds(1));
    }
}

/// The waits between the requests of a kind that fail for ten minutes.
async fn waits(api: &Embedded, target: FaultTarget) -> Vec<Duration> {
    let mut seen = api.requests(target);
    let began = api.elapsed();
    let (mut waits, mut last) = (Vec::new(), None);
    while api.elapsed() - began < TEN_MINUTES {
        seen += 1;
        api.request(target, seen).await;
        waits.extend(last.map(|last| api.elapsed() - last));
        last = Some(api.elapsed());
    }
    waits
}

fn assert_waits_grow(waits: &[Duration]) {
    // The first that is seen comes after one failure, or two.
    assert!(waits[0] <= seconds(1), "{waits:?}");
    assert!(waits.iter().all(|wait| *wait <= seconds(30)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait > seconds(20)), "{waits:?}");
    // Full jitter: no two are the same, and some are short in the end.
    let distinct: BTreeSet<_> = waits.iter().collect();
    assert_eq!(distinct.len(), waits.len());
    assert!((20..80).contains(&waits.len()), "{}", waits.len());
}

#[tokio::test(start_paused = true)]
async fn errors_for_ten_minutes_make_the_waits_grow_to_30_s_until_there_is_success() {
    let cluster = cluster().await;
    let down = FaultAnswer::Fail(StatusFailure::internal("etcd has no leader"));
    let faults = cluster.faults();
    faults.answer(FaultTarget::List, u32::MAX, down.clone());
    let mut api = Embedded::watching_in(encoding!(), cluster);
    assert_waits_grow(&waits(&api, FaultTarget::List).await);
    assert!(api.no_delivery() && !api.stats.synced());
    faults.clear();
    assert_eq!(api.next_delivery().await, "Listed ");

    faults.answer(FaultTarget::Watch, u32::MAX, down.clone());
    api.request(FaultTarget::Watch, 1).await;
    faults.stream(StreamFault::End);
    // A list that completed is no reason to wait less: the watch has not worked yet.
    let of_watch = waits(&api, FaultTarget::Watch).await;
    assert!(of_watch.iter().any(|wait| *wait > seconds(20)));
    assert_eq!(api.next_delivery().await, "SyncLost");
    faults.clear();
    assert_eq!(api.next_delivery().await, "CaughtUp");
    sleep(seconds(60)).await;
    // It has worked, so the next failure begins from the beginning.
    let before = api.requests(FaultTarget::Watch);
    faults.answer(FaultTarget::Watch, u32::MAX, down);
    faults.stream(StreamFault::End);
    api.request(FaultTarget::Watch, before + 1).await;
    let waits = waits(&api, FaultTarget::Watch).await;
    assert_waits_grow(&waits);
    assert_eq!(api.all_relists(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_always_fails_delivers_nothing_until_it_does_not() {
    let cluster = cluster().await;
    for pod in 0..1200 {
        put(&cluster, &format!("p{pod}"));
    }
    let faults = cluster.faults();
    let down = FaultAnswer::Fail(StatusFailure::internal("etcd has no leader"));
    faults.answer(FaultTarget::NextPage, u32::MAX, down.clone());
    let mut api = Embedded::adjusted_in(encoding!(), cluster, in_pages);
    sleep(TEN_MINUTES).await;
    assert!(api.no_delivery() && !api.stats.synced());
    assert!((20..80).contains(&api.requests(FaultTarget::NextPage)));
    faults.clear();
    let listed = api.next_delivery().await;
    assert_eq!(listed.split(' ').count(), 1201);

    // Nor does a known pod end because a list that was begun does not hold it.
    faults.answer(FaultTarget::NextPage, u32::MAX, down);
    faults.stream(StreamFault::Gone);
    assert_eq!(api.next_delivery().await, "SyncLost");
    sleep(TEN_MINUTES).await;
    assert!(api.no_delivery() && !api.stats.synced());
    faults.clear();
    assert_eq!(api.next_delivery().await, listed);
}

#[tokio::test(start_paused = true)]
async fn a_continue_token_that_expires_begins_the_list_anew() {
    let cluster = cluster().await;
    for pod in 0..1200 {
        put(&cluster, &format!("p{pod}"));
    }
    cluster.faults().answer(FaultTarget::NextPage, 3, FaultAnswer::Expired);
    let mut api = Embedded::adjusted_in(encoding!(), cluster, in_pages);
    assert_eq!(api.next_delivery().await.split(' ').count(), 1201);
    assert_eq!(api.errors(WatchErrorReason::Gone), 3);
    // Each time from the first page, and never with the token of an inconsistent remainder.
    assert_eq!(api.requests(FaultTarget::List), 4);
    assert_eq!(api.requests(FaultTarget::NextPage), 5);
    assert!(api.elapsed() < seconds(10));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_breaks_off_is_no_list() {
    let cluster = cluster().await;
    put(&cluster, "a");
    let faults = cluster.faults();
    faults.answer(FaultTarget::List, 3, FaultAnswer::Half { hangs: false });
    let mut api = Embedded::watching_in(encoding!(), cluster);
    assert_eq!(api.next_delivery().await, "Listed a@1001");
    assert_eq!(api.errors(WatchErrorReason::Transport), 3);
    faults.answer(FaultTarget::List, 3, FaultAnswer::Half { hangs: false });
    faults.stream(StreamFault::Gone);
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await, "Listed a@1001");
}
