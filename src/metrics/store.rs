//! Everything that is counted: written by the recorder, read by scrapes, shared by both.

use std::sync::{Arc, OnceLock};

use super::books::Books;
use super::histogram::Histogram;
use super::labels::{LabelSpec, WHOLE_SET};
use super::sync::{AtomicU64, Ordering};
use crate::lifecycle::{
    AnomalyKind, EvictedState, Interval, Milestone, RefusalReason, Stage, UnobservedReason,
};
use crate::timestamp::Timestamp;

/// A number of its own; no other has to agree with it, so its accesses are relaxed.
#[derive(Debug)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(super) fn increment(&self) {
        self.add(1);
    }

    pub(super) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    pub(super) fn set(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An instant that may be absent. Zero stands for that: no [`Timestamp`] is zero.
#[derive(Debug)]
pub(super) struct Instant(AtomicU64);

impl Instant {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(super) fn set(&self, at: Option<Timestamp>) {
        let nanos = at.map_or(0, |at| at.as_nanos().cast_unsigned());
        self.0.store(nanos, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Option<Timestamp> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanos => Some(Timestamp::from_nanos(nanos.cast_signed())),
        }
    }
}

/// The histograms of one label set.
#[derive(Debug)]
pub(super) struct SeriesSet {
    pub(super) values: Box<[Arc<str>]>,
    intervals: [Histogram; Interval::ALL.len()],
}

impl SeriesSet {
    pub(super) fn interval(&self, interval: Interval) -> &Histogram {
        &self.intervals[interval.index()]
    }
}

/// All state.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) books: Books,
    pub(super) oldest: [Instant; Stage::ALL.len()],
    pub(super) unobserved: [[Count; UnobservedReason::ALL.len()]; Stage::ALL.len()],
    pub(super) reentries: [Count; Milestone::REENTERABLE.len()],
    pub(super) anomalies: [Count; AnomalyKind::ALL.len()],
    pub(super) remembered: Count,
    pub(super) evicted: [Count; EvictedState::ALL.len()],
    pub(super) refused: [Count; RefusalReason::ALL.len()],
    pub(super) delivery: Histogram,
    /// Nanoseconds; 64 bits hold five hundred years
    pub(super) gaps: Count,
    /// By position of the label; the whole set comes last.
    pub(super) dropped: Box<[Count]>,
    pub(super) labels: Box<[String]>,
    /// Filled from the front, one slot for each label set: a scrape sees a set whole or not at all,
    /// and adding one waits for nobody. As long as the caps allow (16 bytes a slot).
    sets: Box<[OnceLock<Box<SeriesSet>>]>,
}

impl Store {
    pub(super) fn new(specs: &[LabelSpec], max_sets: usize) -> Self {
        // One more for the set of those past the cap.
        let slots = max_sets.saturating_add(1);
        Self {
            books: Books::new(),
            oldest: std::array::from_fn(|_| Instant::new()),
            unobserved: std::array::from_fn(|_| std::array::from_fn(|_| Count::new())),
            reentries: std::array::from_fn(|_| Count::new()),
            anomalies: std::array::from_fn(|_| Count::new()),
            remembered: Count::new(),
            evicted: std::array::from_fn(|_| Count::new()),
            refused: std::array::from_fn(|_| Count::new()),
            delivery: Histogram::default(),
            gaps: Count::new(),
            dropped: (0..=specs.len()).map(|_| Count::new()).collect(),
            labels: specs.iter().map(|spec| spec.name.clone()).collect(),
            sets: (0..slots).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Shows a new label set, all of whose histograms stand at zero.
    pub(super) fn add_set(&self, set: usize, values: Box<[Arc<str>]>) {
        self.sets[set].get_or_init(|| {
            Box::new(SeriesSet {
                values,
                intervals: Default::default(),
            })
        });
    }

    pub(super) fn set(&self, set: usize) -> Option<&SeriesSet> {
        Some(self.sets.get(set)?.get()?)
    }

    /// The label sets shown so far, sorted by their values.
    pub(super) fn sorted_sets(&self) -> Vec<&SeriesSet> {
        let shown = self.sets.iter().map_while(OnceLock::get);
        let mut sets: Vec<&SeriesSet> = shown.map(Box::as_ref).collect();
        sets.sort_unstable_by(|a, b| a.values.cmp(&b.values));
        sets
    }

    /// The labels whose values may be dropped, and how often they were.
    pub(super) fn dropped(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.labels.iter().map(String::as_str).chain([WHOLE_SET]);
        names.zip(self.dropped.iter().map(Count::get))
    }

    /// Adds what was dropped before, of the labels that there still are.
    pub(super) fn restore_dropped(&self, saved: &[(String, u64)]) {
        let names = self.labels.iter().map(String::as_str).chain([WHOLE_SET]);
        for (name, count) in names.zip(&self.dropped) {
            let saved = saved.iter().find(|(label, _)| label == name);
            count.add(saved.map_or(0, |(_, count)| *count));
        }
    }

    /// Counts a pod whose whole label set was dropped.
    pub(super) fn drop_whole_set(&self) {
        self.dropped[self.labels.len()].increment();
    }
}
