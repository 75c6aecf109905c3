//! What can go wrong with a request, told apart by what has to be done about it.

use std::time::Duration;

use http::StatusCode;
use http::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;

use crate::decode::ApiStatus;
use crate::watch::stats::WatchErrorReason;

/// A request or a watch that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is
    pub reason: WatchErrorReason,
    /// What the API server, or the connection, had to say; one line
    pub detail: String,
    /// How long the API server asks to be left alone
    pub retry_after: Option<Duration>,
    /// The API server understood the request and will never accept it as it is (400, 422)
    pub rejected: bool,
}

/// The longest that an API server can make us wait by `Retry-After`.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

/// The most of a foreign message that is repeated in a log line.
const DETAIL_LIMIT: usize = 300;

impl Failure {
    /// A failure that is not an answer of the API server.
    pub fn new(reason: WatchErrorReason, detail: impl Into<String>) -> Self {
        Self {
            reason,
            detail: one_line(&detail.into()),
            retry_after: None,
            rejected: false,
        }
    }

    /// An answer whose status is not a success. `body` may be cut short.
    pub fn from_response(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let told = serde_json::from_slice::<StatusBody>(body).unwrap_or_default();
        let message = told.message.unwrap_or_default();
        let mut failure = Self::from_code(status.as_u16(), &message);
        failure.detail = if message.is_empty() {
            format!("HTTP {status}")
        } else {
            one_line(&format!("HTTP {}: {message}", status.as_u16()))
        };
        let header = headers.get(RETRY_AFTER).and_then(|v| v.to_str().ok());
        let seconds = header
            .and_then(|text| text.trim().parse().ok())
            .or(told.details.and_then(|details| details.retry_after_seconds));
        failure.retry_after = seconds.map(bounded_seconds);
        failure
    }

    /// An ERROR event in the stream of a watch.
    pub fn from_event(status: &ApiStatus) -> Self {
        let mut failure = Self::from_code(status.code, &status.message);
        failure.detail = one_line(&format!(
            "ERROR event {} {}: {}",
            status.code, status.reason, status.message
        ));
        failure
    }

    /// An error of the client, i.e. no answer at all.
    pub fn from_client(error: &kube::Error) -> Self {
        let reason = match error {
            kube::Error::Auth(_) => WatchErrorReason::Credentials,
            kube::Error::Service(inner) if inner.is::<kube::client::AuthError>() => {
                WatchErrorReason::Credentials
            }
            _ => WatchErrorReason::Transport,
        };
        let detail = match error {
            // Without the name of the wrapper, which tells users nothing
            kube::Error::Service(inner) => root_causes(inner.as_ref()),
            other => root_causes(other),
        };
        Self::new(reason, detail)
    }

    fn from_code(code: u16, message: &str) -> Self {
        let reason = match code {
            401 => WatchErrorReason::Unauthorized,
            403 => WatchErrorReason::Forbidden,
            410 => WatchErrorReason::Gone,
            429 => WatchErrorReason::TooManyRequests,
            // The API server states this as a cause in the details as well, but the message is
            // what all its versions have in common (client-go, isTooLargeResourceVersionError).
            500..=599 if message.contains("Too large resource version") => {
                WatchErrorReason::VersionAhead
            }
            400..=499 => WatchErrorReason::ClientError,
            500..=599 => WatchErrorReason::ServerError,
            _ => WatchErrorReason::UnexpectedStatus,
        };
        Self {
            rejected: matches!(code, 400 | 422),
            ..Self::new(reason, message)
        }
    }
}

/// The part of a `metav1.Status` that decides what to do.
#[derive(Default, Deserialize)]
struct StatusBody {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    details: Option<StatusDetails>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusDetails {
    #[serde(default)]
    retry_after_seconds: Option<u64>,
}

fn bounded_seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER)
}

/// An error with its causes, each said once: some errors repeat their cause in their own message.
pub(super) fn root_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    one_line(&text)
}

/// Foreign text, fit for a log line: without control characters and of bounded length.
fn one_line(text: &str) -> String {
    let mut line: String = text
        .chars()
        .take(DETAIL_LIMIT)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(code: u16, body: &str) -> Failure {
        let status = StatusCode::from_u16(code).unwrap_or_default();
        Failure::from_response(status, &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn each_status_has_its_reason() {
        use WatchErrorReason as R;
        for (code, reason) in [
            (301, R::UnexpectedStatus),
            (400, R::ClientError),
            (401, R::Unauthorized),
            (403, R::Forbidden),
            (404, R::ClientError),
            (410, R::Gone),
            (429, R::TooManyRequests),
            (500, R::ServerError),
            (504, R::ServerError),
        ] {
            assert_eq!(answered(code, "").reason, reason, "{code}");
        }
        assert!(answered(400, "").rejected && answered(422, "").rejected);
        let ahead = r#"{"message":"Timeout: Too large resource version: 9, current: 5"}"#;
        assert_eq!(answered(504, ahead).reason, R::VersionAhead);
    }

    #[test]
    fn retry_after_is_read_from_header_or_status_and_bounded() {
        let told = answered(429, r#"{"details":{"retryAfterSeconds":3}}"#);
        assert_eq!(told.retry_after, Some(Duration::from_secs(3)));
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, http::HeaderValue::from_static("7"));
        let status = StatusCode::TOO_MANY_REQUESTS;
        let failure = Failure::from_response(status, &headers, b"busy");
        assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
        headers.insert(RETRY_AFTER, http::HeaderValue::from_static("86400"));
        let failure = Failure::from_response(status, &headers, b"");
        assert_eq!(failure.retry_after, Some(LONGEST_RETRY_AFTER));
    }

    #[test]
    fn details_are_one_bounded_line() {
        let failure = answered(500, &format!(r#"{{"message":"a\nb{}"}}"#, "é".repeat(9000)));
        assert!(failure.detail.starts_with("HTTP 500: a b"));
        assert!(failure.detail.chars().count() <= DETAIL_LIMIT + 1);
        assert_eq!(answered(503, "").detail, "HTTP 503 Service Unavailable");
    }
}
