//! `podinit serve`: the exporter of a real cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::checkpoint::{Checkpoint, Recovery};
use super::exporter::{Exporter, ServeOnly};
use crate::access::kubernetes::Kubernetes;
use crate::args::{AuthArgs, AuthMode, ClusterArgs, ExporterArgs, ServeArgs};
use crate::cluster::api_server_clock::ApiServerClock;
use crate::cluster::client::{self, Cluster};
use crate::cluster::options::ClusterOptions;
use crate::process::shutdown;
use crate::watch::WatchConfig;
use crate::watch::config::ReflectorConfig;
use crate::watch::probe::{ProbeError, Probed, probe};
use crate::watch::requests::{Scope, Selectors};

/// The deadline of the first request, which finds out whether the cluster can be watched.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// How many pods of each scope are requested to recognize the cluster of a checkpoint.
const IDENTITY_PODS: u32 = 100;

/// Watches a cluster until a signal ends it.
pub(super) async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let shutdown = shutdown::on_signal().context("cannot listen for signals")?;
    let watch = watch_config(&args.cluster, &args.exporter);
    let checkpoint = args
        .state_dir
        .as_deref()
        .map(Checkpoint::open)
        .transpose()?;
    let pods = if checkpoint.is_some() {
        IDENTITY_PODS
    } else {
        1
    };
    let serve_only = ServeOnly {
        tokens: args.auth.auth == AuthMode::Kubernetes,
        checkpoint,
    };
    let clock = Arc::new(ApiServerClock::from_machine());
    let mut exporter = Exporter::bind(&args.exporter, serve_only, watch, clock.clone())?;
    let ClusterArgs {
        kubeconfig,
        context,
        ..
    } = args.cluster;
    let cluster = client::connect(&ClusterOptions {
        kubeconfig,
        context,
    })
    .await?
    .observing_dates(clock);
    let probed = shutdown.run_until_cancelled(async {
        let probed = check(&cluster, exporter.watch(), pods).await?;
        let tokens = token_review(&cluster, &args.auth).await?;
        anyhow::Ok((probed, tokens))
    });
    let Some(probed) = probed.await else {
        return Ok(());
    };
    let (probed, tokens) = probed?;
    exporter.recover(&Recovery {
        cluster: &cluster,
        probed: &probed,
    });
    tracing::info!(server = %cluster.server, origin = %cluster.origin, "watching pods");
    exporter.run(&cluster, tokens, shutdown).await
}

fn watch_config(cluster: &ClusterArgs, exporter: &ExporterArgs) -> WatchConfig {
    WatchConfig {
        reflector: ReflectorConfig {
            watch_list: cluster.watch_list,
            ..ReflectorConfig::default()
        },
        scopes: Scope::of_namespaces(&cluster.namespaces()),
        selectors: Selectors {
            label: cluster.label_selector.clone(),
            field: cluster.field_selector.clone(),
        },
        decode: exporter.labels.config().decode_options(),
        ..WatchConfig::default()
    }
}

/// The review of bearer tokens, if it is enabled. An API server that fails now may recover; until then
/// access is denied. A missing right is an error at once, since only an administrator can grant it.
async fn token_review(cluster: &Cluster, auth: &AuthArgs) -> anyhow::Result<Option<Kubernetes>> {
    if auth.auth == AuthMode::None {
        return Ok(None);
    }
    let tokens = Kubernetes::new(cluster, auth.audiences())?;
    match tokens.probe().await {
        Err(error) if error.is_lasting() => return Err(error.into()),
        Err(error) => tracing::warn!("{error}; refusing bearer tokens until it does"),
        Ok(()) => {}
    }
    Ok(Some(tokens))
}

/// Probes every scope, and returns at most `pods` pods of each. An API server that is overloaded may
/// recover; all other errors end the start.
async fn check(cluster: &Cluster, watch: &WatchConfig, pods: u32) -> anyhow::Result<Vec<Probed>> {
    let mut probed = Vec::new();
    for scope in &watch.scopes {
        match probe(cluster, scope, &watch.selectors, pods, PROBE_DEADLINE).await {
            Ok(found) => probed.push(found),
            Err(busy @ ProbeError::Busy { .. }) => {
                tracing::warn!("{busy}; waiting for it");
                probed.push(Probed::default());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(probed)
}
