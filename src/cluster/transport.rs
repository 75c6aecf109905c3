//! Requests with deadlines, over the kube client. The client itself has none for reading, since
//! one that suits a list would cut a watch.

use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use super::api_error::Failure;
use crate::watch::stats::WatchErrorReason;

/// The most that is read of the body of an error.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// Sends a request and waits for the answer to begin, until `deadline` has passed. Any status but
/// a success is a failure, told in the API server's own words.
pub(crate) async fn send(
    client: &Client,
    request: Request<Body>,
    deadline: Duration,
) -> Result<Response<Body>, Failure> {
    let answer = timeout(deadline, client.send(request)).await;
    let response = answer
        .map_err(|_| timed_out("no answer", deadline))?
        .map_err(|error| Failure::from_client(&error))?;
    if response.status().is_success() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    // What cannot be read of an explanation is not missed: the status says enough.
    let mut told = Vec::new();
    let reading = read_into(&mut told, body, deadline, ERROR_BODY_LIMIT);
    let _ = timeout(deadline, reading).await;
    Err(Failure::from_response(parts.status, &parts.headers, &told))
}

/// Reads a body to its end, into a buffer that is emptied first. Fails when no piece arrives for
/// `chunk_deadline`, or with [`WatchErrorReason::PageTooLarge`] when it is longer than `limit`.
pub(crate) async fn read_into(
    buffer: &mut Vec<u8>,
    mut body: Body,
    chunk_deadline: Duration,
    limit: usize,
) -> Result<(), Failure> {
    buffer.clear();
    loop {
        let frame = timeout(chunk_deadline, body.frame())
            .await
            .map_err(|_| timed_out("the answer stopped half-way", chunk_deadline))?;
        let Some(frame) = frame else { return Ok(()) };
        let frame = frame.map_err(|error| Failure::from_client(&error))?;
        if let Ok(data) = frame.into_data() {
            if buffer.len() + data.len() > limit {
                return Err(Failure::new(
                    WatchErrorReason::PageTooLarge,
                    format!("the answer is longer than {limit} bytes"),
                ));
            }
            buffer.extend_from_slice(&data);
        }
    }
}

/// The failure of something that did not happen in time.
pub(crate) fn timed_out(what: &str, deadline: Duration) -> Failure {
    let detail = format!("{what} for {} s", deadline.as_secs_f64());
    Failure::new(WatchErrorReason::Timeout, detail)
}
