//! The paths of the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{StatusCode, Uri};

use super::SCHEMA;
use super::model::{ApiStartup, Page};
use super::parameters::QueryParameters;
use super::response::{document, failure};
use crate::freshness::{Freshness, FreshnessSource};
use crate::records::{QueryAnswer, RecordQuery, RecordsClient, UnansweredQuery};

const IN_FLIGHT: &[&str] =
    &["namespace", "workload", "node", "stage", "cause", "limit", "continue"];
const ENDED: &[&str] =
    &["sort", "namespace", "workload", "node", "cause", "outcome", "limit", "continue"];

struct ApiState {
    records: RecordsClient,
    /// The keys of the chosen pod labels
    label_keys: Vec<String>,
    freshness: Arc<FreshnessSource>,
}

/// The API over the records that `records` answers for. `label_keys` are the keys of the chosen pod
/// labels. The caller decides who may ask.
pub fn router(
    records: RecordsClient,
    label_keys: Vec<String>,
    freshness: Arc<FreshnessSource>,
) -> Router {
    let api = ApiState { records, label_keys, freshness };
    let v1 = Router::new()
        .route("/stuck", get(stuck))
        .route("/inflight", get(in_flight))
        .route("/startups", get(startups))
        .route("/pods/{namespace}/{name}", get(pod))
        .route("/schema.json", get(schema))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .with_state(Arc::new(api));
    Router::new().nest("/api/v1", v1)
}

async fn stuck(State(api): State<Arc<ApiState>>, uri: Uri, headers: HeaderMap) -> Response {
    let query = QueryParameters::read(&uri, IN_FLIGHT).and_then(|read| read.in_flight(true));
    api.page(query, &headers).await
}

async fn in_flight(State(api): State<Arc<ApiState>>, uri: Uri, headers: HeaderMap) -> Response {
    let query = QueryParameters::read(&uri, IN_FLIGHT).and_then(|read| read.in_flight(false));
    api.page(query, &headers).await
}

async fn startups(State(api): State<Arc<ApiState>>, uri: Uri, headers: HeaderMap) -> Response {
    let query = QueryParameters::read(&uri, ENDED).and_then(QueryParameters::ended);
    api.page(query, &headers).await
}

async fn pod(
    State(api): State<Arc<ApiState>>,
    path: Result<Path<(String, String)>, axum::extract::rejection::PathRejection>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let Ok(Path((namespace, name))) = path else {
        return failure(StatusCode::BAD_REQUEST, "the path cannot be read");
    };
    if let Err(fault) = QueryParameters::read(&uri, &[]) {
        return failure(StatusCode::BAD_REQUEST, &fault);
    }
    match api.records.ask(RecordQuery::Pod { namespace, name }).await {
        Ok(QueryAnswer { records, .. }) => match records.first() {
            Some(record) => {
                let startup = ApiStartup::from_record(record, &api.label_keys);
                document(&headers, &startup, &startup)
            }
            None => failure(
                StatusCode::NOT_FOUND,
                "no such pod is in flight, and no record of it is kept",
            ),
        },
        Err(unanswered) => api.refused(unanswered),
    }
}

async fn schema() -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/schema+json");
    const HOUR: HeaderValue = HeaderValue::from_static("private, max-age=3600");
    ([(CONTENT_TYPE, JSON), (CACHE_CONTROL, HOUR)], SCHEMA).into_response()
}

async fn not_found() -> Response {
    let paths = "try /api/v1/problems, /api/v1/rollouts, /api/v1/stuck, /api/v1/inflight, /api/v1/startups, \
                 /api/v1/pods/NAMESPACE/NAME or /api/v1/schema.json";
    failure(StatusCode::NOT_FOUND, &format!("not found, {paths}"))
}

async fn method_not_allowed() -> Response {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let mut response = failure(status, "method not allowed, use GET or HEAD");
    let methods = HeaderValue::from_static("GET, HEAD");
    response.headers_mut().insert(ALLOW, methods);
    response
}

impl ApiState {
    async fn page(&self, query: Result<RecordQuery, String>, headers: &HeaderMap) -> Response {
        let query = match query {
            Ok(query) => query,
            Err(fault) => return failure(StatusCode::BAD_REQUEST, &fault),
        };
        let answer = match self.records.ask(query).await {
            Ok(answer) => answer,
            // Nothing is known yet, and the answer says what is waited for.
            Err(UnansweredQuery::NotBegun) => QueryAnswer::default(),
            Err(unanswered) => return self.refused(unanswered),
        };
        let page = Page::from_answer(&answer, &self.label_keys, self.freshness.now());
        let lasting = page.freshness.as_ref().map(Freshness::lasting);
        document(headers, &page, &(&page.items, &page.next, lasting))
    }

    /// Says what podinit waits for, where that is why.
    fn refused(&self, unanswered: UnansweredQuery) -> Response {
        let freshness = self.freshness.now();
        let waits_for = freshness.waits_for.filter(|_| unanswered == UnansweredQuery::NotBegun);
        let why = waits_for.map_or_else(
            || unanswered.to_string(),
            |what| format!("{unanswered}: it waits for {what}"),
        );
        failure(StatusCode::SERVICE_UNAVAILABLE, &why)
    }
}
