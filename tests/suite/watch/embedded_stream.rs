//! The embedded API server whose streams go wrong, and the list-watch with the settings of
//! production. One fault of the table in tests/README.md each.

use std::time::Duration;

use crate::support::embedded::{Embedded, NAMESPACE, cluster, encoding, put};
use bytes::Bytes;
use podinit_kube::watch::stats::{EventType, RelistReason, WatchErrorReason};
use podinit_sim::SimulatedCluster;
use podinit_sim::faults::{FaultTarget, StreamFault};
use podinit_sim::object::{ObjectKey, SelectableFields};
use serde_json::json;
use tokio::time::sleep;

/// An object that is written as a pod and is none: it has no UID.
fn put_odd(cluster: &SimulatedCluster, name: &str) -> u64 {
    let odd = json!({"kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE}});
    cluster.put_json(odd).unwrap()
}

/// A pod whose name holds bytes that are no UTF-8.
fn put_not_utf8(cluster: &SimulatedCluster, name: &str) -> u64 {
    let key = ObjectKey::new(NAMESPACE, name);
    cluster.store().put(key, SelectableFields::default(), |version| {
        let head = format!(
            r#"{{"metadata":{{"resourceVersion":"{version}","namespace":"ns","uid":"uid-{name}","name":""#
        );
        [head.as_bytes(), b"\xff\xfe", b"\"}}"].concat()
    })
}

#[tokio::test(start_paused = true)]
async fn objects_that_are_no_pods_cost_only_themselves() {
    let cluster = cluster().await;
    put(&cluster, "a");
    put_odd(&cluster, "b");
    put(&cluster, "c");
    let mut api = Embedded::watching_in(encoding!(), cluster);
    assert_eq!(api.next_delivery().await, "Listed a@1001 c@1003");
    assert_eq!(api.errors(WatchErrorReason::Decode), 1);
    put_odd(&api.cluster, "d");
    api.put("e");
    assert_eq!(api.next_delivery().await, "Applied e@1005");
    let skipped = put_odd(&api.cluster, "f");
    sleep(Duration::from_secs(1)).await;
    // The version moves past it, so that it comes once.
    api.cluster.faults().stream(StreamFault::End);
    let query = api.request(FaultTarget::Watch, 2).await;
    assert!(query.ends_with(&format!("&resourceVersion={skipped}")), "{query}");
    assert_eq!(api.errors(WatchErrorReason::Decode), 3);
    assert!(api.stats.synced() && api.no_delivery());
    // After a deletion nothing more would come, so that it is made up for.
    api.cluster.delete_json(NAMESPACE, "f");
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await, "Listed a@1001 c@1003 e@1005");
    assert_eq!(api.relists(RelistReason::LostDelete), 1);
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_no_utf8_cost_no_pod() {
    let cluster = cluster().await;
    put(&cluster, "a");
    put_not_utf8(&cluster, "b");
    put(&cluster, "c");
    let mut api = Embedded::watching_in(encoding!(), cluster);
    // A text is read as well as it can be; the pod is known by its UID.
    let odd = "\u{fffd}\u{fffd}";
    assert_eq!(api.next_delivery().await, format!("Listed a@1001 {odd}@1002 c@1003"));
    put_not_utf8(&api.cluster, "d");
    assert_eq!(api.next_delivery().await, format!("Applied {odd}@1004"));
    let faults = api.cluster.faults();
    let all = format!("Listed a@1001 {odd}@1002 c@1003 {odd}@1004");
    // A line of which not even the type can be read may have been a deletion.
    let unknown = b"{\"type\":\"\xc3\x28\"}\n";
    for (raw, lists) in [(&b"\xff\xfe\n"[..], 1), (unknown, 0), (b"\xf0\x28\xbc{]\n", 1)] {
        let before = api.requests(FaultTarget::Watch);
        faults.stream(StreamFault::Raw(Bytes::from_static(raw)));
        for _ in 0..lists {
            assert_eq!(api.next_delivery().await, "SyncLost");
            assert_eq!(api.next_delivery().await, all);
            api.request(FaultTarget::Watch, before + 1).await;
        }
        sleep(Duration::from_secs(1)).await;
    }
    api.put("e");
    assert_eq!(api.next_delivery().await, "Applied e@1005");
    assert_eq!(api.errors(WatchErrorReason::Decode), 3);
    assert!(api.stats.synced());
    assert_eq!(api.relists(RelistReason::LostDelete), 2);
}

#[tokio::test(start_paused = true)]
async fn streams_that_break_anywhere_lose_and_repeat_nothing() {
    let mut api = Embedded::watching_in(encoding!(), cluster().await);
    assert_eq!(api.next_delivery().await, "Listed ");
    api.request(FaultTarget::Watch, 1).await;
    for fault in [StreamFault::Truncated, StreamFault::Cut, StreamFault::End] {
        let before = api.put("before");
        assert_eq!(api.next_delivery().await, format!("Applied before@{before}"));
        api.cluster.faults().stream(fault.clone());
        let after = api.put("after");
        let mut delivery = api.next_delivery().await;
        if delivery == "SyncLost" {
            delivery = api.next_delivery().await;
        }
        assert_eq!(delivery, format!("Applied after@{after}"), "{fault:?}");
        sleep(Duration::from_secs(2)).await;
        assert!(api.stats.synced());
        while !api.no_delivery() {}
    }
    assert_eq!(api.all_relists(), 0);
    assert_eq!(api.stats.events(EventType::Added), 2);
    assert_eq!(api.stats.events(EventType::Modified), 4);
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_bookmarks_only_stays_in_sync_and_moves_on() {
    let mut api = Embedded::watching_in(encoding!(), cluster().await);
    assert_eq!(api.next_delivery().await, "Listed ");
    for _ in 0..240 {
        api.cluster.store().skip_versions(1000);
        for _ in 0..30 {
            sleep(Duration::from_secs(1)).await;
            assert!(api.stats.synced() && api.no_delivery());
        }
    }
    let newest = api.cluster.store().version();
    assert_eq!(newest, 241_000);
    let watches = api.requests(FaultTarget::Watch);
    let query = api.request(FaultTarget::Watch, watches + 1).await;
    assert!(query.ends_with("&resourceVersion=241000"), "{query}");
    assert_eq!((api.requests(FaultTarget::List), api.all_relists()), (1, 0));
    assert!(api.stats.events(EventType::Bookmark) >= 240);
}

/// How much of ten minutes the list-watch is in sync while its watch is broken every nine to fourteen seconds, and
/// whether deadlines could have passed at the end.
async fn broken_again_and_again(puts_every: Option<u32>) -> f64 {
    let mut api = Embedded::watching_in(encoding!(), cluster().await);
    assert_eq!(api.next_delivery().await, "Listed ");
    let (mut looks, mut in_sync, mut until_reset) = (0_u32, 0_u32, 90);
    while looks < 6_000 {
        sleep(Duration::from_millis(100)).await;
        looks += 1;
        in_sync += u32::from(api.stats.synced());
        if puts_every.is_some_and(|every| looks % every == 0) {
            api.put("a");
        }
        until_reset -= 1;
        if until_reset == 0 {
            until_reset = 90 + looks % 51;
            api.cluster.faults().stream(StreamFault::Cut);
        }
        while !api.no_delivery() {}
    }
    assert_eq!(api.all_relists(), 0);
    f64::from(in_sync) / f64::from(looks)
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_reset_every_nine_seconds_stays_in_sync() {
    for puts_every in [None, Some(60), Some(3)] {
        let share = broken_again_and_again(puts_every).await;
        assert!(share > 0.85, "{share} with a pod every {puts_every:?}");
    }
}
