//! Since when counters and histograms count: their start timestamps, which Prometheus also calls created
//! timestamps.
//!
//! A series that appears with a count is no increase to Prometheus, unless it is told since when the series
//! counts. A start is stated only where it is known: series that continue from a checkpoint have the start
//! that the checkpoint gives, and none where it gives none.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use podinit_core::timestamp::Timestamp;
use podinit_instruments::LabelText;

/// Since when families and label sets count, as plain values that outlive the process: nanoseconds since
/// the Unix epoch, `None` where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedStartTimes {
    /// By the name of the family
    pub families: Vec<(LabelText, Option<i64>)>,
    /// By label set (see [`SavedLabels::sets`](super::label_sets::SavedLabels::sets))
    pub sets: Vec<Option<i64>>,
}

impl SavedStartTimes {
    /// Whether nothing is said, as in a checkpoint of an earlier podinit.
    pub const fn is_empty(&self) -> bool {
        self.families.is_empty()
    }
}

/// Since when something counts. Each value stands for itself, so all accesses are relaxed.
#[derive(Debug)]
pub(super) struct StartTime(AtomicI64);

impl StartTime {
    const UNKNOWN: i64 = i64::MAX;

    pub(super) fn new(at: Option<Timestamp>) -> Self {
        Self(AtomicI64::new(nanos(at)))
    }

    /// The same in whole seconds, which take fewer bytes: of label sets there are many. No earlier series
    /// is like theirs, so nothing is lost.
    pub(super) fn in_seconds(at: Option<Timestamp>) -> Self {
        Self::new(at.map(Timestamp::truncate_to_second))
    }

    pub(super) fn get(&self) -> Option<Timestamp> {
        let nanos = self.0.load(Relaxed);
        (nanos != Self::UNKNOWN).then(|| Timestamp::from_nanos(nanos))
    }

    pub(super) fn set(&self, at: Option<Timestamp>) {
        self.0.store(nanos(at), Relaxed);
    }

    /// Something was counted at `now`: a clock that was set back since makes a start that is known
    /// earlier. Returns whether it did.
    pub(super) fn not_after(&self, now: Timestamp) -> bool {
        let start = self.0.load(Relaxed);
        let later = start != Self::UNKNOWN && start > now.as_nanos();
        if later {
            self.set(Some(now));
        }
        later
    }
}

impl Default for StartTime {
    fn default() -> Self {
        Self::new(None)
    }
}

fn nanos(at: Option<Timestamp>) -> i64 {
    at.map_or(StartTime::UNKNOWN, Timestamp::as_nanos)
}

/// Since when families count.
#[derive(Debug, Default)]
pub(super) struct StartTimes {
    process: StartTime,
    families: HashMap<&'static str, StartTime>,
}

impl StartTimes {
    /// All of these begin with the process.
    pub(super) fn new(
        process: Option<Timestamp>,
        families: impl Iterator<Item = &'static str>,
    ) -> Self {
        Self {
            process: StartTime::new(process),
            families: families.map(|name| (name, StartTime::new(process))).collect(),
        }
    }

    /// Since when this process counts.
    pub(super) fn process(&self) -> Option<Timestamp> {
        self.process.get()
    }

    /// Since when the series of a family count.
    pub(super) fn get(&self, family: &str) -> Option<Timestamp> {
        self.families.get(family)?.get()
    }

    /// Something was counted at `now`, so nothing that this process has begun began later.
    pub(super) fn not_after(&self, now: Timestamp) {
        if self.process.not_after(now) {
            for start in self.families.values() {
                start.not_after(now);
            }
        }
    }

    /// The starts of those families that `is_saved`.
    pub(super) fn saved(&self, is_saved: impl Fn(&str) -> bool) -> Vec<(LabelText, Option<i64>)> {
        let families = self.families.iter();
        let families = families.filter(|(name, _)| is_saved(name));
        let start = |start: &StartTime| start.get().map(Timestamp::as_nanos);
        let mut saved: Vec<_> =
            families.map(|(name, time)| (LabelText::Borrowed(name), start(time))).collect();
        saved.sort_unstable();
        saved
    }

    /// Continues: a family that is not among those saved begins with this process. Where nothing is said of
    /// any, an earlier podinit has saved them, and their starts are not known.
    pub(super) fn restore(&self, saved: &SavedStartTimes) {
        if saved.is_empty() {
            self.families.values().for_each(|start| start.set(None));
        }
        for (name, start) in &saved.families {
            if let Some(family) = self.families.get(&**name) {
                family.set(start.map(Timestamp::from_nanos));
            }
        }
    }

    /// The start of a family is not known.
    pub(super) fn forget(&self, family: &str) {
        if let Some(start) = self.families.get(family) {
            start.set(None);
        }
    }

    /// A family did not continue: it begins with this process.
    pub(super) fn begin(&self, family: &str) {
        if let Some(start) = self.families.get(family) {
            start.set(self.process());
        }
    }
}

/// Since when a series counts that is there once its family and its label set are.
pub(super) fn start_in_set(family: Option<Timestamp>, set: Option<Timestamp>) -> Option<Timestamp> {
    // A set that is newer than a family of unknown start has one of its own.
    set.map(|set| family.map_or(set, |family| family.max(set)))
}

/// The starts of label sets that continue: of each saved set the start, and which one it is now. Where
/// several are one now, that is as old as the oldest, and unknown if one of them is.
pub(super) fn starts_of_sets(
    saved: impl Iterator<Item = (usize, Option<i64>)>,
) -> HashMap<usize, Option<Timestamp>> {
    let mut starts: HashMap<usize, Option<Timestamp>> = HashMap::new();
    for (set, start) in saved {
        let start = start.map(Timestamp::from_nanos);
        let known = starts.entry(set).or_insert(start);
        *known = known.zip(start).map(|(one, other)| one.min(other));
    }
    starts
}
