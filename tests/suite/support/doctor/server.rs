//! An API server that answers with what a test sets, as far as `doctor` asks.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, DATE};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::settings::Settings;
use crate::support::PATIENCE;

/// A running server; it ends when it is dropped.
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
    arrivals: Receiver<()>,
    _runtime: Runtime,
}

#[derive(Clone)]
struct Shared {
    settings: Settings,
    requests: Arc<Mutex<Vec<String>>>,
    arrivals: Sender<()>,
}

impl Server {
    pub fn start(settings: Settings) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (sender, arrivals) = channel();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let router = Router::new().fallback(answer).with_state(Shared {
            settings,
            requests: Arc::clone(&requests),
            arrivals: sender,
        });
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { url, requests, arrivals, _runtime: runtime }
    }

    /// Method and path of every request, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits for a request.
    pub fn wait_for_request(&self) {
        self.arrivals.recv_timeout(PATIENCE).unwrap();
    }
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let line = format!("{} {path}", request.method());
    shared.requests.lock().unwrap().push(line);
    let _ = shared.arrivals.send(());
    let settings = &shared.settings;
    if settings.silent {
        std::future::pending::<()>().await;
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let query: HashMap<&str, &str> = query.split('&').filter_map(|p| p.split_once('=')).collect();
    let is_review = request.method() == Method::POST;
    let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut response = match path.as_str() {
        "/version" => match &settings.version {
            Ok(version) => ok(&json!({"gitVersion": version})),
            Err((code, body)) => raw(*code, body.clone()),
        },
        _ if path.ends_with("/selfsubjectreviews") && is_review => match &settings.user {
            Some(user) => ok(&json!({"status": {"userInfo": {"username": user}}})),
            None => status(404, "the server could not find the requested resource"),
        },
        _ if path.ends_with("/selfsubjectaccessreviews") && is_review => {
            if settings.reviews {
                ok(&json!({"status": reviewed(settings, &review)}))
            } else {
                status(403, "selfsubjectaccessreviews is forbidden")
            }
        }
        "/api/v1/nodes" => match &settings.nodes {
            Some(nodes) => ok(&node_list(nodes)),
            None => status(403, "nodes is forbidden"),
        },
        _ => match namespace(&path) {
            Some(namespace) => pods(settings, namespace, &query),
            None => status(404, "the server could not find the requested resource"),
        },
    };
    let seconds = Duration::from_secs(settings.ahead.unsigned_abs());
    let date = match settings.ahead {
        0.. => SystemTime::now() + seconds,
        _ => SystemTime::now() - seconds,
    };
    let date = jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&jiff::Timestamp::try_from(date).unwrap())
        .unwrap();
    response.headers_mut().insert(DATE, date.parse().unwrap());
    response
}

/// The namespace whose pods a path is about; all of them are the empty one.
fn namespace(path: &str) -> Option<&str> {
    if path == "/api/v1/pods" {
        return Some("");
    }
    let rest = path.strip_prefix("/api/v1/namespaces/")?;
    rest.strip_suffix("/pods")
}

fn granted(settings: &Settings, verb: &str, namespace: &str) -> bool {
    let fits = |(granted, place): &(&str, &str)| {
        *granted == verb && (*place == "*" || *place == namespace)
    };
    settings.admin || settings.granted.iter().any(fits)
}

fn reviewed(settings: &Settings, review: &Value) -> Value {
    let asked = &review["spec"]["resourceAttributes"];
    let [verb, namespace, resource] =
        ["verb", "namespace", "resource"].map(|key| asked[key].as_str().unwrap());
    let allowed = match resource {
        "pods" => granted(settings, verb, namespace),
        // The place of these is their own name, since "*" stands for pods.
        "tokenreviews" | "events" => settings.admin || settings.granted.contains(&(verb, resource)),
        _ => settings.admin,
    };
    json!({"allowed": allowed, "reason": if allowed { "granted" } else { "" }})
}

fn pods(settings: &Settings, namespace: &str, query: &HashMap<&str, &str>) -> Response {
    let watching = query.contains_key("watch");
    let verb = if watching { "watch" } else { "list" };
    if !granted(settings, verb, namespace) {
        return status(403, &format!("pods is forbidden: cannot {verb} resource"));
    }
    if watching {
        return Body::from_stream(futures::stream::pending::<Result<String, std::io::Error>>())
            .into_response();
    }
    if query.get("labelSelector").is_some_and(|text| text.ends_with("+in")) {
        return status(400, "unable to parse requirement");
    }
    // Two pods a page, whatever is asked for.
    let from: usize = query.get("continue").map_or(0, |token| token.parse().unwrap());
    if settings.fails_at_page.is_some_and(|page| from / 2 >= page) {
        return status(500, "etcdserver: request timed out");
    }
    let selected = |pod: &&Value| {
        let own = pod["metadata"]["namespace"].as_str();
        (namespace.is_empty() || own == Some(namespace)) && !query.contains_key("labelSelector")
    };
    let all: Vec<&Value> = settings.pods.iter().filter(selected).collect();
    let page: Vec<&&Value> = all.iter().skip(from).take(2).collect();
    let next = from + page.len();
    let token = if next < all.len() { next.to_string() } else { String::new() };
    ok(&json!({
        "kind": "PodList", "items": page,
        "metadata": {"resourceVersion": "42", "continue": token},
    }))
}

fn node_list(nodes: &[(String, String)]) -> Value {
    let nodes = nodes.iter().map(|(name, version)| {
        json!({"metadata": {"name": name}, "status": {"nodeInfo": {"kubeletVersion": version}}})
    });
    json!({"kind": "NodeList", "metadata": {}, "items": nodes.collect::<Vec<_>>()})
}

fn ok(body: &Value) -> Response {
    raw(200, body.to_string())
}

fn status(code: u16, message: &str) -> Response {
    let body = json!({"kind": "Status", "code": code, "message": message});
    raw(code, body.to_string())
}

fn raw(code: u16, body: String) -> Response {
    let code = StatusCode::from_u16(code).unwrap();
    (code, [(CONTENT_TYPE, "application/json")], body).into_response()
}
