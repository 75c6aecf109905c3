//! Reads a body piece by piece, with a deadline for each.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::timeout;

use super::api_error::{ApiError, ApiErrorKind};

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
