//! The books (§5): which pods are known, how each stands, and what every delivery changes.

use std::collections::{BTreeMap, VecDeque};

use super::clock::TimestampMode;
use super::delivery::{Delivery, PodEvent, SourceId};
use super::inflight::InFlightOrder;
use super::observation::{Observation, Outcome, Position, Sink};
use super::pod_in_flight::{PodInFlight, Seen};
use super::sight::{FirstSight, SeenIn};
use super::startup::Sighting;
use super::table::PodTable;
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// How long a deleted pod stays remembered, so that a late duplicate does not revive it.
const DELETED_NANOS: i64 = 600 * NANOS_PER_SECOND;

/// What the accounting can be told to do differently.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrackerConfig {
    /// Which times durations are made of
    pub timestamps: TimestampMode,
    /// Observe the pods of the first list as if they had been watched
    pub backfill: bool,
}

/// Everything remembered of one pod.
#[derive(Debug)]
enum Record {
    InFlight(Box<PodInFlight>),
    Finished(Seen),
    Deleted,
}

/// Accounts for every pod. One owner feeds it deliveries; it has no clock and does no I/O.
#[derive(Debug, Default)]
pub struct Tracker {
    config: TrackerConfig,
    pods: PodTable<Record>,
    order: InFlightOrder,
    first_lists: BTreeMap<SourceId, FirstList>,
    deleted: VecDeque<(Timestamp, PodUid)>,
}

/// The first list of a source, once it is certain.
#[derive(Clone, Copy, Debug)]
enum FirstList {
    BeganAt(Timestamp),
    NeverHad,
}

/// A snapshot together with how it was delivered.
struct Arrival {
    source: SourceId,
    now: Timestamp,
    observed: Option<Timestamp>,
    seen_in: SeenIn,
}

impl Tracker {
    /// A tracker that knows no pod.
    pub fn new(config: TrackerConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// How many pods are remembered, whatever their state.
    pub fn remembered(&self) -> usize {
        self.pods.len()
    }

    /// States that what `source` delivers first is no list, so that none of its lists is its first
    /// one: its pods are observed in full, and every list closes a gap.
    pub fn begin_without_list(&mut self, source: SourceId) {
        self.first_lists
            .entry(source)
            .or_insert(FirstList::NeverHad);
    }

    /// Lets time pass until `now`.
    pub fn advance(&mut self, now: Timestamp) {
        self.forget_deleted(now);
    }

    /// Accounts for one delivery.
    pub fn apply(&mut self, delivery: Delivery, sink: &mut impl Sink) {
        let Delivery {
            source,
            event,
            now,
            observed,
        } = delivery;
        self.advance(now);
        let first_list_began = match self.first_lists.get(&source) {
            Some(FirstList::BeganAt(began)) => Some(*began),
            Some(FirstList::NeverHad) | None => None,
        };
        let seen_in = SeenIn::Later { first_list_began };
        let arrival = Arrival {
            source,
            now,
            observed,
            seen_in,
        };
        match event {
            PodEvent::Applied(snapshot) => self.see(&snapshot, &arrival, sink),
            PodEvent::Deleted(snapshot) => self.delete(&snapshot, &arrival, sink),
            PodEvent::Listed { pods, began } => self.list(pods, began, arrival, sink),
            PodEvent::StreamedListClosed { mut standing } => {
                self.sweep(source, &mut standing, sink);
            }
            PodEvent::SyncLost | PodEvent::Resumed => {}
        }
    }

    fn see(&mut self, snapshot: &PodSnapshot, arrival: &Arrival, sink: &mut impl Sink) {
        let uid = snapshot.uid;
        let sighting = self.sighting(arrival);
        match self.pods.get_mut(uid) {
            None => self.discover(snapshot, arrival, sink),
            Some(Record::Deleted) => {}
            Some(Record::Finished(seen)) => {
                seen.accept(snapshot, &mut |again| sink.observe(&snapshot.info, again));
            }
            Some(Record::InFlight(pod)) => match pod.fold(snapshot, sighting, false, sink) {
                None => pod.settle(uid, &mut self.order, sink),
                Some(outcome) => self.finish(uid, outcome, sink),
            },
        }
    }

    fn discover(&mut self, snapshot: &PodSnapshot, arrival: &Arrival, sink: &mut impl Sink) {
        let excluded = match FirstSight::of(snapshot, arrival.seen_in, self.config.backfill) {
            FirstSight::New => return self.follow(snapshot, arrival, false, sink),
            FirstSight::Adopted => return self.follow(snapshot, arrival, true, sink),
            FirstSight::Static => Outcome::Static,
            FirstSight::Preexisting => Outcome::Preexisting,
        };
        let (from, to) = (Position::Undiscovered, Position::Finished(excluded));
        sink.observe(&snapshot.info, Observation::Moved { from, to });
        let mut seen = Seen::nothing(snapshot, arrival.source);
        seen.accept(snapshot, &mut |again| sink.observe(&snapshot.info, again));
        self.pods.insert(snapshot.uid, Record::Finished(seen));
    }

    /// Begins to follow the startup of a pod.
    fn follow(
        &mut self,
        snapshot: &PodSnapshot,
        arrival: &Arrival,
        adopted: bool,
        sink: &mut impl Sink,
    ) {
        let uid = snapshot.uid;
        let mut pod = PodInFlight::discover(snapshot, arrival.source, arrival.now, sink);
        let sighting = Sighting {
            live: !adopted,
            ..self.sighting(arrival)
        };
        match pod.fold(snapshot, sighting, adopted, sink) {
            None => {
                pod.settle(uid, &mut self.order, sink);
                self.pods.insert(uid, Record::InFlight(Box::new(pod)));
            }
            Some(outcome) => {
                pod.finish(uid, outcome, &mut self.order, sink);
                self.pods.insert(uid, Record::Finished(pod.seen));
            }
        }
    }

    fn sighting(&self, arrival: &Arrival) -> Sighting {
        Sighting {
            mode: self.config.timestamps,
            observed: arrival.observed,
            live: true,
        }
    }

    /// Ends the startup of a pod, if it is in flight, and remembers it as finished.
    fn finish(&mut self, uid: PodUid, outcome: Outcome, sink: &mut impl Sink) {
        let Some(record) = self.pods.get_mut(uid) else {
            return;
        };
        if let Record::InFlight(pod) = record {
            pod.finish(uid, outcome, &mut self.order, sink);
            *record = Record::Finished(pod.seen);
        }
    }

    /// The object of a DELETED event is the pod's last snapshot, unless it is an older version;
    /// then the pod ends, in any case (§5 rule 1).
    fn delete(&mut self, snapshot: &PodSnapshot, arrival: &Arrival, sink: &mut impl Sink) {
        let uid = snapshot.uid;
        if matches!(self.pods.get_mut(uid), None | Some(Record::Deleted)) {
            return;
        }
        self.see(snapshot, arrival, sink);
        self.finish(uid, Outcome::Deleted, sink);
        self.pods.insert(uid, Record::Deleted);
        self.deleted.push_back((arrival.now, uid));
    }

    /// Deliveries never go back in time, so the deleted pods stand in the order of their deletion.
    fn forget_deleted(&mut self, now: Timestamp) {
        while let Some((deleted_at, uid)) = self.deleted.front().copied()
            && now.nanos_since(deleted_at) > DELETED_NANOS
        {
            self.deleted.pop_front();
            self.pods.remove(uid);
        }
    }

    /// A completed list: what stands in it is seen, what is known but absent is gone (§5 rules 2,
    /// 4 and 5).
    fn list(
        &mut self,
        pods: Vec<PodSnapshot>,
        began: Timestamp,
        arrival: Arrival,
        sink: &mut impl Sink,
    ) {
        let source = arrival.source;
        let is_first = !self.first_lists.contains_key(&source);
        let seen_in = if is_first {
            SeenIn::FirstList
        } else {
            arrival.seen_in
        };
        let arrival = Arrival {
            seen_in,
            observed: None,
            ..arrival
        };
        self.first_lists
            .entry(source)
            .or_insert(FirstList::BeganAt(began));
        let mut listed = Vec::with_capacity(pods.len());
        for snapshot in pods {
            self.see(&snapshot, &arrival, sink);
            listed.push(snapshot.uid);
        }
        self.sweep(source, &mut listed, sink);
    }

    /// Ends or forgets every pod of `source` that is not in `listed`.
    fn sweep(&mut self, source: SourceId, listed: &mut [PodUid], sink: &mut impl Sink) {
        listed.sort_unstable();
        let belongs = |record: &Record| match record {
            Record::InFlight(pod) => pod.seen.source == source,
            Record::Finished(seen) => seen.source == source,
            Record::Deleted => false,
        };
        let absent: Vec<PodUid> = self
            .pods
            .iter()
            .filter(|(uid, record)| belongs(record) && listed.binary_search(uid).is_err())
            .map(|(uid, _)| uid)
            .collect();
        for uid in absent {
            self.finish(uid, Outcome::Vanished, sink);
            self.pods.remove(uid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_pod_takes_at_most_48_bytes_of_the_table() {
        assert!(size_of::<Option<(PodUid, Record)>>() <= 48);
    }
}
