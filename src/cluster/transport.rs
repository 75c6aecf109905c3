//! Sends requests with deadlines. The kube client has no deadline for reading, because one that
//! suits a list would cut a watch.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderValue, USER_AGENT};
use http::{Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use super::api_error::{ApiError, ApiErrorKind};

/// The User-Agent of podinit's requests.
pub(crate) const AGENT: &str = concat!("podinit/", env!("CARGO_PKG_VERSION"));

/// How many bytes are read of the body of an error.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// Adds podinit's headers to a GET request that kube has built.
pub(crate) fn get_json<B>(request: Request<B>) -> Request<Body> {
    let mut request = request.map(|_| Body::empty());
    let headers = request.headers_mut();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request
}

/// Sends a request and waits for the answer to begin, until `deadline` has passed. Any status but
/// a success is an error with the API server's message.
pub(crate) async fn send(
    client: &Client,
    request: Request<Body>,
    deadline: Duration,
) -> Result<Response<Body>, ApiError> {
    let answer = timeout(deadline, client.send(request)).await;
    let response = answer
        .map_err(|_| timed_out("no answer", deadline))?
        .map_err(|error| ApiError::from_client(&error))?;
    if response.status().is_success() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    // The body only explains the status, so that an error while it is read does not matter.
    let mut explanation = Vec::new();
    let reading = read_into(&mut explanation, body, deadline, ERROR_BODY_LIMIT);
    let _ = timeout(deadline, reading).await;
    Err(ApiError::from_response(
        parts.status,
        &parts.headers,
        &explanation,
    ))
}

/// Reads a body to its end, into a buffer that is cleared first. Fails when no data arrives for
/// `chunk_deadline`, or with [`ApiErrorKind::AnswerTooLong`] when it is longer than `limit`.
pub(crate) async fn read_into(
    buffer: &mut Vec<u8>,
    body: Body,
    chunk_deadline: Duration,
    limit: usize,
) -> Result<(), ApiError> {
    buffer.clear();
    let take = |chunk: &[u8]| {
        buffer.extend_from_slice(chunk);
        Ok(())
    };
    read_chunks(body, chunk_deadline, limit, take).await
}

/// Reads a body to its end, and gives its pieces to `take` as they arrive. Fails as `take` does, when no data
/// arrives for `chunk_deadline`, or with [`ApiErrorKind::AnswerTooLong`] when the body is longer than
/// `limit`.
pub(crate) async fn read_chunks(
    mut body: Body,
    chunk_deadline: Duration,
    limit: usize,
    mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let stopped = "the answer stopped half-way";
    let mut read = 0;
    while let Some(chunk) = next_chunk(&mut body, chunk_deadline, stopped).await? {
        read += chunk.len();
        if read > limit {
            return Err(ApiError::new(
                ApiErrorKind::AnswerTooLong,
                format!("the answer is longer than {limit} bytes"),
            ));
        }
        take(&chunk)?;
    }
    Ok(())
}

/// The next piece of a body, or `None` at its end. Fails with `silence` as the reason when nothing
/// arrives for `deadline`.
pub(crate) async fn next_chunk(
    body: &mut Body,
    deadline: Duration,
    silence: &str,
) -> Result<Option<Bytes>, ApiError> {
    loop {
        let frame = timeout(deadline, body.frame())
            .await
            .map_err(|_| timed_out(silence, deadline))?;
        let Some(frame) = frame else { return Ok(None) };
        let frame = frame.map_err(|error| ApiError::from_client(&error))?;
        // A frame of trailers carries no data.
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// The error of something that did not happen in time.
pub(crate) fn timed_out(what: &str, deadline: Duration) -> ApiError {
    let detail = format!("{what} for {} s", deadline.as_secs_f64());
    ApiError::new(ApiErrorKind::Timeout, detail)
}
