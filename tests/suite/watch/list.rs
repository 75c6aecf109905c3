//! The lists of the list-watch: pages, gaps, and that nothing is concluded from half a list.

use crate::support::watch::{FakeApi, START, page, pod};
use podinit_core::lifecycle::PodEvent;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason};

#[tokio::test(start_paused = true)]
async fn the_pages_of_the_first_list_are_joined() {
    let mut api = FakeApi::start();
    let first = api.call().await;
    assert_eq!(first.uri, "/api/v1/pods?&limit=500");
    tokio::time::advance(std::time::Duration::from_secs(3)).await;
    first.list("7", Some("next/1"), &page(0..2));
    let second = api.call().await;
    assert_eq!(second.uri, "/api/v1/pods?&limit=500&continue=next%2F1");
    assert!(api.no_delivery() && !api.stats.synced());
    second.list("7", None, &page(2..4));
    let delivery = api.deliveries.recv().await.unwrap();
    let PodEvent::Listed { pods, began } = delivery.event else {
        panic!("no list: {delivery:?}");
    };
    assert_eq!(pods.len(), 4);
    assert_eq!((began, delivery.observed), (START, None));
    assert!(delivery.now.nanos_since(began) >= 3_000_000_000);
    let watch = api.watch_from("7").await;
    assert!(watch.uri.contains("&allowWatchBookmarks=true&"), "{}", watch.uri);
    assert!(api.stats.synced());
    assert_eq!(api.all_errors(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_fails_half_way_delivers_nothing() {
    let mut api = FakeApi::start();
    for _ in 0..5 {
        api.call().await.list("7", Some("t"), &page(0..2));
        api.call().await.refuse(500, "etcd is away");
    }
    api.call().await.list("8", Some("u"), &page(0..1));
    // Cut in the middle of the body, which ends as if it were whole.
    api.call().await.body(r#"{"kind":"PodList","metadata":{"resourceVersion":"8"},"items":[{"#);
    assert!(api.no_delivery() && !api.stats.synced());
    let again = api.call().await;
    assert_eq!(again.uri, "/api/v1/pods?&limit=500");
    again.list("9", None, &page(3..4));
    assert_eq!(api.next_delivery().await, "Listed p3@3");
    assert_eq!(api.errors(WatchErrorReason::ServerError), 5);
    assert_eq!(api.errors(WatchErrorReason::Decode), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_too_long_is_asked_for_in_smaller_pieces() {
    let adjust = |config: &mut podinit_kube::watch::config::ReflectorConfig| {
        config.max_page_bytes = 1000;
    };
    let mut api = FakeApi::start_with(vec![PodScope::Cluster], PodSelectors::default(), adjust);
    api.call().await.list("7", Some("t"), &page(0..2));
    api.call().await.list("7", None, &page(2..60));
    let smaller = api.call().await;
    assert_eq!(smaller.uri, "/api/v1/pods?&limit=125&continue=t");
    smaller.list("7", None, &page(2..4));
    assert_eq!(api.next_delivery().await, "Listed p0@0 p1@1 p2@2 p3@3");
    assert_eq!(api.errors(WatchErrorReason::PageTooLarge), 1);
}

#[tokio::test(start_paused = true)]
async fn an_odd_object_in_a_list_costs_only_itself() {
    let mut api = FakeApi::start();
    let odd = [pod("a", 1), "17".into(), r#"{"metadata":{}}"#.into(), pod("b", 2)];
    api.call().await.list("7", None, &odd);
    assert_eq!(api.next_delivery().await, "Listed a@1 b@2");
    assert_eq!(api.errors(WatchErrorReason::Decode), 2);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_to_watch_from_is_no_list() {
    let mut api = FakeApi::start();
    api.call().await.list("0", None, &page(0..1));
    api.call().await.body("{\"kind\":\"Status\",\"code\":200}");
    api.call().await.list("5", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    assert_eq!(api.errors(WatchErrorReason::Decode), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_serve_the_known_version_is_asked_for_the_most_recent() {
    for (code, message) in [
        (410, "too old"),
        (504, "Timeout: Too large resource version: 10, current: 4"),
        (400, "invalid resource version"),
    ] {
        let mut api = FakeApi::start();
        drop(api.synced("10", &page(0..3)).await);
        api.call().await.refuse(410, "too old resource version");
        assert_eq!(api.next_delivery().await, "SyncLost");
        api.call().await.refuse(code, message);
        let list = api.call().await;
        assert_eq!(list.uri, "/api/v1/pods?&limit=500", "after {code}");
        // Rolled back: the list is older than what is known, and is the truth all the same.
        list.list("4", None, &page(0..1));
        assert_eq!(api.next_delivery().await, "RolledBack");
        assert_eq!(api.next_delivery().await, "Listed p0@0");
        let watch = api.watch_from("4").await.stream();
        watch.event("ADDED", &pod("new", 5));
        assert_eq!(api.next_delivery().await, "Applied new@5");
        drop(watch);
        api.watch_from("5").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_always_says_gone_is_not_asked_ever_faster() {
    let mut api = FakeApi::start();
    for version in 10..30 {
        api.call().await.list(&version.to_string(), None, &[]);
        api.call().await.refuse(410, "too old resource version");
    }
    api.call().await;
    assert_eq!(api.relists(RelistReason::Gone), 20);
    // Twenty full-jitter waits of up to 30 s: far from a hot loop.
    assert!(api.elapsed().as_secs() > 60, "{:?}", api.elapsed());
}

#[tokio::test(start_paused = true)]
async fn each_namespace_has_its_own_list_watch() {
    let scopes = PodScope::of_namespaces(&["red".into(), "blue".into()]);
    let selectors = PodSelectors { label: Some("app=a b".into()), ..PodSelectors::default() };
    let mut api = FakeApi::start_with(scopes, selectors, |_| {});
    let (first, second) = (api.call().await, api.call().await);
    let (red, blue) = if first.uri.contains("/red/") { (first, second) } else { (second, first) };
    assert_eq!(red.uri, "/api/v1/namespaces/red/pods?&labelSelector=app%3Da+b&limit=500");
    assert_eq!(blue.uri, "/api/v1/namespaces/blue/pods?&labelSelector=app%3Da+b&limit=500");
    red.list("1", None, &[pod("r", 1)]);
    assert_eq!(api.next_delivery().await, "Listed r@1");
    assert!(!api.stats.synced());
    blue.list("2", None, &[pod("b", 2)]);
    assert_eq!(api.next_delivery().await, "1: Listed b@2");
    assert!(api.stats.synced());
    let watch = api.call().await;
    assert!(
        watch.uri.contains("&watch=true&") && watch.uri.contains("&labelSelector=app%3Da+b&"),
        "{}",
        watch.uri
    );
}
