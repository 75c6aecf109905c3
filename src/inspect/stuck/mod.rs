//! `podinit stuck`: which pods are stuck, since when, and why.
//!
//! ```text
//! /api/v1/stuck of an exporter ─▶ exporter ─┐
//!                                           ├─▶ StuckPods ─▶ table | wide | json
//! lists of a cluster ────────────────────────┘
//! ```
//!
//! Both ways give the same rows: those of the pods that `podinit_stuck_pods` counts.

mod exporter;
mod row;
mod table;

pub use exporter::{AskError, StuckOfExporter};
pub use row::StuckPod;

use serde::Serialize;

use crate::inspect::freshness::Freshness;
use crate::inspect::problems::Looks;
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
    /// How many problems there are, where no pod is stuck
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<usize>,
    /// The options by which `podinit problems` asks the same source
    #[serde(skip)]
    pub source: String,
}

impl StuckPods {
    /// Of the pods of a cluster that are in flight, at most `limit` that are stuck.
    pub fn of(looks: &mut Looks, limit: usize) -> Self {
        let now = looks.accounted_time();
        let mut stuck = looks.in_flight().filter(is_stuck);
        let shown = stuck.by_ref().take(limit);
        let pods = shown.filter_map(|record| StuckPod::of(&record, now?));
        let pods: Vec<StuckPod> = pods.collect();
        let complete = stuck.next().is_none();
        drop(stuck);
        Self {
            time: now,
            problems: (pods.is_empty()).then(|| looks.problems().problems.len()),
            pods,
            complete,
            fresh: true,
            freshness: None,
            source: String::new(),
        }
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
