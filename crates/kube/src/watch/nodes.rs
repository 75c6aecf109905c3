//! Lists and watches nodes ([§14.1](crate::specification#s14-1)): one task, whose deliveries go into the queue of
//! the pods. Nodes are evidence: what fails here is logged, and nothing waits for it.

use std::convert::Infallible;
use std::sync::Arc;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::WatchConfig;
use super::delivery_sender::ReceiverGone;
use super::events::stats::EvidenceStats;
use super::evidence::{DecodedLine, EvidenceKind, EvidenceLine, EvidenceSink};
use super::evidence_log::EvidenceLog;
use super::follow::{WatchLoop, WatchSink};
use super::pages::{ListPages, PageEnd, watch_version};
use super::requests::{ListFreshness, RequestBuilder};
use super::resume_point::ResumePoint;
use super::signs::WatchSigns;
use super::stats::{RelistReason, WatchStats};
use crate::cluster::api_error::ApiError;
use crate::cluster::clock::DeliveryClock;
use podinit_core::lifecycle::{Delivery, NodeEvent, PodEvent, SourceId};
use podinit_core::node::NodeSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::NodeOptions;
use podinit_decode::node::watch::{NodeDecoder, NodeLineKind};
use podinit_decode::{ApiStatus, ObjectEncoding};

/// Nodes in a page of a list. Each may name all of its images.
pub const PAGE: u32 = 100;

/// Where nodes go, and what is counted on the way.
#[derive(Clone)]
pub struct NodeSink {
    /// The queue of the pods; when it is full, the watch waits
    pub deliveries: mpsc::Sender<Delivery>,
    pub clock: Arc<dyn DeliveryClock>,
    pub stats: Arc<EvidenceStats>,
    /// Counts the lists after gaps
    pub watch: Arc<WatchStats>,
}

/// Starts the list-watch of nodes as one of `tasks`. It ends when `cancel` is cancelled or the receiver of the
/// deliveries is gone, and never otherwise.
pub fn spawn(
    client: &Client,
    config: &WatchConfig,
    options: NodeOptions,
    sink: NodeSink,
    cancel: &CancellationToken,
    tasks: &mut JoinSet<()>,
) {
    let mut follower = NodeFollower {
        watch: WatchLoop::new(client.clone(), RequestBuilder::of_nodes(), config.reflector.clone()),
        nodes: EvidenceSink {
            evidence: NodeDestination {
                decoder: NodeDecoder::new(options),
                sink,
                arrived: Timestamp::EPOCH,
            },
            log: EvidenceLog::new("nodes", "nodes"),
            signs: WatchSigns::default(),
        },
    };
    let cancel = cancel.clone();
    // An error span, so that every level of the log shows which source a line is about.
    let span = tracing::error_span!("nodes");
    let task = async move {
        // Ends by cancellation, or because the receiver is gone; both are the end of the process.
        let _ = cancel.run_until_cancelled(follower.run()).await;
    };
    tasks.spawn(task.instrument(span));
}

struct NodeFollower {
    watch: WatchLoop,
    nodes: EvidenceSink<NodeDestination>,
}

impl NodeFollower {
    /// Lists and watches until the receiver is gone.
    async fn run(&mut self) -> Result<Infallible, ReceiverGone> {
        loop {
            let mut resume_point = self.list().await?;
            let following = self.watch.follow(&mut self.nodes, &mut resume_point, false);
            let reason = following.await?;
            if matches!(reason, RelistReason::VersionAhead | RelistReason::Restored) {
                self.nodes.evidence.send(NodeEvent::RolledBack, None).await?;
            }
            self.nodes.evidence.sink.watch.count_relist(RelistReason::Nodes);
            sleep(self.watch.backoff.after_interruption()).await;
        }
    }

    /// Lists all nodes, however long it takes.
    async fn list(&mut self) -> Result<ResumePoint, ReceiverGone> {
        loop {
            let began = self.nodes.evidence.sink.clock.now();
            match self.pages().await {
                Ok((nodes, version)) => {
                    let listed = NodeEvent::Listed { nodes, began };
                    self.nodes.evidence.send(listed, None).await?;
                    self.nodes.signs.listed(false);
                    return Ok(ResumePoint::of_list(version));
                }
                Err(failure) => {
                    self.nodes.failed(&failure, false);
                    self.watch.rest(&failure).await;
                }
            }
        }
    }

    /// All nodes, and the version from which a watch goes on.
    async fn pages(&mut self) -> Result<(Vec<NodeSnapshot>, String), ApiError> {
        let freshness = ListFreshness::MostRecent;
        let mut pages = ListPages::new(&self.watch.requests, &freshness, PAGE);
        let (mut nodes, mut version) = (Vec::new(), None);
        while let Some(request) = pages.request()? {
            let fetched = self.watch.fetch(request).await;
            let Some((encoding, body)) = pages.fetched(fetched)? else {
                continue;
            };
            let page = self.nodes.evidence.decoder.list_page(encoding, &body)?;
            if page.undecodable > 0 {
                let detail =
                    format!("{} items of a list are not nodes with a UID", page.undecodable);
                self.nodes.log.skipped(&detail);
            }
            let objects = page.nodes.len() + page.undecodable as usize;
            nodes.extend(page.nodes);
            version = page.resource_version;
            let next = page.continue_token;
            pages.go_on(PageEnd { next, objects })?;
        }
        Ok((nodes, watch_version(version)?))
    }
}

/// Where the nodes go.
struct NodeDestination {
    decoder: NodeDecoder,
    sink: NodeSink,
    /// When the events that are taken arrived
    arrived: Timestamp,
}

impl EvidenceKind for NodeDestination {
    type Event = NodeLineKind;

    fn set_up(&self, up: bool) {
        self.sink.stats.set_nodes_up(up);
    }

    fn decode(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
    ) -> DecodedLine<EvidenceLine<Self::Event>> {
        let line = self.decoder.decode_event(encoding, event)?;
        Ok((line.version, line.kind))
    }

    fn list_version(
        &mut self,
        encoding: ObjectEncoding,
        list: &[u8],
    ) -> DecodedLine<Option<String>> {
        Ok(self.decoder.list_page(encoding, list)?.resource_version)
    }

    fn arrived(&mut self) {
        self.arrived = self.sink.clock.now();
    }

    async fn take(&mut self, event: NodeLineKind) -> Result<Option<ApiStatus>, ReceiverGone> {
        let event = match event {
            NodeLineKind::Applied(node) => NodeEvent::Applied(node),
            NodeLineKind::Deleted(node) => NodeEvent::Deleted(node),
            NodeLineKind::Bookmark { .. } => return Ok(None),
            NodeLineKind::Error(status) => return Ok(Some(status)),
        };
        self.send(event, Some(self.arrived)).await?;
        Ok(None)
    }
}

impl NodeDestination {
    /// Nodes do not move time ([§14.1](crate::specification#s14-1)).
    async fn send(
        &self,
        event: NodeEvent,
        observed: Option<Timestamp>,
    ) -> Result<(), ReceiverGone> {
        let delivery = Delivery {
            source: SourceId::default(),
            event: PodEvent::Nodes(event),
            now: Timestamp::EPOCH,
            observed,
            version: None,
        };
        let sent = self.sink.deliveries.send(delivery).await;
        sent.map_err(|_| ReceiverGone)
    }
}
