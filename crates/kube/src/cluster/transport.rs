//! Sends requests with deadlines. The kube client has no deadline for reading, because one that
//! suits a list would cut a watch.

use std::error::Error;
use std::io;
use std::time::Duration;

use http::header::{ACCEPT, HeaderValue, USER_AGENT};
use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use super::answer_body::AnswerBody;
pub(crate) use super::answer_body::next_chunk;
pub use super::answer_body::timed_out;
use super::api_error::{ApiError, ApiErrorKind, is_gzip};

/// The User-Agent of podinit's requests.
pub const AGENT: &str = concat!("podinit/", env!("CARGO_PKG_VERSION"));

/// How many bytes are read of the body of an error.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// Adds podinit's headers to a GET request that kube has built.
pub fn get_json<B>(request: Request<B>) -> Request<Body> {
    let mut request = request.map(|_| Body::empty());
    let headers = request.headers_mut();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request
}

/// A copy of a GET request, which has no body.
pub(crate) fn copy_of_get(request: &Request<Body>) -> Request<Body> {
    let mut copy = Request::new(Body::empty());
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    copy
}

/// Sends a request. A GET to which a connection ended without a word is sent once more: what stands between may
/// close a connection that has been used just when the next request is on its way, and nothing tells that from a
/// fault (RFC 9110, section 9.2.2).
async fn sent(client: &Client, request: Request<Body>) -> Result<Response<Body>, kube::Error> {
    let again = (request.method() == Method::GET).then(|| copy_of_get(&request));
    match (client.send(request).await, again) {
        (Err(error), Some(again)) if ended_without_a_word(&error) => client.send(again).await,
        (answer, _) => answer,
    }
}

/// Whether the connection was made, and ended before a byte of the answer came.
fn ended_without_a_word(error: &kube::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut of_connection = false;
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            of_connection = true;
            if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
                return true;
            }
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
            return of_connection
                && matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset);
        }
        cause = error.source();
    }
    false
}

/// Sends a request and waits for the answer to begin, until `deadline` has passed. Any status but
/// a success is an error with the API server's message.
pub async fn send(
    client: &Client,
    request: Request<Body>,
    deadline: Duration,
) -> Result<Response<Body>, ApiError> {
    let answer = timeout(deadline, sent(client, request)).await;
    let response = answer
        .map_err(|_| timed_out("no answer", deadline))?
        .map_err(|error| ApiError::from_client(&error))?;
    if response.status().is_success() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    // The body only explains the status, so that an error while it is read does not matter.
    let mut explanation = Vec::new();
    let body = AnswerBody::new(body, is_gzip(&parts.headers));
    let reading = append(&mut explanation, body, deadline, ERROR_BODY_LIMIT);
    let _ = timeout(deadline, reading).await;
    Err(ApiError::from_response(parts.status, &parts.headers, &explanation))
}

/// Reads a body to its end, into a buffer that is cleared first. Fails when no data arrives for
/// `chunk_deadline`, or with [`ApiErrorKind::AnswerTooLong`] when it is longer than `limit`.
pub async fn read_into(
    buffer: &mut Vec<u8>,
    body: Body,
    chunk_deadline: Duration,
    limit: usize,
) -> Result<(), ApiError> {
    buffer.clear();
    append(buffer, AnswerBody::new(body, false), chunk_deadline, limit).await
}

/// Appends a body to `buffer`, and fails as [`read_into`] does.
pub(crate) async fn append(
    buffer: &mut Vec<u8>,
    body: AnswerBody,
    chunk_deadline: Duration,
    limit: usize,
) -> Result<(), ApiError> {
    let take = |chunk: &[u8]| {
        if chunk.len() > limit.saturating_sub(buffer.len()) {
            return Err(too_long(limit));
        }
        buffer.extend_from_slice(chunk);
        Ok(())
    };
    read_chunks(body, chunk_deadline, take).await
}

/// Reads a body to its end, and gives its pieces to `take` as they arrive. Fails as `take` does, or when no data
/// arrives for `chunk_deadline`.
pub(crate) async fn read_chunks(
    mut body: AnswerBody,
    chunk_deadline: Duration,
    mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let stopped = "the answer stopped half-way";
    while body.next(chunk_deadline, stopped, &mut take).await? {}
    Ok(())
}

/// The error of an answer that is longer than `limit` bytes.
pub(crate) fn too_long(limit: usize) -> ApiError {
    let detail = format!("the answer is longer than {limit} bytes");
    ApiError::new(ApiErrorKind::AnswerTooLong, detail)
}
