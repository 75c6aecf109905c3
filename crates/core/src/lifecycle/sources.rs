//! What is known of the list-watches themselves: their first lists, whether they are in sync, and
//! how far each has been accounted for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::classification::SnapshotOrigin;
use super::delivery::SourceId;
use super::reentry::ReentryBaseline;
use super::version::Version;
use crate::shard::Shard;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// After a watch has resumed, what happened meanwhile is still being delivered. For this long no
/// deadline passes ([§6.7](crate::specification#s6-7)). It equals the default grace for the delivery
/// ([§6.3](crate::specification#s6-3)).
const CATCHING_UP_NANOS: i64 = 5 * NANOS_PER_SECOND;

/// A loss of sync that is repaired takes seconds, or at most about a minute.
const HUSHED_AFTER_NANOS: i64 = 120 * NANOS_PER_SECOND;

/// The first list of a source, once it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FirstList {
    /// When it was begun
    BeganAt(Timestamp),
    /// The source delivered something else first, so it has none
    NeverHad,
}

impl FirstList {
    /// When it was begun, if there was one.
    const fn began(self) -> Option<Timestamp> {
        match self {
            Self::BeganAt(began) => Some(began),
            Self::NeverHad => None,
        }
    }
}

/// What a source of a checkpoint has become in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceSuccessor {
    /// It is watched again, under this id
    Same(SourceId),
    /// The same scope is watched, under this id, with another selection of pods: its pods stay
    /// remembered until a list shows which of them are gone, and that list is a first list
    /// ([§5.2](crate::specification#s5-2))
    SelectionChanged(SourceId),
    /// It is no longer watched: its pods in flight vanish, and the others are forgotten
    Gone,
}

/// How far a source has been accounted for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceProgress {
    /// The version up to which everything has been accounted for: a watch from there delivers the
    /// rest
    pub version: Option<Version>,
    /// When it was last known that nothing is missing: the time of the last delivery while in sync
    pub complete_at: Option<Timestamp>,
}

/// What is saved of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSource {
    /// Its first list, if it has been delivered
    pub first_list: Option<FirstList>,
    /// How far it has been accounted for
    pub progress: SourceProgress,
}

/// The list-watches that have delivered something.
#[derive(Debug, Default)]
pub(super) struct DeliveredSources {
    first_lists: BTreeMap<SourceId, FirstList>,
    progress: BTreeMap<SourceId, SourceProgress>,
    /// The sources whose deadlines may not pass yet: mostly none
    blocked: BTreeMap<SourceId, BlockedReason>,
    /// Sources whose API server was ever restored from a backup
    restored: BTreeSet<SourceId>,
    /// Sources whose shards were numbered anew, and which have not listed since: the shard before, and
    /// the first list of its pods
    resharded: BTreeMap<SourceId, (Shard, FirstList)>,
    /// When all sources last began to catch up
    pub(super) resumed: Option<Timestamp>,
}

/// Since when a source is blocked, so that no deadline of its pods passes.
#[derive(Clone, Copy, Debug)]
struct BlockedReason {
    /// When the source lost the sync, or was going to be watched
    since: Timestamp,
    /// When it came in sync again, if it did, and has not caught up for certain
    resumed: Option<Timestamp>,
    /// Its stuck pods were reported as no longer stuck
    hushed: bool,
}

impl DeliveredSources {
    /// `source` delivers something else before any list, so none of its lists is a first list. Where it is known when it
    /// began, that takes the place of the begin of one.
    pub(super) fn begin_without_list(&mut self, source: SourceId, began: Option<Timestamp>) {
        let began = began.map_or(FirstList::NeverHad, FirstList::BeganAt);
        self.first_lists.entry(source).or_insert(began);
    }

    /// The origin of the snapshots in a list of `source` that was begun at `began`.
    pub(super) fn list(&mut self, source: SourceId, began: Timestamp) -> SnapshotOrigin {
        self.blocked.remove(&source);
        if let Some((before, first_list)) = self.resharded.remove(&source) {
            self.first_lists.insert(source, FirstList::BeganAt(began));
            return SnapshotOrigin::Resharded { before, first_list_began: first_list.began() };
        }
        if self.first_lists.contains_key(&source) {
            return self.event(source);
        }
        self.first_lists.insert(source, FirstList::BeganAt(began));
        SnapshotOrigin::FirstList
    }

    /// The origin of the snapshot in an event of `source`.
    pub(super) fn event(&self, source: SourceId) -> SnapshotOrigin {
        let first_list = self.first_lists.get(&source);
        SnapshotOrigin::Later {
            first_list_began: first_list.and_then(|first_list| first_list.began()),
        }
    }

    /// The gap that a list of `source` closes, in nanoseconds: from when the source was last complete
    /// to `began`; `None` for its first list. Pods that were created and deleted within the gap are
    /// in no list.
    pub(super) fn gap_before(&self, source: SourceId, began: Timestamp) -> Option<u64> {
        if !self.first_lists.contains_key(&source) && !self.resharded.contains_key(&source) {
            return None;
        }
        let complete_at = self.progress.get(&source)?.complete_at?;
        u64::try_from(began.nanos_since(complete_at)).ok()
    }

    /// A delivery of `source` has been accounted for. It brings the source to `version`, and the
    /// source was complete at `at` if it is in sync.
    pub(super) fn account(&mut self, source: SourceId, version: Option<Version>, at: Timestamp) {
        let in_sync = self.is_in_sync(source);
        let progress = self.progress.entry(source).or_default();
        if version.is_some() {
            progress.version = version;
        }
        if in_sync {
            progress.complete_at = progress.complete_at.max(Some(at));
        }
    }

    /// The clock was corrected and reads `now`: nothing was complete after that.
    pub(super) fn set_time(&mut self, now: Timestamp) {
        for progress in self.progress.values_mut() {
            progress.complete_at = progress.complete_at.map(|at| now.min(at));
        }
        for blocked in self.blocked.values_mut() {
            blocked.since = now.min(blocked.since);
            blocked.resumed = blocked.resumed.map(|_| now);
        }
        for first_list in self.first_lists.values_mut() {
            if let FirstList::BeganAt(began) = first_list {
                *began = now.min(*began);
            }
        }
        self.catch_up(now);
    }

    /// The shards were numbered anew, and the pods were those of `before` until now. Every source lists
    /// next; a process that ends before that begins with a first list.
    pub(super) fn reshard(&mut self, before: Shard) {
        for (source, first_list) in std::mem::take(&mut self.first_lists) {
            self.resharded.insert(source, (before, first_list));
        }
        for progress in self.progress.values_mut() {
            progress.version = None;
        }
    }

    /// The API server of `source` was restored from a backup.
    pub(super) fn roll_back(&mut self, source: SourceId) {
        self.restored.insert(source);
    }

    /// Whether the API server of `source` was ever restored from a backup.
    pub(super) fn was_restored(&self, source: SourceId) -> bool {
        self.restored.contains(&source)
    }

    /// What the transitions of the pods of `source` are compared with.
    pub(super) fn reentry_baseline(&self, source: SourceId) -> ReentryBaseline {
        match self.was_restored(source) {
            true => ReentryBaseline::Latest,
            false => ReentryBaseline::Last,
        }
    }

    /// `source` is going to be watched; it is not in sync from `now` on.
    pub(super) fn expect(&mut self, source: SourceId, now: Timestamp) {
        let blocked = BlockedReason { since: now, resumed: None, hushed: false };
        self.blocked.insert(source, blocked);
    }

    /// `source` is no longer in sync.
    pub(super) fn lose_sync(&mut self, source: SourceId, now: Timestamp) {
        match self.blocked.get_mut(&source) {
            Some(blocked) => blocked.resumed = None,
            None => self.expect(source, now),
        }
    }

    /// The pods of `source` are all known again.
    pub(super) fn regain_sync(&mut self, source: SourceId) {
        self.blocked.remove(&source);
    }

    /// `source` resumes from the version where it had stopped. What happened meanwhile is still being delivered.
    pub(super) fn resume(&mut self, source: SourceId, now: Timestamp) {
        if let Some(blocked) = self.blocked.get_mut(&source) {
            blocked.resumed.get_or_insert(now);
        }
    }

    /// Nothing was accounted for until `now`: what happened meanwhile is still to be delivered.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        self.resumed = Some(now);
    }

    /// Whether a deadline of a pod of some source may pass at `now` ([§6.7](crate::specification#s6-7)).
    pub(super) fn may_pass_some_deadlines(&self, now: Timestamp) -> bool {
        let mut known = self.progress.keys();
        has_caught_up(self.resumed, now)
            && (self.blocked.is_empty()
                || known.any(|source| self.may_pass_deadlines(*source, now)))
    }

    /// Whether `source` is in sync, whether it has caught up or not.
    pub(super) fn is_in_sync(&self, source: SourceId) -> bool {
        self.blocked.get(&source).is_none_or(|blocked| blocked.resumed.is_some())
    }

    /// Whether `source` is not in sync, or has not caught up.
    pub(super) fn is_blocked(&self, source: SourceId) -> bool {
        self.blocked.contains_key(&source)
    }

    /// Whether a deadline of a pod of `source` may pass at `now` ([§6.7](crate::specification#s6-7)).
    pub(super) fn may_pass_deadlines(&self, source: SourceId, now: Timestamp) -> bool {
        let blocked = self.blocked.get(&source);
        has_caught_up(self.resumed, now) && blocked.is_none_or(|blocked| blocked.may_pass(now))
    }

    /// Unblocks the sources that are in sync and have caught up at `now`.
    pub(super) fn unblock(&mut self, now: Timestamp) {
        if !self.blocked.is_empty() {
            self.blocked.retain(|_, blocked| !blocked.may_pass(now));
        }
    }

    /// A source that has been out of sync for two minutes at `now`: nobody knows whether its stuck pods still exist.
    /// Each is returned once; `None` if there is no other.
    pub(super) fn hush(&mut self, now: Timestamp) -> Option<SourceId> {
        let mut blocked = self.blocked.iter_mut();
        let (source, blocked) = blocked.find(|(_, blocked)| {
            !blocked.hushed && now.nanos_since(blocked.since) > HUSHED_AFTER_NANOS
        })?;
        blocked.hushed = true;
        Some(*source)
    }

    /// Until when the deadlines of every source have passed, at `now`.
    pub(super) fn judged_until(&self, now: Timestamp) -> Timestamp {
        let catching_up = self.resumed.filter(|_| !has_caught_up(self.resumed, now));
        let blocked = self.blocked.values().map(|blocked| blocked.since);
        blocked.chain(catching_up).fold(now, Timestamp::min)
    }
}

/// Whether what happened before the watch `resumed`, if it did, has been delivered at `now`.
fn has_caught_up(resumed: Option<Timestamp>, now: Timestamp) -> bool {
    resumed.is_none_or(|resumed| now.nanos_since(resumed) > CATCHING_UP_NANOS)
}

impl BlockedReason {
    fn may_pass(&self, now: Timestamp) -> bool {
        self.resumed.is_some() && has_caught_up(self.resumed, now)
    }
}

impl DeliveredSources {
    /// The saved form of each source.
    pub(super) fn saved(&self) -> BTreeMap<SourceId, SavedSource> {
        let saved = self.progress.iter().map(|(source, progress)| {
            let first_list = self.first_lists.get(source).copied();
            let progress = progress.clone();
            let saved = SavedSource { first_list, progress };
            (*source, saved)
        });
        saved.collect()
    }

    /// Goes on from what was saved, under the numbers that `successor` gives. Every source is out of
    /// sync; one with another selection has no history.
    pub(super) fn restore(
        &mut self,
        saved: BTreeMap<SourceId, SavedSource>,
        now: Timestamp,
        successor: impl Fn(SourceId) -> SourceSuccessor,
    ) {
        for (source, saved) in saved {
            match successor(source) {
                SourceSuccessor::Same(source) => {
                    self.expect(source, now);
                    self.progress.insert(source, saved.progress);
                    if let Some(first_list) = saved.first_list {
                        self.first_lists.insert(source, first_list);
                    }
                }
                SourceSuccessor::SelectionChanged(source) => {
                    self.expect(source, now);
                }
                SourceSuccessor::Gone => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
