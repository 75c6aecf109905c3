//! The cap on remembered pods: which it makes the tracker forget, and which it keeps out.
//!
//! A pod that was forgotten while it still exists must not be taken for a new one when it is heard
//! of again, or it would be counted twice. To know every such pod would take the memory that the
//! cap is there to save. So the pods that were created first are forgotten first, and of all that
//! were forgotten only the newest second of creation is kept: the watermark. An unknown pod that
//! was created no later may be one of them, and is refused.
//!
//! - No pod that was evicted is discovered again.
//! - Pods in flight are not evicted: they would be lost halfway. Where too many of them stand, new
//!   pods are refused.
//! - Whoever watches live misses next to nothing: new pods are younger than the watermark. What is
//!   lost is the re-entries of evicted pods, and pods that come late (with a list after a gap) and
//!   are older than the watermark.
//! - A pod without a usable creation time counts as created at its first snapshot, which is no earlier.
//!   Once there is a watermark, unknown pods without one are refused.

use super::reentry::to_second;
use super::table::PodTable;
use crate::label_values;
use crate::timestamp::Timestamp;

/// The share of the cap that is evicted at once. Every pod is looked at for it, so that the cost of
/// an eviction is that of looking at so many pods for each that is evicted.
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

/// A record that could be evicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evictable {
    /// The second of the pod's creation
    pub created: u32,
    /// What is remembered of it
    pub state: EvictedState,
}

/// How many records were evicted, by the discriminant of their [`EvictedState`].
pub type Evicted = [u64; EvictedState::ALL.len()];

/// The cap, and the watermark that it has left.
#[derive(Clone, Debug)]
pub(super) struct Cap {
    pods: usize,
    watermark: Option<u32>,
}

impl Default for Cap {
    /// No cap.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Cap {
    /// At most `pods` pods are remembered.
    pub(super) const fn new(pods: usize) -> Self {
        let watermark = None;
        Self { pods, watermark }
    }

    /// The newest second of creation of any pod that was evicted or refused.
    pub(super) const fn watermark(&self) -> Option<u32> {
        self.watermark
    }

    /// Goes on from the watermark that a cap has left before.
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

    /// Makes room for one more pod where there is none, and says what was evicted for it; `None`
    /// when too few pods can be. `in_flight` of the pods cannot; `evictable` says which.
    pub(super) fn make_room<T>(
        &mut self,
        pods: &mut PodTable<T>,
        in_flight: usize,
        evictable: impl Fn(&T) -> Option<Evictable>,
    ) -> Option<Evicted> {
        let mut evicted = Evicted::default();
        if pods.len() < self.pods {
            return Some(evicted);
        }
        let batch = (self.pods / SHARE).max(1);
        if pods.len().saturating_sub(in_flight) < batch {
            return None;
        }
        let candidates = pods.iter().filter_map(|(_, record)| evictable(record));
        let mut seconds: Vec<u32> = candidates.map(|candidate| candidate.created).collect();
        if seconds.len() < batch {
            return None;
        }
        let (_, last, _) = seconds.select_nth_unstable(batch - 1);
        let last = *last;
        pods.retain(|record| match evictable(record) {
            Some(candidate) if candidate.created <= last => {
                evicted[candidate.state as usize] += 1;
                false
            }
            _ => true,
        });
        self.watermark = self.watermark.max(Some(last));
        Some(evicted)
    }

    /// An unknown pod was refused at `now`: it stays out. A creation time in the future, which a
    /// clock of an API server may state, keeps nobody else out until then.
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
    fn table(pods: u32, in_flight: u32) -> PodTable<Option<Evictable>> {
        let mut table = PodTable::default();
        for created in 1..=pods {
            let state = EvictedState::ALL[created as usize % 2];
            let record = (created > in_flight).then_some(Evictable { created, state });
            table.insert(PodUid::from_text(&created.to_string()), record);
        }
        table
    }

    #[test]
    fn nobody_is_evicted_while_there_is_room() {
        let (mut cap, mut pods) = (Cap::new(33), table(32, 0));
        assert_eq!(cap.make_room(&mut pods, 0, |pod| *pod), Some([0, 0]));
        assert_eq!(pods.len(), 32);
        assert!(!cap.may_know(at(1)) && !cap.may_know(None));
    }

    #[test]
    fn a_sixteenth_makes_room_the_oldest_first() {
        let (mut cap, mut pods) = (Cap::new(64), table(64, 10));
        assert_eq!(cap.make_room(&mut pods, 10, |pod| *pod), Some([2, 2]));
        assert_eq!(pods.len(), 60);
        let left = pods.iter().filter_map(|(_, pod)| *pod);
        assert_eq!(left.map(|pod| pod.created).min(), Some(15));
        assert!(cap.may_know(at(14)) && cap.may_know(None));
        assert!(!cap.may_know(at(15)));
    }

    #[test]
    fn a_house_full_of_pods_in_flight_gives_no_room() {
        let (mut cap, mut pods) = (Cap::new(64), table(64, 61));
        assert_eq!(cap.make_room(&mut pods, 61, |pod| *pod), None);
        assert_eq!(pods.len(), 64);
        cap.refuse(at(70), Timestamp::from_seconds(65));
        assert!(cap.may_know(at(65)));
        assert!(!cap.may_know(at(66)));
    }

    #[test]
    fn the_watermark_never_falls() {
        let mut cap = Cap::new(1);
        cap.refuse(at(70), Timestamp::from_seconds(100));
        cap.refuse(at(60), Timestamp::from_seconds(100));
        let mut pods = table(1, 0);
        assert_eq!(cap.make_room(&mut pods, 0, |pod| *pod), Some([0, 1]));
        assert_eq!(pods.len(), 0);
        assert!(cap.may_know(at(70)));
    }

    #[test]
    fn a_cap_goes_on_from_the_watermark_that_an_earlier_one_has_left() {
        let mut earlier = Cap::new(1);
        assert_eq!(earlier.watermark(), None);
        earlier.refuse(at(70), Timestamp::from_seconds(100));
        let mut cap = Cap::new(1);
        cap.restore(earlier.watermark());
        assert!(cap.may_know(at(70)) && !cap.may_know(at(71)));
        cap.restore(Some(60));
        cap.restore(None);
        assert_eq!(cap.watermark(), Some(70));
    }
}
