//! What has been counted as plain values: to be kept while no process runs, and to go on from.
//! Exemplars are not kept; the next observations bring others.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::label_sets::SavedLabels;
use crate::lifecycle::{
    AnomalyKind, EvictedState, ExclusionReason, Interval, Milestone, Outcome, RefusalReason, Stage,
    UnobservedReason,
};

/// Everything that a recorder has counted; the gauges of pods in flight aside, which follow from
/// the pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedHistogram {
    /// The cells that are not empty, by position in [`SavedMetrics::bounds`], ascending, and what
    /// they count
    pub cells: Vec<(u16, u64)>,
    /// The sum of what was observed, in nanoseconds
    pub sum: u128,
}

/// The events of an SLO.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
