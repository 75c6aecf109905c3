//! What podinit counts, and how it is scraped ([§7](crate::specification#s7)).
//!
//! ```text
//! Observation → Recorder → Store ← Exposition → encoder → bytes
//!               (one task)  (atomics)  (any thread)
//! ```
//!
//! The recorder belongs to the task that ingests pods and writes atomics only. A scrape reads them
//! from any thread. It makes the recorder wait only where a value or a set of labels is added or ends, and only for as
//! long as it takes to copy references. What has to add up is read in one piece: each histogram by
//! itself, and the counts of pods (the module `sequence_lock` explains how).
//!
//! The families of pods are declared in `pod_families`. Other crates declare and count their own (see
//! [`instruments`](podinit_instruments)) and hand them to the [`ExpositionBuilder`] as a
//! [`FamilySource`](podinit_instruments::FamilySource).

mod bad_causes;
mod build_info;
mod builder;
mod capped;
mod cold_starts;
mod custom_milestones;
mod durations;
mod event_families;
mod exposition;
mod families;
mod gates;
mod holds;
mod image_pulls;
mod in_place;
mod label_sets;
mod label_usage;
mod label_values;
pub mod labels;
mod namespaces;
mod node_families;
mod occupancy;
mod pod_counts;
mod pod_families;
mod problem_pods;
mod recorder;
mod rollouts;
pub mod saved;
mod saved_before;
mod saved_holds;
mod slo;
mod start_times;
#[cfg(test)]
mod start_times_tests;
mod store;
mod stuck_rollouts;
mod workload_labels;

pub use build_info::BUILD;
pub use builder::ExpositionBuilder;
pub use custom_milestones::SavedMilestones;
pub use durations::{DurationDistribution, LEAST_OF_P99, StageDurations, stages_and_startup};
pub use exposition::{EncodeError, Exposition, PodFigures};
pub use families::families_of_pods;
pub use label_sets::{SavedLabel, SavedLabels};
pub use label_usage::{
    LabelUsage, LabelUse, MOST_VALUES, NATIVE_SERIES_OF_A_REGISTRY, SERIES_OF_A_REGISTRY,
    SeriesOfSets,
};
pub use label_values::SavedPlace;
pub use labels::{DEFAULT_MAX_VALUES, GATE, LabelConfig, LabelError, REGISTRY, SeriesLabel};
pub use podinit_instruments::ExpositionFormat;
pub use problem_pods::{MOST_PROBLEMS, PROBLEMS, ProblemPods, StatedProblem};
pub use recorder::Recorder;
pub use saved_holds::{SavedHold, SavedHolds};
pub use slo::{SloDoc, SloFigures};
pub use start_times::SavedStartTimes;
pub use stuck_rollouts::{STUCK_ROLLOUTS, StuckRollouts};
