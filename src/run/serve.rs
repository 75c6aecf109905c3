//! `podinit serve`: the exporter in front of a real cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::checkpoint::{Checkpoint, Recovery};
use super::exporter::{Exporter, ServeOnly};
use super::labels::decode_options;
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

/// For the request that finds out at the start whether the cluster can be watched.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// How many pods are asked for, of each scope, to know the cluster of a checkpoint by.
const EVIDENCE: u32 = 100;

/// Watches a cluster until a signal ends it.
pub(super) async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let shutdown = shutdown::on_signal().context("cannot listen for signals")?;
    let watch = watch_config(&args.cluster, &args.exporter);
    let checkpoint = args
        .state_dir
        .as_deref()
        .map(Checkpoint::open)
        .transpose()?;
    let evidence = if checkpoint.is_some() { EVIDENCE } else { 1 };
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
        let probed = check(&cluster, exporter.watch(), evidence).await?;
        let tokens = judge_of_tokens(&cluster, &args.auth).await?;
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
        decode: decode_options(&exporter.labels),
        ..WatchConfig::default()
    }
}

/// Who judges bearer tokens, if they are asked for. An API server that gives no review now may well
/// give one later; until then nobody is let in. A right that is lacking will not come by itself.
async fn judge_of_tokens(cluster: &Cluster, auth: &AuthArgs) -> anyhow::Result<Option<Kubernetes>> {
    if auth.auth == AuthMode::None {
        return Ok(None);
    }
    let tokens = Kubernetes::new(cluster, auth.audiences())?;
    match tokens.probe().await {
        Err(error) if error.is_lasting() => return Err(error.into()),
        Err(error) => tracing::warn!("{error}; bearer tokens are refused until it does"),
        Ok(()) => {}
    }
    Ok(Some(tokens))
}

/// Whether everything that is to be watched can be. An API server that is busy may well be ready
/// later; whatever else is wrong will not mend itself. By scope, what was seen: at most `pods` pods.
async fn check(cluster: &Cluster, watch: &WatchConfig, pods: u32) -> anyhow::Result<Vec<Probed>> {
    let mut seen = Vec::new();
    for scope in &watch.scopes {
        match probe(cluster, scope, &watch.selectors, pods, PROBE_DEADLINE).await {
            Ok(probed) => seen.push(probed),
            Err(busy @ ProbeError::Busy { .. }) => {
                tracing::warn!("{busy}; waiting for it");
                seen.push(Probed::default());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(seen)
}
