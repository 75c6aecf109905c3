//! Opens a cluster for commands that list its pods once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::args::{ConnectionArgs, LookArgs};
use crate::cluster::api_server_clock::ApiServerClock;
use crate::cluster::client::{self, Cluster};
use crate::exporter::slos::Slos;
use crate::inspect::listed_cluster::{ListError, ListedCluster, ListedEvidence};
use crate::inspect::problems::Looks;
use crate::slo::SloFile;
use crate::slo::file::Sources;
use crate::text::strangers_text::shown;
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

/// A cluster that is looked at once, or again and again.
pub(super) struct LookedAt {
    cluster: ListedCluster,
    looks: Looks,
    /// It was said what cannot be listed
    has_warned: bool,
}

impl LookedAt {
    /// Connects to the cluster. The SLO file, or the SLOs of podinit, decide after how long a pod counts as stuck.
    ///
    /// # Errors
    /// If the file cannot be read, there is no such cluster, or its pods cannot be listed.
    pub(super) async fn open(args: &LookArgs) -> anyhow::Result<Self> {
        let slos = slos_of(args.slo.as_deref())?;
        let scopes = Scope::of_namespaces(&args.namespaces.chosen());
        let selectors = args.selectors.clone().selectors();
        let (cluster, clock) = open(&args.connection, &scopes, &selectors).await?;
        let evidence = ListedEvidence {
            events: args.evidence.events(),
            nodes: args.evidence.nodes().then(|| args.nodes.options()),
        };
        Ok(Self {
            looks: Looks::new(slos.stuck_after, &evidence),
            cluster: ListedCluster::new(cluster, clock, scopes, selectors, evidence),
            has_warned: false,
        })
    }

    /// Looks once more. Returns what all looks have shown.
    ///
    /// # Errors
    /// If the pods cannot be listed.
    pub(super) async fn look(&mut self) -> Result<&mut Looks, ListError> {
        let listed = self.cluster.list().await?;
        for unlisted in listed.unlisted.iter().filter(|_| !self.has_warned) {
            tracing::warn!("{}", shown(&unlisted.to_string()));
        }
        self.has_warned |= !listed.unlisted.is_empty();
        self.looks.add(listed);
        Ok(&mut self.looks)
    }
}

/// The SLOs of a file, or those of podinit, for commands that count no events.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn slos_of(file: Option<&Path>) -> anyhow::Result<Slos> {
    Ok(match file {
        Some(file) => Slos::from(&SloFile::read(file, Sources::ALL)?),
        None => Slos::from(&SloFile::built_in()),
    })
}
