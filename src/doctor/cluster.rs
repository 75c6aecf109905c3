//! Whether there is a configuration that leads to a cluster, and whether an API server answers.

use std::time::Instant;

use super::api::Api;
use super::report::{Check, Finding};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::client::Cluster;
use crate::cluster::options::ConnectError;

/// A release of Kubernetes: major and minor version.
pub(super) type Release = (u32, u32);

/// The configuration was found and understood.
pub(super) fn configured(cluster: &Cluster) -> Vec<Finding> {
    const CHECK: Check = Check::Cluster;
    let Cluster { server, origin, .. } = cluster;
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
        let text = "insecure-skip-tls-verify: whoever answers there gets the credentials";
        findings.push(
            Finding::warning(CHECK, text)
                .mend("set certificate-authority-data of the cluster in the kubeconfig instead"),
        );
    }
    findings
}

/// No client could be made of the configuration.
pub(super) fn unusable(error: &ConnectError) -> Finding {
    const KUBECONFIG: &str = "name a kubeconfig that can be read, with --kubeconfig or KUBECONFIG";
    let (found, mend) = match error {
        ConnectError::Unreadable { origin, why } => {
            let found = format!("{origin} cannot be read: {why}");
            (found, KUBECONFIG.to_owned())
        }
        ConnectError::Malformed { origin, why } => {
            let mend = "mend the file, or name another with --kubeconfig";
            (
                format!("{origin} is not a kubeconfig: {why}"),
                mend.to_owned(),
            )
        }
        ConnectError::UnknownContext {
            origin,
            context,
            choice,
        } => {
            let found = format!("{origin} has no context {context:?}");
            (found, choice.clone())
        }
        ConnectError::NoContext { origin, choice } => {
            (format!("{origin} has no current-context"), choice.clone())
        }
        ConnectError::NoCluster { default, why } => {
            let found = format!(
                "no cluster is configured: KUBECONFIG is not set, there is no {default}, and this \
                 is no pod with a service account ({why})"
            );
            (found, KUBECONFIG.to_owned())
        }
        ConnectError::Unusable { origin, why } => {
            let mend = "see that the certificates, the token and the credential plugin that it \
                        names are there and can be read";
            (format!("{origin} cannot be used: {why}"), mend.to_owned())
        }
    };
    Finding::error(Check::Cluster, found).mend(mend)
}

/// What became of the first request.
pub(super) enum Reached {
    /// An API server answers; its release, if it tells
    Yes(Option<Release>),
    /// None does, or not to us: there is no use in asking for more
    No,
}

/// Asks for the version, which API servers tell nearly everybody.
pub(super) async fn reach(api: &Api) -> (Finding, Reached) {
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
            (found, Reached::Yes(release(version)))
        }
        (Ok(_), None) => {
            let why = "/version tells no version";
            (foreign(why), Reached::No)
        }
        (Err(failure), _) => unanswered(failure),
    }
}

fn foreign(why: &str) -> Finding {
    let found = format!("what answers is not like a Kubernetes API server: {why}");
    Finding::error(Check::ApiServer, found)
        .mend("check the server's address in the kubeconfig, and the proxy if there is one")
}

fn unanswered(failure: &ApiError) -> (Finding, Reached) {
    const CHECK: Check = Check::ApiServer;
    let why = failure.detail.as_str();
    match failure.kind {
        ApiErrorKind::Transport | ApiErrorKind::Timeout => {
            let found = Finding::error(CHECK, format!("does not answer: {why}"));
            (found.mend(remedy(why, failure.kind)), Reached::No)
        }
        ApiErrorKind::Credentials => {
            let found = Finding::error(CHECK, format!("the credentials cannot be had: {why}"));
            let mend = "see that the token file or the credential plugin of the kubeconfig works";
            (found.mend(mend), Reached::No)
        }
        ApiErrorKind::Unauthorized => {
            let found = format!("does not accept the credentials: {why}");
            let mend = "log in again, or have the token or certificate of the kubeconfig renewed";
            (Finding::error(CHECK, found).mend(mend), Reached::No)
        }
        ApiErrorKind::TooManyRequests | ApiErrorKind::ServerError => {
            let found = Finding::warning(CHECK, format!("is not ready: {why}"));
            let mend = "try again later; podinit serve waits for it";
            (found.mend(mend), Reached::Yes(None))
        }
        // Whoever refuses or does not know the path may serve the others.
        ApiErrorKind::Forbidden | ApiErrorKind::Rejected | ApiErrorKind::ClientError => {
            let found = Finding::note(CHECK, format!("answers, but not to /version: {why}"));
            (found, Reached::Yes(None))
        }
        _ => (foreign(why), Reached::No),
    }
}

/// What usually helps when a server is not reached, by what the connection had to say.
fn remedy(why: &str, kind: ApiErrorKind) -> &'static str {
    let lower = why.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["certificate", "issuer"]) {
        "see that certificate-authority-data in the kubeconfig is the one of this cluster, and \
         that its certificate names this host and has not expired (is the local clock right?)"
    } else if says(&["corrupt message", "invalidcontenttype", "wrong version"]) {
        "what listens there does not speak TLS: check the scheme and the port of the server"
    } else if says(&["dns", "lookup", "resolve", "name or service"]) {
        "the name does not resolve: check the server's host in the kubeconfig, and the resolver"
    } else if says(&["refused"]) {
        "nothing listens there: check the server's address and port, and that a tunnel or VPN \
         that it needs is up"
    } else if kind == ApiErrorKind::Timeout || says(&["timed out", "deadline", "unreachable"]) {
        "something on the way drops the packets: check firewalls, NetworkPolicies on egress, the \
         VPN, HTTPS_PROXY and NO_PROXY"
    } else {
        "check the address, the network and the certificates"
    }
}

/// `v1.36.2-gke.100` is of the release 1.36.
pub(super) fn release(version: &str) -> Option<Release> {
    let mut parts = version.strip_prefix('v').unwrap_or(version).split('.');
    let mut number = || {
        let part = parts.next()?;
        let end = part.find(|c: char| !c.is_ascii_digit());
        part[..end.unwrap_or(part.len())].parse().ok()
    };
    let release = (number()?, number()?);
    // Binaries that were built without a stamp say v0.0.0.
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
    fn remedies_fit_what_went_wrong() {
        for (why, word) in [
            (
                "client error (Connect): tcp connect error: Connection refused (os error 111)",
                "listens",
            ),
            (
                "invalid peer certificate: UnknownIssuer",
                "certificate-authority-data",
            ),
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
