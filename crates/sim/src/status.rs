//! The `Status` objects in which the API server answers what it cannot do.

use http::StatusCode;
use serde::Serialize;

use super::resource::Resource;

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
    pub retry_after_seconds: Option<u32>,
    /// `details.causes[0]`: its reason and message
    pub cause: Option<(&'static str, &'static str)>,
    /// `metadata.continue`
    pub resume: Option<String>,
    /// `details.kind` (in the plural, as the API server states it) and `details.name`
    pub object: Option<Box<(&'static str, String)>>,
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
            object: None,
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

    /// 404: there is no object of this name
    pub(super) fn no_such_object(resource: Resource, name: &str) -> Self {
        let kind = resource.plural();
        let message = format!("{kind} \"{name}\" not found");
        Self {
            object: Some(Box::new((kind, name.to_owned()))),
            ..Self::new(StatusCode::NOT_FOUND, "NotFound", message)
        }
    }

    /// 403, as it is answered to those who may not list pods
    pub fn forbidden() -> Self {
        Self::forbidden_to(Resource::Pods)
    }

    /// 403, as it is answered to those who may not list this resource
    pub fn forbidden_to(resource: Resource) -> Self {
        let resource = resource.plural();
        let message = format!(
            "{resource} is forbidden: User \"podinit\" cannot list resource \"{resource}\" in API \
             group \"\" at the cluster scope"
        );
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

    /// 410: the continue token is older than the history; `resume` continues at the newest version
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
    pub fn too_many_requests(retry_after_seconds: u32) -> Self {
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

    /// The `Status` object, as JSON in the order of the API server.
    pub fn to_json(&self) -> String {
        let object = self.object.as_deref();
        let has_details =
            self.retry_after_seconds.is_some() || self.cause.is_some() || object.is_some();
        let status = Status {
            kind: "Status",
            api_version: "v1",
            metadata: Metadata {
                resume: self.resume.as_deref(),
            },
            status: "Failure",
            message: &self.message,
            reason: self.reason,
            details: has_details.then_some(Details {
                name: object.map(|(_, name)| name.as_str()),
                kind: object.map(|(kind, _)| *kind),
                causes: self
                    .cause
                    .map(|(reason, message)| [Cause { reason, message }]),
                retry_after_seconds: self.retry_after_seconds,
            }),
            code: self.code.as_u16(),
        };
        // Strings and numbers: cannot fail.
        serde_json::to_string(&status).unwrap_or_default()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Metadata<'a>,
    status: &'static str,
    message: &'a str,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
    code: u16,
}

#[derive(Serialize)]
struct Metadata<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    resume: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    causes: Option<[Cause; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u32>,
}

#[derive(Serialize)]
struct Cause {
    reason: &'static str,
    message: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_written_as_the_api_server_does() {
        assert_eq!(
            Failure::too_old(3, 9).to_json(),
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 3 (9)","reason":"Expired","code":410}"#,
        );
        let details = r#""details":{"retryAfterSeconds":2},"code":429}"#;
        assert!(Failure::too_many_requests(2).to_json().ends_with(details));
    }
}
