//! `podinit stuck`: which pods are stuck, since when, and why.
//!
//! ```text
//! /api/v1/stuck of an exporter ─▶ exporter ─┐
//!                                           ├─▶ StuckPods ─▶ table | wide | json
//! lists of a cluster, a recording at its end ─┘
//! ```
//!
//! All ways give the same rows: those of the pods that `podinit_stuck_pods` counts.

mod exporter;
mod row;
mod table;

pub use row::StuckPod;

use serde::Serialize;

use crate::inspect::freshness::Freshness;
use crate::inspect::problems::{LookedAtRecording, Looks, Problems};
use crate::reports::reader::ClockAhead;
use crate::text::strangers_text;
use podinit_core::lifecycle::{Progress, Record};
use podinit_core::timestamp::Timestamp;

/// The pods that are stuck.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StuckPods {
    /// Up to which instant everything was accounted for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// By stage, in each the one that waits longest first
    pub pods: Vec<StuckPod>,
    /// Whether these are all of them
    pub complete: bool,
    /// Whether the source knows the present
    pub fresh: bool,
    /// How far an exporter can be trusted; left out of a list
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// The clocks by which a recording states times that lie in the future; left out where there are none
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks_ahead: Vec<ClockAhead>,
    /// How many problems there are, where no pod is stuck
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<usize>,
    /// The options by which `podinit problems` asks the same source
    #[serde(skip)]
    pub source: String,
}

impl StuckPods {
    /// Of the pods of a cluster that are in flight, at most `limit` that are stuck.
    pub fn of_cluster(looks: &mut Looks, limit: usize) -> Self {
        let found = Self::among(looks.in_flight(), looks.accounted_time(), limit);
        found.or_problems(|| looks.problems())
    }

    /// Of the pods that are in flight at the end of a recording, at most `limit` that are stuck.
    pub fn of_recording(recording: &LookedAtRecording, limit: usize) -> Self {
        let found = Self::among(recording.in_flight(), recording.accounted_time(), limit);
        found.or_problems(|| recording.problems())
    }

    /// Of the pods in flight at `now`, at most `limit` that are stuck.
    fn among(
        in_flight: impl Iterator<Item = Record>,
        now: Option<Timestamp>,
        limit: usize,
    ) -> Self {
        let mut stuck = in_flight.filter(is_stuck);
        let shown = stuck.by_ref().take(limit);
        let pods = shown.filter_map(|record| StuckPod::of(&record, now?));
        Self {
            time: now,
            pods: pods.collect(),
            complete: stuck.next().is_none(),
            fresh: true,
            ..Self::default()
        }
    }

    /// With the number of problems, if no pod is stuck.
    fn or_problems(mut self, problems: impl FnOnce() -> Problems) -> Self {
        self.problems = (self.pods.is_empty()).then(|| problems().problems.len());
        self
    }

    /// As JSON.
    ///
    /// # Errors
    /// Never for what this room makes: its numbers are finite.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}

const fn is_stuck(record: &Record) -> bool {
    matches!(record.progress, Progress::InFlight { is_stuck: true, .. })
}
