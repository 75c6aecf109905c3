//! Whether a watch opens, and at once: a proxy that buffers answers lets lists through but holds
//! events back.

use std::time::{Duration, Instant};

use super::api::DoctorApi;
use super::permissions::{ApiVerb, DeniedAccess};
use super::report::{Check, Finding};
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::watch::requests::{PodScope, PodSelectors, RequestBuilder};

/// How long the watch is requested to last. A buffered answer begins only when it ends.
const SECONDS: u32 = 3;

/// Opens a watch of each scope that was listed, and closes it again.
pub(super) async fn check(
    api: &DoctorApi,
    selectors: &PodSelectors,
    versions: &[(PodScope, String)],
    denied: &DeniedAccess,
) -> Finding {
    const CHECK: Check = Check::Watch;
    let allowed = |scope: &PodScope| !denied.covers(scope, ApiVerb::Watch);
    let mut slowest = Duration::ZERO;
    let mut opened = 0;
    for (scope, version) in versions.iter().filter(|(scope, _)| allowed(scope)) {
        let began = Instant::now();
        if let Err(failure) = open(api, scope, selectors, version).await {
            let found = format!("a watch of {scope} does not open: {}", failure.detail);
            return Finding::error(CHECK, found).fix(remedy(&failure));
        }
        slowest = slowest.max(began.elapsed());
        opened += 1;
    }
    if opened == 0 {
        let why = if versions.is_empty() {
            "there is no list to start a watch from"
        } else {
            "watching pods is not allowed"
        };
        return Finding::skipped(CHECK, why);
    }
    if slowest >= Duration::from_secs(u64::from(SECONDS)) {
        let found = format!(
            "a watch of {SECONDS} s began to answer only after {:.1} s",
            slowest.as_secs_f64()
        );
        return Finding::warning(CHECK, found)
            .fix("configure the proxy in front of the API server not to buffer answers");
    }
    Finding::ok(CHECK, format!("opened within {} ms", slowest.as_millis()))
}

async fn open(
    api: &DoctorApi,
    scope: &PodScope,
    selectors: &PodSelectors,
    version: &str,
) -> Result<(), ApiError> {
    let request = RequestBuilder::new(scope, selectors).watch(version, SECONDS, false)?;
    api.open(request).await
}

fn remedy(failure: &ApiError) -> &'static str {
    match failure.kind {
        ApiErrorKind::Forbidden => "grant the verb watch on pods (deploy/base/rbac.yaml)",
        ApiErrorKind::Timeout => {
            "check whether a proxy on the way buffers answers, or raise --timeout"
        }
        _ => "check the API server's log, or try again",
    }
}
