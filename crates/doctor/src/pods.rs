//! Lists all pods that would be watched, page by page, and counts what this and other checks need.
//! And from how many registries their images come: each has series of its own where Events are a source of evidence.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::api::DoctorApi;
use super::kubelets::PromptNodes;
use super::names::FirstNames;
use super::network::NetworkConditions;
use super::network_times::NetworkTimes;
use super::permissions::{ApiVerb, DeniedAccess};
use super::report::{Check, Finding};
use podinit_core::image_registry;
use podinit_core::pod::{PodInfo, PodSnapshot};
use podinit_decode::{DecodeOptions, PodDecoder};
use podinit_expo::metrics::LabelUsage;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::watch::pages::PageEnd;
use podinit_kube::watch::requests::{PodScope, PodSelectors, RequestBuilder};
use podinit_text::words::count;

/// Pods in a page, as `serve` requests them.
const PAGE: u32 = 500;

/// What to list.
pub(super) struct WantedPods<'a> {
    pub(super) scopes: &'a [PodScope],
    pub(super) selectors: &'a PodSelectors,
    pub(super) decode: &'a DecodeOptions,
    pub(super) denied: &'a DeniedAccess,
    pub(super) max_pods: u64,
}

/// What was counted.
pub(super) struct ClusterPodCounts {
    /// Whether every allowed list was read to its end
    pub(super) complete: bool,
    pub(super) pods: u64,
    /// Whether all lists were answered by API servers that shard; `None` without a list
    pub(super) sharded: Option<bool>,
    pub(super) network: NetworkConditions,
    pub(super) network_times: NetworkTimes,
    pub(super) labels: Option<LabelUsage>,
    /// Those of the pods' images, where Events are a source of evidence
    pub(super) registries: Option<RegistryCounts>,
    /// The resource version of each list, from which a watch can start
    pub(super) versions: Vec<(PodScope, String)>,
    pages: u64,
    undecodable: u64,
    empty: Vec<PodScope>,
    took: Duration,
}

impl ClusterPodCounts {
    /// `max_registries` is the cap on registries, where Events are a source of evidence.
    pub(super) fn new(
        labels: Option<LabelUsage>,
        prompt: PromptNodes,
        max_registries: Option<usize>,
    ) -> Self {
        Self {
            complete: true,
            pods: 0,
            sharded: None,
            network: NetworkConditions::default(),
            network_times: NetworkTimes::new(prompt),
            labels,
            registries: max_registries.map(RegistryCounts::new),
            versions: Vec::new(),
            pages: 0,
            undecodable: 0,
            empty: Vec::new(),
            took: Duration::ZERO,
        }
    }

    /// Lists what is wanted and allowed, and returns the findings.
    pub(super) async fn take(&mut self, api: &DoctorApi, wanted: &WantedPods<'_>) -> Vec<Finding> {
        const CHECK: Check = Check::Pods;
        let began = Instant::now();
        let mut findings = Vec::new();
        let allowed = |scope: &&PodScope| !wanted.denied.covers(scope, ApiVerb::List);
        let scopes: Vec<&PodScope> = wanted.scopes.iter().filter(allowed).collect();
        for scope in &scopes {
            let before = self.pods;
            if let Err(failure) = self.list(api, scope, wanted).await {
                self.complete = false;
                let listed = self.pods - before;
                findings.push(refused(scope, listed, &failure));
                // Further namespaces would not be answered either.
                if matches!(failure.kind, ApiErrorKind::Transport | ApiErrorKind::Timeout) {
                    break;
                }
            } else if self.pods == before {
                self.empty.push((*scope).clone());
            }
        }
        self.took = began.elapsed();
        if scopes.is_empty() {
            return vec![Finding::skipped(CHECK, "listing pods is not allowed")];
        }
        if self.pods > 0 || self.complete {
            findings.push(self.counted(wanted.selectors));
        }
        if self.pods > wanted.max_pods {
            let found = format!(
                "{} pods are more than --max-pods={}: not all of them could be tracked",
                self.pods, wanted.max_pods
            );
            findings.push(
                Finding::warning(CHECK, found)
                    .fix("raise --max-pods, or watch fewer with --namespace or a selector"),
            );
        }
        if self.undecodable > 0 {
            let objects = count(self.undecodable, "object", "objects");
            let found = format!("{objects} cannot be decoded as pods");
            findings.push(Finding::warning(CHECK, found).fix(
                "check whether what answers is a Kubernetes API server; if it is, please report this",
            ));
        }
        findings
    }

    fn counted(&self, selectors: &PodSelectors) -> Finding {
        const CHECK: Check = Check::Pods;
        let pods = count(self.pods, "pod", "pods");
        let pages = count(self.pages, "page", "pages");
        let text = format!("{pods} in {pages}, {:.1} s", self.took.as_secs_f64());
        let selective = selectors.label.is_some() || selectors.field.is_some();
        let empty: FirstNames = self.empty.iter().filter_map(namespace).collect();
        let finding = match (self.pods, selective) {
            (0, true) => Finding::warning(CHECK, "no pod matches the selectors")
                .fix("check --label-selector, --field-selector and --namespace"),
            (0, false) if !empty.is_empty() => {
                Finding::warning(CHECK, format!("there are no pods in {empty}"))
                    .fix("check --namespace: a namespace that does not exist has no pods either")
            }
            (0, false) => Finding::warning(CHECK, "there are no pods in the cluster")
                .fix("check that this is the cluster you mean"),
            _ if !empty.is_empty() => {
                Finding::warning(CHECK, format!("{text}; none of them in {empty}"))
                    .fix("check --namespace: a namespace that does not exist has no pods either")
            }
            _ => Finding::ok(CHECK, text),
        };
        finding.detail("pods", self.pods).detail("complete", self.complete)
    }

    async fn list(
        &mut self,
        api: &DoctorApi,
        scope: &PodScope,
        wanted: &WantedPods<'_>,
    ) -> Result<(), ApiError> {
        let requests = RequestBuilder::new(scope, wanted.selectors);
        let mut decoder = PodDecoder::new(DecodeOptions {
            // To name the nodes whose pods lack something.
            node: true,
            images: self.registries.is_some(),
            ..wanted.decode.clone()
        })
        .of_shard(wanted.selectors.shard);
        let mut version = None;
        let read = |body: &[u8]| {
            let page = decoder.list_page(body).map_err(ApiError::malformed)?;
            self.pages += 1;
            self.sharded = Some(page.sharded && self.sharded != Some(false));
            self.undecodable += page.undecodable;
            page.pods.iter().for_each(|pod| self.add(pod));
            let objects = page.objects();
            version = page.resource_version;
            let next = page.continue_token;
            Ok(PageEnd { next, objects })
        };
        api.list(&requests, PAGE, read).await?;
        self.versions.push((scope.clone(), version.unwrap_or_default()));
        Ok(())
    }

    fn add(&mut self, pod: &PodSnapshot) {
        self.pods += 1;
        self.network.add(pod);
        self.network_times.add(pod);
        if let Some(labels) = &mut self.labels {
            labels.add(pod);
        }
        if let Some(registries) = &mut self.registries {
            registries.add(&pod.info);
        }
    }
}

fn namespace(scope: &PodScope) -> Option<&str> {
    match scope {
        PodScope::Cluster => None,
        PodScope::Namespace(name) => Some(name),
    }
}

/// A list that failed after `listed` pods.
fn refused(scope: &PodScope, listed: u64, failure: &ApiError) -> Finding {
    const CHECK: Check = Check::Pods;
    let why = &failure.detail;
    let fix = match failure.kind {
        ApiErrorKind::Forbidden => "grant the verbs list and watch on pods (deploy/base/rbac.yaml)",
        ApiErrorKind::Rejected => "check the syntax of --label-selector and --field-selector",
        ApiErrorKind::Timeout => "raise --timeout, or find out why the API server takes so long",
        ApiErrorKind::Gone => {
            "the list took so long that it expired: find out why the API server is slow"
        }
        _ => "check the API server's log, or try again",
    };
    if listed == 0 {
        let found = format!("{scope} cannot be listed: {why}");
        return Finding::error(CHECK, found).fix(fix);
    }
    let found = format!("the list of {scope} failed after {listed}: {why}; the rest is unknown");
    Finding::warning(CHECK, found).fix(fix)
}

/// Registries up to a cap, and one more for all past it, as the exporter counts them.
#[derive(Debug)]
pub(super) struct RegistryCounts {
    most: usize,
    names: HashSet<String>,
}

impl RegistryCounts {
    /// None yet, of at most `cap` that are told apart.
    pub(super) fn new(cap: usize) -> Self {
        Self { most: cap.saturating_add(1), names: HashSet::new() }
    }

    /// Takes the images of a pod in.
    pub(super) fn add(&mut self, pod: &PodInfo) {
        for image in pod.images.iter().flat_map(|images| images.iter()) {
            let registry = image_registry::registry_of(image);
            if self.names.len() < self.most && !self.names.contains(registry) {
                self.names.insert(registry.to_owned());
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn registries_past_the_cap_count_as_one() {
        let mut registries = RegistryCounts::new(2);
        for image in ["nginx", "docker.io/nginx:2", "a.example/x", "b.example/x", "c.example/x"] {
            let pod =
                PodInfo { images: Some(Arc::new(vec![Arc::from(image)])), ..PodInfo::default() };
            registries.add(&pod);
        }
        assert_eq!(registries.count(), 3);
    }
}
