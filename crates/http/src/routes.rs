//! The paths and their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state, map_response, map_response_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;

use super::access::{self, AccessControl, plain_text};
use super::activity::{ConnectionActivity, ScrapingGuard};
use super::health::ProcessHealth;
use super::host::AllowedHosts;
use super::limits::ServerLimits;
use super::metrics_path::MetricsPath;
use super::negotiation::{ContentCoding, negotiate};
use super::scrape::ScrapeTarget;
use super::scrape_permits::{ScrapePermit, ScrapePermits};
use super::shared_encoding::SharedEncodings;

/// Serves as many scrapes at a time as there are permits. The probes are open to everybody; all other paths,
/// even unknown ones, have to be asked for under one of the names in `hosts`, and need a grant of `access`.
pub(super) fn router(
    (path, source): (MetricsPath, Arc<dyn ScrapeTarget>),
    health: ProcessHealth,
    (page, others): (Option<Router>, Router),
    (access, hosts): (&Arc<dyn AccessControl>, AllowedHosts),
    limits: &ServerLimits,
) -> Router {
    let app = RouterState {
        encodings: SharedEncodings::new(Arc::clone(&source)),
        source,
        health,
        failing: AtomicBool::new(false),
    };
    let app = Arc::new(app);
    let probes = Router::new()
        .route("/livez", get(livez))
        .route("/healthz", get(livez))
        .route("/readyz", get(readyz))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Arc::clone(&app));
    // Readers of other routes keep no scraper out.
    let [scrapes, requests] = ["scrapes", "requests"].map(|what| {
        let permits = Arc::new(ScrapePermits::new(limits));
        from_fn_with_state((permits, what), hold_permit)
    });
    let page = page.map(|page| page.layer(requests.clone()));
    let root = page.unwrap_or_default();
    let metrics = get(metrics).layer(scrapes);
    let metrics = Router::new().route(path.as_str(), metrics).with_state(app);
    let not_found = async move || not_found(&path);
    root.merge(metrics)
        .method_not_allowed_fallback(method_not_allowed)
        .merge(others.layer(requests))
        .fallback(not_found)
        .layer(from_fn_with_state(Arc::clone(access), access::guard))
        .layer(from_fn_with_state((hosts, Arc::clone(access)), access::guard_host))
        .merge(probes)
        .layer(map_response(harden))
        .layer(map_response_with_state(Arc::clone(access), access::headers))
}

struct RouterState {
    source: Arc<dyn ScrapeTarget>,
    encodings: SharedEncodings,
    health: ProcessHealth,
    /// Whether the last encoding failed, so that only changes are logged
    failing: AtomicBool,
}

async fn metrics(State(app): State<Arc<RouterState>>, accepted: HeaderMap) -> Response {
    let negotiated = negotiate(&accepted);
    let coding = ContentCoding::negotiate(&accepted);
    app.source.settled().await;
    match app.encodings.encode(negotiated.format, coding).await {
        Ok(bytes) => {
            if app.failing.swap(false, Ordering::Relaxed) {
                tracing::info!("scrapes succeed again");
            }
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, negotiated.content_type());
            headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
            if coding == ContentCoding::Gzip {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            (headers, Body::from(bytes)).into_response()
        }
        Err(error) => {
            if !app.failing.swap(true, Ordering::Relaxed) {
                tracing::error!(%error, "scrapes fail");
            }
            plain_text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
        }
    }
}

/// Counts a request. It is part of the body, which hyper drops when the kernel has taken its last byte:
/// a client that does not read still counts, so the limit bounds the bodies in memory.
struct HeldRequest {
    _permit: ScrapePermit,
    _scraping: ScrapingGuard,
}

impl HeldRequest {
    fn take(permits: &Arc<ScrapePermits>, activity: &Arc<ConnectionActivity>) -> Option<Self> {
        Some(Self {
            _permit: permits.take(activity, Instant::now())?,
            _scraping: ConnectionActivity::scrape(activity),
        })
    }
}

/// Answers a request if there is a permit for it, among those of its kind.
async fn hold_permit(
    State((permits, what)): State<(Arc<ScrapePermits>, &'static str)>,
    request: Request,
    next: Next,
) -> Response {
    let activity = request.extensions().get::<Arc<ConnectionActivity>>();
    let Some(held) = activity.and_then(|activity| HeldRequest::take(&permits, activity)) else {
        return too_many(what);
    };
    let (parts, body) = next.run(request).await.into_parts();
    // These routes have their bodies in memory.
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return plain_text(StatusCode::INTERNAL_SERVER_ERROR, "the answer has no end");
    };
    let bytes = HeldBytes { bytes, _held: held };
    Response::from_parts(parts, Body::from(Bytes::from_owner(bytes)))
}

struct HeldBytes {
    bytes: Bytes,
    _held: HeldRequest,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn too_many(what: &str) -> Response {
    let why = format!("too many {what} at a time, try again");
    let mut response = plain_text(StatusCode::SERVICE_UNAVAILABLE, &why);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    // The client gains nothing from an open connection, and others need the room.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn livez(State(app): State<Arc<RouterState>>) -> Response {
    probe(&app.health.liveness(), None)
}

async fn readyz(State(app): State<Arc<RouterState>>) -> Response {
    probe(&app.health.readiness(), app.health.missing())
}

/// The answer to a probe, with what there is to say although all is well.
fn probe(state: &Result<(), String>, note: Option<String>) -> Response {
    match state {
        Ok(()) => plain_text(StatusCode::OK, note.as_deref().unwrap_or("ok")),
        Err(reason) => plain_text(StatusCode::SERVICE_UNAVAILABLE, reason),
    }
}

async fn method_not_allowed() -> Response {
    let mut response =
        plain_text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed, use GET or HEAD");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn not_found(metrics: &MetricsPath) -> Response {
    let why = format!("not found, try {metrics}, /livez or /readyz");
    plain_text(StatusCode::NOT_FOUND, &why)
}

/// Headers of every response: no other content type may be guessed, and nothing may be cached unless the
/// response says so.
async fn harden(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(CACHE_CONTROL).or_insert(no_store);
    response
}
