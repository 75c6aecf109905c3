//! The cap on remembered pods: which pods are evicted for it, and which are refused
//! ([§5.5](crate::specification#s5-5)).
//!
//! A pod that was evicted while it still exists must not be taken for a new one when it is seen again,
//! or it would be counted twice. To remember every such pod would take the memory that the cap is
//! there to save. So the pods that were created first are evicted first, and only the newest second of
//! creation among all evicted pods is kept: the watermark. An unknown pod that was created no later may
//! be one of them, and is refused.
//!
//! - No pod that was evicted is discovered again.
//! - Pods in flight are not evicted, because their startups would be lost. If too many pods are in
//!   flight, new pods are refused.
//! - A live watch loses almost nothing, because new pods are younger than the watermark. Lost are the
//!   re-entries of evicted pods, and pods that are delivered late (by a relist) and are older than the
//!   watermark.
//! - A pod without a usable creation time counts as created at its first snapshot, which is no earlier.
//!   Once there is a watermark, unknown pods without one are refused.

use super::reentry::to_second;
use super::table::PodTable;
use crate::label_values;
use crate::timestamp::Timestamp;

/// An eviction removes this fraction (one in so many) of the cap at once. It visits every pod, so its
/// cost is this many visits for each evicted pod.
const SHARE: usize = 16;

label_values! {
    /// What was remembered of a pod that was evicted.
    pub enum EvictedState {
        /// Its startup was over
        Finished => "finished",
        /// It was deleted less than ten minutes ago
        Deleted => "deleted",
    }
}

label_values! {
    /// Why a snapshot of an unknown pod was refused.
    pub enum RefusalReason {
        /// Nearly all of the pods that are remembered are in flight
        Full => "full",
        /// The pod is so old that it may be one that was evicted or refused before
        MaybeKnown => "maybe_known",
    }
}

/// An entry that could be evicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvictableEntry {
    /// The second of the pod's creation
    pub created: u32,
    /// What is remembered of it
    pub state: EvictedState,
}

/// How many entries were evicted, by the discriminant of their [`EvictedState`].
pub type EvictedCounts = [u64; EvictedState::ALL.len()];

/// The cap, and the watermark of what was evicted or refused.
#[derive(Clone, Debug)]
pub(super) struct EvictionCap {
    pods: usize,
    watermark: Option<u32>,
}

impl Default for EvictionCap {
    /// No cap.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl EvictionCap {
    /// A cap of `pods` remembered pods.
    pub(super) const fn new(pods: usize) -> Self {
        let watermark = None;
        Self { pods, watermark }
    }

    /// The newest second of creation of any pod that was evicted or refused.
    pub(super) const fn watermark(&self) -> Option<u32> {
        self.watermark
    }

    /// Restores a saved watermark.
    pub(super) fn restore(&mut self, watermark: Option<u32>) {
        self.watermark = self.watermark.max(watermark);
    }

    /// Whether an unknown pod that was created at `created` may have been evicted or refused.
    pub(super) fn may_know(&self, created: Option<Timestamp>) -> bool {
        match (self.watermark, created) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(watermark), Some(created)) => to_second(created) <= watermark,
        }
    }

    /// Makes room for one more pod if there is none, and returns what was evicted for it; `None` if too
    /// few pods can be evicted. `in_flight` is how many pods cannot; `evictable` says which can.
    /// Each that is evicted is shown to `forget` first.
    pub(super) fn make_room<T: Clone>(
        &mut self,
        pods: &mut PodTable<T>,
        in_flight: usize,
        evictable: impl Fn(&T) -> Option<EvictableEntry>,
        mut forget: impl FnMut(&T),
    ) -> Option<EvictedCounts> {
        let mut evicted = EvictedCounts::default();
        if pods.len() < self.pods {
            return Some(evicted);
        }
        let batch = (self.pods / SHARE).max(1);
        if pods.len().saturating_sub(in_flight) < batch {
            return None;
        }
        let candidates = pods.iter().filter_map(|(_, entry)| evictable(entry));
        let mut seconds: Vec<u32> = candidates.map(|candidate| candidate.created).collect();
        if seconds.len() < batch {
            return None;
        }
        let (_, last, _) = seconds.select_nth_unstable(batch - 1);
        let last = *last;
        pods.retain(|entry| match evictable(entry) {
            Some(candidate) if candidate.created <= last => {
                evicted[candidate.state as usize] += 1;
                forget(entry);
                false
            }
            _ => true,
        });
        self.watermark = self.watermark.max(Some(last));
        Some(evicted)
    }

    /// An unknown pod was refused at `now` and stays refused. A creation time in the future, which a
    /// wrong clock of an API server may state, does not refuse the other pods until then.
    pub(super) fn refuse(&mut self, created: Option<Timestamp>, now: Timestamp) {
        let created = created.unwrap_or(now).min(now);
        self.watermark = self.watermark.max(Some(to_second(created)));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::pod::PodUid;

    fn at(second: i64) -> Option<Timestamp> {
        Some(Timestamp::from_seconds(second))
    }

    /// Pods that were created in the seconds from 1 on, those below `in_flight` still in flight.
    fn table(pods: u32, in_flight: u32) -> PodTable<Option<EvictableEntry>> {
        let mut table = PodTable::default();
        for created in 1..=pods {
            let state = EvictedState::ALL[created as usize % 2];
            let entry = (created > in_flight).then_some(EvictableEntry { created, state });
            table.insert(PodUid::from_text(&created.to_string()), entry);
        }
        table
    }

    #[test]
    fn no_pod_is_evicted_while_there_is_room() {
        let (mut cap, mut pods) = (EvictionCap::new(33), table(32, 0));
        assert_eq!(cap.make_room(&mut pods, 0, |pod| *pod, |_| {}), Some([0, 0]));
        assert_eq!(pods.len(), 32);
        assert!(!cap.may_know(at(1)) && !cap.may_know(None));
    }

    #[test]
    fn a_sixteenth_makes_room_the_oldest_first() {
        let (mut cap, mut pods) = (EvictionCap::new(64), table(64, 10));
        assert_eq!(cap.make_room(&mut pods, 10, |pod| *pod, |_| {}), Some([2, 2]));
        assert_eq!(pods.len(), 60);
        let left = pods.iter().filter_map(|(_, pod)| *pod);
        assert_eq!(left.map(|pod| pod.created).min(), Some(15));
        assert!(cap.may_know(at(14)) && cap.may_know(None));
        assert!(!cap.may_know(at(15)));
    }

    #[test]
    fn pods_in_flight_are_not_evicted() {
        let (mut cap, mut pods) = (EvictionCap::new(64), table(64, 61));
        assert_eq!(cap.make_room(&mut pods, 61, |pod| *pod, |_| {}), None);
        assert_eq!(pods.len(), 64);
        cap.refuse(at(70), Timestamp::from_seconds(65));
        assert!(cap.may_know(at(65)));
        assert!(!cap.may_know(at(66)));
    }

    #[test]
    fn the_watermark_never_falls() {
        let mut cap = EvictionCap::new(1);
        cap.refuse(at(70), Timestamp::from_seconds(100));
        cap.refuse(at(60), Timestamp::from_seconds(100));
        let mut pods = table(1, 0);
        assert_eq!(cap.make_room(&mut pods, 0, |pod| *pod, |_| {}), Some([0, 1]));
        assert_eq!(pods.len(), 0);
        assert!(cap.may_know(at(70)));
    }

    #[test]
    fn a_cap_continues_from_a_restored_watermark() {
        let mut earlier = EvictionCap::new(1);
        assert_eq!(earlier.watermark(), None);
        earlier.refuse(at(70), Timestamp::from_seconds(100));
        let mut cap = EvictionCap::new(1);
        cap.restore(earlier.watermark());
        assert!(cap.may_know(at(70)) && !cap.may_know(at(71)));
        cap.restore(Some(60));
        cap.restore(None);
        assert_eq!(cap.watermark(), Some(70));
    }
}
