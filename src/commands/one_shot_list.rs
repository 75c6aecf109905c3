//! Opens a cluster for commands that list its pods once.

use std::sync::Arc;
use std::time::Duration;

use crate::args::ConnectionArgs;
use crate::cluster::api_server_clock::ApiServerClock;
use crate::cluster::client::{self, Cluster};
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
