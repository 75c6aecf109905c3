//! The queue between the owner of the tracker and the task that sends traces. The owner never waits.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::sampling::SampleRatio;
use crate::trace_stats::{DropReason, TraceStats};
use podinit_core::lifecycle::EndedStartup;

/// So many startups may wait to be sent, a kilobyte each or two. Further ones are dropped.
pub const MOST_QUEUED: usize = 2048;

/// The owner's end: samples, and hands over what is sampled.
#[derive(Debug)]
pub struct TraceQueue {
    startups: mpsc::Sender<Arc<EndedStartup>>,
    ratio: SampleRatio,
    stats: Arc<TraceStats>,
}

impl TraceQueue {
    /// Hands over a startup that is sampled. Returns whether it is going to be sent; never waits.
    pub fn offer(&self, startup: &Arc<EndedStartup>) -> bool {
        if !self.ratio.samples(startup) {
            return false;
        }
        let is_taken = self.startups.try_send(Arc::clone(startup)).is_ok();
        if !is_taken {
            self.stats.dropped.with(DropReason::QueueFull).increment();
        }
        let queued = self.startups.max_capacity() - self.startups.capacity();
        self.stats.queued.set(queued as u64);
        is_taken
    }
}

/// The queue, for the owner of the tracker and for the task that sends.
pub fn channel(
    ratio: SampleRatio,
    stats: Arc<TraceStats>,
) -> (TraceQueue, mpsc::Receiver<Arc<EndedStartup>>) {
    let (startups, receiver) = mpsc::channel(MOST_QUEUED);
    let queue = TraceQueue { startups, ratio, stats };
    (queue, receiver)
}
