//! The path of the API that tells of rollouts.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::header::HeaderMap;
use http::{StatusCode, Uri};

use crate::api::parameters::QueryParameters;
use crate::api::{document, failure};
use crate::freshness::FreshnessSource;
use crate::problems::FindingSnapshots;

struct RolloutSources {
    found: FindingSnapshots,
    freshness: Arc<FreshnessSource>,
}

/// `GET /api/v1/rollouts`. The caller decides who may ask.
pub fn router(found: FindingSnapshots, freshness: Arc<FreshnessSource>) -> Router {
    Router::new()
        .route("/api/v1/rollouts", get(newest))
        .with_state(Arc::new(RolloutSources { found, freshness }))
}

/// The newest finding, at once.
async fn newest(
    State(sources): State<Arc<RolloutSources>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let asked = match QueryParameters::read(&uri, &["namespace", "workload", "limit"]) {
        Ok(parameters) => parameters.rollouts(),
        Err(fault) => return failure(StatusCode::BAD_REQUEST, &fault),
    };
    let freshness = sources.freshness.now();
    let lasting = freshness.lasting();
    let found = sources.found.rollouts(&asked.0, asked.1, freshness);
    document(
        &headers,
        &found,
        &(found.fresh, lasting, &found.rollouts, found.more, &found.none_because),
    )
}
