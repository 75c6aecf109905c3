//! A cluster whose pods a command lists.

use std::path::Path;

use super::one_shot_list::open;
use crate::args::ConnectionArgs;
use crate::exporter::slos::Slos;
use crate::inspect::listed_cluster::ListedCluster;
use crate::slo::SloFile;
use crate::watch::requests::{Scope, Selectors};

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
