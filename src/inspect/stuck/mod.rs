//! `podinit stuck`: which pods are stuck, since when, and why.
//!
//! ```text
//! /api/v1/stuck of an exporter ─▶ exporter ─┐
//!                                           ├─▶ StuckPods ─▶ table | wide | json
//! one list of a cluster ────────▶ cluster ──┘
//! ```
//!
//! Both ways give the same rows: those of the pods that `podinit_stuck_pods` counts.

mod cluster;
mod exporter;
mod row;
mod table;

pub use cluster::{ListError, StuckInCluster};
pub use exporter::{AskError, StuckOfExporter};
pub use row::StuckPod;

use serde::Serialize;

use crate::text::strangers_text;

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
}

impl StuckPods {
    /// As JSON.
    ///
    /// # Errors
    /// Never for what this room makes: its numbers are finite.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}
