//! The families that count pods, whatever else an exporter exposes (specification, section 7).

use super::cold_starts::ColdStarts;
use super::custom_milestones::CUSTOM_MILESTONE_FAMILIES;
use super::event_families::{EventFamilies, STARTUP_SLI_FAMILIES};
use super::gates::GateFamilies;
use super::image_pulls::RegistryFamilies;
use super::in_place::InPlaceFamilies;
use super::node_families::{NODE_FAMILIES, PoolFamilies};
use super::pod_families::{
    DURATIONS, DeliveryFamilies, LABEL_FAMILIES, POD_COUNTS, PodFamilies, TrackerFamilies,
};
use super::rollouts::{RolloutFamilies, RolloutTotals};
use super::slo::SLOS;
use podinit_instruments::FamilyDoc;

/// The families that a recorder counts, in the order in which they are documented.
pub fn families_of_pods() -> Vec<FamilyDoc> {
    let tables: [&[FamilyDoc]; 18] = [
        &DURATIONS,
        &STARTUP_SLI_FAMILIES,
        &CUSTOM_MILESTONE_FAMILIES,
        &GateFamilies::FAMILIES,
        &EventFamilies::FAMILIES,
        &RegistryFamilies::FAMILIES,
        &ColdStarts::FAMILIES,
        &PoolFamilies::FAMILIES,
        &NODE_FAMILIES,
        &RolloutFamilies::FAMILIES,
        &RolloutTotals::FAMILIES,
        &POD_COUNTS,
        &PodFamilies::FAMILIES,
        &InPlaceFamilies::FAMILIES,
        &DeliveryFamilies::FAMILIES,
        &LABEL_FAMILIES,
        &TrackerFamilies::FAMILIES,
        &SLOS,
    ];
    tables.concat()
}
