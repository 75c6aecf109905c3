//! `explain` of a cluster: from one list of its pods and, where that is allowed, of their Events.

use std::slice;

use anyhow::Context;

use super::{decode_options, tracker_config};
use crate::args::ExplainArgs;
use crate::cluster::clock::Clock;
use crate::commands::one_shot_list::open;
use crate::inspect::explain::{Explanation, ListedPods, Worst, explain_list};
use crate::watch::one_shot_list::{list_events, list_pods};
use crate::watch::requests::Scope;

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
    let events = match args.evidence.events() {
        true => list_events(&cluster, &scope, decode_options()).await,
        false => Ok(Vec::new()),
    };
    let (events, no_events) = match events {
        Ok(events) => (events, None),
        Err(error) => (Vec::new(), Some(error.detail)),
    };
    let list = ListedPods {
        pods,
        events,
        no_events,
        // The answers have set the clock right.
        now: clock.now(),
    };
    Ok((list, cluster.server.clone()))
}
