//! The watches of what is evidence beside pods: Events and nodes.

use std::sync::Arc;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::config::ExporterConfig;
use podinit_core::lifecycle::Delivery;
use podinit_decode::node::NodeOptions;
use podinit_instruments::FamilySource;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::events::stats::EvidenceStats;
use podinit_kube::watch::events::{self, DeliveredEvents, EventSink};
use podinit_kube::watch::nodes::{self, NodeSink};
use podinit_kube::watch::stats::WatchStats;

/// How many Events may wait for the ingest task. When the queue is full, Events are dropped and counted,
/// so that they take at most about a megabyte and nothing waits for them.
const EVENT_QUEUE: usize = 4096;

/// What watches Events and nodes, as far as they are a source of evidence.
pub(crate) struct EvidenceWatches {
    stats: Arc<EvidenceStats>,
    events: Option<EventSink>,
    nodes: Option<(NodeOptions, NodeSink)>,
}

impl EvidenceWatches {
    /// Nodes go into the queue of `deliveries`, and Events into one of their own, which is returned.
    pub(crate) fn new(
        config: &ExporterConfig,
        scopes: usize,
        watch: &Arc<WatchStats>,
        clock: &Arc<dyn DeliveryClock>,
        deliveries: &mpsc::Sender<Delivery>,
    ) -> (Self, mpsc::Receiver<DeliveredEvents>) {
        let sources = config.evidence;
        let stats = EvidenceStats::new(if sources.events { scopes } else { 0 }, sources.nodes);
        let stats = Arc::new(stats);
        let (events_in, received) = mpsc::channel(EVENT_QUEUE);
        let events = sources.events.then(|| EventSink {
            events: events_in,
            stats: Arc::clone(&stats),
            watch: Arc::clone(watch),
        });
        let nodes = sources.nodes.then(|| {
            let sink = NodeSink {
                deliveries: deliveries.clone(),
                clock: Arc::clone(clock),
                stats: Arc::clone(&stats),
                watch: Arc::clone(watch),
            };
            (config.nodes.clone(), sink)
        });
        (Self { stats, events, nodes }, received)
    }

    /// What is counted of them, if there are any.
    pub(crate) fn families(&self) -> Option<Box<dyn FamilySource>> {
        let any = self.events.is_some() || self.nodes.is_some();
        any.then(|| Box::new(Arc::clone(&self.stats)) as _)
    }

    /// Starts the watches, as some of `tasks`.
    pub(crate) fn spawn(
        self,
        client: &Client,
        config: &WatchConfig,
        shutdown: &CancellationToken,
        tasks: &mut JoinSet<()>,
    ) {
        if let Some(sink) = &self.events {
            events::spawn(client, config, sink, shutdown, tasks);
        }
        if let Some((options, sink)) = self.nodes {
            nodes::spawn(client, config, options, sink, shutdown, tasks);
        }
    }
}
