//! What is said where there is nothing else to say.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// One line of plain text. Nothing of the request is ever in it.
pub(super) fn line(status: StatusCode, text: &str) -> Response {
    (status, [(CONTENT_TYPE, TEXT)], format!("{text}\n")).into_response()
}
