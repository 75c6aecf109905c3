//! From a kubeconfig to events, over a real socket.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::support::PATIENCE;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::stream::{self, StreamExt};
use podinit_connect::connect;
use podinit_connect::options::ClusterOptions;
use podinit_core::lifecycle::PodEvent;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::clock::SystemClock;
use podinit_kube::watch::probe::{ProbeError, ProbeResult, probe};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::WatchStats;
use podinit_kube::watch::{WatchConfig, spawn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const EMPTY_LIST: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[]}"#;
const ADDED: &str = concat!(
    r#"{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"ns","#,
    r#""uid":"u","resourceVersion":"6"}}}"#,
    "\n"
);

/// Serves `app` on a free port of this machine, and a kubeconfig that leads to it.
async fn cluster(app: Router) -> (tempfile::TempDir, ClusterClient) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    configured(port).await
}

async fn configured(port: u16) -> (tempfile::TempDir, ClusterClient) {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("config");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{port}/prefix\"}}}}]\n\
         users: [{{name: u, user: {{token: secret-token}}}}]\n\
         contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    let options = ClusterOptions { kubeconfig: Some(path), context: None };
    (directory, connect(&options).await.unwrap())
}

async fn probed(cluster: &ClusterClient, scope: &PodScope) -> Result<ProbeResult, ProbeError> {
    probe(cluster, scope, &PodSelectors::default(), 1, PATIENCE).await
}

#[tokio::test]
async fn a_kubeconfig_leads_to_events() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let handler = |State(seen): State<Arc<Mutex<Vec<HeaderMap>>>>,
                   RawQuery(query): RawQuery,
                   headers: HeaderMap| async move {
        seen.lock().unwrap().push(headers);
        if query.unwrap_or_default().contains("watch=true") {
            let events =
                stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(ADDED.as_bytes()))]);
            Body::from_stream(events.chain(stream::pending())).into_response()
        } else {
            EMPTY_LIST.into_response()
        }
    };
    let app =
        Router::new().route("/prefix/api/v1/pods", get(handler)).with_state(Arc::clone(&seen));
    let (_keep, cluster) = cluster(app).await;
    probed(&cluster, &PodScope::Cluster).await.unwrap();

    let config = WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() };
    let stats = Arc::new(WatchStats::new(1));
    let (sender, mut deliveries) = mpsc::channel(4);
    let cancel = CancellationToken::new();
    let clock = Arc::new(SystemClock);
    let mut tasks = spawn(&cluster.client, &config, clock, &stats, &sender, &cancel);
    let listed = deliveries.recv().await.unwrap();
    assert!(matches!(&listed.event, PodEvent::Listed { pods, .. } if pods.is_empty()));
    let added = deliveries.recv().await.unwrap();
    assert!(matches!(&added.event, PodEvent::Applied(pod) if &*pod.info.name == "a"));
    assert!(added.observed >= Some(listed.now));
    assert!(stats.synced() && stats.last_contact().is_some());
    cancel.cancel();
    assert!(tasks.join_next().await.unwrap().is_ok());

    for headers in seen.lock().unwrap().iter() {
        let agent = format!("podinit/{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(headers["user-agent"], *agent);
        assert_eq!(headers["authorization"], "Bearer secret-token");
    }
}

#[tokio::test]
async fn each_reason_not_to_start_is_one_line() {
    let status = |code: u16, message: &str| -> Response {
        let code = StatusCode::from_u16(code).unwrap();
        (code, format!(r#"{{"kind":"Status","message":"{message}"}}"#)).into_response()
    };
    let answers = [
        ("401", status(401, "Unauthorized")),
        ("403", status(403, "pods is forbidden")),
        ("400", status(400, "unable to parse selector")),
        ("503", status(503, "starting")),
        ("html", "<html>welcome</html>".into_response()),
    ];
    let mut app = Router::new();
    for (name, answer) in answers {
        let answer = Arc::new(Mutex::new(Some(answer)));
        let path = format!("/prefix/api/v1/namespaces/{name}/pods");
        app = app.route(&path, get(|| async move { answer.lock().unwrap().take().unwrap() }));
    }
    let (_keep, cluster) = cluster(app).await;
    for (name, expected) in [
        ("401", "does not accept the credentials of kubeconfig"),
        ("403", "not allowed to list pods of namespace 403"),
        ("400", "check --label-selector and --field-selector"),
        ("503", "is not ready: HTTP 503: starting"),
        ("html", "does not answer like a Kubernetes API server"),
        ("absent", "does not answer like a Kubernetes API server"),
    ] {
        let scope = PodScope::Namespace(name.into());
        let error = probed(&cluster, &scope).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected) && !text.contains('\n'), "{name}: {text}");
        assert_eq!(matches!(error, ProbeError::Busy { .. }), name == "503");
    }
}

/// Serves connections one after the other: each answers as many requests as it is worth, and then ends when the
/// next one has arrived. How many requests there were.
async fn closing(listener: TcpListener, worth: Vec<usize>, seen: Arc<Mutex<usize>>) {
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{EMPTY_LIST}",
        EMPTY_LIST.len()
    );
    for worth in worth {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        let mut answered = 0;
        while stream.read_buf(&mut head).await.unwrap() > 0 {
            if !head.ends_with(b"\r\n\r\n") {
                continue;
            }
            *seen.lock().unwrap() += 1;
            head.clear();
            if answered == worth {
                break;
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            answered += 1;
        }
    }
}

#[tokio::test]
async fn a_request_to_which_a_connection_ends_without_a_word_is_sent_once_more() {
    for (worth, works) in [(vec![1, 1], true), (vec![1, 0, 0], false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(0));
        tokio::spawn(closing(listener, worth, Arc::clone(&seen)));
        let (_keep, cluster) = configured(port).await;
        probed(&cluster, &PodScope::Cluster).await.unwrap();
        let second = probed(&cluster, &PodScope::Cluster).await;
        assert_eq!(second.is_ok(), works, "{second:?}");
        assert_eq!(*seen.lock().unwrap(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_never_answers_is_given_up() {
    let silent = Router::new().fallback(std::future::pending::<()>);
    let (_keep, cluster) = cluster(silent).await;
    let error = probed(&cluster, &PodScope::Cluster).await.unwrap_err();
    assert!(matches!(error, ProbeError::Unreachable { .. }), "{error}");
}
