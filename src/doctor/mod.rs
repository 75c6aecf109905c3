//! `podinit doctor`: looks for what usually goes wrong between an exporter and its cluster, and
//! says how to mend it.
//!
//! It is given what `serve` is given, and uses the parts that `serve` uses, so that it cannot be of
//! another opinion than they: the client and its configuration, the decoder, the
//! parsers of the files, the index of label sets, the binding of the port. It changes nothing: reviews are
//! answered and not stored, the port is let go of at once, and one watch is opened and closed.
//!
//! Each check yields findings ([`report`]), at least one, and is a file of its own. What depends on
//! a check that failed is skipped, and says so.

mod api;
mod check;
mod clock;
mod cluster;
mod identity;
mod kubelets;
mod labels;
mod listen;
mod names;
mod network;
mod permissions;
mod pods;
pub mod report;
mod slo;
mod state;
pub mod text;
mod watch;
mod web;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::api::Api;
use self::cluster::Reached;
use self::identity::Identity;
use self::pods::{Census, Wanted};
use self::report::{Check, Finding};
use crate::cluster::client;
use crate::cluster::options::ClusterOptions;
use crate::decode::DecodeOptions;
use crate::metrics::{LabelCensus, LabelConfig, SloDoc};
use crate::slo::SloFile;
use crate::watch::requests::{Scope, Selectors};

/// What an exporter is to do, as far as it can go wrong.
#[derive(Clone, Debug)]
pub struct Doctor {
    /// Which cluster
    pub cluster: ClusterOptions,
    /// Which of its pods
    pub scopes: Vec<Scope>,
    /// Which of those
    pub selectors: Selectors,
    /// What the labels need of each pod
    pub decode: DecodeOptions,
    /// The label set
    pub labels: LabelConfig,
    /// The SLO file, if one is given
    pub slo: Option<PathBuf>,
    /// The web configuration, if one is given
    pub web_config: Option<PathBuf>,
    /// The state directory, if one is given
    pub state_dir: Option<PathBuf>,
    /// Whether bearer tokens are going to be judged by the API server
    pub tokens: bool,
    /// The address to listen on
    pub listen: SocketAddr,
    /// The most pods that are remembered
    pub max_pods: u64,
    /// How long everything together may take
    pub timeout: Duration,
}

/// The checks that ask the API server.
const BY_CLUSTER: [Check; 8] = [
    Check::Identity,
    Check::Permissions,
    Check::Pods,
    Check::Watch,
    Check::NetworkCondition,
    Check::Kubelets,
    Check::Clock,
    Check::Labels,
];

impl Doctor {
    /// Makes every check in the order of [`Check::ALL`], and tells each finding as it is made.
    pub async fn examine(&self, mut tell: impl FnMut(Finding)) {
        let ends = Instant::now() + self.timeout;
        let (finding, running) = listen::check(self.listen).await;
        tell(finding);
        let (finding, slos) = slo::check(self.slo.as_deref());
        tell(finding);
        tell(web::check(self.web_config.as_deref(), self.tokens));
        tell(state::check(self.state_dir.as_deref(), running));
        let labels = LabelCensus::new(&self.labels);
        let labels = labels.map_err(|error| {
            Finding::error(Check::Labels, error.to_string()).mend("change --pod-label")
        });
        let connected = timeout_at(ends, client::connect(&self.cluster)).await;
        let cluster = match connected {
            Ok(Ok(cluster)) => cluster,
            Ok(Err(error)) => {
                tell(cluster::unusable(&error));
                tell(Finding::skipped(
                    Check::ApiServer,
                    "there is no cluster to ask",
                ));
                return skip(
                    &BY_CLUSTER,
                    "there is no cluster to ask",
                    labels.err(),
                    tell,
                );
            }
            Err(_) => {
                let found = "the configuration could not be read in the time of --timeout";
                tell(Finding::error(Check::Cluster, found).mend(
                    "see whether the credential plugin of the kubeconfig waits for something",
                ));
                tell(Finding::skipped(
                    Check::ApiServer,
                    "there is no cluster to ask",
                ));
                return skip(
                    &BY_CLUSTER,
                    "there is no cluster to ask",
                    labels.err(),
                    tell,
                );
            }
        };
        cluster::configured(&cluster)
            .into_iter()
            .for_each(&mut tell);
        let api = Api::new(cluster, ends);
        self.ask(&api, labels, slos.as_ref(), tell).await;
    }

    /// The checks that take an API server.
    async fn ask(
        &self,
        api: &Api,
        labels: Result<LabelCensus, Finding>,
        slos: Option<&SloFile>,
        mut tell: impl FnMut(Finding),
    ) {
        let (finding, reached) = cluster::reach(api).await;
        tell(finding);
        let Reached::Yes(release) = reached else {
            return skip(
                &BY_CLUSTER,
                "the API server is not to be talked to",
                labels.err(),
                tell,
            );
        };
        let (finding, identity) = identity::identify(api).await;
        tell(finding);
        if matches!(identity, Identity::Rejected) {
            let rest = &BY_CLUSTER[1..];
            return skip(rest, "the credentials are not accepted", labels.err(), tell);
        }
        let (findings, denied) =
            permissions::review(api, &self.scopes, self.tokens, &identity).await;
        findings.into_iter().for_each(&mut tell);
        let (labels, unusable) = match labels {
            Ok(labels) => (Some(labels), None),
            Err(finding) => (None, Some(finding)),
        };
        let mut census = Census::new(labels);
        let wanted = Wanted {
            scopes: &self.scopes,
            selectors: &self.selectors,
            decode: &self.decode,
            denied: &denied,
            max_pods: self.max_pods,
        };
        let findings = census.take(api, &wanted).await;
        findings.into_iter().for_each(&mut tell);
        tell(watch::check(api, &self.selectors, &census.versions, &denied).await);
        tell(census.network.finding());
        tell(kubelets::check(api, release).await);
        tell(api.offset().finding());
        if let Some(labels) = &census.labels {
            let fixed = labels::series_without_pods(&self.labels, docs(slos));
            let fixed = fixed.unwrap_or_default();
            let findings = labels::check(labels, fixed, census.complete);
            findings.into_iter().for_each(&mut tell);
        }
        unusable.into_iter().for_each(tell);
    }
}

/// Tells that checks cannot be made. A label set that cannot be is known without a cluster.
fn skip(checks: &[Check], why: &str, labels: Option<Finding>, mut tell: impl FnMut(Finding)) {
    let known = labels.is_some();
    for check in checks {
        if *check != Check::Labels || !known {
            tell(Finding::skipped(*check, why));
        }
    }
    labels.into_iter().for_each(tell);
}

/// The SLOs as the metrics show them.
fn docs(slos: Option<&SloFile>) -> Vec<SloDoc> {
    let slos = slos.map_or(&[][..], |file| &file.slos);
    slos.iter().map(SloDoc::from).collect()
}
