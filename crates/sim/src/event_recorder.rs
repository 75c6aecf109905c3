//! The recorders of all components: what becomes of their Events on the way to the API server.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Event;

use super::component_events::drafts;
use super::event_correlator::PodEvents;
use super::event_json::{object, written};
use super::life::PodChange;
use super::object::ObjectKey;
use super::pod::SimulatedPod;
use super::rng::Rng;
use super::sim_clock::SECOND;
use super::store::ObjectStore;
use super::watch_event::at_version;
use podinit_core::timestamp::Timestamp;

/// How Events are recorded, and what goes wrong on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventSettings {
    /// Whether there are any
    pub recorded: bool,
    /// How many a component may have that are not sent yet; further ones are dropped
    pub queue: usize,
    /// How many a component sends per second
    pub per_second: i64,
    /// How many it sends at once
    pub burst: i64,
    /// The API server keeps this many; the oldest are deleted, as they are after an hour
    pub kept: usize,
    /// What goes wrong
    pub faults: EventFaults,
}

impl Default for EventSettings {
    /// Those of a kubelet (`eventRecordQPS`, `eventBurst`) and of client-go (`maxQueuedEvents`).
    fn default() -> Self {
        Self {
            recorded: true,
            queue: 1_000,
            per_second: 50,
            burst: 100,
            kept: 10_000,
            faults: EventFaults::default(),
        }
    }
}

/// The shares of Events, between 0 and 1, to which something happens on their way.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EventFaults {
    /// Never arrive
    pub lost: f64,
    /// Arrive up to a minute late
    pub late: f64,
    /// Are written twice
    pub doubled: f64,
    /// Are delayed by up to two seconds, so that others overtake them
    pub reordered: f64,
    /// Are combined with similar ones from the first on
    pub combined: f64,
}

/// What has become of the Events so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct EventCounts {
    /// Made by their reporters
    pub made: u64,
    /// Dropped, because the queue of their component was full
    pub dropped: u64,
    /// Held back, because their pod had caused too many
    pub silenced: u64,
    /// Lost by [`EventFaults::lost`]
    pub lost: u64,
    /// Written to the API server
    pub written: u64,
}

/// The recorders of all components.
#[derive(Debug)]
pub(super) struct EventRecorders {
    pub(super) settings: EventSettings,
    pub(super) counts: EventCounts,
    store: Arc<ObjectStore>,
    rng: Rng,
    pods: HashMap<u64, PodEvents>,
    queues: BTreeMap<&'static str, SendQueue>,
    kept: VecDeque<ObjectKey>,
}

/// The queue of one component.
#[derive(Debug, Default)]
struct SendQueue {
    /// When each of those in the queue is sent
    sent: VecDeque<Timestamp>,
    full_at: i64,
}

impl SendQueue {
    /// When an Event that is made at `now` is sent; `None` when it is dropped.
    fn enter(&mut self, settings: &EventSettings, now: Timestamp) -> Option<Timestamp> {
        while self.sent.front().is_some_and(|sent| *sent <= now) {
            self.sent.pop_front();
        }
        if self.sent.len() >= settings.queue {
            return None;
        }
        let interval = SECOND / settings.per_second.max(1);
        let now = now.as_nanos();
        self.full_at = self.full_at.max(now) + interval;
        let wait = (self.full_at - now - settings.burst * interval).max(0);
        let sent = Timestamp::from_nanos(now + wait);
        self.sent.push_back(sent);
        Some(sent)
    }
}

impl EventRecorders {
    pub(super) fn new(store: Arc<ObjectStore>, settings: EventSettings, seed: u64) -> Self {
        Self {
            settings,
            counts: EventCounts::default(),
            store,
            rng: Rng::fork(seed, u64::MAX - 1),
            pods: HashMap::new(),
            queues: BTreeMap::new(),
            kept: VecDeque::new(),
        }
    }

    /// The Events of `change`, which has just happened to the pod numbered `id`, each with the instant
    /// at which it is written.
    pub(super) fn record(
        &mut self,
        id: u64,
        change: &PodChange,
        pod: &SimulatedPod,
        now: Timestamp,
    ) -> Vec<(Timestamp, Event)> {
        if !self.settings.recorded {
            return Vec::new();
        }
        let mut events = Vec::new();
        for draft in drafts(change, pod, now) {
            self.counts.made += 1;
            let faults = self.settings.faults;
            let queue = self.queues.entry(draft.reporter.instance()).or_default();
            let Some(mut at) = queue.enter(&self.settings, now) else {
                self.counts.dropped += 1;
                continue;
            };
            let combines = self.happens(faults.combined);
            let memory = self.pods.entry(id).or_default();
            let Some(correlated) = memory.correlate(&draft, combines) else {
                self.counts.silenced += 1;
                continue;
            };
            if self.happens(faults.lost) {
                self.counts.lost += 1;
                continue;
            }
            if self.happens(faults.late) {
                at = at.plus_nanos(self.rng.between(SECOND, 60 * SECOND));
            }
            if self.happens(faults.reordered) {
                at = at.plus_nanos(self.rng.between(0, 2 * SECOND));
            }
            let event = object(draft, correlated, pod);
            if self.happens(faults.doubled) {
                events.push((at, event.clone()));
            }
            events.push((at, event));
        }
        events
    }

    /// Forgets the pod numbered `id`.
    pub(super) fn forget(&mut self, id: u64) {
        self.pods.remove(&id);
    }

    /// Writes an Event to the API server at `now`.
    pub(super) fn write(&mut self, event: Event, now: Timestamp) {
        self.counts.written += 1;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let key = ObjectKey::new(text(&event.metadata.namespace), text(&event.metadata.name));
        let known = self.store.get(&key).map(|known| {
            let known = serde_json::from_slice::<Event>(&known.json);
            known.unwrap_or_default().metadata.creation_timestamp
        });
        let is_known = known.is_some();
        self.store.put_json(written(event, known.flatten(), now));
        if is_known {
            return;
        }
        self.kept.push_back(key);
        if self.kept.len() > self.settings.kept
            && let Some(oldest) = self.kept.pop_front()
        {
            self.store.remove(&oldest, at_version);
        }
    }

    fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && self.rng.chance(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_and_is_sent_at_its_pace() {
        let settings =
            EventSettings { queue: 30, per_second: 10, burst: 20, ..EventSettings::default() };
        let mut queue = SendQueue::default();
        let now = Timestamp::from_seconds(100);
        let sent: Vec<Timestamp> = (0..90).filter_map(|_| queue.enter(&settings, now)).collect();
        // Twenty are sent at once, so that they are no longer in the queue.
        assert_eq!(sent.len(), 50);
        assert_eq!((sent[19], sent[29]), (now, now.plus_nanos(SECOND)));
        let later = now.plus_nanos(10 * SECOND);
        assert_eq!(queue.enter(&settings, later), Some(later));
    }
}
