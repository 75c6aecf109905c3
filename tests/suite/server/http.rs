//! What well-behaved clients get, over a real socket.

use std::io::Read;
use std::time::Duration;

use crate::support::server::{Source, body_of, start, start_at};
use podinit_http::{ExpositionFormat, ServerLimits};

const PROTOBUF: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[tokio::test]
async fn each_format_comes_with_its_own_type() {
    let server = start(Source::default(), ServerLimits::default());
    for (accept, content_type, format) in [
        (PROTOBUF, PROTOBUF, ExpositionFormat::Protobuf),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4",
            OPENMETRICS,
            ExpositionFormat::OpenMetrics,
        ),
        ("text/plain;version=0.0.4", TEXT, ExpositionFormat::Text),
        ("image/png", TEXT, ExpositionFormat::Text),
    ] {
        let reply = server.request("GET", "/metrics", &[("Accept", accept)]).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), Some(content_type));
        assert_eq!(reply.header("content-length"), Some("1000"));
        assert_eq!(reply.header("content-encoding"), None);
        assert_eq!(reply.header("vary"), Some("Accept, Accept-Encoding"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.body, body_of(format, 1000));
    }
}

#[tokio::test]
async fn gzip_is_sent_to_those_who_take_it() {
    let server = start(Source::default(), ServerLimits::default());
    let reply = server.request("GET", "/metrics", &[("Accept-Encoding", "gzip")]).await;
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    let length: usize = reply.header("content-length").unwrap().parse().unwrap();
    assert_eq!(reply.body.len(), length);
    let mut body = Vec::new();
    flate2::read::GzDecoder::new(reply.body.as_slice()).read_to_end(&mut body).unwrap();
    assert_eq!(body, body_of(ExpositionFormat::Text, 1000));

    let refused = [("Accept-Encoding", "gzip;q=0")];
    let reply = server.request("GET", "/metrics", &refused).await;
    assert_eq!(reply.header("content-encoding"), None);
    assert_eq!(reply.body, body_of(ExpositionFormat::Text, 1000));
}

#[tokio::test]
async fn head_differs_from_get_in_the_body_only() {
    let server = start(Source::default(), ServerLimits::default());
    for path in ["/metrics", "/", "/livez", "/readyz", "/nothing"] {
        for encoding in ["gzip", "identity"] {
            let headers = [("Accept-Encoding", encoding), ("Accept", OPENMETRICS)];
            let mut get = server.request("GET", path, &headers).await;
            let mut head = server.request("HEAD", path, &headers).await;
            assert_eq!(head.status, get.status, "{path}");
            for reply in [&mut get, &mut head] {
                reply.headers.retain(|(name, _)| name != "date");
                reply.headers.sort();
            }
            assert_eq!(head.headers, get.headers, "{path}");
            assert!(head.body.is_empty(), "{path}");
        }
    }
}

#[tokio::test]
async fn other_methods_are_told_which_are_allowed() {
    let server = start(Source::default(), ServerLimits::default());
    for path in ["/", "/metrics", "/livez", "/readyz"] {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"] {
            let reply = server.request(method, path, &[]).await;
            assert_eq!(reply.status, 405, "{method} {path}");
            assert_eq!(reply.header("allow"), Some("GET, HEAD"), "{method} {path}");
            assert_eq!(reply.text(), "method not allowed, use GET or HEAD\n");
        }
    }
    assert_eq!(server.source.begun.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn other_paths_are_not_found_however_odd() {
    let server = start(Source::default(), ServerLimits::default());
    for path in
        ["/metrics/", "//metrics", "/metrics/x", "/METRICS", "/..", "/%2e%2e/metrics", "/%00", "*"]
    {
        let reply = server.get(path).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.text(), "not found, try /metrics, /livez or /readyz\n");
    }
    assert_eq!(server.request("CONNECT", "a:1", &[]).await.status, 404);
    assert_eq!(server.get("/metrics?x=1&name[]=y").await.status, 200);
    assert_eq!(server.get("http://podinit/metrics").await.status, 200);
}

#[tokio::test]
async fn metrics_are_at_the_path_that_was_chosen_and_nowhere_else() {
    let path = "/podinit/metrics".parse().unwrap();
    let server = start_at(path, Source::default(), ServerLimits::default());
    assert_eq!(server.get("/podinit/metrics").await.body, body_of(ExpositionFormat::Text, 1000));
    assert_eq!(server.request("POST", "/podinit/metrics", &[]).await.status, 405);
    let reply = server.get("/metrics").await;
    assert_eq!(reply.status, 404);
    assert_eq!(reply.text(), "not found, try /podinit/metrics, /livez or /readyz\n");
    assert_eq!(server.get("/").await.status, 200);
}

#[tokio::test]
async fn readiness_follows_the_first_list() {
    let server = start(Source::default(), ServerLimits::default());
    let reply = server.get("/readyz").await;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.text(), "starting: no watch has begun\n");
    let source = server.health.register_source("pods");
    let reply = server.get("/readyz").await;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.text(), "waiting for the first list of pods\n");
    source.listed();
    let reply = server.get("/readyz").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.text(), "ok\n");
}

#[tokio::test]
async fn liveness_names_the_task_that_ended() {
    let server = start(Source::default(), ServerLimits::default());
    assert_eq!(server.get("/livez").await.status, 200);
    let task = server.health.register_task("ingest", Duration::from_secs(60));
    assert_eq!(server.get("/livez").await.status, 200);
    drop(task);
    let reply = server.get("/livez").await;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.text(), "task ingest has ended\n");
}

#[tokio::test]
async fn an_exposition_that_cannot_be_encoded_is_a_server_error_in_one_line() {
    let source = Source { failure: Some("no such family".to_owned()), ..Source::default() };
    let server = start(source, ServerLimits::default());
    let reply = server.get("/metrics").await;
    assert_eq!(reply.status, 500);
    assert_eq!(reply.text(), "cannot encode the metrics: no such family\n");
    assert_eq!(server.get("/livez").await.status, 200);
}
