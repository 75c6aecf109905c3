//! What others show of a running exporter, and the tasks that they add to it.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::freshness::FreshnessSource;
use super::records::RecordsClient;
use podinit_expo::metrics::{Exposition, ProblemPods};
use podinit_http::Health;
use podinit_kube::cluster::clock::Clock;

/// What a view of an exporter is made of.
#[derive(Clone)]
pub struct Views {
    /// What the reader calls the cluster
    pub cluster: Option<String>,
    /// The keys of the chosen pod labels
    pub label_keys: Vec<String>,
    /// Asks for the records of startups
    pub records: RecordsClient,
    /// How far they can be trusted
    pub freshness: Arc<FreshnessSource>,
    /// What it has measured
    pub exposition: Arc<Exposition>,
    /// What the probes say
    pub health: Health,
    /// Its clock
    pub clock: Arc<dyn Clock>,
    /// The metric of the problems that somebody finds
    pub problem_pods: Arc<ProblemPods>,
}

/// A task that an exporter runs for somebody, from the moment when it answers requests until the shutdown.
pub(crate) struct AddedTask {
    pub(crate) name: &'static str,
    pub(crate) runtime: Handle,
    pub(crate) run: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, ()> + Send>,
}
