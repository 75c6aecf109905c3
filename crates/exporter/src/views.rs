//! What others show of a running exporter, and the tasks that they add to it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use podinit_core::shard::Shard;
use podinit_expo::metrics::{Exposition, ProblemPods, StuckRollouts};
use podinit_http::{MetricsPath, ProcessHealth};
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::stats::WatchStats;

/// What a view of an exporter is made of.
#[derive(Clone)]
pub struct ExporterViews {
    /// Where metrics are scraped
    pub metrics_path: MetricsPath,
    /// What the reader calls the cluster
    pub cluster: Option<String>,
    /// The keys of the chosen pod labels
    pub label_keys: Vec<String>,
    /// The list-watches
    pub stats: Arc<WatchStats>,
    /// Which pods it sees; `None` for all
    pub shard: Option<Shard>,
    /// Whether it has seen a pod start from its beginning
    pub saw_new: Arc<AtomicBool>,
    /// What it waits for before its watches begin
    pub waits_for: Arc<WaitsFor>,
    /// What it has measured
    pub exposition: Arc<Exposition>,
    /// What the probes say
    pub health: ProcessHealth,
    /// Its clock
    pub clock: Arc<dyn DeliveryClock>,
    /// The metric of the problems that somebody finds
    pub problem_pods: Arc<ProblemPods>,
    /// The metric of the rollouts that are stuck
    pub stuck_rollouts: Arc<StuckRollouts>,
}

/// What an exporter waits for before its watches begin, in one line; nothing once they have.
#[derive(Debug, Default)]
pub struct WaitsFor(Mutex<Option<String>>);

impl WaitsFor {
    /// Says what.
    pub fn set(&self, what: Option<String>) {
        *self.0.lock() = what;
    }

    /// What was said last.
    pub fn what(&self) -> Option<String> {
        self.0.lock().clone()
    }
}

/// A task that an exporter runs for somebody, from the moment when it answers requests until the shutdown.
pub(crate) struct AddedTask {
    pub(crate) name: &'static str,
    pub(crate) runtime: Handle,
    pub(crate) run: Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, ()> + Send>,
}
