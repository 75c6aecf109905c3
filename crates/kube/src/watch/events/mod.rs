//! Watches the Events about pods ([§9.5](crate::specification#s9-5)): one task per scope, apart from those
//! that watch pods, with a queue of its own. Events are evidence and no more: what fails here is counted
//! and logged, and nothing waits for it.
//!
//! - `follower`: the loop of one task: current version, watch, resume, begin anew; and where its Events go.
//! - `stats`: what is counted, and whether Events are read.

use std::sync::Arc;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

mod follower;
pub mod stats;

use super::WatchConfig;
use super::stats::WatchStats;
use podinit_core::kube_event::KubeEvent;
use stats::EvidenceStats;

/// What is delivered of Events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveredEvents {
    /// An Event
    One(KubeEvent),
    /// So many Events about pods of other shards, which are dropped ([§9.5](crate::specification#s9-5))
    OtherShards(u64),
}

/// Where Events go, and what is counted on the way.
#[derive(Clone, Debug)]
pub struct EventSink {
    /// The queue. When it is full, Events are dropped.
    pub events: mpsc::Sender<DeliveredEvents>,
    /// Made for as many scopes as there are
    pub stats: Arc<EvidenceStats>,
    /// Counts the times that a watch began anew
    pub watch: Arc<WatchStats>,
}

/// Starts a watch of the Events of each scope of `config`, as tasks of `tasks`. They end when `cancel` is cancelled or
/// the receiver of the Events is gone, and never otherwise.
pub fn spawn(
    client: &Client,
    config: &WatchConfig,
    sink: &EventSink,
    cancel: &CancellationToken,
    tasks: &mut JoinSet<()>,
) {
    for (index, scope) in config.scopes.iter().enumerate() {
        let mut follower =
            follower::EventFollower::new(client.clone(), scope, config, sink.clone(), index);
        let cancel = cancel.clone();
        // An error span, so that every level of the log shows which source a line is about.
        let span = tracing::error_span!("events", about = %scope);
        let task = async move {
            // Ends by cancellation, or because the receiver is gone; both are the end of the process.
            let _ = cancel.run_until_cancelled(follower.run()).await;
        };
        tasks.spawn(task.instrument(span));
    }
}
