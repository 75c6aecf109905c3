//! The loop of one watch of Events. It begins at the current version, which a list of one Event tells,
//! and resumes where a watch has ended. When the API server no longer has what comes next, it begins at
//! the current version again: the Events in between are lost, and no backlog is read.

use std::convert::Infallible;

use kube::Client;
use tokio::time::sleep;

use super::EventSink;
use super::stream::ScopeEvents;
use crate::watch::WatchConfig;
use crate::watch::delivery_sender::ReceiverGone;
use crate::watch::evidence_log::EvidenceLog;
use crate::watch::follow::{Follow, Sink};
use crate::watch::pages::watch_version;
use crate::watch::requests::{Requests, Scope};
use crate::watch::resume_point::ResumePoint;
use crate::watch::stats::RelistReason;
use podinit_decode::event::watch::EventDecoder;

/// The watch of the Events of one scope.
pub(super) struct Follower {
    watch: Follow,
    events: ScopeEvents,
}

impl Follower {
    pub(super) fn new(
        client: Client,
        scope: &Scope,
        watch: &WatchConfig,
        sink: EventSink,
        index: usize,
    ) -> Self {
        let requests = Requests::of_events(scope);
        Self {
            watch: Follow::new(client, requests, watch.reflector.clone()),
            events: ScopeEvents {
                decoder: EventDecoder::new(watch.decode.clone()).of_shard(watch.selectors.shard),
                of_other_shards: 0,
                sink,
                scope: index,
                log: EvidenceLog::of("Events", "events"),
            },
        }
    }

    /// Watches until the receiver is gone.
    pub(super) async fn run(&mut self) -> Result<Infallible, ReceiverGone> {
        loop {
            let mut resume_point = self.current().await;
            let following = self.watch.follow(&mut self.events, &mut resume_point, false);
            following.await?;
            self.events.sink.watch.count_relist(RelistReason::Events);
            sleep(self.watch.backoff.after_interruption()).await;
        }
    }

    /// The version that the API server is at, however long it takes to learn it.
    async fn current(&mut self) -> ResumePoint {
        loop {
            let version = self.events.current_version(&mut self.watch).await;
            match version.and_then(watch_version) {
                Ok(version) => return ResumePoint::of_list(version),
                Err(failure) => {
                    self.events.failed(&failure, false);
                    self.watch.rest(&failure).await;
                }
            }
        }
    }
}
