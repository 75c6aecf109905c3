//! What has been counted as plain values: to be kept while no process runs, and to go on from.
//! Exemplars are not kept; the next observations bring others.

use std::sync::Arc;

use super::label_sets::SavedLabels;
use super::layout::LAYOUT;
use super::recorder::Recorder;
use crate::lifecycle::eviction::{EvictedState, RefusalReason};
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::observation::{AnomalyKind, Outcome, UnobservedReason};
use crate::lifecycle::slo::ExclusionReason;
use crate::lifecycle::stage::{Interval, Stage};

/// Everything that a recorder has counted; the gauges of pods in flight aside, which follow from
/// the pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedMetrics {
    /// The upper bounds of the cells of all histograms, in nanoseconds, ascending
    pub bounds: Vec<u64>,
    /// Pods finished, by outcome
    pub finished: [u64; Outcome::ALL.len()],
    /// Stages not observed, by stage and reason
    pub unobserved: [[u64; UnobservedReason::ALL.len()]; Stage::ALL.len()],
    /// Re-entries, by milestone
    pub reentries: [u64; Milestone::REENTERABLE.len()],
    /// Odd times, by kind
    pub anomalies: [u64; AnomalyKind::ALL.len()],
    /// Records evicted for the cap on pods, by state
    pub evicted: [u64; EvictedState::ALL.len()],
    /// Snapshots of unknown pods refused, by reason
    pub refused: [u64; RefusalReason::ALL.len()],
    /// Delays of deliveries
    pub delivery: SavedHistogram,
    /// Gaps of the watch, in nanoseconds
    pub gaps: u64,
    /// Values dropped, by label
    pub dropped: Vec<(String, u64)>,
    /// The labels of the duration series and the values that they have taken
    pub labels: SavedLabels,
    /// By label set (see [`SavedLabels::sets`]): the durations by interval
    pub durations: Vec<[SavedHistogram; Interval::ALL.len()]>,
    /// The events of each SLO
    pub slos: Vec<SavedSlo>,
}

/// A histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedHistogram {
    /// The cells that are not empty, by position in [`SavedMetrics::bounds`], ascending, and what
    /// they count
    pub cells: Vec<(u16, u64)>,
    /// The sum of what was observed, in nanoseconds
    pub sum: u128,
}

/// The events of an SLO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSlo {
    /// The value of the label `slo`
    pub name: Arc<str>,
    /// Pods that met it
    pub good: u64,
    /// Pods that missed it
    pub bad: u64,
    /// Pods that count for nothing, by reason
    pub excluded: [u64; ExclusionReason::ALL.len()],
}

/// What became of the durations that were saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durations {
    /// They go on
    GoOn,
    /// The duration series carry other labels now, so they begin at zero
    OtherLabels,
}

impl Recorder {
    /// What has been counted so far.
    pub fn saved(&self) -> SavedMetrics {
        let labels = self.labels.saved();
        let durations = |set| match self.store.set(set) {
            Some(set) => Interval::ALL.map(|interval| set.interval(interval).saved()),
            None => Default::default(),
        };
        SavedMetrics {
            bounds: LAYOUT.bounds().to_vec(),
            finished: self.store.books.finished(),
            unobserved: (self.store.unobserved.each_ref())
                .map(|reasons| reasons.each_ref().map(|count| count.get())),
            reentries: self.store.reentries.each_ref().map(|count| count.get()),
            anomalies: self.store.anomalies.each_ref().map(|count| count.get()),
            evicted: self.store.evicted.each_ref().map(|count| count.get()),
            refused: self.store.refused.each_ref().map(|count| count.get()),
            delivery: self.store.delivery.saved(),
            gaps: self.store.gaps.get(),
            dropped: (self.store.dropped())
                .map(|(label, count)| (label.to_owned(), count))
                .collect(),
            durations: (0..labels.sets.len()).map(durations).collect(),
            labels,
            slos: self.slos.saved(),
        }
    }

    /// Goes on from what was saved, with so many pods in flight by stage. Nothing may have been
    /// counted yet.
    ///
    /// A cell that this podinit does not have is counted in the one that its bound lies in. SLOs
    /// that are not in force, and labels that are no longer carried, are dropped.
    pub fn restore(
        &mut self,
        saved: &SavedMetrics,
        in_flight: [u64; Stage::ALL.len()],
    ) -> Durations {
        let store = &self.store;
        store.books.restore(in_flight, saved.finished);
        for (reasons, saved) in store.unobserved.iter().zip(&saved.unobserved) {
            for (count, saved) in reasons.iter().zip(saved) {
                count.add(*saved);
            }
        }
        for (counts, saved) in [
            (&store.reentries[..], &saved.reentries[..]),
            (&store.anomalies, &saved.anomalies),
            (&store.evicted, &saved.evicted),
            (&store.refused, &saved.refused),
        ] {
            for (count, saved) in counts.iter().zip(saved) {
                count.add(*saved);
            }
        }
        store.gaps.add(saved.gaps);
        store.restore_dropped(&saved.dropped);
        self.slos.restore(&saved.slos);
        let cells = LAYOUT.cells_of(&saved.bounds);
        store.delivery.restore(&saved.delivery, &cells);
        let Some(sets) = self.labels.restore(&saved.labels, |set, values| {
            store.add_set(set, values);
        }) else {
            return Durations::OtherLabels;
        };
        for (set, durations) in sets.into_iter().zip(&saved.durations) {
            let Some(set) = store.set(set) else { continue };
            for (interval, saved) in Interval::ALL.into_iter().zip(durations) {
                set.interval(interval).restore(saved, &cells);
            }
        }
        Durations::GoOn
    }
}
