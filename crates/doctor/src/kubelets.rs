//! Which kubelets report the network condition late, or not by default
//! ([§1.1](crate::specification#s1-1), [§1.3](crate::specification#s1-3)).

use std::collections::HashSet;

use serde_json::Value;

use super::api::DoctorApi;
use super::cluster::{KubernetesRelease, release};
use super::names::FirstNames;
use super::report::{Check, Finding};
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::watch::pages::PageEnd;
use podinit_kube::watch::requests::RequestBuilder;
use podinit_text::words::count;

/// The first release that sets the condition as soon as the sandbox is ready
/// (kubernetes/kubernetes#134460).
const PROMPT: KubernetesRelease = (1, 36);
/// The first release that reports it without a feature gate.
const BY_DEFAULT: KubernetesRelease = (1, 29);

/// Nodes in a page. Each may list all of its images.
const PAGE: u32 = 100;

/// The kubelets of a cluster, counted by how they report the condition.
#[derive(Debug, Default)]
struct KubeletCounts {
    nodes: u64,
    late: u64,
    gated: u64,
    unknown: u64,
    late_names: FirstNames,
    prompt: PromptNodes,
    oldest: Option<KubernetesRelease>,
    newest: Option<KubernetesRelease>,
}

/// The names of the nodes whose kubelet sets the condition as soon as the sandbox is ready, as far as
/// that is known.
pub(super) type PromptNodes = HashSet<String>;

/// Lists the nodes or, where that is not allowed, infers from the API server's release: no kubelet
/// may be newer (<https://kubernetes.io/releases/version-skew-policy/>).
pub(super) async fn check(
    api: &DoctorApi,
    server: Option<KubernetesRelease>,
) -> (Finding, PromptNodes) {
    match KubeletCounts::listed(api).await {
        Ok(kubelets) => (kubelets.finding(), kubelets.prompt),
        Err(failure) => (inferred(server, &failure), PromptNodes::new()),
    }
}

impl KubeletCounts {
    async fn listed(api: &DoctorApi) -> Result<Self, ApiError> {
        let mut kubelets = Self::default();
        let read = |body: &[u8]| {
            let list: Value = serde_json::from_slice(body).map_err(ApiError::malformed)?;
            let items = list["items"].as_array();
            for node in items.into_iter().flatten() {
                let name = node["metadata"]["name"].as_str();
                let version = node["status"]["nodeInfo"]["kubeletVersion"].as_str();
                kubelets.add(name.unwrap_or_default(), version.unwrap_or_default());
            }
            Ok(PageEnd {
                next: list["metadata"]["continue"].as_str().map(str::to_owned),
                objects: items.map_or(0, Vec::len),
            })
        };
        api.list(&RequestBuilder::of_nodes(), PAGE, read).await?;
        Ok(kubelets)
    }

    fn add(&mut self, node: &str, version: &str) {
        self.nodes += 1;
        let Some(release) = release(version) else {
            self.unknown += 1;
            return;
        };
        self.oldest = Some(self.oldest.map_or(release, |oldest| oldest.min(release)));
        self.newest = Some(self.newest.map_or(release, |newest| newest.max(release)));
        if release < PROMPT {
            self.late += 1;
            self.late_names.add(node);
        } else {
            self.prompt.insert(node.to_owned());
        }
        self.gated += u64::from(release < BY_DEFAULT);
    }

    fn finding(&self) -> Finding {
        const CHECK: Check = Check::Kubelets;
        let nodes = count(self.nodes, "kubelet", "kubelets");
        let (Some(oldest), Some(newest)) = (self.oldest, self.newest) else {
            let why = match self.nodes {
                0 => "there are no nodes".to_owned(),
                _ => format!("{nodes}, none with a readable version"),
            };
            return Finding::skipped(CHECK, why);
        };
        let span = match oldest == newest {
            true => text_of(oldest),
            false => format!("{} to {}", text_of(oldest), text_of(newest)),
        };
        let finding = if self.late == 0 {
            let found = format!("{nodes} of {span} report the condition at once");
            Finding::ok(CHECK, found)
        } else {
            let gated = match self.gated {
                0 => String::new(),
                gated => format!("; {gated} of them, older than 1.29, only with a feature gate"),
            };
            let found = format!(
                "{} of {nodes} ({span}) are older than 1.36 and report the condition late: {}{gated}",
                self.late, self.late_names
            );
            Finding::note(CHECK, found).fix(UPPER_BOUND)
        };
        finding
            .detail("nodes", self.nodes)
            .detail("older_than_1_36", self.late)
            .detail("older_than_1_29", self.gated)
            .detail("unknown", self.unknown)
            .detail("oldest", text_of(oldest))
            .detail("newest", text_of(newest))
    }
}

const UPPER_BOUND: &str = "upgrade them, or read the stage network on their nodes as an upper \
                           bound: image pulls can delay its end";

/// The finding without a list of the nodes.
fn inferred(server: Option<KubernetesRelease>, failure: &ApiError) -> Finding {
    const CHECK: Check = Check::Kubelets;
    let why = match failure.kind {
        ApiErrorKind::Forbidden => {
            "listing nodes is not allowed (podinit does not need it)".to_owned()
        }
        _ => format!("nodes cannot be listed ({})", failure.detail),
    };
    match server {
        Some(server) if server < PROMPT => {
            let found = format!(
                "{why}; with an API server of {} all kubelets are older than 1.36 and report the \
                 condition late",
                text_of(server)
            );
            Finding::note(CHECK, found).fix(UPPER_BOUND)
        }
        Some(server) => {
            let found = format!(
                "{why}; with an API server of {} kubelets may still be older than 1.36",
                text_of(server)
            );
            Finding::skipped(CHECK, found)
        }
        None => Finding::skipped(CHECK, why),
    }
}

fn text_of((major, minor): KubernetesRelease) -> String {
    format!("{major}.{minor}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Severity;

    fn found(versions: &[&str]) -> (Severity, String) {
        let mut kubelets = KubeletCounts::default();
        for (index, version) in versions.iter().enumerate() {
            kubelets.add(&format!("node-{index}"), version);
        }
        let finding = kubelets.finding();
        (finding.severity, finding.found)
    }

    #[test]
    fn kubelets_older_than_1_36_are_named() {
        assert_eq!(
            found(&["v1.36.0", "v1.36.2"]),
            (Severity::Ok, "2 kubelets of 1.36 report the condition at once".to_owned())
        );
        let (severity, text) = found(&["v1.36.0", "v1.35.4", "v1.28.1"]);
        assert_eq!(severity, Severity::Note);
        for part in
            ["2 of 3 kubelets", "1.28 to 1.36", "node-1, node-2", "1 of them, older than 1.29"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(found(&[]).0, Severity::Skipped);
        assert_eq!(found(&["", "odd"]).0, Severity::Skipped);
    }

    #[test]
    fn without_nodes_the_api_servers_release_is_a_bound() {
        let forbidden = ApiError::new(ApiErrorKind::Forbidden, "no");
        let finding = |server| inferred(server, &forbidden).severity;
        assert_eq!(finding(Some((1, 35))), Severity::Note);
        assert_eq!(finding(Some((1, 36))), Severity::Skipped);
        assert_eq!(finding(None), Severity::Skipped);
    }
}
