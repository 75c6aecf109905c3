//! `explain` of a cluster: from one list of its pods and, where that is allowed, of their Events.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::{decode_options, tracker_config};
use crate::args::ExplainArgs;
use crate::cluster::api_error::ApiError;
use crate::cluster::api_server_clock::ApiServerClock;
use crate::cluster::client::{self, Cluster};
use crate::cluster::clock::Clock;
use crate::decode::PodDecoder;
use crate::decode::event::watch::EventDecoder;
use crate::explain::{Explanation, ListedPods, explain_list};
use crate::kube_event::KubeEvent;
use crate::pod::PodSnapshot;
use crate::watch::config::ReflectorConfig;
use crate::watch::list_page::fetch_pages;
use crate::watch::probe::probe;
use crate::watch::requests::{Requests, Scope, Selectors};

/// The deadline of the first request, which finds out whether the pods can be listed.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Explains a startup by what the cluster shows of it now.
pub(super) async fn explain(args: &ExplainArgs) -> anyhow::Result<Explanation> {
    let target = args.target();
    let namespace = target.namespace.clone();
    let scope = namespace.map_or(Scope::Cluster, Scope::Namespace);
    let selectors = args.selectors.clone().selectors();
    let clock = Arc::new(ApiServerClock::from_machine());
    let cluster = client::connect(&args.connection.clone().options()).await?;
    let cluster = cluster.observing_dates(Arc::clone(&clock));
    // A failure is found again, and reported, by the first request.
    let _ = cluster.obtain_credentials().await;
    probe(&cluster, &scope, &selectors, 1, PROBE_DEADLINE).await?;
    let pods = list_pods(&cluster, &scope, &selectors).await;
    let pods = pods.map_err(|error| anyhow::anyhow!(error.detail));
    let pods = pods.with_context(|| format!("cannot list {scope} at {}", cluster.server))?;
    let events = match args.evidence.events() {
        true => list_events(&cluster, &scope).await,
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
    explain_list(list, tracker_config(args), &target).ok_or_else(|| {
        anyhow::anyhow!(
            "the cluster at {} has no {target}; check the name, --namespace and the selectors",
            cluster.server
        )
    })
}

async fn list_pods(
    cluster: &Cluster,
    scope: &Scope,
    selectors: &Selectors,
) -> Result<Vec<PodSnapshot>, ApiError> {
    let mut decoder = PodDecoder::new(decode_options());
    let mut pods = Vec::new();
    let read = |body: &[u8]| {
        let page = decoder.list_page(body)?;
        if page.undecodable > 0 {
            tracing::warn!(objects = page.undecodable, "some objects are no pods");
        }
        pods.extend(page.pods);
        Ok(page.continue_token)
    };
    let requests = Requests::new(scope, selectors);
    fetch_pages(
        &cluster.client,
        &requests,
        &ReflectorConfig::default(),
        read,
    )
    .await?;
    Ok(pods)
}

async fn list_events(cluster: &Cluster, scope: &Scope) -> Result<Vec<KubeEvent>, ApiError> {
    let mut decoder = EventDecoder::default();
    let mut events = Vec::new();
    let read = |body: &[u8]| {
        let page = decoder.list_page(body)?;
        events.extend(page.events);
        Ok(page.continue_token)
    };
    let requests = Requests::of_events(scope);
    fetch_pages(
        &cluster.client,
        &requests,
        &ReflectorConfig::default(),
        read,
    )
    .await?;
    Ok(events)
}
