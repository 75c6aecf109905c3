//! The path of the API that says what is broken.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use http::header::HeaderMap;

use super::{Finder, Problems};
use crate::inspect::api::{document, failure};
use crate::inspect::freshness::FreshnessSource;
use crate::inspect::records::Unanswered;

struct Sources {
    finder: Arc<Finder>,
    freshness: Arc<FreshnessSource>,
}

/// `GET /api/v1/problems`. The caller decides who may ask.
pub fn router(finder: Arc<Finder>, freshness: Arc<FreshnessSource>) -> Router {
    Router::new()
        .route("/api/v1/problems", get(problems))
        .with_state(Arc::new(Sources { finder, freshness }))
}

async fn problems(State(sources): State<Arc<Sources>>, headers: HeaderMap) -> Response {
    let found = sources.finder.problems().await;
    let freshness = sources.freshness.now();
    let lasting = freshness.lasting();
    let found = match found {
        Ok(seen) => seen.problems.told(freshness),
        Err(Unanswered::NotBegun) => Problems::default().told(freshness),
        Err(error) => return failure(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    };
    document(
        &headers,
        &found,
        &(found.fresh, lasting, &found.problems, &found.ended),
    )
}
