//! The path of the API that says what is broken.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;
use http::header::HeaderMap;

use super::Finder;
use crate::inspect::api::{document, failure};

/// `GET /api/v1/problems`. The caller decides who may ask.
pub fn router(finder: Arc<Finder>) -> Router {
    Router::new()
        .route("/api/v1/problems", get(problems))
        .with_state(finder)
}

async fn problems(State(finder): State<Arc<Finder>>, headers: HeaderMap) -> Response {
    match finder.problems().await {
        Ok(found) => document(
            &headers,
            &*found,
            &(found.fresh, &found.problems, &found.ended),
        ),
        Err(unanswered) => failure(StatusCode::SERVICE_UNAVAILABLE, &unanswered.to_string()),
    }
}
