//! `podinit doctor`: checks for what usually goes wrong between an exporter and its cluster, and
//! says how to fix it.
//!
//! It takes the options of `serve` and uses the same code as `serve`, so that both always agree: the
//! client and its configuration, the decoder, the parsers of the files, the index of label sets, the
//! binding of the port. It changes nothing: reviews are answered and not stored, the port is released
//! at once, and one watch is opened and closed.
//!
//! Each check is a file of its own and yields at least one finding ([`report`]). A check that depends
//! on one that failed is skipped, with a finding that says so.
//!
//! It knows what it checks: the exporter, what is plugged into one, rules, and the API of one that runs. It must not
//! know flags or how a command prints.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod api;
mod clock_offset;
mod cluster;
mod kubelets;
mod labels;
mod listen;
mod names;
mod network;
mod network_times;
mod own_series;
mod permissions;
mod pods;
pub mod report;
mod running;
mod sharding;
mod slo_file;
mod state_dir;
mod traces;
mod watch;
mod web_config;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::api::DoctorApi;
use self::cluster::FirstResponse;
use self::own_series::ExposedFamilies;
use self::permissions::ApiIdentity;
use self::pods::{ClusterPodCounts, RegistryCounts, WantedPods};
use self::report::{Check, Finding};
use podinit_connect::options::ClusterOptions;
use podinit_core::shard::Shard;
use podinit_decode::DecodeOptions;
use podinit_expo::metrics::{LabelConfig, LabelUsage, REGISTRY, SloDoc};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_oncall::api::client::AskError;
use podinit_oncall::problems::Problems;
use podinit_slo::SloFile;
use podinit_slo::file::EvidenceSources;
use podinit_traces::{OtlpSettings, SettingsError};

/// The options of an exporter, as far as they can go wrong.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// Which cluster
    pub cluster: ClusterOptions,
    /// The namespaces to watch
    pub scopes: Vec<PodScope>,
    /// Which of their pods
    pub selectors: PodSelectors,
    /// What the decoder reads of each pod, for the labels
    pub decode: DecodeOptions,
    /// The label set
    pub labels: LabelConfig,
    /// The SLO file, if one is given
    pub slo: Option<PathBuf>,
    /// The web configuration, if one is given
    pub web_config: Option<PathBuf>,
    /// The state directory, if one is given
    pub state_dir: Option<PathBuf>,
    /// The collector of traces, if one is named
    pub traces: Result<Option<OtlpSettings>, SettingsError>,
    /// Whether the API server is going to review bearer tokens (`--auth kubernetes`)
    pub tokens: bool,
    /// Whether Events are a source of evidence (`--evidence events`)
    pub events: bool,
    /// Whether nodes are (`--evidence nodes`)
    pub nodes: bool,
    /// The address to listen on
    pub listen: SocketAddr,
    /// How many pods are remembered at most
    pub max_pods: u64,
    /// The time for all checks together
    pub timeout: Duration,
}

/// The checks that send requests to the API server.
const BY_CLUSTER: [Check; 9] = [
    Check::Identity,
    Check::Permissions,
    Check::Pods,
    Check::Sharding,
    Check::Watch,
    Check::NetworkCondition,
    Check::Kubelets,
    Check::Clock,
    Check::Labels,
];

impl DoctorOptions {
    /// Makes every check in the order of [`Check::ALL`], and reports each finding at once.
    pub async fn examine(&self, mut report: impl FnMut(Finding)) {
        let ends = Instant::now() + self.timeout;
        let (finding, running) = listen::check(self.listen).await;
        report(finding);
        let sources = EvidenceSources { events: self.events, nodes: self.nodes };
        let (finding, slos) = slo_file::check(self.slo.as_deref(), sources);
        report(finding);
        let known = match running {
            true => timeout_at(ends, running::ask(self.listen)).await.ok(),
            false => None,
        };
        known.iter().flat_map(running::slos).for_each(&mut report);
        report(web_config::check(self.web_config.as_deref(), self.tokens));
        let shard = self.selectors.shard.unwrap_or_default();
        report(state_dir::check(self.state_dir.as_deref(), running, shard));
        let traces = timeout_at(ends, traces::check(&self.traces)).await;
        report(traces.unwrap_or_else(|_| {
            let found = "the collector did not answer within --timeout";
            Finding::warning(Check::Traces, found).fix("check the endpoint")
        }));
        let labels = LabelUsage::new(&self.labels);
        let labels = labels.map_err(|error| {
            Finding::error(Check::Labels, error.to_string()).fix("change --pod-label")
        });
        let connected = timeout_at(ends, async {
            let cluster = podinit_connect::connect(&self.cluster).await?;
            // A failure is found again, and reported, by the first request.
            let _ = cluster.obtain_credentials().await;
            Ok(cluster)
        });
        let connected = connected.await;
        let cluster = match connected {
            Ok(Ok(cluster)) => Ok(cluster),
            Ok(Err(error)) => Err(cluster::unusable(&error)),
            Err(_) => {
                let found = "the configuration could not be read within --timeout";
                Err(Finding::error(Check::Cluster, found).fix(
                    "check whether the credential plugin of the kubeconfig waits for something",
                ))
            }
        };
        let cluster = match cluster {
            Ok(cluster) => cluster,
            Err(finding) => {
                const WHY: &str = "there is no cluster to ask";
                report(finding);
                report(Finding::skipped(Check::ApiServer, WHY));
                return skip(&BY_CLUSTER, WHY, labels.err(), report);
            }
        };
        cluster::configured(&cluster).into_iter().for_each(&mut report);
        let api = DoctorApi::new(cluster, ends);
        self.ask(&api, (labels, slos.as_ref()), known, report).await;
    }

    /// The checks that need an API server.
    async fn ask(
        &self,
        api: &DoctorApi,
        (labels, slos): (Result<LabelUsage, Finding>, Option<&SloFile>),
        known: Option<Result<Problems, AskError>>,
        mut report: impl FnMut(Finding),
    ) {
        let (finding, reached) = cluster::reach(api).await;
        report(finding);
        let FirstResponse::Yes(release) = reached else {
            return skip(&BY_CLUSTER, "the API server does not answer", labels.err(), report);
        };
        let (finding, identity) = permissions::identify(api).await;
        report(finding);
        if matches!(identity, ApiIdentity::Rejected) {
            let rest = &BY_CLUSTER[1..];
            return skip(rest, "the credentials are not accepted", labels.err(), report);
        }
        let (findings, denied) =
            permissions::review(api, &self.scopes, self.tokens, &identity).await;
        findings.into_iter().for_each(&mut report);
        if self.events {
            let events = ("Events", "events");
            let missing = permissions::evidence(api, events, &self.scopes, &identity).await;
            missing.into_iter().for_each(&mut report);
        }
        if self.nodes {
            let (nodes, cluster) = (("nodes", "nodes"), [PodScope::Cluster]);
            let missing = permissions::evidence(api, nodes, &cluster, &identity).await;
            missing.into_iter().for_each(&mut report);
        }
        let (labels, unusable) = match labels {
            Ok(labels) => (Some(labels), None),
            Err(finding) => (None, Some(finding)),
        };
        let (kubelets, prompt) = kubelets::check(api, release).await;
        let registries = self.events.then(|| self.labels.cap_of(REGISTRY));
        let mut census = ClusterPodCounts::new(labels, prompt, registries);
        // All pods are the one shard of one: so the answer shows whether the API server shards.
        let asking = PodSelectors {
            shard: self.selectors.shard.or(Some(Shard::ALL)),
            ..self.selectors.clone()
        };
        let wanted = WantedPods {
            scopes: &self.scopes,
            selectors: &asking,
            decode: &self.decode,
            denied: &denied,
            max_pods: self.max_pods,
        };
        let findings = census.take(api, &wanted).await;
        findings.into_iter().for_each(&mut report);
        report(sharding::finding(&census, self.selectors.shard));
        report(watch::check(api, &self.selectors, &census.versions, &denied).await);
        report(census.network.finding());
        let times = census.network_times.finding(self.events);
        times.into_iter().for_each(&mut report);
        report(kubelets);
        report(api.offset().finding());
        known.iter().flat_map(running::clocks).for_each(&mut report);
        if let Some(labels) = &census.labels {
            let slos = slos.into_iter().flat_map(|file| &file.slos);
            let docs =
                slos.map(|slo| SloDoc::new(&slo.rule, slo.objective_ratio(), slo.window_seconds()));
            let exposed = ExposedFamilies {
                labels: self.labels.clone(),
                slos: docs.collect(),
                events: self.events,
                nodes: self.nodes,
                checkpoint: self.state_dir.is_some(),
                traces: matches!(self.traces, Ok(Some(_))),
            };
            let own = exposed.series().unwrap_or_default();
            let registries = census.registries.as_ref().map(RegistryCounts::count);
            let findings = labels::check(labels, registries, self.nodes, own, census.complete);
            findings.into_iter().for_each(&mut report);
        }
        unusable.into_iter().for_each(report);
    }
}

/// Reports checks as skipped. That a label set is invalid is known without a cluster.
fn skip(checks: &[Check], why: &str, labels: Option<Finding>, mut report: impl FnMut(Finding)) {
    let known = labels.is_some();
    for check in checks {
        if *check != Check::Labels || !known {
            report(Finding::skipped(*check, why));
        }
    }
    labels.into_iter().for_each(report);
}
