//! As whom the API server knows us.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;

use super::api::Api;
use super::report::{Check, Finding};
use crate::cluster::api_error::ApiErrorKind;

/// What the API server says of us.
pub(super) enum Identity {
    /// The name it knows us by
    Known(String),
    /// It knows us, and does not say by which name
    Untold,
    /// It does not accept our credentials: there is no use in asking for more
    Rejected,
}

/// Asks who we are (SelfSubjectReview, Kubernetes 1.28).
pub(super) async fn identify(api: &Api) -> (Finding, Identity) {
    const CHECK: Check = Check::Identity;
    let answer = match api.review(&SelfSubjectReview::default()).await {
        Ok(answer) => answer,
        Err(failure) if failure.kind == ApiErrorKind::Unauthorized => {
            let found = format!("the credentials are not accepted: {}", failure.detail);
            let mend = "log in again, or have the token or certificate of the kubeconfig renewed";
            return (Finding::error(CHECK, found).mend(mend), Identity::Rejected);
        }
        Err(failure) => {
            let why = format!("the API server does not say who we are: {}", failure.detail);
            return (Finding::skipped(CHECK, why), Identity::Untold);
        }
    };
    let user = answer.status.and_then(|status| status.user_info);
    match user.and_then(|user| user.username).as_deref() {
        Some(name @ "system:anonymous") => {
            let found = "the API server knows us as nobody (system:anonymous)";
            let mend = "give the context a user with credentials, or podinit a service account";
            let finding = Finding::warning(CHECK, found).mend(mend);
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
            let why = "the API server does not say who we are";
            (Finding::skipped(CHECK, why), Identity::Untold)
        }
    }
}
