//! The `Status` objects in which the API server answers what it cannot do.

use http::StatusCode;
use serde_json::{Value, json};

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// `code`, also of the HTTP answer
    pub code: StatusCode,
    /// `reason`
    pub reason: &'static str,
    /// `message`
    pub message: String,
    /// `details.retryAfterSeconds`, also the header `Retry-After`
    pub retry_after_seconds: Option<u64>,
    /// `details.causes[0]`: its reason and message
    pub cause: Option<(&'static str, &'static str)>,
    /// `metadata.continue`
    pub resume: Option<String>,
}

impl Failure {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            retry_after_seconds: None,
            cause: None,
            resume: None,
        }
    }

    /// 400
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 404
    pub fn not_found() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    /// 403
    pub fn forbidden() -> Self {
        let message = "pods is forbidden: User \"podinit\" cannot list resource \"pods\" in API \
                       group \"\" at the cluster scope";
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message)
    }

    /// 401
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// 406
    pub fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// 422
    pub fn invalid(message: impl Into<String>) -> Self {
        let message = format!(
            "ListOptions.meta.k8s.io \"\" is invalid: {}",
            message.into()
        );
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
    }

    /// 410: the version is older than the history
    pub fn too_old(requested: u64, oldest: u64) -> Self {
        let message = format!("too old resource version: {requested} ({oldest})");
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 410: the continue token is older than the history; `resume` goes on at the newest version
    pub fn continue_expired(resume: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list \
                       result. Start a new list without it, or use the token of this answer for \
                       an inconsistent remainder.";
        Self {
            resume: Some(resume),
            ..Self::new(StatusCode::GONE, "Expired", message)
        }
    }

    /// 429
    pub fn too_many_requests(retry_after_seconds: u64) -> Self {
        let message = "Too many requests, please try again later.";
        Self {
            retry_after_seconds: Some(retry_after_seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
        }
    }

    /// 500
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// 504: the version has not been reached yet
    pub fn too_large(requested: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {requested}, current: {current}");
        Self {
            retry_after_seconds: Some(1),
            cause: Some(("ResourceVersionTooLarge", "Too large resource version")),
            ..Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
        }
    }

    /// The `Status` object.
    pub fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code.as_u16(),
        });
        if let Some(resume) = &self.resume {
            status["metadata"]["continue"] = json!(resume);
        }
        if let Some(seconds) = self.retry_after_seconds {
            status["details"]["retryAfterSeconds"] = json!(seconds);
        }
        if let Some((reason, message)) = self.cause {
            status["details"]["causes"] = json!([{"reason": reason, "message": message}]);
        }
        status
    }
}
