//! What is known of the list-watches themselves: their first lists, and whether they are in sync.

use std::collections::{BTreeMap, BTreeSet};

use super::delivery::SourceId;
use super::sight::SeenIn;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// After a watch was resumed, what happened meanwhile is still being delivered. For this long no
/// deadline passes; it is the delivery grace that §6 gives every deadline.
const CATCHING_UP_NANOS: i64 = 5 * NANOS_PER_SECOND;

/// The first list of a source, once it is certain.
#[derive(Clone, Copy, Debug)]
enum FirstList {
    BeganAt(Timestamp),
    NeverHad,
}

/// The list-watches that have delivered something.
#[derive(Debug, Default)]
pub struct Sources {
    first_lists: BTreeMap<SourceId, FirstList>,
    out_of_sync: BTreeSet<SourceId>,
    resumed: Option<Timestamp>,
}

impl Sources {
    /// What `source` delivered first was no list, so none of its lists is its first one.
    pub fn begin_without_list(&mut self, source: SourceId) {
        self.first_lists
            .entry(source)
            .or_insert(FirstList::NeverHad);
    }

    /// In what a pod is seen that stands in a list of `source` that began at `began`.
    pub fn list(&mut self, source: SourceId, began: Timestamp) -> SeenIn {
        self.out_of_sync.remove(&source);
        if self.first_lists.contains_key(&source) {
            return self.event(source);
        }
        self.first_lists.insert(source, FirstList::BeganAt(began));
        SeenIn::FirstList
    }

    /// In what a pod is seen that stands in an event of `source`.
    pub fn event(&self, source: SourceId) -> SeenIn {
        let first_list_began = match self.first_lists.get(&source) {
            Some(FirstList::BeganAt(began)) => Some(*began),
            Some(FirstList::NeverHad) | None => None,
        };
        SeenIn::Later { first_list_began }
    }

    /// `source` is no longer in sync.
    pub fn lose_sync(&mut self, source: SourceId) {
        self.out_of_sync.insert(source);
    }

    /// The pods of `source` are all known again.
    pub fn regain_sync(&mut self, source: SourceId) {
        self.out_of_sync.remove(&source);
    }

    /// `source` goes on from the version where it had stopped.
    pub fn resume(&mut self, source: SourceId, now: Timestamp) {
        if self.out_of_sync.remove(&source) {
            self.catch_up(now);
        }
    }

    /// Time has passed unattended until `now`: what happened meanwhile is still to be delivered.
    pub fn catch_up(&mut self, now: Timestamp) {
        self.resumed = Some(now);
    }

    /// Whether a deadline may pass at `now`: a blind exporter accuses nobody (§6).
    pub fn may_judge(&self, now: Timestamp) -> bool {
        let caught_up = self
            .resumed
            .is_none_or(|resumed| now.nanos_since(resumed) > CATCHING_UP_NANOS);
        self.out_of_sync.is_empty() && caught_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: SourceId = SourceId(1);
    const TWO: SourceId = SourceId(2);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    #[test]
    fn every_source_has_a_first_list_of_its_own() {
        let mut sources = Sources::default();
        assert_eq!(sources.list(ONE, at(10)), SeenIn::FirstList);
        assert_eq!(sources.list(TWO, at(20)), SeenIn::FirstList);
        assert_eq!(
            sources.list(ONE, at(30)),
            SeenIn::Later {
                first_list_began: Some(at(10))
            }
        );
        sources.begin_without_list(SourceId(3));
        assert_eq!(
            sources.list(SourceId(3), at(40)),
            SeenIn::Later {
                first_list_began: None
            }
        );
    }

    #[test]
    fn nobody_is_judged_while_any_source_is_blind_or_catching_up() {
        let mut sources = Sources::default();
        sources.lose_sync(ONE);
        sources.lose_sync(TWO);
        sources.list(TWO, at(1));
        assert!(!sources.may_judge(at(2)));
        sources.resume(ONE, at(10));
        assert!(!sources.may_judge(at(15)));
        assert!(sources.may_judge(at(16)));
    }

    #[test]
    fn nobody_is_judged_for_a_while_after_time_has_passed_unattended() {
        let mut sources = Sources::default();
        assert!(sources.may_judge(at(1)));
        sources.catch_up(at(600));
        assert!(!sources.may_judge(at(605)));
        assert!(sources.may_judge(at(606)));
    }
}
