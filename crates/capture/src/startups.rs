//! How many startups a recording holds, as `report` counts them: the tracker accounts for what was recorded.

use tokio::sync::watch;

use podinit_core::lifecycle::{
    Delivery, Observation, Observer, Outcome, PodEvent, PodObservation, PodState, SourceId,
    Tracker, TrackerConfig,
};
use podinit_core::pod::packed::PackedPods;
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};

/// So many pods are remembered at most, so that memory is bounded.
const MOST_PODS: usize = 1_000_000;

/// Startups of which a recording shows the end, or at least a part: not those of pods that had started up before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturedStartups {
    /// All of them
    pub begun: u64,
    /// Those that became Ready
    pub ready: u64,
}

impl CapturedStartups {
    const fn from_state(state: PodState) -> Self {
        match state {
            PodState::Undiscovered
            | PodState::Finished(Outcome::Preexisting | Outcome::Static | Outcome::Moved) => {
                Self { begun: 0, ready: 0 }
            }
            PodState::Finished(Outcome::Ready) => Self { begun: 1, ready: 1 },
            PodState::InFlight(..) | PodState::Finished(_) => Self { begun: 1, ready: 0 },
        }
    }
}

/// The startups of a recording in progress, for those who wait for them.
#[derive(Debug, Default)]
pub struct StartupCounts(watch::Sender<CapturedStartups>);

impl StartupCounts {
    /// Those up to now.
    pub fn now(&self) -> CapturedStartups {
        *self.0.borrow()
    }

    /// Waits until so many startups have become Ready.
    pub async fn until_ready(&self, startups: u64) {
        let mut counts = self.0.subscribe();
        // Only a sender that is dropped is an error, and it is borrowed.
        let _ = counts.wait_for(|counts| counts.ready >= startups).await;
    }
}

/// Accounts for the documents of pods that were recorded.
pub(super) struct StartupCounter {
    decoder: PodDecoder,
    tracker: Tracker,
    counted: CountedStartups,
    now: Timestamp,
}

#[derive(Default)]
struct CountedStartups(CapturedStartups);

impl StartupCounter {
    pub(super) fn new() -> Self {
        let config = TrackerConfig { max_pods: MOST_PODS, ..TrackerConfig::default() };
        Self {
            decoder: PodDecoder::new(DecodeOptions::default()),
            tracker: Tracker::new(config),
            counted: CountedStartups::default(),
            now: Timestamp::EPOCH,
        }
    }

    /// Adds the pods of a recorded page to those of the pages before it.
    pub(super) fn page(&mut self, document: &[u8], pods: &mut PackedPods) {
        // The recorder has read it; what replay could not read, it has left out.
        if let Ok(page) = self.decoder.list_page(document) {
            pods.extend(page.pods);
        }
    }

    /// A list of these pods was recorded, which was begun then.
    pub(super) fn listed(&mut self, pods: PackedPods, began: Timestamp, counts: &StartupCounts) {
        self.deliver(PodEvent::Listed { pods, began }, began, None, counts);
    }

    /// An event was recorded.
    pub(super) fn event(&mut self, document: &[u8], at: Timestamp, counts: &StartupCounts) {
        let Ok(event) = self.decoder.watch_event(document) else {
            return;
        };
        let event = match event.kind {
            WatchEventKind::Added(pod) | WatchEventKind::Modified(pod) => PodEvent::Applied(pod),
            WatchEventKind::Deleted(pod) => PodEvent::Deleted(pod),
            WatchEventKind::Error(_) => PodEvent::SyncLost,
            WatchEventKind::Bookmark { .. } | WatchEventKind::OtherShard { .. } => return,
        };
        self.deliver(event, at, Some(at), counts);
    }

    fn deliver(
        &mut self,
        event: PodEvent,
        at: Timestamp,
        observed: Option<Timestamp>,
        counts: &StartupCounts,
    ) {
        self.now = self.now.max(at);
        let delivery =
            Delivery { source: SourceId(0), event, now: self.now, observed, version: None };
        self.tracker.apply(delivery, &mut self.counted);
        let found = self.counted.0;
        counts.0.send_if_modified(|counts| {
            let is_new = *counts != found;
            *counts = found;
            is_new
        });
    }
}

impl Observer for CountedStartups {
    fn observe(&mut self, _: Timestamp, observation: Observation<'_>) {
        if let Observation::Pod(_, PodObservation::Moved { from, to }) = observation {
            let (from, to) = (CapturedStartups::from_state(from), CapturedStartups::from_state(to));
            self.0.begun = self.0.begun + to.begun - from.begun;
            self.0.ready = self.0.ready + to.ready - from.ready;
        }
    }
}
