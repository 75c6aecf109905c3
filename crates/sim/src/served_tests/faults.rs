//! The faults that tests can order befall the requests and streams that they are meant for.

use super::client::{Http, PODS, bind, brief, create, names};
use crate::faults::{FaultAnswer, FaultTarget, StreamFault};
use crate::status::StatusFailure;
use crate::{ClusterConfig, SimulatedCluster};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};

async fn cluster() -> (SimulatedCluster, Http) {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    let http = Http::to(&cluster);
    create(&cluster, &["a", "b"]);
    (cluster, http)
}

#[tokio::test]
async fn requests_fail_as_often_as_ordered() {
    let (cluster, http) = cluster().await;
    let faults = cluster.faults();
    faults.answer(FaultTarget::List, 1, FaultAnswer::Fail(StatusFailure::too_many_requests(3)));
    faults.answer(
        FaultTarget::List,
        2,
        FaultAnswer::Fail(StatusFailure::internal("etcd has no leader")),
    );
    let throttled = http.get(PODS).await;
    assert_eq!((throttled.code, &throttled.headers["retry-after"]), (429, &"3".parse().unwrap()));
    assert_eq!(throttled.json["details"]["retryAfterSeconds"], 3);
    assert_eq!(http.get(PODS).await.code, 500);
    assert_eq!(http.get(PODS).await.code, 500);
    assert_eq!(http.get(PODS).await.code, 200);
    faults.answer(FaultTarget::Watch, 1, FaultAnswer::Expired);
    let gone = http.get("/api/v1/pods?watch=true&resourceVersion=1002").await;
    assert_eq!((gone.code, &gone.json["reason"]), (410, &json!("Expired")));
    assert_eq!(faults.requests().len(), 5);
    assert_eq!(faults.requests()[4].query, "watch=true&resourceVersion=1002");
}

#[tokio::test]
async fn continue_tokens_expire_on_demand() {
    let (cluster, http) = cluster().await;
    let first = http.list("limit=1").await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    cluster.faults().answer(FaultTarget::NextPage, 1, FaultAnswer::Expired);
    let path = format!("{PODS}?limit=1&continue={token}");
    let expired = http.get(&path).await;
    assert_eq!(expired.code, 410);
    assert!(expired.json["metadata"]["continue"].is_string());
    assert_eq!(names(&http.get(&path).await.json), ["b"]);
}

#[tokio::test]
async fn requests_can_stay_without_an_answer() {
    for (target, path) in [(FaultTarget::List, PODS), (FaultTarget::Watch, "/api/v1/pods?watch=1")]
    {
        let (cluster, http) = cluster().await;
        cluster.faults().answer(target, 1, FaultAnswer::Never);
        let request = async { http.get(path).await };
        let shutdown = async {
            let faults = cluster.faults();
            faults.requests_until(|requests| requests.len() == 1).await;
            cluster.shutdown().await;
        };
        // Only the shutdown brings an answer.
        let (answer, ()) = tokio::join!(request, shutdown);
        assert_eq!(answer.code, 500);
    }
}

#[tokio::test]
async fn a_list_can_break_off_halfway() {
    let (cluster, http) = cluster().await;
    cluster.faults().answer(FaultTarget::List, 1, FaultAnswer::Half { hangs: false });
    let body = http.send(PODS).await.into_body();
    assert!(body.collect().await.is_err());
    assert_eq!(names(&http.list("").await), ["a", "b"]);
    cluster.shutdown().await;
}

#[tokio::test]
async fn streams_end_break_and_fail() {
    let (cluster, http) = cluster().await;
    let faults = cluster.faults();
    let mut watch = http.watch("resourceVersion=1002").await;
    faults.stream(StreamFault::End);
    watch.assert_ended().await;

    let mut watch = http.watch("resourceVersion=1002").await;
    faults.stream(StreamFault::Cut);
    assert!(watch.next_line().await.is_err());

    for (fault, code) in
        [(StreamFault::Gone, 410), (StreamFault::Fail(StatusFailure::internal("no")), 500)]
    {
        let mut watch = http.watch("resourceVersion=1002").await;
        faults.stream(fault);
        let event = watch.next_event().await;
        assert_eq!(event["type"], "ERROR");
        assert_eq!(event["object"]["code"], code);
        watch.assert_ended().await;
    }

    let mut watch = http.watch("resourceVersion=1002").await;
    faults.stream(StreamFault::Truncated);
    let half = watch.next_line().await.unwrap().unwrap();
    assert!(serde_json::from_slice::<Value>(&half).is_err());
    watch.assert_ended().await;
}

#[tokio::test]
async fn bad_lines_stand_between_good_ones() {
    let (cluster, http) = cluster().await;
    let faults = cluster.faults();
    let mut watch = http.watch("resourceVersion=1001").await;
    assert_eq!(brief(&watch.next_event().await), "ADDED b@1002");
    faults.stream(StreamFault::Corrupt);
    faults.stream(StreamFault::Oversized(1_000_000));
    faults.stream(StreamFault::Raw(Bytes::from_static(b"\n[]\n")));
    faults.set_modes(|modes| modes.duplicate_events = true);
    cluster.apply("a", &bind());
    let corrupt = watch.next_line().await.unwrap().unwrap();
    assert!(serde_json::from_slice::<Value>(&corrupt).is_err());
    assert_eq!(watch.next_line().await.unwrap().unwrap().len(), 999_999);
    assert_eq!(watch.next_line().await.unwrap().unwrap(), "");
    assert_eq!(watch.next_line().await.unwrap().unwrap(), "[]");
    assert_eq!(brief(&watch.next_event().await), "MODIFIED a@1003");
    assert_eq!(brief(&watch.next_event().await), "MODIFIED a@1003");
    cluster.shutdown().await;
}

#[tokio::test]
async fn silent_streams_say_nothing_until_they_may() {
    let (cluster, http) = cluster().await;
    let faults = cluster.faults();
    faults.set_modes(|modes| modes.silent_streams = true);
    let mut watch = http.watch("resourceVersion=1001&timeoutSeconds=1").await;
    cluster.apply("a", &bind());
    faults.clear();
    assert_eq!(brief(&watch.next_event().await), "ADDED b@1002");
    assert_eq!(brief(&watch.next_event().await), "MODIFIED a@1003");
}
