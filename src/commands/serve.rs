//! `podinit serve`: the exporter of a real cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::stream::{self, StreamExt};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::args::{AuthArgs, AuthMode, ServeArgs};
use crate::exporter::accounting_thread;
use crate::exporter::api_server_wait::{FailedAttempt, until_it_answers};
use crate::exporter::own_thread::OwnThread;
use crate::exporter::saving::{Checkpoint, Recovery};
use crate::exporter::start::{Exporter, ServeOnly};
use crate::inspect::live;
use crate::process::signals;
use podinit_http::access::kubernetes::Kubernetes;
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::cluster::client::{self, Cluster};
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::probe::{Probed, probe};
use podinit_kube::watch::requests::{Scope, Selectors};

/// The deadline of the first request, which finds out whether the cluster can be watched.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// How many scopes are asked for at the same time.
const PROBES_AT_ONCE: usize = 8;

/// How long a start outside of a cluster waits for the API server, where nothing else is chosen:
/// somebody at a terminal wants to know.
const TERMINAL_LIMIT: Duration = Duration::from_secs(10);

/// How many pods of each scope are requested to recognize the cluster of a checkpoint.
const IDENTITY_PODS: u32 = 100;

/// Watches a cluster until a signal ends it.
pub(super) async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let (shutdown, reload) = signals::of_service().context("cannot listen for signals")?;
    let watch = watch_config(&args);
    let checkpoint = args
        .state_dir
        .as_deref()
        .map(|dir| Checkpoint::open(dir, args.exporter.sharding.shard.unwrap_or_default()))
        .transpose()?;
    let serve_only = ServeOnly { tokens: args.auth.auth == AuthMode::Kubernetes, checkpoint };
    let clock = Arc::new(ApiServerClock::from_machine());
    let accounting = accounting_thread::start().context("cannot start the accounting thread")?;
    let finding = OwnThread::of_problems().context("cannot start the thread of the problems")?;
    let exporter = Exporter::bind(args.exporter.config(), serve_only, watch, clock.clone())?
        .accounting_on(accounting.handle())
        .reloading_on(reload);
    let (exporter, _) = live::show(exporter, finding.handle());
    let options = args.cluster.connection.options();
    let cluster = client::connect(&options).await?.observing_dates(clock);
    let tokens = token_review(&cluster, &args.auth)?;
    let start = Start {
        cluster,
        tokens,
        limit: limit(args.connect_timeout, is_in_cluster()),
        random: fastrand::Rng::new(),
    };
    start.run(exporter, shutdown).await
}

/// How long to wait for the API server; `None` is without end.
fn limit(chosen: Option<Duration>, is_in_cluster: bool) -> Option<Duration> {
    match chosen {
        Some(Duration::ZERO) => None,
        None if is_in_cluster => None,
        None => Some(TERMINAL_LIMIT),
        Some(limit) => Some(limit),
    }
}

/// Whether this runs in a pod: the kubelet sets this variable for every container.
fn is_in_cluster() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

fn watch_config(args: &ServeArgs) -> WatchConfig {
    let ServeArgs { cluster, exporter, .. } = args;
    let interval = args.reconcile_interval;
    WatchConfig {
        reflector: ReflectorConfig {
            encoding: cluster.api_encoding.into(),
            lists: cluster.lists(),
            reconcile_interval: (!interval.is_zero()).then_some(interval),
            ..ReflectorConfig::default()
        },
        scopes: Scope::of_namespaces(&cluster.namespaces.chosen()),
        selectors: Selectors {
            shard: exporter.sharding.shard,
            ..cluster.selectors.clone().selectors()
        },
        decode: exporter.labels.config().decode_options(),
        ..WatchConfig::default()
    }
}

/// The review of bearer tokens, if it is enabled.
fn token_review(cluster: &Cluster, auth: &AuthArgs) -> anyhow::Result<Option<Kubernetes>> {
    Ok(match auth.auth {
        AuthMode::None => None,
        AuthMode::Kubernetes => Some(Kubernetes::new(cluster, auth.audiences())?),
    })
}

/// A start: from an exporter that is bound to its address to one that watches.
struct Start {
    cluster: Cluster,
    tokens: Option<Kubernetes>,
    /// How long to wait for the API server
    limit: Option<Duration>,
    random: fastrand::Rng,
}

impl Start {
    /// Serves at once, waits for the API server, restores the state, and watches until `shutdown`.
    async fn run(self, exporter: Exporter, shutdown: CancellationToken) -> anyhow::Result<()> {
        let Self { cluster, tokens, limit, random } = self;
        let mut serving = exporter.serve(tokens.clone(), &shutdown)?;
        let pods = if serving.has_checkpoint() { IDENTITY_PODS } else { 1 };
        serving.pipeline.freshness.waits_for(Some(format!("the API server at {}", cluster.server)));
        // A plugin may ask somebody, who needs longer than the limit. A failure is found again below.
        let obtained = serving.alive_while(cluster.obtain_credentials());
        if shutdown.run_until_cancelled(obtained).await.is_none() {
            return serving.end().await;
        }
        let attempt = || async {
            let first = FirstContact {
                cluster: cluster.clone(),
                tokens: tokens.clone(),
                watch: serving.watch().clone(),
                pods,
            };
            let contact = first.on(&serving.pipeline.accounting_runtime).await;
            if let Err(failed) = &contact {
                serving.is_delayed(&format!("the API server: {:#}", failed.error));
            }
            contact
        };
        let answered = serving.alive_while(until_it_answers(attempt, limit, random));
        let Some(probed) = shutdown.run_until_cancelled(answered).await else {
            return serving.end().await;
        };
        let probed = probed?;
        serving.recover(&Recovery { cluster: &cluster, probed: &probed });
        tracing::info!(server = %cluster.server, origin = %cluster.origin, "watching pods");
        serving.watch_until(&cluster, shutdown).await
    }
}

/// The first requests to the API server.
struct FirstContact {
    cluster: Cluster,
    tokens: Option<Kubernetes>,
    watch: WatchConfig,
    /// How many pods of each scope to return, at most
    pods: u32,
}

impl FirstContact {
    /// Makes it where the watches run, which go on with its connection: a connection stays on the runtime
    /// that opened it.
    async fn on(self, runtime: &Handle) -> Result<Vec<Probed>, FailedAttempt> {
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
    /// whether bearer tokens can be reviewed, if they are to be.
    async fn run(self) -> Result<Vec<Probed>, FailedAttempt> {
        let Self { cluster, tokens, watch, pods } = &self;
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
                    Probed::default()
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
        let reviewed = match tokens {
            Some(tokens) => tokens.probe().await,
            None => Ok(()),
        };
        match reviewed {
            Ok(()) => {}
            // An administrator can grant it meanwhile.
            Err(error) if error.is_lasting() => {
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
#[path = "serve_tests.rs"]
mod tests;
