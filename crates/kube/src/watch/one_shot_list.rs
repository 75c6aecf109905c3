//! Lists of the present state for commands that look once and do not watch.

use super::config::ReflectorConfig;
use super::nodes::PAGE as NODES_OF_PAGE;
use super::pages::{PageEnd, fetch_pages};
use super::requests::{PodScope, PodSelectors, RequestBuilder};
use crate::cluster::api_error::ApiError;
use crate::cluster::client::ClusterClient;
use podinit_core::kube_event::KubeEvent;
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::PodSnapshot;
use podinit_decode::event::watch::EventDecoder;
use podinit_decode::node::NodeOptions;
use podinit_decode::node::watch::NodeDecoder;
use podinit_decode::{DecodeOptions, ObjectEncoding, PodDecoder};

/// The pods of all pages.
///
/// # Errors
/// If a page cannot be had or decoded.
pub async fn list_pods(
    cluster: &ClusterClient,
    scope: &PodScope,
    selectors: &PodSelectors,
    options: DecodeOptions,
) -> Result<Vec<PodSnapshot>, ApiError> {
    let mut decoder = PodDecoder::new(options);
    let mut pods = Vec::new();
    let read = |body: &[u8]| {
        let page = decoder.list_page(body)?;
        if page.undecodable > 0 {
            tracing::warn!(objects = page.undecodable, "some objects are not pods");
        }
        let objects = page.objects();
        pods.extend(page.pods);
        let next = page.continue_token;
        Ok(PageEnd { next, objects })
    };
    let (requests, config) = (RequestBuilder::new(scope, selectors), ReflectorConfig::default());
    fetch_pages(&cluster.client, &requests, &config, read).await?;
    Ok(pods)
}

/// The Events of all pages about pods.
///
/// # Errors
/// If a page cannot be had or decoded.
pub async fn list_events(
    cluster: &ClusterClient,
    scope: &PodScope,
    options: DecodeOptions,
) -> Result<Vec<KubeEvent>, ApiError> {
    let requests = [RequestBuilder::of_events(scope)];
    let of_claims = options.claims.then(|| RequestBuilder::of_claim_events(scope));
    let mut decoder = EventDecoder::new(options);
    let mut events = Vec::new();
    let mut read = |body: &[u8]| {
        let page = decoder.list_page(body)?;
        let objects = page.events.len();
        events.extend(page.events);
        let next = page.continue_token;
        Ok(PageEnd { next, objects })
    };
    let config = ReflectorConfig::default();
    for requests in requests.into_iter().chain(of_claims) {
        fetch_pages(&cluster.client, &requests, &config, &mut read).await?;
    }
    Ok(events)
}

/// The nodes of all pages: all of a cluster, or the one that `requests` name.
///
/// # Errors
/// If a page cannot be had or decoded.
pub async fn list_nodes(
    cluster: &ClusterClient,
    requests: &RequestBuilder,
    options: NodeOptions,
) -> Result<Vec<NodeSnapshot>, ApiError> {
    let mut decoder = NodeDecoder::new(options);
    let mut nodes = Vec::new();
    let read = |body: &[u8]| {
        let page = decoder.list_page(ObjectEncoding::Json, body)?;
        let objects = page.nodes.len();
        nodes.extend(page.nodes);
        let next = page.continue_token;
        Ok(PageEnd { next, objects })
    };
    let config = ReflectorConfig { page_limit: NODES_OF_PAGE, ..ReflectorConfig::default() };
    fetch_pages(&cluster.client, requests, &config, read).await?;
    Ok(nodes)
}
