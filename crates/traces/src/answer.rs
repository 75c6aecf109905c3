//! What a collector makes of a request.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;

use crate::trace_stats::ExportFailure;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};

/// What a collector made of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectorAnswer {
    /// It took the request, without so many of its spans
    Taken { rejected_spans: u64 },
    /// It did not
    Failed(RequestFailure),
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFailure {
    pub reason: ExportFailure,
    /// One line of bounded length
    pub why: String,
    /// How long the collector asks to wait
    pub retry_after: Option<Duration>,
}

impl RequestFailure {
    /// Whether the same request may succeed later.
    pub const fn is_transient(&self) -> bool {
        match self.reason {
            ExportFailure::Unreachable | ExportFailure::Timeout | ExportFailure::Unavailable => {
                true
            }
            ExportFailure::Rejected => false,
        }
    }
}

impl CollectorAnswer {
    /// The meaning of an answer. The statuses that may be tried again are those of the specification of OTLP
    /// ("OTLP/HTTP Response", "Retryable Response Codes").
    pub(super) fn of_response(response: &Response<Bytes>) -> Self {
        let status = response.status();
        if status.is_success() {
            // An answer that cannot be read says no more than its status.
            let body = ExportTraceServiceResponse::decode(&**response.body());
            let partial = body.unwrap_or_default().partial_success;
            let rejected = partial.map_or(0, |partial| partial.rejected_spans);
            return Self::Taken { rejected_spans: u64::try_from(rejected).unwrap_or(0) };
        }
        let error = ApiError::from_response(status, response.headers(), response.body());
        let reason = match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => ExportFailure::Unavailable,
            _ => ExportFailure::Rejected,
        };
        Self::Failed(RequestFailure { reason, why: error.detail, retry_after: error.retry_after })
    }

    /// No answer came.
    pub(super) fn of_error(error: &ApiError) -> Self {
        let reason = match error.kind {
            ApiErrorKind::Timeout => ExportFailure::Timeout,
            _ => ExportFailure::Unreachable,
        };
        Self::Failed(RequestFailure { reason, why: error.detail.clone(), retry_after: None })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;

    use super::*;

    fn answer(status: u16, retry_after: &str, body: impl Into<Bytes>) -> CollectorAnswer {
        let response = Response::builder().status(status).header("retry-after", retry_after);
        CollectorAnswer::of_response(&response.body(body.into()).unwrap())
    }

    #[test]
    fn only_the_statuses_of_the_specification_are_tried_again() {
        for (status, reason) in [
            (429, ExportFailure::Unavailable),
            (502, ExportFailure::Unavailable),
            (503, ExportFailure::Unavailable),
            (504, ExportFailure::Unavailable),
            (400, ExportFailure::Rejected),
            (401, ExportFailure::Rejected),
            (404, ExportFailure::Rejected),
            (500, ExportFailure::Rejected),
        ] {
            let CollectorAnswer::Failed(failure) = answer(status, "7", "") else {
                panic!("{status} is a failure");
            };
            assert_eq!(failure.reason, reason, "{status}");
            assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
            assert!(failure.why.contains(&status.to_string()), "{}", failure.why);
        }
    }

    #[test]
    fn spans_that_were_refused_are_read_out_of_a_success() {
        let partial_success = Some(ExportTracePartialSuccess {
            rejected_spans: 3,
            error_message: "too old".to_owned(),
        });
        let body = ExportTraceServiceResponse { partial_success }.encode_to_vec();
        assert_eq!(answer(200, "", body), CollectorAnswer::Taken { rejected_spans: 3 });
        for empty in ["", "ok"] {
            assert_eq!(answer(200, "", empty), CollectorAnswer::Taken { rejected_spans: 0 });
        }
    }
}
