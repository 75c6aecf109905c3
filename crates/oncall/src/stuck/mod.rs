//! `podinit stuck`: which pods are stuck, since when, and why.
//!
//! ```text
//! Pods of any source ─▶ StuckPods ─▶ table | wide | json
//! ```
//!
//! All sources give the same rows: those of the pods that `podinit_stuck_pods` counts.

mod row;
mod table;

pub use row::StuckPod;

use serde::Serialize;

use crate::explain::addressed;
use crate::freshness::Freshness;
use crate::pods::{SourcePodInFlight, SourcePods};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::reader::ClockAhead;
use podinit_text::strangers_text;

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
    /// The stuck pods of a source, at most `limit`.
    pub fn from_pods(pods: &mut SourcePods, limit: usize) -> Self {
        let now = pods.now();
        let mut stuck = pods.in_flight().filter(SourcePodInFlight::is_stuck);
        let shown = stuck.by_ref().take(limit);
        let shown = shown.filter_map(|pod| StuckPod::from_record(&pod.record(), now?));
        let shown: Vec<StuckPod> = shown
            .map(|row| StuckPod {
                next_command: addressed(&row.next_command, pods.kubeconfig()),
                ..row
            })
            .collect();
        let complete = stuck.next().is_none() && !pods.has_more();
        drop(stuck);
        // With the number of problems, if no pod is stuck.
        let problems = if shown.is_empty() { pods.problems() } else { None };
        Self {
            time: now,
            pods: shown,
            complete,
            fresh: pods.fresh,
            freshness: pods.freshness.clone(),
            clocks_ahead: pods.clocks_ahead.clone(),
            problems: problems.map(|found| found.problems.len()),
            source: String::new(),
        }
    }

    /// The pods as JSON.
    ///
    /// # Errors
    /// Never for what this crate makes: its numbers are finite.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}
