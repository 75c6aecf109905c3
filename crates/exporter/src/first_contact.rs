//! The start of an exporter in front of a real API server, which may not answer yet.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::api_server_wait::{FailedAttempt, WaitNews, until_it_answers};
use super::saving::ClusterRecovery;
use super::serving::AccountingPipeline;
use super::start::Exporter;
use podinit_http::AccessControl;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::probe::{ProbeResult, probe};

/// The deadline of the first request, which finds out whether the cluster can be watched.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// How many scopes are asked for at the same time.
const PROBES_AT_ONCE: usize = 8;

/// How many pods of each scope are requested to recognize the cluster of a checkpoint.
const IDENTITY_PODS: u32 = 100;

/// A start: from an exporter that is bound to its address to one that watches.
pub struct ExporterStart {
    /// The cluster that it watches
    pub cluster: ClusterClient,
    /// How long to wait for the API server
    pub limit: Option<Duration>,
    /// Spreads the attempts
    pub random: fastrand::Rng,
}

impl ExporterStart {
    /// Serves at once, reads the checkpoint, waits for the API server, restores the state, and watches until `shutdown`.
    ///
    /// # Errors
    /// When the checkpoint is that of another shard, the API server cannot be watched, or a task ends before the shutdown.
    pub async fn run(self, exporter: Exporter, shutdown: CancellationToken) -> anyhow::Result<()> {
        let Self { cluster, limit, random } = self;
        let serving = exporter.serve(&shutdown);
        if serving.has_checkpoint() {
            serving.pipeline.waits_for.set(Some("its checkpoint, which it reads".to_owned()));
        }
        let reading = serving.aside(&shutdown, AccountingPipeline::read_checkpoint);
        let Some((serving, read)) = reading.await? else { return Ok(()) };
        read?;
        let pods = if serving.has_checkpoint() { IDENTITY_PODS } else { 1 };
        serving.pipeline.waits_for.set(Some(format!("the API server at {}", cluster.server)));
        // A plugin may ask somebody, who needs longer than the limit. A failure is found again below.
        let obtained = serving.alive_while(cluster.obtain_credentials());
        if shutdown.run_until_cancelled(obtained).await.is_none() {
            return serving.end().await;
        }
        let attempt = || async {
            let first = FirstContact {
                cluster: cluster.clone(),
                access: Arc::clone(&serving.access),
                watch: serving.watch().clone(),
                pods,
            };
            let contact = first.on(&serving.pipeline.accounting_runtime).await;
            if let Err(failed) = &contact {
                serving.is_delayed(&format!("the API server: {:#}", failed.error));
            }
            contact
        };
        let answered = serving.alive_while(until_it_answers(attempt, limit, random, WaitNews::log));
        let Some(probed) = shutdown.run_until_cancelled(answered).await else {
            return serving.end().await;
        };
        let probed = probed?;
        let of = cluster.clone();
        let recover = move |pipeline: &mut AccountingPipeline| {
            pipeline.recover(&ClusterRecovery { cluster: &of, probed: &probed });
        };
        let recovering = serving.aside(&shutdown, recover);
        let Some((serving, ())) = recovering.await? else { return Ok(()) };
        tracing::info!(server = %cluster.server, origin = %cluster.origin, "watching pods");
        serving.watch_until(&cluster, shutdown).await
    }
}

/// The first requests to the API server.
struct FirstContact {
    cluster: ClusterClient,
    access: Arc<dyn AccessControl>,
    watch: WatchConfig,
    /// How many pods of each scope to return, at most
    pods: u32,
}

impl FirstContact {
    /// Makes it where the watches run, which go on with its connection: a connection stays on the runtime
    /// that opened it.
    async fn on(self, runtime: &Handle) -> Result<Vec<ProbeResult>, FailedAttempt> {
        let made = AbortOnDropHandle::new(runtime.spawn(self.run())).await;
        made.unwrap_or_else(|panic| {
            Err(FailedAttempt {
                error: panic.into(),
                state: "a panic",
                is_transient: false,
                retry_after: None,
            })
        })
    }

    /// Probes every scope. It is enough if one of them can be watched: the others may be some day. Also finds out
    /// whether access can be decided.
    async fn run(self) -> Result<Vec<ProbeResult>, FailedAttempt> {
        let Self { cluster, access, watch, pods } = &self;
        let mut probes = Vec::new();
        for scope in &watch.scopes {
            let probing = probe(cluster, scope, &watch.selectors, *pods, PROBE_DEADLINE);
            probes.push(probing);
        }
        let found = stream::iter(probes).buffered(PROBES_AT_ONCE);
        let found: Vec<_> = found.collect().await;
        let some_work = found.iter().any(Result::is_ok);
        let mut probed = Vec::new();
        for (scope, found) in watch.scopes.iter().zip(found) {
            probed.push(match found {
                Ok(found) => found,
                Err(error) if some_work && error.is_transient() => {
                    tracing::warn!(
                        "{error}; podinit watches the others and asks again for the {scope}"
                    );
                    ProbeResult::default()
                }
                Err(error) => {
                    return Err(FailedAttempt {
                        state: error.state(),
                        is_transient: error.is_transient(),
                        retry_after: error.retry_after(),
                        error: error.into(),
                    });
                }
            });
        }
        match access.check().await {
            Ok(()) => {}
            // An administrator can grant it meanwhile.
            Err(error) if error.is_lasting => {
                return Err(FailedAttempt {
                    state: "no right to review tokens",
                    is_transient: true,
                    retry_after: None,
                    error: error.into(),
                });
            }
            Err(error) => tracing::warn!("{error}; refusing bearer tokens until it does"),
        }
        Ok(probed)
    }
}

#[cfg(test)]
#[path = "first_contact_tests.rs"]
mod tests;
