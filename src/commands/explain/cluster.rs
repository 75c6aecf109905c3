//! `explain` of a cluster: from one list of its pods and, where that is allowed, of their Events and nodes.

use std::collections::BTreeSet;
use std::slice;

use anyhow::Context;

use super::{decode_options, tracker_config};
use crate::args::ExplainArgs;
use crate::cluster::api_error::ApiError;
use crate::cluster::client::Cluster;
use crate::cluster::clock::Clock;
use crate::commands::one_shot_list::open;
use crate::inspect::explain::{Explanation, ListedPods, Worst, explain_list};
use crate::inspect::listed_cluster::Unlisted;
use crate::watch::one_shot_list::{list_events, list_nodes, list_pods};
use crate::watch::requests::{Requests, Scope};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::PodSnapshot;

/// Of a workload's pods, so many nodes are asked for.
const MOST_NODES: usize = 20;

/// Explains a startup by what the cluster shows of it now.
pub(super) async fn explain(args: &ExplainArgs) -> anyhow::Result<Explanation> {
    let target = args.target();
    let (list, server) = listed(args).await?;
    explain_list(list, tracker_config(args), &target).map_err(|why| {
        let unknown = || {
            format!(
                "the cluster at {server} has no {target}; check the name, --namespace and the selectors"
            )
        };
        anyhow::anyhow!(why.sentence(&target, unknown))
    })
}

/// The worst startups by what the cluster shows of them now.
pub(super) async fn worst(args: &ExplainArgs) -> anyhow::Result<Worst> {
    let (list, _) = listed(args).await?;
    Ok(Worst::of_list(list, tracker_config(args), &args.target()))
}

/// The pods and their Events, and what the API server is called in messages.
async fn listed(args: &ExplainArgs) -> anyhow::Result<(ListedPods, String)> {
    let target = args.target();
    let namespace = target.namespace.clone();
    let scope = namespace.map_or(Scope::Cluster, Scope::Namespace);
    let selectors = args.selectors.clone().selectors();
    let scopes = slice::from_ref(&scope);
    let (cluster, clock) = open(&args.connection, scopes, &selectors).await?;
    let pods = list_pods(&cluster, &scope, &selectors, decode_options()).await;
    let pods = pods.map_err(|error| anyhow::anyhow!(error.detail));
    let pods = pods.with_context(|| format!("cannot list {scope} at {}", cluster.server))?;
    let mut list = ListedPods {
        pods,
        events: Vec::new(),
        nodes: Vec::new(),
        unlisted: Vec::new(),
        now: clock.now(),
    };
    if args.evidence.events() {
        match list_events(&cluster, &scope, decode_options()).await {
            Ok(events) => list.events = events,
            Err(error) => list.unlisted.push(Unlisted::events(error)),
        }
    }
    if args.evidence.nodes() && args.name.is_some() {
        match nodes_of(&cluster, &list.pods, args).await {
            Ok(nodes) => list.nodes = nodes,
            Err(error) => list.unlisted.push(Unlisted::nodes(error)),
        }
    }
    // The answers have set the clock right.
    list.now = clock.now();
    Ok((list, cluster.server.clone()))
}

/// The nodes of the pods to explain.
async fn nodes_of(
    cluster: &Cluster,
    pods: &[PodSnapshot],
    args: &ExplainArgs,
) -> Result<Vec<NodeSnapshot>, ApiError> {
    let target = args.target();
    let fitting = pods.iter().filter(|pod| target.fits(&pod.info));
    let names: BTreeSet<&str> = fitting.filter_map(|pod| pod.info.node.as_deref()).collect();
    let mut nodes = Vec::new();
    for name in names.into_iter().take(MOST_NODES) {
        let requests = Requests::of_node(name);
        nodes.extend(list_nodes(cluster, &requests, args.nodes.options()).await?);
    }
    Ok(nodes)
}
