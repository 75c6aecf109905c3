//! The metric families of an exporter (specification, section 7), in the order in which they are documented.

use super::own_families::{CLOCK, CheckpointGauges, ConfigGauges};
use podinit_expo::metrics::{BUILD, PROBLEMS, STUCK_ROLLOUTS, families_of_pods};
use podinit_http::AccessStats;
use podinit_instruments::FamilyDoc;
use podinit_kube::watch::events::stats::{EVIDENCE_STATE, EventCounters};
use podinit_kube::watch::stats::{WATCH_STATE, WatchCounters};

/// Every family that an exporter can expose, without `process_*`. `traces` are the families of what sends its traces.
pub fn families(traces: &[FamilyDoc]) -> Vec<FamilyDoc> {
    let tables: [&[FamilyDoc]; 13] = [
        &families_of_pods(),
        &WatchCounters::FAMILIES,
        &WATCH_STATE,
        &EVIDENCE_STATE,
        &EventCounters::FAMILIES,
        &CLOCK,
        &ConfigGauges::FAMILIES,
        &CheckpointGauges::FAMILIES,
        &AccessStats::FAMILIES,
        traces,
        &PROBLEMS,
        &STUCK_ROLLOUTS,
        &BUILD,
    ];
    tables.concat()
}
