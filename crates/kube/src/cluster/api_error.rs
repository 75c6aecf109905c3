//! Why a request to the API server failed. One type for everything that sends requests: the watch,
//! access reviews and `doctor`.

use std::time::Duration;

use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde::Deserialize;

use super::renewing_client::NoCredentials;
use super::tls_words;
use podinit_decode::protobuf::{ErrorStatus, error_status};
use podinit_decode::{ApiStatus, DecodeError, ObjectEncoding};
use podinit_text::error_text::{one_line, root_causes};

/// A request or a watch that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub kind: ApiErrorKind,
    /// What the API server or the connection reported; one line of bounded length
    pub detail: String,
    /// How long the API server asks clients to wait
    pub retry_after: Option<Duration>,
}

/// The kinds of errors, by what a caller has to do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ApiErrorKind {
    #[error("the connection failed")]
    Transport,
    /// The token file or the credential plugin gave no credentials
    #[error("podinit's credentials cannot be obtained")]
    Credentials,
    /// A deadline of ours passed: no answer, a stalled body or an idle watch
    #[error("no answer in time")]
    Timeout,
    /// An answer that cannot be decoded, or lacks something required
    #[error("the answer cannot be read")]
    Malformed,
    /// A list without a resourceVersion that a watch can begin at
    #[error("the list has no resource version to watch from")]
    NoVersion,
    /// An answer longer than the caller's limit
    #[error("the answer is too long")]
    AnswerTooLong,
    /// A watch event longer than the caller's limit
    #[error("a watch event is too long")]
    EventTooLong,
    /// 410: the resource version or continue token has expired
    #[error("the resource version has expired (410)")]
    Gone,
    /// The API server has not reached the resource version yet ("Too large resource version")
    #[error("the API server has not reached the resource version")]
    VersionAhead,
    #[error("podinit's credentials are not accepted (401)")]
    Unauthorized,
    #[error("podinit's credentials do not allow it (403)")]
    Forbidden,
    #[error("the API server is overloaded (429)")]
    TooManyRequests,
    /// 406: the answer has no encoding that was asked for
    #[error("the API server does not offer the encoding (406)")]
    NotAcceptable,
    /// 400 or 422: the API server will never accept this request as it is
    #[error("the API server rejects the request")]
    Rejected,
    /// Any other 4xx, or a request that cannot be built
    #[error("the API server refuses the request (4xx)")]
    ClientError,
    #[error("the API server failed (5xx)")]
    ServerError,
    /// 501: the API server, or what stands before it, has no such function
    #[error("the API server does not implement the request (501)")]
    NotImplemented,
    /// Neither a success nor 4xx nor 5xx
    #[error("the status of the answer is unexpected")]
    UnexpectedStatus,
}

/// The longest wait that an API server can ask for with `Retry-After`.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

impl ApiError {
    /// An error without `Retry-After`.
    pub fn new(kind: ApiErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: one_line(&detail.into()), retry_after: None }
    }

    /// An answer that cannot be decoded, or lacks something required.
    pub fn malformed(detail: impl ToString) -> Self {
        Self::new(ApiErrorKind::Malformed, detail.to_string())
    }

    /// An answer with a status that is not a success. `body` may be truncated.
    pub fn from_response(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let ErrorStatus { message, retry_after_seconds } = explanation(headers, body);
        let detail = if message.is_empty() {
            format!("HTTP {status}")
        } else {
            format!("HTTP {}: {message}", status.as_u16())
        };
        let header = headers.get(RETRY_AFTER).and_then(|v| v.to_str().ok());
        let seconds = header.and_then(|text| text.trim().parse().ok()).or(retry_after_seconds);
        Self {
            retry_after: seconds.map(bounded_seconds),
            ..Self::new(ApiErrorKind::from_code(status.as_u16(), &message), detail)
        }
    }

    /// An ERROR event in a watch.
    pub fn from_event(status: &ApiStatus) -> Self {
        let ApiStatus { code, reason, message } = status;
        let kind = ApiErrorKind::from_code(*code, message);
        Self::new(kind, format!("ERROR event {code} {reason}: {message}"))
    }

    /// An error of the client: there was no answer.
    pub fn from_client(error: &kube::Error) -> Self {
        let kind = match error {
            kube::Error::Service(inner) if inner.is::<NoCredentials>() => ApiErrorKind::Credentials,
            _ => ApiErrorKind::Transport,
        };
        let detail = match error {
            // Without the name of the wrapper, which says nothing to users
            kube::Error::Service(inner) => root_causes(inner.as_ref()),
            other => root_causes(other),
        };
        Self::new(kind, tls_words::with_meaning(detail))
    }
}

/// A request that cannot be built.
impl From<http::Error> for ApiError {
    fn from(error: http::Error) -> Self {
        Self::new(ApiErrorKind::ClientError, error.to_string())
    }
}

/// A request that kube does not build.
impl From<kube::core::request::Error> for ApiError {
    fn from(error: kube::core::request::Error) -> Self {
        Self::new(ApiErrorKind::ClientError, error.to_string())
    }
}

impl From<DecodeError> for ApiError {
    fn from(error: DecodeError) -> Self {
        Self::malformed(error)
    }
}

impl ApiErrorKind {
    fn from_code(code: u16, message: &str) -> Self {
        match code {
            400 | 422 => Self::Rejected,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            406 => Self::NotAcceptable,
            410 => Self::Gone,
            429 => Self::TooManyRequests,
            // The API server states this as a cause in the details as well, but the message is
            // what all its versions have in common (client-go, isTooLargeResourceVersionError).
            500..=599 if message.contains("Too large resource version") => Self::VersionAhead,
            400..=499 => Self::ClientError,
            501 => Self::NotImplemented,
            500..=599 => Self::ServerError,
            _ => Self::UnexpectedStatus,
        }
    }
}

/// What the body of an error says: a `Status` in either encoding, or plain text, in which priority and
/// fairness, authentication and proxies answer.
fn explanation(headers: &HeaderMap, body: &[u8]) -> ErrorStatus {
    if encoding_of(headers) == ObjectEncoding::Protobuf {
        return error_status(body).unwrap_or_default();
    }
    let status = serde_json::from_slice::<StatusBody>(body).ok();
    if status.is_none() && media_type(headers) == Some("text/plain") {
        let message = String::from_utf8_lossy(body).trim().to_owned();
        return ErrorStatus { message, retry_after_seconds: None };
    }
    let status = status.unwrap_or_default();
    ErrorStatus {
        message: status.message.unwrap_or_default(),
        retry_after_seconds: status.details.and_then(|details| details.retry_after_seconds),
    }
}

/// The fields of a `metav1.Status` that are read.
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

/// The encoding that an answer states. What states none is JSON, or will be found to be none.
pub(crate) fn encoding_of(headers: &HeaderMap) -> ObjectEncoding {
    match media_type(headers) {
        Some("application/vnd.kubernetes.protobuf") => ObjectEncoding::Protobuf,
        _ => ObjectEncoding::Json,
    }
}

/// Whether an answer states that it is compressed with gzip.
pub(crate) fn is_gzip(headers: &HeaderMap) -> bool {
    let stated = headers.get(CONTENT_ENCODING);
    stated.is_some_and(|stated| stated.as_bytes().eq_ignore_ascii_case(b"gzip"))
}

/// The media type of an answer, without its parameters.
pub(super) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let stated = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = stated.split_once(';').map_or(stated, |(media_type, _)| media_type);
    Some(media_type.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_text::error_text;

    fn answered(code: u16, body: &str) -> ApiError {
        let status = StatusCode::from_u16(code).unwrap_or_default();
        ApiError::from_response(status, &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn each_status_has_its_kind() {
        use ApiErrorKind as K;
        for (code, kind) in [
            (301, K::UnexpectedStatus),
            (400, K::Rejected),
            (422, K::Rejected),
            (401, K::Unauthorized),
            (403, K::Forbidden),
            (404, K::ClientError),
            (406, K::NotAcceptable),
            (410, K::Gone),
            (429, K::TooManyRequests),
            (500, K::ServerError),
            (501, K::NotImplemented),
            (504, K::ServerError),
        ] {
            assert_eq!(answered(code, "").kind, kind, "{code}");
        }
        let ahead = r#"{"message":"Timeout: Too large resource version: 9, current: 5"}"#;
        assert_eq!(answered(504, ahead).kind, K::VersionAhead);
    }

    #[test]
    fn retry_after_is_read_from_header_or_status_and_bounded() {
        let error = answered(429, r#"{"details":{"retryAfterSeconds":3}}"#);
        assert_eq!(error.retry_after, Some(Duration::from_secs(3)));
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, http::HeaderValue::from_static("7"));
        let status = StatusCode::TOO_MANY_REQUESTS;
        let error = ApiError::from_response(status, &headers, b"busy");
        assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
        headers.insert(RETRY_AFTER, http::HeaderValue::from_static("86400"));
        let error = ApiError::from_response(status, &headers, b"");
        assert_eq!(error.retry_after, Some(LONGEST_RETRY_AFTER));
    }

    #[test]
    fn a_body_is_read_as_its_content_type_says() {
        let answered = |content_type: &'static str, body: &[u8]| {
            let mut headers = HeaderMap::new();
            headers
                .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(content_type));
            ApiError::from_response(StatusCode::TOO_MANY_REQUESTS, &headers, body)
        };
        let busy = "Too many requests, please try again later.";
        let plain = answered("text/plain; charset=utf-8", format!("{busy}\n").as_bytes());
        assert_eq!(plain.detail, format!("HTTP 429: {busy}"));
        let status = br#"{"kind":"Status","message":"busy","details":{"retryAfterSeconds":2}}"#;
        let json = answered("application/json", status);
        assert_eq!(json.detail, "HTTP 429: busy");
        let protobuf = podinit_sim::protobuf::document(status).unwrap_or_default();
        for content_type in [
            "application/vnd.kubernetes.protobuf",
            "application/vnd.kubernetes.protobuf;stream=watch",
        ] {
            assert_eq!(answered(content_type, &protobuf), json);
        }
        let other = answered("application/vnd.kubernetes.protobuf", b"busy");
        assert_eq!(other.detail, "HTTP 429 Too Many Requests");
        assert_eq!(answered("text/html", b"<p>busy</p>").detail, other.detail);
    }

    #[test]
    fn details_are_one_bounded_line() {
        let error = answered(500, &format!(r#"{{"message":"a\nb{}"}}"#, "é".repeat(9000)));
        assert!(error.detail.starts_with("HTTP 500: a b"));
        assert!(error.detail.chars().count() <= error_text::DETAIL_LIMIT + 1);
        assert_eq!(answered(503, "").detail, "HTTP 503 Service Unavailable");
    }
}
