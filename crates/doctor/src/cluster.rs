//! Whether a cluster is configured, and whether its API server answers.

use std::time::Instant;

use super::api::DoctorApi;
use super::report::{Check, Finding};
use podinit_connect::options::ConnectError;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::cluster::client::ClusterClient;

/// A release of Kubernetes: major and minor version.
pub(super) type KubernetesRelease = (u32, u32);

/// The findings about a configuration that was read.
pub(super) fn configured(cluster: &ClusterClient) -> Vec<Finding> {
    const CHECK: Check = Check::Cluster;
    let ClusterClient { server, origin, .. } = cluster;
    let through = match &cluster.proxy {
        Some(proxy) => format!(", through the proxy {proxy}"),
        None => String::new(),
    };
    let found = Finding::ok(CHECK, format!("{server} from {origin}{through}"))
        .detail("server", server.as_str())
        .detail("origin", origin.as_str())
        .detail("proxy", cluster.proxy.clone());
    let mut findings = vec![found];
    if cluster.unverified {
        let text = "insecure-skip-tls-verify: any server at that address receives the credentials";
        findings.push(
            Finding::warning(CHECK, text)
                .fix("set certificate-authority-data of the cluster in the kubeconfig instead"),
        );
    }
    findings
}

/// The finding about a configuration that cannot be used.
pub(super) fn unusable(error: &ConnectError) -> Finding {
    const KUBECONFIG: &str = "name a readable kubeconfig with --kubeconfig or KUBECONFIG";
    let (found, fix) = match error {
        ConnectError::Unreadable { origin, why } => {
            let found = format!("{origin} cannot be read: {why}");
            (found, KUBECONFIG.to_owned())
        }
        ConnectError::Malformed { origin, why } => {
            let fix = "fix the file, or name another with --kubeconfig";
            (format!("{origin} is not a kubeconfig: {why}"), fix.to_owned())
        }
        ConnectError::UnknownContext { origin, context, choice } => {
            let found = format!("{origin} has no context {context:?}");
            (found, choice.clone())
        }
        ConnectError::NoContext { origin, choice } => {
            (format!("{origin} has no current-context"), choice.clone())
        }
        ConnectError::NoCluster { default, why } => {
            let found = format!(
                "no cluster is configured: KUBECONFIG is not set, and there is no {default}. This process does \
                 not run in a pod with a service account ({why})"
            );
            (found, KUBECONFIG.to_owned())
        }
        ConnectError::Unusable { origin, why } => {
            let fix = "check that the certificates, the token and the credential plugin \
                        that it names exist and can be read";
            (format!("{origin} cannot be used: {why}"), fix.to_owned())
        }
    };
    Finding::error(Check::Cluster, found).fix(fix)
}

/// The outcome of the first request.
pub(super) enum FirstResponse {
    /// An API server answers; its release, if it states one
    Yes(Option<KubernetesRelease>),
    /// None does, or not to us: further requests are useless
    No,
}

/// Requests the version, which API servers show to nearly everybody.
pub(super) async fn reach(api: &DoctorApi) -> (Finding, FirstResponse) {
    const CHECK: Check = Check::ApiServer;
    let began = Instant::now();
    let answer = api.get("/version").await;
    let took = began.elapsed().as_millis();
    let version = match &answer {
        Ok(document) => document.get("gitVersion").and_then(|v| v.as_str()),
        Err(_) => None,
    };
    match (&answer, version) {
        (_, Some(version)) => {
            let found = Finding::ok(CHECK, format!("Kubernetes {version} answered in {took} ms"))
                .detail("version", version)
                .detail("milliseconds", u64::try_from(took).unwrap_or(u64::MAX));
            (found, FirstResponse::Yes(release(version)))
        }
        (Ok(_), None) => {
            let why = "/version states no version";
            (foreign(why), FirstResponse::No)
        }
        (Err(failure), _) => unanswered(failure),
    }
}

fn foreign(why: &str) -> Finding {
    let found = format!("what answers is not like a Kubernetes API server: {why}");
    Finding::error(Check::ApiServer, found)
        .fix("check the server's address in the kubeconfig, and the proxy if there is one")
}

fn unanswered(failure: &ApiError) -> (Finding, FirstResponse) {
    const CHECK: Check = Check::ApiServer;
    let why = failure.detail.as_str();
    match failure.kind {
        ApiErrorKind::Transport | ApiErrorKind::Timeout => {
            let found = Finding::error(CHECK, format!("does not answer: {why}"));
            (found.fix(remedy(why, failure.kind)), FirstResponse::No)
        }
        ApiErrorKind::Credentials => {
            let found = Finding::error(CHECK, format!("the credentials cannot be obtained: {why}"));
            let fix = "check that the token file or the credential plugin of the kubeconfig works";
            (found.fix(fix), FirstResponse::No)
        }
        ApiErrorKind::Unauthorized => {
            let found = format!("does not accept the credentials: {why}");
            let fix = "log in again, or have the token or certificate of the kubeconfig renewed";
            (Finding::error(CHECK, found).fix(fix), FirstResponse::No)
        }
        ApiErrorKind::TooManyRequests | ApiErrorKind::ServerError => {
            let found = Finding::warning(CHECK, format!("is not ready: {why}"));
            let fix = "try again later; podinit serve waits for it";
            (found.fix(fix), FirstResponse::Yes(None))
        }
        // A server that refuses or does not know this path may serve the others.
        ApiErrorKind::Forbidden
        | ApiErrorKind::Rejected
        | ApiErrorKind::NotImplemented
        | ApiErrorKind::ClientError => {
            let found = Finding::note(CHECK, format!("answers, but not to /version: {why}"));
            (found, FirstResponse::Yes(None))
        }
        _ => (foreign(why), FirstResponse::No),
    }
}

/// What usually helps when a server cannot be reached, by the error of the connection.
fn remedy(why: &str, kind: ApiErrorKind) -> &'static str {
    let lower = why.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["certificate", "issuer"]) {
        "check that certificate-authority-data in the kubeconfig belongs to this cluster. The server's \
         certificate must name this host and be valid now: check the local clock"
    } else if says(&["corrupt message", "invalidcontenttype", "wrong version"]) {
        "what listens there does not speak TLS: check the scheme and the port of the server"
    } else if says(&["dns", "lookup", "resolve", "name or service"]) {
        "the name does not resolve: check the server's host in the kubeconfig, and the resolver"
    } else if says(&["refused"]) {
        "nothing listens there: check the server's address and port, and that any tunnel or VPN \
         to it is up"
    } else if kind == ApiErrorKind::Timeout || says(&["timed out", "deadline", "unreachable"]) {
        "packets are dropped on the way: check firewalls, NetworkPolicies on egress, the \
         VPN, HTTPS_PROXY and NO_PROXY"
    } else {
        "check the address, the network and the certificates"
    }
}

/// The release of a version: `v1.36.2-gke.100` is 1.36.
pub(super) fn release(version: &str) -> Option<KubernetesRelease> {
    let mut parts = version.strip_prefix('v').unwrap_or(version).split('.');
    let mut number = || {
        let part = parts.next()?;
        let end = part.find(|c: char| !c.is_ascii_digit());
        part[..end.unwrap_or(part.len())].parse().ok()
    };
    let release = (number()?, number()?);
    // Binaries that were built without version information say v0.0.0.
    (release.0 > 0).then_some(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_every_distributions_versions() {
        for (version, expected) in [
            ("v1.36.2", Some((1, 36))),
            ("v1.35.0+k3s1", Some((1, 35))),
            ("v1.34.1-eks-113cf36", Some((1, 34))),
            ("1.30+", Some((1, 30))),
            ("v1", None),
            ("v0.0.0-master+$Format:%H$", None),
            ("", None),
            ("master", None),
        ] {
            assert_eq!(release(version), expected, "{version}");
        }
    }

    #[test]
    fn remedies_fit_the_error() {
        for (why, word) in [
            (
                "client error (Connect): tcp connect error: Connection refused (os error 111)",
                "listens",
            ),
            ("invalid peer certificate: UnknownIssuer", "certificate-authority-data"),
            ("dns error: failed to lookup address information", "resolve"),
            ("received corrupt message of type InvalidContentType", "TLS"),
            ("connection reset", "address"),
        ] {
            let remedy = remedy(why, ApiErrorKind::Transport);
            assert!(remedy.contains(word), "{why}: {remedy}");
        }
        assert!(remedy("no answer for 10 s", ApiErrorKind::Timeout).contains("NetworkPolicies"));
    }
}
