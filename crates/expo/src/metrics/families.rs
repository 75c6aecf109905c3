//! The families that count pods, whatever else an exporter exposes (specification, section 7).

use super::cold_starts::COLD_START_FAMILIES;
use super::custom_milestones::CUSTOM_MILESTONE_FAMILIES;
use super::event_families::{EventFamilies, STARTUP_SLI_FAMILIES};
use super::gates::GATE_FAMILIES;
use super::image_pulls::IMAGE_PULL_FAMILIES;
use super::in_place::IN_PLACE;
use super::node_families::NODE_FAMILIES;
use super::pod_families::{
    DELIVERY_AND_LABELS, DURATIONS, POD_COUNTS, PodFamilies, TrackerFamilies,
};
use super::slo::SLOS;
use crate::instruments::FamilyDoc;

/// The families that a recorder counts, in the order in which they are documented.
pub fn families_of_pods() -> Vec<FamilyDoc> {
    let tables: [&[FamilyDoc]; 14] = [
        &DURATIONS,
        &STARTUP_SLI_FAMILIES,
        &CUSTOM_MILESTONE_FAMILIES,
        &GATE_FAMILIES,
        &EventFamilies::FAMILIES,
        &IMAGE_PULL_FAMILIES,
        &COLD_START_FAMILIES,
        &NODE_FAMILIES,
        &POD_COUNTS,
        &PodFamilies::FAMILIES,
        &IN_PLACE,
        &DELIVERY_AND_LABELS,
        &TrackerFamilies::FAMILIES,
        &SLOS,
    ];
    tables.concat()
}
