//! JSON responses: documents with a tag by which a client finds out that nothing has changed, and
//! failures.

use std::borrow::Cow;
use std::io::BufWriter;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, RETRY_AFTER,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::model::ApiFailure;
use podinit_text::strangers_text::escaped_json;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
/// A client may keep what it got for itself, and has to ask whether it still holds.
const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// A document, or status 304 if the client has it. `content` is what the tag stands for: the document
/// without the time at which it was made.
pub(crate) fn document(
    headers: &HeaderMap,
    document: &impl Serialize,
    content: &impl Serialize,
) -> Response {
    let (Ok(body), Ok(tag)) = (serde_json::to_string(document), tag_of(content)) else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "the answer cannot be written");
    };
    let mut response = match has(headers, &tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => {
            let escaped = match escaped_json(&body) {
                Cow::Owned(escaped) => Some(escaped),
                Cow::Borrowed(_) => None,
            };
            ([(CONTENT_TYPE, JSON)], escaped.unwrap_or(body)).into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, REVALIDATE);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// What is answered instead of a document.
pub(crate) fn failure(status: StatusCode, error: &str) -> Response {
    let failure = ApiFailure { error: error.to_owned() };
    let body = serde_json::to_vec(&failure).unwrap_or_default();
    let mut response = (status, [(CONTENT_TYPE, JSON)], body).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let second = HeaderValue::from_static("1");
        response.headers_mut().insert(RETRY_AFTER, second);
    }
    response
}

/// A weak tag, because the time in the document is not part of it. What it stands for is nowhere written out.
fn tag_of(content: &impl Serialize) -> serde_json::Result<String> {
    let mut hash = Sha256::new();
    serde_json::to_writer(BufWriter::new(&mut hash), content)?;
    let hash = hash.finalize();
    let hex = hash.iter().take(16).map(|byte| format!("{byte:02x}"));
    Ok(format!("W/\"{}\"", hex.collect::<String>()))
}

/// Whether the client has the document with this tag.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    let strong =
        |tag: &str| tag.strip_prefix("W/").map(ToOwned::to_owned).unwrap_or_else(|| tag.to_owned());
    let lines = headers.get_all(IF_NONE_MATCH).iter();
    let mut tags = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    tags.any(|other| other.trim() == "*" || strong(other.trim()) == strong(tag))
}
