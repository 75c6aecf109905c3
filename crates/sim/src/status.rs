//! The `Status` objects in which the API server answers what it cannot do.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, StatusCause, StatusDetails};
use serde::Serialize;

use super::object::{ServedKind, TooOld};

/// An answer that is an error: a `Status`, with its fields in the order of the API server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFailure {
    kind: &'static str,
    api_version: &'static str,
    metadata: Box<ListMeta>,
    status: &'static str,
    message: String,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Box<StatusDetails>>,
    pub(super) code: u16,
}

impl From<TooOld> for StatusFailure {
    fn from(TooOld { requested, oldest }: TooOld) -> Self {
        Self::too_old(requested, oldest)
    }
}

impl StatusFailure {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: Box::default(),
            status: "Failure",
            message: message.into(),
            reason,
            details: None,
            code,
        }
    }

    fn with(mut self, details: StatusDetails) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// 400
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 404
    pub fn not_found() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message)
    }

    /// 404: there is no object of this name
    pub(super) fn no_such_object(resource: ServedKind, name: &str) -> Self {
        Self::no_object_of(resource.names().group, resource.plural(), name)
    }

    /// The same of a resource of any group; that of the core is empty.
    pub(super) fn no_object_of(group: &str, plural: &str, name: &str) -> Self {
        let of_group = if group.is_empty() { String::new() } else { format!(".{group}") };
        let message = format!("{plural}{of_group} \"{name}\" not found");
        Self::new(404, "NotFound", message).with(StatusDetails {
            name: Some(name.to_owned()),
            group: Some(group.to_owned()).filter(|group| !group.is_empty()),
            kind: Some(plural.to_owned()),
            ..StatusDetails::default()
        })
    }

    /// 403, as it is answered to those who may not list pods
    pub fn forbidden() -> Self {
        Self::forbidden_to(ServedKind::Pods)
    }

    /// 403, as it is answered to those who may not list this resource
    pub(super) fn forbidden_to(resource: ServedKind) -> Self {
        let (group, plural) = (resource.names().group, resource.plural());
        let of_group = if group.is_empty() { String::new() } else { format!(".{group}") };
        let message = format!(
            "{plural}{of_group} is forbidden: User \"podinit\" cannot list resource \"{plural}\" in API \
             group \"{group}\" at the cluster scope"
        );
        Self::new(403, "Forbidden", message)
    }

    /// 403, as nobody gets it who means this machine
    pub(super) fn foreign_host() -> Self {
        let message = "this API server answers under the names of loopback alone, such as 127.0.0.1 and localhost";
        Self::new(403, "Forbidden", message)
    }

    /// 406
    pub(super) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::new(406, "NotAcceptable", message)
    }

    /// 422
    pub fn invalid(message: impl Into<String>) -> Self {
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {}", message.into());
        Self::new(422, "Invalid", message)
    }

    /// 410: the version is older than the history
    pub(super) fn too_old(requested: u64, oldest: u64) -> Self {
        let message = format!("too old resource version: {requested} ({oldest})");
        Self::new(410, "Expired", message)
    }

    /// 410: the continue token is older than the history; `resume` continues at the newest version
    pub(super) fn continue_expired(resume: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list \
                       result. Start a new list without it, or use the token of this answer for \
                       an inconsistent remainder.";
        let mut expired = Self::new(410, "Expired", message);
        expired.metadata.continue_ = Some(resume);
        expired
    }

    /// 429
    pub fn too_many_requests(retry_after_seconds: i32) -> Self {
        let message = "Too many requests, please try again later.";
        Self::new(429, "TooManyRequests", message).with(StatusDetails {
            retry_after_seconds: Some(retry_after_seconds),
            ..StatusDetails::default()
        })
    }

    /// 500
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// 504: the version has not been reached yet
    pub fn too_large(requested: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {requested}, current: {current}");
        let cause = StatusCause {
            reason: Some("ResourceVersionTooLarge".to_owned()),
            message: Some("Too large resource version".to_owned()),
            ..StatusCause::default()
        };
        Self::new(504, "Timeout", message).with(StatusDetails {
            retry_after_seconds: Some(1),
            causes: Some(vec![cause]),
            ..StatusDetails::default()
        })
    }

    /// How long to wait before the next attempt: the header `Retry-After`.
    pub(super) fn retry_after_seconds(&self) -> Option<i32> {
        self.details.as_ref()?.retry_after_seconds
    }

    /// The `Status` object, as JSON.
    pub fn to_json(&self) -> String {
        // Strings and numbers: cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_written_as_the_api_server_does() {
        assert_eq!(
            StatusFailure::too_old(3, 9).to_json(),
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 3 (9)","reason":"Expired","code":410}"#,
        );
        let details = r#""details":{"retryAfterSeconds":2},"code":429}"#;
        assert!(StatusFailure::too_many_requests(2).to_json().ends_with(details));
    }
}
