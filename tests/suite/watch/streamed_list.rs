//! Lists that are streamed as the beginning of a watch (WatchList, KEP-3157), and the way back to
//! pages where the API server has none.

use std::time::Duration;

use crate::support::embedded::{Embedded, cluster, encoding, put};
use crate::support::watch::{Call, FakeApi, Writer, pod};
use podinit_kube::watch::config::{ListMode, ReflectorConfig};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason};
use podinit_sim::faults::{FaultAnswer, FaultTarget, StreamFault};
use podinit_sim::status::StatusFailure;
use tokio::time::sleep;

const STREAMED: &str = "/api/v1/pods?&watch=true&timeoutSeconds=120&allowWatchBookmarks=true\
                        &sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=";

fn streams(config: &mut ReflectorConfig) {
    config.lists = ListMode::Stream;
}

fn scripted() -> FakeApi {
    FakeApi::start_with(vec![PodScope::Cluster], PodSelectors::default(), streams)
}

fn end_of_list(watch: &Writer, version: &str) {
    let object = format!(
        r#"{{"kind":"Pod","metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}"#
    );
    watch.event("BOOKMARK", &object);
}

/// The pods of a list in words, sorted: a streamed list has no order.
fn sorted(delivery: &str) -> String {
    let mut words: Vec<&str> = delivery.split(' ').collect();
    words.sort_unstable();
    words.join(" ")
}

#[tokio::test(start_paused = true)]
async fn a_list_is_streamed_and_the_watch_goes_on_from_its_end() {
    let cluster = cluster().await;
    for pod in 0..300 {
        put(&cluster, &format!("p{pod}"));
    }
    let mut api = Embedded::adjusted_in(encoding!(), cluster, streams);
    assert_eq!(api.next_delivery().await.split(' ').count(), 301);
    let query = api.request(FaultTarget::Watch, 2).await;
    assert!(query.ends_with("&resourceVersion=1300"), "{query}");
    assert!(!query.contains("sendInitialEvents"), "{query}");
    let new = api.put("new");
    assert_eq!(api.next_delivery().await, format!("Applied new@{new}"));
    // After a gap it is no older than what is known.
    api.cluster.delete_json("ns", "p7");
    assert_eq!(api.next_delivery().await, "Deleted p7@1302");
    api.cluster.faults().stream(StreamFault::Gone);
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await.split(' ').count(), 301);
    let query = api.request(FaultTarget::Watch, 3).await;
    assert!(query.ends_with("&resourceVersion=1302"), "{query}");
    assert!(query.contains("sendInitialEvents=true&"), "{query}");
    assert_eq!(api.requests(FaultTarget::List), 0);
    assert_eq!(api.errors(WatchErrorReason::WatchList), 0);
    assert_eq!(api.relists(RelistReason::Gone), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_offer_streams_is_asked_for_pages_for_good() {
    let forbidden = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless \
                     the WatchList feature gate is enabled";
    for refusal in [StatusFailure::invalid(forbidden), StatusFailure::bad_request(forbidden)] {
        let cluster = cluster().await;
        put(&cluster, "a");
        let faults = cluster.faults();
        faults.answer(FaultTarget::Watch, 1, FaultAnswer::Fail(refusal));
        let mut api = Embedded::adjusted_in(encoding!(), cluster, streams);
        assert_eq!(api.next_delivery().await, "Listed a@1001");
        assert_eq!(api.elapsed(), Duration::ZERO);
        api.request(FaultTarget::Watch, 2).await;
        faults.stream(StreamFault::Gone);
        assert_eq!(api.next_delivery().await, "SyncLost");
        assert_eq!(api.next_delivery().await, "Listed a@1001");
        assert_eq!(api.requests(FaultTarget::List), 2);
        assert_eq!(api.errors(WatchErrorReason::WatchList), 1);
        let queries = faults.requests().into_iter().map(|made| made.query);
        assert_eq!(queries.filter(|query| query.contains("sendInitial")).count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_half_supports_streams_is_asked_for_pages_at_once() {
    type Half = fn(Call);
    let halves: [(Half, bool); 6] = [
        (|call| call.refuse(501, "not implemented"), true),
        (|call| call.stream().error(400, "sendInitialEvents"), true),
        (|call| call.stream().error(501, "not implemented"), true),
        (|call| call.refuse(405, "method not allowed"), true),
        (|call| end_of_list(&call.stream(), ""), false),
        (|call| end_of_list(&call.stream(), "0"), false),
    ];
    for (half, for_good) in halves {
        let mut api = scripted();
        half(api.call().await);
        let list = api.call().await;
        assert_eq!(list.uri, "/api/v1/pods?&limit=500");
        assert_eq!(api.elapsed(), Duration::ZERO);
        list.list("5", None, &[pod("a", 3)]);
        assert_eq!(api.next_delivery().await, "Listed a@3");
        let watch = api.watch_from("5").await;
        watch.stream().error(410, "too old resource version");
        assert_eq!(api.next_delivery().await, "SyncLost");
        let again = api.call().await;
        assert_eq!(again.uri.contains("sendInitialEvents"), !for_good);
        assert_eq!(api.errors(WatchErrorReason::WatchList), 1);
        if !for_good {
            // A refusal of a version may mean the version.
            again.refuse(400, "invalid resource version");
            api.call().await.list("6", None, &[]);
            assert_eq!(api.next_delivery().await, "Listed ");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn streams_that_fail_again_and_again_leave_nobody_blind() {
    let mut api = scripted();
    // Where pages fail as well, streams are not given up.
    for _ in 0..12 {
        let call = api.call().await;
        call.refuse(503, "starting");
    }
    assert_eq!(api.errors(WatchErrorReason::WatchList), 0);
    // Where they do not, they take the place of the third stream.
    for place in 0.. {
        let call = api.call().await;
        if !call.uri.contains("sendInitialEvents") {
            assert!(place <= 3, "{place}");
            call.list("5", None, &[pod("a", 3)]);
            break;
        }
        call.refuse(500, "no streams");
    }
    assert_eq!(api.next_delivery().await, "Listed a@3");
    assert_eq!(api.errors(WatchErrorReason::WatchList), 1);
    api.watch_from("5").await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_end_is_given_up_for_pages() {
    let mut api = scripted();
    // One that says nothing after its pods,
    let silent = api.call().await;
    assert_eq!(silent.uri, STREAMED);
    let silent = silent.stream();
    silent.event("ADDED", &pod("a", 3));
    let list = api.call().await;
    assert_eq!(list.uri, "/api/v1/pods?&limit=500");
    assert!(api.elapsed() >= Duration::from_secs(30) && api.elapsed() < Duration::from_secs(31));
    assert!(api.no_delivery());
    list.list("5", None, &[pod("a", 3)]);
    assert_eq!(api.next_delivery().await, "Listed a@3");
    api.watch_from("5").await.stream().error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    // and one that goes on and on, as of a server that does not know what was asked for.
    let restless = api.call().await;
    assert_eq!(restless.uri, format!("{STREAMED}5"));
    let restless = restless.stream();
    let began = api.elapsed();
    let go_on = async {
        for version in 6.. {
            restless.event("MODIFIED", &pod("a", version));
            sleep(Duration::from_secs(7)).await;
        }
    };
    let list = tokio::select! {
        list = api.call() => list,
        () = go_on => unreachable!("it has no end"),
    };
    assert_eq!((api.elapsed() - began).as_secs(), 120);
    assert!(api.no_delivery());
    list.list("40", None, &[pod("a", 38)]);
    assert_eq!(api.next_delivery().await, "Listed a@38");
    // The second time is for good.
    api.watch_from("40").await.stream().error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert!(api.call().await.uri.contains("limit=500"));
    assert_eq!(api.errors(WatchErrorReason::WatchList), 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_inferred_from_a_stream_that_is_cut_before_its_end() {
    use WatchErrorReason::{ServerError, Transport};
    for (cut, reason) in [Transport, ServerError, Transport].into_iter().enumerate() {
        let mut api = scripted();
        let watch = api.call().await;
        assert!(watch.uri.starts_with(STREAMED), "{}", watch.uri);
        let watch = watch.stream();
        watch.event("ADDED", &pod("phantom", 3));
        watch.bookmark("4");
        match cut {
            0 => drop(watch),
            1 => watch.error(500, "etcd is away"),
            _ => {
                watch.write("{\"type\":\"ADDED\",\"obj");
                watch.reset();
            }
        }
        let watch = api.call().await.stream();
        assert!(api.no_delivery() && !api.stats.synced());
        watch.event("ADDED", &pod("a", 3));
        end_of_list(&watch, "9");
        assert_eq!(api.next_delivery().await, "Listed a@3");
        api.watch_from("9").await;
        assert_eq!((api.errors(reason), api.all_errors()), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_streams_are_always_cut_is_taken_in_pages() {
    let mut api = scripted();
    for _ in 0..3 {
        let watch = api.call().await.stream();
        watch.event("ADDED", &pod("a", 3));
        watch.reset();
    }
    let list = api.call().await;
    assert_eq!(list.uri, "/api/v1/pods?&limit=500");
    assert!(api.no_delivery());
    list.list("5", None, &[pod("a", 3)]);
    assert_eq!(api.next_delivery().await, "Listed a@3");
    assert_eq!(api.errors(WatchErrorReason::WatchList), 1);
    // The next list may be streamed again.
    api.watch_from("5").await.refuse(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert!(api.call().await.uri.starts_with(STREAMED));
}

#[tokio::test(start_paused = true)]
async fn what_happens_while_the_list_is_streamed_is_in_it() {
    let mut api = scripted();
    let watch = api.call().await.stream();
    watch.event("ADDED", &pod("a", 3));
    watch.event("ADDED", &pod("b", 4));
    watch.event("ADDED", r#"{"metadata":{}}"#);
    watch.write("{\"type\":\"MODIFIED\",no json\n");
    watch.event("ADDED", &pod("c", 5));
    watch.event("MODIFIED", &pod("a", 8));
    watch.event("DELETED", &pod("b", 9));
    end_of_list(&watch, "9");
    assert_eq!(sorted(&api.next_delivery().await), "Listed a@8 c@5");
    assert_eq!(api.errors(WatchErrorReason::Decode), 2);
    api.watch_from("9").await.stream().error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    // What may be a deletion and cannot be read makes it no list.
    for unreadable in ["{\"type\":\"DELETED\",\"object\":{\"metadata\":{}}}\n", "no json\n", "{]\n"]
    {
        let call = api.call().await;
        assert!(call.uri.starts_with(STREAMED), "{}", call.uri);
        let watch = call.stream();
        watch.event("ADDED", &pod("b", 4));
        watch.write(unreadable);
        end_of_list(&watch, "12");
    }
    // Where streams bring that again and again, pages are as good.
    assert!(api.call().await.uri.contains("limit=500"));
    assert!(api.no_delivery());
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_of_a_restored_server_is_the_truth() {
    let mut api = scripted();
    let watch = api.call().await.stream();
    watch.event("ADDED", &pod("a", 900));
    end_of_list(&watch, "1000");
    assert_eq!(api.next_delivery().await, "Listed a@900");
    api.watch_from("1000").await.refuse(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    let call = api.call().await;
    assert!(call.uri.ends_with("&resourceVersion=1000"), "{}", call.uri);
    call.refuse(504, "Too large resource version: 1000, current: 500");
    let call = api.call().await;
    assert_eq!(call.uri, STREAMED);
    let watch = call.stream();
    end_of_list(&watch, "500");
    assert_eq!(api.next_delivery().await, "RolledBack");
    assert_eq!(api.next_delivery().await, "Listed ");
    api.watch_from("500").await;
}
