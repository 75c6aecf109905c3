//! The exporter from the moment when it answers requests: it waits for the API server, and then watches.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::evidence::EvidenceWatches;
use super::ingest::{INGEST_DEADLINE, IngestTask};
use super::reload::ReloadTask;
use super::saving::{ClusterRecovery, RestoredParts, StateCheckpoint};
use super::scrapes::ScrapeSource;
use super::slos::SloReload;
use super::tasks::NamedTasks;
use crate::process::signals::ReloadSignal;
use crate::traces::TraceSender;
use crate::views::WaitsFor;
use podinit_checkpoint::OpenError;
use podinit_core::lifecycle::{Delivery, TrackerConfig};
use podinit_http::{AccessControl, Heartbeat, ProcessHealth};
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::stats::WatchStats;
use podinit_kube::watch::{self, WatchConfig};

/// How long the reload of the SLO file may be silent. It polls every few seconds, and may have to
/// wait for the ingest task.
const SLO_FILE_DEADLINE: Duration = Duration::from_secs(90);

/// An exporter that answers requests and has not begun to watch.
pub(crate) struct ServingExporter {
    pub(crate) tasks: NamedTasks,
    /// Cancelled when the server has ended
    pub(crate) served: CancellationToken,
    /// Who may ask
    pub(crate) access: Arc<dyn AccessControl>,
    pub(crate) pipeline: AccountingPipeline,
}

/// What watches and accounts, from the API server to what scrapes show.
pub(crate) struct AccountingPipeline {
    pub(crate) health: ProcessHealth,
    pub(crate) stats: Arc<WatchStats>,
    pub(crate) waits_for: Arc<WaitsFor>,
    pub(crate) ingest: IngestTask,
    pub(crate) deliveries: mpsc::Sender<Delivery>,
    pub(crate) evidence: EvidenceWatches,
    pub(crate) watch: WatchConfig,
    pub(crate) clock: Arc<dyn DeliveryClock>,
    /// Where it watches and accounts
    pub(crate) accounting_runtime: Handle,
    /// When the files are to be read again
    pub(crate) reload: ReloadSignal,
    pub(crate) slo_reload: Option<ReloadTask<SloReload>>,
    pub(crate) checkpoint: Option<StateCheckpoint>,
    pub(crate) accounting: TrackerConfig,
    pub(crate) scrapes: Arc<ScrapeSource>,
    /// Sends traces, if there is a collector
    pub(crate) trace_sender: Option<TraceSender>,
}

impl ServingExporter {
    /// What it is going to watch.
    pub(crate) fn watch(&self) -> &WatchConfig {
        &self.pipeline.watch
    }

    /// Whether there is a checkpoint to restore.
    pub(crate) fn has_checkpoint(&self) -> bool {
        self.pipeline.checkpoint.is_some()
    }

    /// Waits for something before the ingest task begins, and shows that this process is alive.
    pub(crate) async fn alive_while<T>(&self, waiting: impl Future<Output = T>) -> T {
        alive_while(&self.pipeline.ingest.heartbeat, waiting).await
    }

    /// The API server does not answer, by this line of `why`: what a checkpoint may restore will be there later.
    pub(crate) fn is_delayed(&self, why: &str) {
        self.pipeline.waits_for.set(Some(why.to_owned()));
        self.pipeline.scrapes.state_is_delayed();
    }

    /// Works on what accounts, beside the tasks that serve, and shows meanwhile that this process is alive. `None` after
    /// a shutdown, which ends the process while that is still at work.
    pub(crate) async fn aside<T: Send + 'static>(
        self,
        shutdown: &CancellationToken,
        work: impl FnOnce(&mut AccountingPipeline) -> T + Send + 'static,
    ) -> anyhow::Result<Option<(Self, T)>> {
        let Self { tasks, served, access, mut pipeline } = self;
        // Another stands in for the one that beats here.
        let idle = ProcessHealth::new().register_task("idle", INGEST_DEADLINE);
        let heartbeat = std::mem::replace(&mut pipeline.ingest.heartbeat, idle);
        let working = tokio::task::spawn_blocking(move || {
            let done = work(&mut pipeline);
            (pipeline, done)
        });
        let working = shutdown.run_until_cancelled(alive_while(&heartbeat, working));
        match working.await {
            Some(done) => {
                let (mut pipeline, done) = done.context("the state cannot be restored")?;
                pipeline.ingest.heartbeat = heartbeat;
                Ok(Some((Self { tasks, served, access, pipeline }, done)))
            }
            None => {
                heartbeat.finish();
                tasks.run(JoinSet::new()).await.map(|()| None)
            }
        }
    }

    /// Ends without having watched, at a shutdown.
    pub(crate) async fn end(self) -> anyhow::Result<()> {
        self.pipeline.ingest.heartbeat.finish();
        self.tasks.run(JoinSet::new()).await
    }

    /// Watches `cluster` until `shutdown`.
    ///
    /// # Errors
    /// Those of [`run`](super::start::Exporter::run).
    pub(crate) async fn watch_until(
        self,
        cluster: &ClusterClient,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        let Self { mut tasks, served, pipeline, .. } = self;
        // Kept until the end. If it were not, and a watch failed, the ingest task would end too, and
        // could be reported in place of the watch.
        let deliveries = pipeline.deliveries;
        let watches = {
            let _on = pipeline.accounting_runtime.enter();
            let (client, config) = (&cluster.client, &pipeline.watch);
            let (clock, stats) = (pipeline.clock, &pipeline.stats);
            let mut watches = watch::spawn(client, config, clock, stats, &deliveries, &shutdown);
            pipeline.evidence.spawn(client, config, &shutdown, &mut watches);
            watches
        };
        let accounted = CancellationToken::new();
        if let Some(send) = pipeline.trace_sender {
            tasks.spawn("the exporter of traces", send(accounted.clone()));
        }
        let ends = (served, accounted);
        let accounting = (&pipeline.accounting_runtime, pipeline.ingest);
        spawn_accounting(&mut tasks, ends, pipeline.checkpoint, accounting)?;
        if let Some(reload) = pipeline.slo_reload {
            let heartbeat = pipeline.health.register_task("slo-file", SLO_FILE_DEADLINE);
            let reload = reload.run(shutdown, heartbeat, pipeline.reload);
            tasks.spawn("the reload of the SLO file", reload);
        }
        tasks.run(watches).await?;
        tracing::info!("podinit has ended");
        Ok(())
    }
}

impl AccountingPipeline {
    /// Reads the checkpoint, if there is to be one.
    ///
    /// # Errors
    /// When it is that of another shard.
    pub(crate) fn read_checkpoint(&mut self) -> Result<(), OpenError> {
        self.checkpoint.as_mut().map_or(Ok(()), StateCheckpoint::read)
    }

    /// Restores what an earlier process has left in the checkpoint, which has been read.
    pub(crate) fn recover(&mut self, from: &ClusterRecovery<'_>) {
        let Self { ingest, watch, checkpoint, accounting, scrapes, waits_for, .. } = self;
        let probed = from.probed.iter();
        watch.server_shards = probed.clone().map(|probed| probed.sharded).collect();
        watch.stated = probed.map(|probed| probed.version.clone()).collect();
        if let Some(checkpoint) = checkpoint {
            let parts = RestoredParts {
                tracker: &mut ingest.tracker,
                config: accounting.clone(),
                sink: &mut ingest.sink,
                snapshots: &mut ingest.snapshots,
                watch,
            };
            checkpoint.recover(from, parts);
        }
        scrapes.state_is_restored();
        waits_for.set(None);
    }
}

/// Waits for something, with a heart that beats.
async fn alive_while<T>(heartbeat: &Heartbeat, waiting: impl Future<Output = T>) -> T {
    let mut beat = tokio::time::interval(INGEST_DEADLINE / 4);
    let mut waiting = std::pin::pin!(waiting);
    loop {
        tokio::select! {
            ended = &mut waiting => return ended,
            _ = beat.tick() => heartbeat.beat(),
        }
    }
}

/// Starts the checkpoint and the ingest task, which end in this order, after the server (`served`): the
/// last commit then holds all that was ever shown, and it still finds the ingest task, which it asks.
/// `accounted` is cancelled when the ingest task has ended.
fn spawn_accounting(
    tasks: &mut NamedTasks,
    (served, accounted): (CancellationToken, CancellationToken),
    checkpoint: Option<StateCheckpoint>,
    (runtime, ingest): (&Handle, IngestTask),
) -> anyhow::Result<()> {
    let mut ingest_stop = served;
    if let Some(committer) = checkpoint.map(StateCheckpoint::committer).transpose()? {
        let served = std::mem::take(&mut ingest_stop);
        let committed = ingest_stop.clone();
        tasks.spawn("the checkpoint", async move {
            committer.run(served).await;
            committed.cancel();
        });
    }
    tasks.spawn_on(runtime, "the ingest task", async move {
        ingest.run(ingest_stop).await;
        accounted.cancel();
    });
    Ok(())
}
