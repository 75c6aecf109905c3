//! Opens a cluster for commands that list its pods once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::args::ConnectionArgs;
use crate::cluster::api_server_clock::ApiServerClock;
use crate::cluster::client::{self, Cluster};
use crate::exporter::slos::Slos;
use crate::inspect::listed_cluster::ListedCluster;
use crate::slo::SloFile;
use crate::watch::probe::probe;
use crate::watch::requests::{Scope, Selectors};

/// The deadline of the first request, which finds out whether the pods can be listed.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Connects to the cluster, and finds out whether the pods of each scope can be listed. The clock is the
/// API server's, which its answers set right.
///
/// # Errors
/// If there is no such cluster, or the pods cannot be listed.
pub(super) async fn open(
    connection: &ConnectionArgs,
    scopes: &[Scope],
    selectors: &Selectors,
) -> anyhow::Result<(Cluster, Arc<ApiServerClock>)> {
    let clock = Arc::new(ApiServerClock::from_machine());
    let cluster = client::connect(&connection.clone().options()).await?;
    let cluster = cluster.observing_dates(Arc::clone(&clock));
    // A failure is found again, and reported, by the first request.
    let _ = cluster.obtain_credentials().await;
    for scope in scopes {
        probe(&cluster, scope, selectors, 1, PROBE_DEADLINE).await?;
    }
    Ok((cluster, clock))
}

/// Connects to the cluster of `connection`. The SLO file `slo`, or the SLOs of podinit, decide after how long a
/// pod counts as stuck.
///
/// # Errors
/// If the file cannot be read, there is no such cluster, or its pods cannot be listed.
pub(super) async fn listed_cluster(
    connection: &ConnectionArgs,
    namespaces: &[String],
    selectors: Selectors,
    slo: Option<&Path>,
) -> anyhow::Result<ListedCluster> {
    let slos = slos_of(slo)?;
    let scopes = Scope::of_namespaces(namespaces);
    let (cluster, clock) = open(connection, &scopes, &selectors).await?;
    Ok(ListedCluster {
        cluster,
        clock,
        scopes,
        selectors,
        stuck_after: slos.stuck_after,
    })
}

/// The SLOs of a file, or those of podinit.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn slos_of(file: Option<&Path>) -> anyhow::Result<Slos> {
    Ok(match file {
        Some(file) => Slos::from(&SloFile::read(file)?),
        None => Slos::from(&SloFile::built_in()),
    })
}
