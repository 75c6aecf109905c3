//! Sends requests with deadlines. The kube client has no deadline for reading, because one that
//! suits a list would cut a watch.

use std::time::Duration;

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
    mut body: Body,
    chunk_deadline: Duration,
    limit: usize,
) -> Result<(), ApiError> {
    buffer.clear();
    loop {
        let frame = timeout(chunk_deadline, body.frame())
            .await
            .map_err(|_| timed_out("the answer stopped half-way", chunk_deadline))?;
        let Some(frame) = frame else { return Ok(()) };
        let frame = frame.map_err(|error| ApiError::from_client(&error))?;
        if let Ok(data) = frame.into_data() {
            if buffer.len() + data.len() > limit {
                return Err(ApiError::new(
                    ApiErrorKind::AnswerTooLong,
                    format!("the answer is longer than {limit} bytes"),
                ));
            }
            buffer.extend_from_slice(&data);
        }
    }
}

/// The error of something that did not happen in time.
pub(crate) fn timed_out(what: &str, deadline: Duration) -> ApiError {
    let detail = format!("{what} for {} s", deadline.as_secs_f64());
    ApiError::new(ApiErrorKind::Timeout, detail)
}
