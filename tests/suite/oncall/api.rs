//! The API over a real socket: answers by the schema, filters, pages, tags, failures and access.

use std::sync::Arc;

use crate::support::freshness::{freshness, waiting_for};
use crate::support::json_schema;
use crate::support::server::{Reply, Running, Source, start_routes};
use crate::support::sinks::Kept;
use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Tracker, TrackerConfig};
use podinit_core::pod::{
    ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, NotScheduled,
    NotScheduledReason, PodSnapshot, PodUid, StatusCondition, WaitingReason, Workload,
};
use podinit_core::timestamp::Timestamp;
use podinit_http::{AccessControl, AccessRequest, AccessVerdict, ServerLimits};
use podinit_oncall::api::{self, SCHEMA};
use podinit_oncall::records::{self, RecordsClient};
use serde_json::Value;

const LISTS: [&str; 3] = ["/api/v1/stuck", "/api/v1/inflight", "/api/v1/startups"];

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_700_000_000 + second)
}

fn pod(name: &str, namespace: &str) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), namespace, name);
    pod.created = Some(at(0));
    pod.info.node = Some(format!("node-{}", name.len()).into());
    pod.info.workload =
        Some(Arc::new(Workload { kind: "Deployment".into(), name: namespace.into() }));
    pod.info.pod_labels = ["blue".into(), "".into()].into();
    pod.not_scheduled = Some(Box::new(NotScheduled {
        is_false: true,
        reason: NotScheduledReason::SchedulingGated,
        message: "a \"quota\" is used up".into(),
    }));
    pod.info.images = Some(Arc::new(vec!["ghcr.io/shop/web:1".into(), "proxy:2".into()]));
    let container = |name: &str, reason| ContainerSpec {
        state: ContainerState::Waiting(reason),
        ..ContainerSpec::new(name.into(), ContainerKind::Regular)
    };
    pod.containers =
        [container("web", WaitingReason::Other), container("proxy", WaitingReason::ErrImagePull)]
            .into();
    pod
}

/// Of 30 pods a third has become ready, each after another time; the others are stuck since five minutes.
fn world() -> (Tracker, Kept) {
    let mut tracker = Tracker::new(TrackerConfig { slos: [].into(), ..TrackerConfig::default() });
    let mut kept = Kept::default();
    for number in 0..30_i64 {
        let namespace = ["shop", "pay", "ops"][number as usize % 3];
        let mut pod = pod(&format!("pod-{number}"), namespace);
        let mut apply = |pod: &PodSnapshot, second| {
            let delivery = Delivery {
                source: SourceId(0),
                event: PodEvent::Applied(pod.clone()),
                now: at(second),
                observed: Some(at(second)),
                version: None,
            };
            tracker.apply(delivery, &mut kept);
        };
        apply(&pod, 1);
        if namespace == "ops" {
            for kind in [ConditionType::PodScheduled, ConditionType::Ready] {
                let condition = StatusCondition {
                    status: ConditionStatus::True,
                    last_transition: Some(at(number * 7 % 30)),
                };
                pod.conditions.insert(kind, condition);
            }
            apply(&pod, 40);
        }
    }
    let listed = PodEvent::Resumed;
    let delivery =
        Delivery { source: SourceId(0), event: listed, now: at(41), observed: None, version: None };
    tracker.apply(delivery, &mut kept);
    tracker.advance(at(400), &mut kept);
    (tracker, kept)
}

/// An API whose owner answers.
fn start_api(access: Option<Arc<dyn AccessControl>>) -> Running {
    let (client, mut queries) = records::channel();
    queries.begin();
    tokio::spawn(async move {
        let (tracker, kept) = world();
        loop {
            queries.waiting().await;
            queries.step(&tracker, &kept.0);
        }
    });
    start_with_client(client, access)
}

fn start_with_client(client: RecordsClient, access: Option<Arc<dyn AccessControl>>) -> Running {
    let labels = vec!["colour".to_owned(), "shape".to_owned()];
    let routes = api::router(client, labels, freshness(true));
    start_routes(Source::default(), ServerLimits::default(), routes, access)
}

fn json(reply: &Reply) -> Value {
    let content_type = reply.header("content-type").unwrap();
    assert_eq!(content_type, "application/json; charset=utf-8");
    serde_json::from_slice(&reply.body).unwrap()
}

fn checked(name: &str, reply: &Reply) -> Value {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let value = json(reply);
    json_schema::check(&schema, name, &value);
    value
}

fn names(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_answer_is_what_the_schema_says() {
    let server = start_api(None);
    for (path, items) in LISTS.into_iter().zip([20, 20, 10]) {
        let reply = server.get(path).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("cache-control"), Some("private, no-cache"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        let page = checked("page", &reply);
        assert_eq!(page["items"].as_array().unwrap().len(), items, "{path}");
        assert_eq!(page["time"], "2023-11-14T22:20:00Z");
    }
    let reply = server.get("/api/v1/pods/shop/pod-0").await;
    let pod = checked("startup", &reply);
    assert_eq!(pod["uid"], PodUid::from_text("pod-0").to_string());
    assert_eq!(pod["labels"], serde_json::json!({"colour": "blue"}));
    let proxy = serde_json::json!({
        "name": "proxy", "init": false, "image": "proxy:2", "registry": "docker.io", "problem": "image"
    });
    assert_eq!(pod["containers"][1], proxy);
    assert_eq!(pod["containers"][0]["registry"], "ghcr.io");
    assert_eq!(pod["image"], "proxy:2");
    assert_eq!(pod["message"], "a \"quota\" is used up");
    assert_eq!(pod["in_flight"]["stuck"], true);
    assert_eq!(pod["in_flight"]["stuck_at"], "2023-11-14T22:18:20Z");
    let reply = server.get("/api/v1/pods/ops/pod-2").await;
    assert_eq!(checked("startup", &reply)["ended"]["outcome"], "ready");
    let reply = server.get("/api/v1/schema.json").await;
    assert_eq!(reply.text(), SCHEMA);
}

#[tokio::test]
async fn filters_and_orders_are_those_that_were_asked_for() {
    let server = start_api(None);
    for (path, count) in [
        ("/api/v1/stuck?namespace=shop", 10),
        ("/api/v1/stuck?namespace=ops", 0),
        ("/api/v1/inflight?workload=pay", 10),
        ("/api/v1/inflight?workload=deployment/pay", 10),
        ("/api/v1/inflight?workload=Job/pay", 0),
        ("/api/v1/inflight?node=node-5", 7),
        ("/api/v1/inflight?stage=scheduling&cause=queue", 20),
        ("/api/v1/inflight?stage=network", 0),
        ("/api/v1/inflight?cause=image", 0),
        ("/api/v1/startups?outcome=ready", 10),
        ("/api/v1/startups?outcome=failed", 0),
        ("/api/v1/startups?cause=queue&namespace=ops", 10),
        ("/api/v1/startups?limit=3", 3),
    ] {
        let page = checked("page", &server.get(path).await);
        assert_eq!(names(&page).len(), count, "{path}");
    }
    let page = json(&server.get("/api/v1/startups").await);
    assert_eq!(names(&page)[..2], ["pod-29", "pod-26"]);
    let page = json(&server.get("/api/v1/startups?sort=slowest").await);
    let seconds = page["items"].as_array().unwrap().iter().map(|item| {
        let mut intervals = item["intervals"].as_array().unwrap().iter();
        let whole = intervals.find(|one| one["interval"] == "created_to_ready");
        whole.unwrap()["seconds"].as_f64().unwrap()
    });
    assert!(seconds.is_sorted_by(|one, next| one >= next));
}

#[tokio::test]
async fn pages_lead_to_every_item_once() {
    let server = start_api(None);
    for (path, count) in [
        ("/api/v1/stuck?limit=7", 20),
        ("/api/v1/inflight?limit=1", 20),
        ("/api/v1/startups?limit=4", 10),
        ("/api/v1/startups?sort=slowest&limit=3", 10),
    ] {
        let (mut found, mut next) = (Vec::new(), String::new());
        loop {
            let page = checked("page", &server.get(&format!("{path}{next}")).await);
            found.extend(names(&page).into_iter().map(str::to_owned));
            match page.get("continue") {
                Some(token) => next = format!("&continue={}", token.as_str().unwrap()),
                None => break,
            }
        }
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "{path}");
    }
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let server = start_api(None);
    for path in LISTS.into_iter().chain(["/api/v1/pods/shop/pod-0"]) {
        let tag = server.get(path).await.header("etag").unwrap().to_owned();
        for (sent, status) in [(tag.as_str(), 304), ("\"other\"", 200), ("*", 304)] {
            let headers = [("If-None-Match", sent)];
            let reply = server.request("GET", path, &headers).await;
            assert_eq!(reply.status, status, "{path} {sent}");
            assert_eq!(reply.header("etag"), Some(tag.as_str()));
            assert_eq!(reply.body.is_empty(), status == 304);
        }
        let reply = server.request("HEAD", path, &[]).await;
        assert_eq!((reply.status, reply.body.len()), (200, 0));
    }
    let other = server.get("/api/v1/stuck?namespace=shop").await;
    let all = server.get("/api/v1/stuck").await;
    assert_ne!(other.header("etag"), all.header("etag"));
}

#[tokio::test]
async fn a_wrong_request_gets_one_line_that_says_what_is_wrong() {
    let server = start_api(None);
    for (method, path, status, says) in [
        ("GET", "/api/v1/stuck?limit=0", 400, "limit: expected a number from 1 to 500"),
        ("GET", "/api/v1/stuck?limit=501", 400, "limit: expected a number from 1 to 500"),
        ("GET", "/api/v1/stuck?sort=newest", 400, "there is no such parameter, try namespace"),
        ("GET", "/api/v1/inflight?cause=%3Cscript%3E", 400, "cause: expected one of terminating"),
        ("GET", "/api/v1/inflight?continue=x", 400, "continue: expected what the page before"),
        ("GET", "/api/v1/startups?continue=0.1.2.3", 400, "continue: expected what the page"),
        ("GET", "/api/v1/startups?sort=oldest", 400, "sort: expected newest, slowest"),
        ("GET", "/api/v1/startups?outcome=Ready", 400, "outcome: expected one of ready"),
        ("GET", "/api/v1/pods/shop/pod-0?limit=1", 400, "this path has no parameters"),
        ("GET", "/api/v1/pods/shop/none", 404, "no such pod is in flight"),
        ("GET", "/api/v1/pods/shop/%ff", 400, "the path cannot be read"),
        ("GET", "/api/v1/pods/shop", 404, "not found, try /api/v1/problems"),
        ("GET", "/api/v1/nothing", 404, "not found, try /api/v1/problems"),
        ("POST", "/api/v1/stuck", 405, "method not allowed"),
        ("DELETE", "/api/v1/pods/shop/pod-0", 405, "method not allowed"),
    ] {
        let reply = server.request(method, path, &[]).await;
        assert_eq!(reply.status, status, "{method} {path}");
        let failure = checked("failure", &reply);
        let error = failure["error"].as_str().unwrap();
        assert!(error.starts_with(says), "{path}: {error}");
        assert!(!error.contains('\n') && !error.contains("script"));
    }
}

#[tokio::test]
async fn an_owner_that_does_not_answer_is_not_waited_for_by_more_than_the_queue() {
    let (client, queries) = records::channel();
    queries.begin();
    let server = start_with_client(client.clone(), None);
    let asking: Vec<_> = (0..16)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let query =
                    records::RecordQuery::Pod { namespace: String::new(), name: String::new() };
                client.ask(query).await.unwrap_err()
            })
        })
        .collect();
    tokio::task::yield_now().await;
    let reply = server.get("/api/v1/stuck").await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    assert_eq!(checked("failure", &reply)["error"], "too many queries at a time, try again");
    assert_eq!(server.get("/livez").await.status, 200);
    drop(queries);
    for asked in asking {
        asked.await.unwrap();
    }
    let reply = server.get("/api/v1/stuck").await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
}

#[tokio::test]
async fn before_the_first_contact_lists_answer_at_once_with_what_is_waited_for() {
    let (client, _queries) = records::channel();
    let waiting = waiting_for("the API server: connection refused");
    let routes = api::router(client, Vec::new(), waiting);
    let server = start_routes(Source::default(), ServerLimits::default(), routes, None);
    for path in LISTS {
        let reply = server.get(path).await;
        assert_eq!(reply.status, 200);
        let page = checked("page", &reply);
        assert_eq!(page["fresh"], false);
        assert_eq!(page["items"], Value::Array(Vec::new()));
        let freshness = &page["freshness"];
        assert_eq!(freshness["state"], "waiting");
        assert_eq!(freshness["since"], "2023-11-14T22:20:00Z");
        assert_eq!(freshness["waits_for"], "the API server: connection refused");
    }
    let reply = server.get("/api/v1/pods/shop/web").await;
    assert_eq!(reply.status, 503);
    assert_eq!(
        checked("failure", &reply)["error"],
        "podinit knows no pod yet, try again: it waits for the API server: connection refused"
    );
}

/// Refuses everything but `/metrics`.
struct OnlyMetrics;

impl AccessControl for OnlyMetrics {
    fn authorize(
        &self,
        request: AccessRequest,
    ) -> futures::future::BoxFuture<'static, AccessVerdict> {
        let verdict = match request.path.as_str() {
            "/metrics" => AccessVerdict::Granted,
            _ => AccessVerdict::Forbidden,
        };
        Box::pin(std::future::ready(verdict))
    }
}

#[tokio::test]
async fn access_control_is_asked_before_anything_is_said() {
    let server = start_api(Some(Arc::new(OnlyMetrics)));
    assert_eq!(server.get("/metrics").await.status, 200);
    for path in LISTS.into_iter().chain([
        "/api/v1/schema.json",
        "/api/v1/pods/shop/pod-0",
        "/api/v1/pods/shop/none",
        "/api/v1/stuck?limit=0",
        "/api/v1/nothing",
        "/api/",
    ]) {
        for method in ["GET", "HEAD", "POST"] {
            let reply = server.request(method, path, &[]).await;
            assert_eq!(reply.status, 403, "{method} {path}");
            assert_eq!(reply.header("etag"), None);
        }
    }
}

#[tokio::test]
async fn healthz_says_what_livez_says() {
    let server = start_api(Some(Arc::new(OnlyMetrics)));
    let [livez, healthz] = ["/livez", "/healthz"].map(|path| server.get(path));
    let (livez, healthz) = (livez.await, healthz.await);
    assert_eq!((livez.status, &livez.body), (200, &healthz.body));
    assert_eq!(healthz.status, 200);
}
