//! The path of the API that says what is broken.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::header::HeaderMap;

use super::FindingSnapshots;
use crate::api::document;
use crate::freshness::FreshnessSource;

struct ProblemSources {
    problems: FindingSnapshots,
    freshness: Arc<FreshnessSource>,
}

/// `GET /api/v1/problems`. The caller decides who may ask.
pub fn router(problems: FindingSnapshots, freshness: Arc<FreshnessSource>) -> Router {
    Router::new()
        .route("/api/v1/problems", get(newest))
        .with_state(Arc::new(ProblemSources { problems, freshness }))
}

/// The newest finding, at once.
async fn newest(State(sources): State<Arc<ProblemSources>>, headers: HeaderMap) -> Response {
    let freshness = sources.freshness.now();
    let lasting = freshness.lasting();
    let found = sources.problems.told(freshness);
    document(
        &headers,
        &found,
        &(
            (found.fresh, lasting, &found.late_deliveries),
            (&found.problems, found.not_compared),
            &found.ended,
            (&found.clocks, &found.unmatched_slos, &found.lost_budgets),
        ),
    )
}
