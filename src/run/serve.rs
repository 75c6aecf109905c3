//! `podinit serve`: the exporter in front of a real cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::exporter::Exporter;
use super::labels::decode_options;
use crate::args::{ClusterArgs, ExporterArgs, ServeArgs};
use crate::shutdown;
use crate::watch::WatchConfig;
use crate::watch::client::{self, Cluster};
use crate::watch::clock::SystemClock;
use crate::watch::cluster_options::ClusterOptions;
use crate::watch::probe::{ProbeError, probe};
use crate::watch::requests::{Scope, Selectors};

/// For the request that finds out at the start whether the cluster can be watched.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Watches a cluster until a signal ends it.
pub(super) async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let shutdown = shutdown::on_signal().context("cannot listen for signals")?;
    let watch = watch_config(&args.cluster, &args.exporter);
    let exporter = Exporter::bind(&args.exporter, watch, Arc::new(SystemClock))?;
    let ClusterArgs {
        kubeconfig,
        context,
        ..
    } = args.cluster;
    let cluster = client::connect(&ClusterOptions {
        kubeconfig,
        context,
    })
    .await?;
    let probed = shutdown.run_until_cancelled(check(&cluster, exporter.watch()));
    match probed.await {
        None => return Ok(()),
        Some(checked) => checked?,
    }
    tracing::info!(server = %cluster.server, origin = %cluster.origin, "watching pods");
    exporter.run(&cluster, shutdown).await
}

fn watch_config(cluster: &ClusterArgs, exporter: &ExporterArgs) -> WatchConfig {
    WatchConfig {
        scopes: Scope::of_namespaces(&cluster.namespaces()),
        selectors: Selectors {
            label: cluster.label_selector.clone(),
            field: cluster.field_selector.clone(),
        },
        decode: decode_options(&exporter.labels),
        ..WatchConfig::default()
    }
}

/// Whether everything that is to be watched can be. An API server that is busy may well be ready
/// later; whatever else is wrong will not mend itself.
async fn check(cluster: &Cluster, watch: &WatchConfig) -> anyhow::Result<()> {
    for scope in &watch.scopes {
        match probe(cluster, scope, &watch.selectors, PROBE_DEADLINE).await {
            Ok(()) => {}
            Err(busy @ ProbeError::Busy { .. }) => tracing::warn!("{busy}; waiting for it"),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
