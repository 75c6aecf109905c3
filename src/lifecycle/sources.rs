//! What is known of the list-watches themselves: their first lists, whether they are in sync, and
//! how far each has been accounted for.

use std::collections::{BTreeMap, BTreeSet};

use super::classification::SnapshotOrigin;
use super::delivery::SourceId;
use super::reentry::ReentryBaseline;
use super::version::Version;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// After a watch was resumed, what happened meanwhile is still being delivered. For this long no
/// deadline passes; it is the delivery grace that §6 gives every deadline.
const CATCHING_UP_NANOS: i64 = 5 * NANOS_PER_SECOND;

/// The first list of a source, once it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstList {
    /// When it was begun
    BeganAt(Timestamp),
    /// The source delivered something else first, so it has none
    NeverHad,
}

/// What became of a source while nobody watched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// It is watched again, under this number
    Same(SourceId),
    /// Its scope is, under this number, with another selection of pods: its pods stay until a list
    /// says which of them are gone, and that list is its first one (§5 rule 2)
    Reselected(SourceId),
    /// It is watched no longer: its pods in flight vanish, and the others are forgotten
    Gone,
}

/// How far a source has been accounted for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceProgress {
    /// The version up to which everything has been accounted for: a watch from there brings the
    /// rest
    pub version: Option<Version>,
    /// When it was last known that nothing is missing: the time of the last delivery while in sync
    pub complete_at: Option<Timestamp>,
}

/// The list-watches that have delivered something.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) first_lists: BTreeMap<SourceId, FirstList>,
    pub(super) progress: BTreeMap<SourceId, SourceProgress>,
    pub(super) out_of_sync: BTreeSet<SourceId>,
    /// When each source last reported a pod. Not the same as complete: a watch that goes on from a
    /// version that a restored API server has not reached is complete by all that it says.
    pub(super) reported: BTreeMap<SourceId, Timestamp>,
    /// Sources whose API server was restored from a backup, and which have not listed since
    rolled_back: BTreeSet<SourceId>,
    /// Sources whose API server was ever restored from one
    restored: BTreeSet<SourceId>,
    pub(super) resumed: Option<Timestamp>,
}

impl Sources {
    /// What `source` delivered first was no list, so none of its lists is its first one.
    pub(super) fn begin_without_list(&mut self, source: SourceId) {
        self.first_lists
            .entry(source)
            .or_insert(FirstList::NeverHad);
    }

    /// In what a pod is seen that stands in a list of `source` that began at `began`.
    pub(super) fn list(&mut self, source: SourceId, began: Timestamp) -> SnapshotOrigin {
        self.out_of_sync.remove(&source);
        let restored = self.rolled_back.remove(&source);
        if let (true, Some(until)) = (restored, self.reported.get(&source)) {
            return SnapshotOrigin::Restored {
                reported_until: *until,
            };
        }
        if self.first_lists.contains_key(&source) {
            return self.event(source);
        }
        self.first_lists.insert(source, FirstList::BeganAt(began));
        SnapshotOrigin::FirstList
    }

    /// In what a pod is seen that stands in an event of `source`.
    pub(super) fn event(&self, source: SourceId) -> SnapshotOrigin {
        let first_list_began = match self.first_lists.get(&source) {
            Some(FirstList::BeganAt(began)) => Some(*began),
            Some(FirstList::NeverHad) | None => None,
        };
        SnapshotOrigin::Later { first_list_began }
    }

    /// How long, in nanoseconds, `source` has not been known to be complete when a list begins that
    /// closes the gap; `None` for its first list. Pods that were born and gone within that time
    /// stand in no list.
    pub(super) fn gap_before(&self, source: SourceId, began: Timestamp) -> Option<u64> {
        self.first_lists.get(&source)?;
        let complete_at = self.progress.get(&source)?.complete_at?;
        u64::try_from(began.nanos_since(complete_at)).ok()
    }

    /// A delivery of `source` has been accounted for, with which it stands at `version`, and, if it
    /// is in sync, was complete at `at`.
    pub(super) fn account(&mut self, source: SourceId, version: Option<Version>, at: Timestamp) {
        let progress = self.progress.entry(source).or_default();
        if version.is_some() {
            progress.version = version;
        }
        if !self.out_of_sync.contains(&source) {
            progress.complete_at = progress.complete_at.max(Some(at));
        }
    }

    /// `source` has reported its pods up to `at`.
    pub(super) fn has_reported(&mut self, source: SourceId, at: Timestamp) {
        self.reported.insert(source, at);
    }

    /// The clock was put right, and says `now`: nothing was told or complete after that.
    pub(super) fn set_time(&mut self, now: Timestamp) {
        for at in self.reported.values_mut() {
            *at = now.min(*at);
        }
        for progress in self.progress.values_mut() {
            progress.complete_at = progress.complete_at.map(|at| now.min(at));
        }
        self.catch_up(now);
    }

    /// The API server of `source` was restored from a backup.
    pub(super) fn roll_back(&mut self, source: SourceId) {
        self.rolled_back.insert(source);
        self.restored.insert(source);
    }

    /// What shows that a condition of a pod of `source` has become True again.
    pub(super) fn reentry_baseline(&self, source: SourceId) -> ReentryBaseline {
        match self.restored.contains(&source) {
            true => ReentryBaseline::Latest,
            false => ReentryBaseline::Last,
        }
    }

    /// `source` is no longer in sync.
    pub(super) fn lose_sync(&mut self, source: SourceId) {
        self.out_of_sync.insert(source);
    }

    /// The pods of `source` are all known again.
    pub(super) fn regain_sync(&mut self, source: SourceId) {
        self.out_of_sync.remove(&source);
    }

    /// `source` goes on from the version where it had stopped.
    pub(super) fn resume(&mut self, source: SourceId, now: Timestamp) {
        if self.out_of_sync.remove(&source) {
            self.catch_up(now);
        }
    }

    /// Time has passed unattended until `now`: what happened meanwhile is still to be delivered.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        self.resumed = Some(now);
    }

    /// Whether a deadline may pass at `now`: a blind exporter accuses nobody (§6).
    pub(super) fn may_pass_deadlines(&self, now: Timestamp) -> bool {
        let caught_up = self
            .resumed
            .is_none_or(|resumed| now.nanos_since(resumed) > CATCHING_UP_NANOS);
        self.out_of_sync.is_empty() && caught_up
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
