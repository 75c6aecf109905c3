//! `podinit serve`: the exporter of a real cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::exporter_parts::{ExporterParts, exporter_parts, guard};
use crate::args::{AuthArgs, AuthMode, ServeArgs};
use crate::families;
use podinit_access::kubernetes::KubernetesAccess;
use podinit_exporter::accounting_thread;
use podinit_exporter::first_contact::ExporterStart;
use podinit_exporter::own_thread::OwnThread;
use podinit_exporter::process::signals;
use podinit_exporter::saving::StateCheckpoint;
use podinit_exporter::start::Exporter;
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_oncall::live::{self, ExporterLinks};

/// How long a start outside of a cluster waits for the API server, where nothing else is chosen:
/// somebody at a terminal wants to know.
const TERMINAL_LIMIT: Duration = Duration::from_secs(10);

/// Watches a cluster until a signal ends it.
pub(super) async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let (shutdown, reload) = signals::of_service().context("cannot listen for signals")?;
    let watch = watch_config(&args);
    let shard = args.exporter.sharding.shard.unwrap_or_default();
    let state_dir = args.state_dir.as_deref();
    let checkpoint =
        state_dir.map(|dir| StateCheckpoint::open(dir, shard, families().to_vec())).transpose()?;
    let clock = Arc::new(ApiServerClock::from_machine());
    let asks_tokens = args.auth.auth == AuthMode::Kubernetes;
    let ExporterParts { given, web, records } =
        exporter_parts(&args.exporter, asks_tokens, checkpoint, clock.clone()).await?;
    let accounting = accounting_thread::start().context("cannot start the accounting thread")?;
    let finding =
        OwnThread::named("problems").context("cannot start the thread of the problems")?;
    let reading = OwnThread::named("readers").context("cannot start the thread of the readers")?;
    let exporter = Exporter::bind(args.exporter.config(), given, watch, clock.clone())?
        .accounting_on(accounting.handle())
        .reloading_on(reload.clone());
    let links = ExporterLinks {
        runbook_url: args.exporter.runbook_url.clone(),
        ..ExporterLinks::default()
    };
    let (exporter, _) = live::show(exporter, records, links, (finding.handle(), reading.handle()));
    let options = args.cluster.connection.options();
    let cluster = podinit_connect::connect(&options).await?.observing_dates(clock);
    let exporter = guard(exporter, web, token_review(&cluster, &args.auth)?, reload)?;
    let start = ExporterStart {
        cluster,
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
        scopes: PodScope::of_namespaces(&cluster.namespaces.chosen()),
        selectors: PodSelectors {
            shard: exporter.sharding.shard,
            ..cluster.selectors.clone().selectors()
        },
        decode: exporter.labels.config().decode_options(),
        ..WatchConfig::default()
    }
}

/// The review of bearer tokens, if it is enabled.
fn token_review(
    cluster: &ClusterClient,
    auth: &AuthArgs,
) -> anyhow::Result<Option<KubernetesAccess>> {
    Ok(match auth.auth {
        AuthMode::None => None,
        AuthMode::Kubernetes => Some(KubernetesAccess::new(cluster, auth.audiences())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_at_a_terminal_wait_ten_seconds_and_pods_without_end() {
        let chosen = Some(Duration::from_secs(3));
        assert_eq!(limit(None, false), Some(TERMINAL_LIMIT));
        assert_eq!(limit(None, true), None);
        for is_in_cluster in [false, true] {
            assert_eq!(limit(chosen, is_in_cluster), chosen);
            assert_eq!(limit(Some(Duration::ZERO), is_in_cluster), None);
        }
    }
}
