//! Which user the API server takes podinit for.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;

use super::api::Api;
use super::report::{Check, Finding};
use crate::cluster::api_error::ApiErrorKind;

/// Who we are to the API server.
pub(super) enum Identity {
    /// This user
    Known(String),
    /// It does not say
    Unknown,
    /// It does not accept our credentials: further requests are useless
    Rejected,
}

/// Requests who podinit is (SelfSubjectReview, Kubernetes 1.28).
pub(super) async fn identify(api: &Api) -> (Finding, Identity) {
    const CHECK: Check = Check::Identity;
    let answer = match api.review(&SelfSubjectReview::default()).await {
        Ok(answer) => answer,
        Err(failure) if failure.kind == ApiErrorKind::Unauthorized => {
            let found = format!("the credentials are not accepted: {}", failure.detail);
            let fix = "log in again, or have the token or certificate of the kubeconfig renewed";
            return (Finding::error(CHECK, found).fix(fix), Identity::Rejected);
        }
        Err(failure) => {
            let why = format!(
                "the API server does not say who podinit is: {}",
                failure.detail
            );
            return (Finding::skipped(CHECK, why), Identity::Unknown);
        }
    };
    let user = answer.status.and_then(|status| status.user_info);
    match user.and_then(|user| user.username).as_deref() {
        Some(name @ "system:anonymous") => {
            let found = "the API server takes podinit for nobody (system:anonymous)";
            let fix = "give the context a user with credentials, or podinit a service account";
            let finding = Finding::warning(CHECK, found).fix(fix);
            (
                finding.detail("username", name),
                Identity::Known(name.to_owned()),
            )
        }
        Some(name) => {
            let finding = Finding::ok(CHECK, name).detail("username", name);
            (finding, Identity::Known(name.to_owned()))
        }
        None => {
            let why = "the API server does not say who podinit is";
            (Finding::skipped(CHECK, why), Identity::Unknown)
        }
    }
}
