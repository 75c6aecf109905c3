//! `podinit stuck`: which pods are stuck, since when, and why.
//!
//! ```text
//! /api/v1/stuck of an exporter ─▶ exporter ─┐
//!                                           ├─▶ StuckPods ─▶ table | wide | json
//! one list of a cluster ────────────────────┘
//! ```
//!
//! Both ways give the same rows: those of the pods that `podinit_stuck_pods` counts.

mod exporter;
mod row;
mod table;

pub use exporter::{AskError, StuckOfExporter};
pub use row::StuckPod;

use serde::Serialize;

use crate::inspect::api::startup_of;
use crate::inspect::freshness::Freshness;
use crate::inspect::problems::Problems;
use crate::text::strangers_text;
use podinit_core::lifecycle::Tracker;
use podinit_decode::rfc3339;

/// The pods that are stuck.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StuckPods {
    /// Up to which instant everything was accounted for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
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
    /// Of the pods that `tracker` has in flight, at most `limit` that are stuck.
    pub fn of(tracker: &Tracker, limit: usize) -> Self {
        let now = tracker.accounted_time();
        let in_flight = tracker.in_flight_after(None).map(|(_, pod)| pod);
        let mut stuck = in_flight.filter(|pod| pod.is_stuck());
        let shown = stuck.by_ref().take(limit);
        let pods = shown.filter_map(|pod| StuckPod::of(&startup_of(&pod.record(), &[]), now?));
        let pods: Vec<StuckPod> = pods.collect();
        let problems = || Problems::of(tracker).problems.len();
        Self {
            time: now.map(rfc3339::format),
            problems: pods.is_empty().then(problems),
            pods,
            complete: stuck.next().is_none(),
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
