//! Lists in one answer, which the API server takes from its cache, and the way back to pages.

use std::io::Write;
use std::time::Duration;

use crate::support::embedded::{Embedded, cluster, encoding, put};
use crate::support::watch::{FakeApi, event, page, pod};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, HeaderValue};
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::config::{ListMode, ReflectorConfig};
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason};
use podinit_sim::faults::{FaultTarget, StreamFault};
use tower::ServiceExt;

const FROM_CACHE: &str = "/api/v1/pods?&resourceVersion=0";
const PAGES: &str = "/api/v1/pods?&limit=500";

fn config() -> WatchConfig {
    WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() }
}

fn scripted() -> FakeApi {
    FakeApi::start_as(config())
}

/// The list that is asked for when what follows version 10 was lost.
fn again(version: u64) -> String {
    format!("/api/v1/pods?&resourceVersion={version}&resourceVersionMatch=NotOlderThan")
}

/// Lists pod `a` at version 10 and loses the watch after it.
async fn lost_at_10(api: &mut FakeApi) {
    let first = api.call().await;
    assert_eq!(first.uri, FROM_CACHE);
    first.list("10", None, &[pod("a", 3)]);
    assert_eq!(api.next_delivery().await, "Listed a@3");
    api.watch_from("10").await.refuse(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_first_list_is_of_the_cache_and_later_ones_are_no_older_than_what_is_known() {
    let mut api = scripted();
    let first = api.call().await;
    assert_eq!(first.uri, FROM_CACHE);
    assert!(first.takes_gzip);
    first.list("10", None, &page(0..3));
    assert_eq!(api.next_delivery().await, "Listed p0@0 p1@1 p2@2");
    let watch = api.watch_from("10").await;
    assert!(!watch.takes_gzip);
    let watch = watch.stream();
    watch.event("MODIFIED", &pod("p1", 15));
    assert_eq!(api.next_delivery().await, "Applied p1@15");
    watch.error(410, "too old resource version");
    assert_eq!(api.next_delivery().await, "SyncLost");
    let list = api.call().await;
    assert_eq!(list.uri, again(15));
    list.list("20", None, &[pod("p1", 15)]);
    assert_eq!(api.next_delivery().await, "Listed p1@15");
    assert_eq!(api.relists(RelistReason::Gone), 1);
}

#[tokio::test(start_paused = true)]
async fn where_pods_were_restored_the_first_list_is_of_the_most_recent_state() {
    let mut api = FakeApi::start_as(WatchConfig { knows_pods: true, ..config() });
    assert_eq!(api.call().await.uri, PAGES);
}

#[tokio::test(start_paused = true)]
async fn the_first_list_of_a_shard_is_of_the_most_recent_state() {
    let mut config = config();
    config.selectors.shard = Some("4/6".parse().unwrap());
    let mut api = FakeApi::start_as(config);
    let first = api.call().await.uri;
    assert!(first.starts_with(PAGES) && !first.contains("resourceVersion"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_several_gzip_members_is_read_to_its_end() {
    let mut api = scripted();
    let head = r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":["#;
    let answer = api.call().await.gzip();
    for member in [head, &pod("a", 3), ",", &pod("b", 4), "]}"] {
        for byte in gzip(member) {
            answer.bytes(vec![byte]);
        }
    }
    drop(answer);
    assert_eq!(api.next_delivery().await, "Listed a@3 b@4");
    assert_eq!(api.all_errors(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_streamed_list_may_be_compressed_and_ends_before_its_answer_does() {
    let mut config = config();
    config.reflector.lists = ListMode::Stream;
    let mut api = FakeApi::start_as(config);
    let call = api.call().await;
    assert!(call.takes_gzip && call.uri.contains("sendInitialEvents=true"));
    let answer = call.gzip();
    answer.bytes(gzip(&event("ADDED", &pod("a", 3))));
    answer.bytes(gzip(&event("ADDED", &pod("b", 4))));
    let end = r#"{"kind":"Pod","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
    // Flushed, and its member goes on.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(event("BOOKMARK", end).as_bytes()).unwrap();
    encoder.flush().unwrap();
    answer.bytes(encoder.get_ref().clone());
    let listed = api.next_delivery().await;
    assert!(["Listed a@3 b@4", "Listed b@4 a@3"].contains(&&*listed));
    assert!(!api.watch_from("9").await.takes_gzip);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_inferred_from_an_answer_that_breaks_off_and_after_three_there_are_pages() {
    let mut api = scripted();
    lost_at_10(&mut api).await;
    let half = r#"{"kind":"PodList","metadata":{"resourceVersion":"12"},"items":[{"metadata":{"uid":"a"}}"#;
    for broken in 0..3 {
        let call = api.call().await;
        assert_eq!(call.uri, again(10));
        match broken {
            0 => call.body(half),
            1 => {
                let answer = call.stream();
                answer.write(half);
                answer.reset();
            }
            _ => call.gzip().bytes(gzip(half)),
        }
    }
    let pages = api.call().await;
    assert_eq!(pages.uri, format!("{PAGES}&resourceVersion=10&resourceVersionMatch=NotOlderThan"));
    assert!(api.no_delivery() && !api.stats.synced());
    pages.list("12", Some("t"), &page(0..1));
    api.call().await.list("12", None, &page(1..2));
    assert_eq!(api.next_delivery().await, "Listed p0@0 p1@1");
    assert_eq!(api.errors(WatchErrorReason::Decode), 2);
    assert_eq!(api.errors(WatchErrorReason::Transport), 1);
    // The next list is asked for whole again, and the second time that fails is for good.
    api.watch_from("12").await.refuse(410, "too old");
    assert_eq!(api.next_delivery().await, "SyncLost");
    for _ in 0..3 {
        let call = api.call().await;
        assert_eq!(call.uri, again(12));
        call.stream().reset();
    }
    for version in ["20", "30"] {
        let pages = api.call().await;
        assert!(pages.uri.starts_with(PAGES), "{}", pages.uri);
        pages.list(version, None, &page(0..1));
        assert_eq!(api.next_delivery().await, "Listed p0@0");
        api.watch_from(version).await.refuse(410, "too old");
        assert_eq!(api.next_delivery().await, "SyncLost");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_held_or_is_a_page_is_asked_for_in_pages_at_once() {
    for too_long in [true, false] {
        let mut config = config();
        config.reflector.max_page_bytes = 1000;
        let mut api = FakeApi::start_as(config);
        let first = api.call().await;
        assert_eq!(first.uri, FROM_CACHE);
        match too_long {
            true => first.body(&format!(
                r#"{{"kind":"PodList","items":[{{"metadata":{{"name":"{:01000}"#,
                0
            )),
            false => first.list("9", Some("t"), &page(0..2)),
        }
        let pages = api.call().await;
        assert_eq!(pages.uri, PAGES);
        assert_eq!(api.elapsed(), Duration::ZERO);
        pages.list("9", None, &page(0..1));
        assert_eq!(api.next_delivery().await, "Listed p0@0");
    }
}

/// A kube-apiserver ends an answer after a minute, and the next one would be no shorter.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_cut_after_a_minute_is_asked_for_in_pages_at_once() {
    let mut api = scripted();
    let answer = api.call().await.stream();
    answer.write(r#"{"kind":"PodList","metadata":{"resourceVersion":"12"},"items":["#);
    for second in (0..60).step_by(10) {
        tokio::time::sleep(Duration::from_secs(10)).await;
        answer.write(&format!("{},", pod(&format!("p{second}"), 3)));
    }
    answer.reset();
    let pages = api.call().await;
    assert_eq!(pages.uri, PAGES);
    assert_eq!(api.elapsed(), Duration::from_secs(60));
    assert!(api.no_delivery());
    pages.list("12", None, &page(0..1));
    assert_eq!(api.next_delivery().await, "Listed p0@0");
    assert_eq!(api.all_errors(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_cache_is_filling_is_left_alone_as_long_as_it_asks() {
    for (code, message, reason) in [
        (429, "storage is (re)initializing", WatchErrorReason::TooManyRequests),
        (503, "etcd is away", WatchErrorReason::ServerError),
        (504, "the request timed out", WatchErrorReason::ServerError),
    ] {
        let mut api = scripted();
        for failures in 1..=5 {
            let call = api.call().await;
            assert_eq!(call.uri, FROM_CACHE);
            call.refuse_with(code, message, Some(40));
            let next = api.elapsed();
            assert!(next.as_secs() >= 40 * (failures - 1), "{next:?}");
        }
        api.call().await.list("9", None, &page(0..1));
        assert_eq!(api.next_delivery().await, "Listed p0@0");
        assert!((200..=250).contains(&api.elapsed().as_secs()));
        assert_eq!((api.errors(reason), api.all_errors()), (5, 5));
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_behind_is_waited_for_and_then_the_most_recent_state_is_read() {
    for refused in [true, false] {
        let mut api = scripted();
        lost_at_10(&mut api).await;
        let list = api.call().await;
        assert_eq!(list.uri, again(10));
        let before = api.elapsed();
        match refused {
            true => list.refuse_with(504, "Too large resource version: 10, current: 4", Some(7)),
            // An older state than was asked for is not taken, whatever the server thinks of it.
            false => list.list("4", None, &[]),
        }
        let pages = api.call().await;
        assert_eq!(pages.uri, PAGES);
        assert!(!refused || (api.elapsed() - before).as_secs() >= 7);
        assert!(api.no_delivery());
        assert_eq!(api.errors(WatchErrorReason::VersionAhead), 1);
        pages.list("11", None, &[pod("a", 3)]);
        assert_eq!(api.next_delivery().await, "Listed a@3");
        api.watch_from("11").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_list_of_the_cluster_arrives_compressed_and_whole() {
    let cluster = cluster().await;
    for number in 0..2000 {
        put(&cluster, &format!("pod-with-a-long-name-{number:05}"));
    }
    let request = http::Request::get("/api/v1/pods?resourceVersion=0&limit=2");
    let request = request.header("accept-encoding", "gzip");
    let request = request.body(axum::body::Body::empty()).unwrap();
    let answer = cluster.router().oneshot(request).await.unwrap();
    let coding = answer.headers().get(CONTENT_ENCODING);
    assert_eq!(coding, Some(&HeaderValue::from_static("gzip")));

    let whole = |config: &mut ReflectorConfig| config.lists = ListMode::Whole;
    let mut api = Embedded::adjusted_in(encoding!(), cluster, whole);
    assert_eq!(api.next_delivery().await.split(' ').count(), 2001);
    assert_eq!(api.request(FaultTarget::List, 2).await, "&resourceVersion=0");
    api.request(FaultTarget::Watch, 1).await;
    api.cluster.faults().stream(StreamFault::Gone);
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await.split(' ').count(), 2001);
    let query = api.request(FaultTarget::List, 3).await;
    assert_eq!(query, "&resourceVersion=3000&resourceVersionMatch=NotOlderThan");
    assert_eq!(api.requests(FaultTarget::NextPage), 0);
}

#[tokio::test(start_paused = true)]
async fn a_first_list_of_a_cache_that_lags_is_caught_up_with_by_the_watch() {
    let cluster = cluster().await;
    put(&cluster, "a");
    put(&cluster, "b");
    cluster.faults().set_modes(|modes| modes.list_lag = 1);
    let mut api = Embedded::watching_in(encoding!(), cluster);
    assert_eq!(api.next_delivery().await, "Listed a@1001");
    assert_eq!(api.next_delivery().await, "Applied b@1002");
    // A list after a gap is no older than that.
    api.request(FaultTarget::Watch, 1).await;
    api.cluster.faults().stream(StreamFault::Gone);
    assert_eq!(api.next_delivery().await, "SyncLost");
    assert_eq!(api.next_delivery().await, "Listed a@1001 b@1002");
}
