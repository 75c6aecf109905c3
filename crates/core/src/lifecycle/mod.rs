//! Pod lifecycle accounting: from snapshots of pods to observations. Pure and synchronous: time is an
//! argument, and nothing here knows Kubernetes clients, metrics or a clock.
//!
//! ```text
//!                      ┌────────── first snapshot ───────────┐
//!                      │ (static, or started up before)      │
//!                      ▼                                     │
//!  unknown ──► in flight ──► finished ──► deleted ──► forgotten
//!                │  ▲  │        │          (10 min)      ▲
//!                └──┘  │        └── absent from a list ──┤
//!              a stage └────────── absent: vanished ─────┘
//! ```
//!
//! Invariants, for every sequence of deliveries:
//! - `discovered = Σ finished{outcome} + in flight`, after every observation
//!   ([§5.7](crate::specification#s5-7)).
//! - A milestone is latched once. An interval is judged at most once per UID, at the first snapshot
//!   with which both its ends are reached, and never after the startup has ended.
//! - Duplicates, older versions and the boundaries between batches change nothing.
//! - Whatever is not observed is reported with a reason; nothing is dropped silently.
//! - No more pods are remembered than the cap allows, and no pod that was evicted is ever discovered
//!   again (see `eviction.rs`).

mod bound_revisions;
mod capacity;
mod cause;
mod classification;
mod clocks;
mod crashes;
mod custom_milestone;
mod delivery;
mod enum_set;
mod estimate;
mod eviction;
mod followed;
mod gate;
mod hints;
mod image_pulls;
mod in_flight_order;
mod in_place;
mod interval;
mod judgement;
mod label_hold;
mod lag;
mod last_seen;
mod lost_startup;
#[cfg(test)]
mod max_pods_tests;
mod messages;
mod milestone;
mod name_index;
mod named;
mod network_evidence;
mod nodes;
mod observation;
mod observer;
mod outcome;
mod pod_in_flight;
mod pod_node;
mod reached;
mod record;
mod reentry;
mod rollouts;
mod saved;
mod scheduler_event;
mod slo;
mod slo_verdict;
mod snapshot_context;
mod sources;
mod startup;
mod startup_sli;
mod startup_sli_verdict;
mod stuck;
mod table;
mod texts;
mod tracker;
mod traits;
mod version;

pub use capacity::{NodeChoices, RecordedCapacity};
pub use cause::{
    BadReason, Cause, CauseClass, WaitReason, names_several_faults, said_of_nodes, taints_said,
};
pub use classification::Backfill;
pub use clocks::{ClockFault, NodeClock};
pub use crashes::SavedCrash;
pub use custom_milestone::{
    CustomInterval, CustomMilestone, CustomStart, CustomUnobservedReason, SloInterval,
};

pub use delivery::{Delivery, PodEvent, SourceId};
pub use estimate::TimestampMode;
pub use eviction::{EvictedCounts, EvictedState, RefusalReason};
pub use gate::{GateEvent, GateKind, GateObservation, GatesEvent, GatesObservation};
pub use interval::{Interval, Stage, StageOrStep, Step};
pub use judgement::{AnomalyKind, Latency, UnobservedReason};
pub use label_hold::LabelHold;
pub use last_seen::LastSeen;
pub use lost_startup::LostStartup;
pub use milestone::Milestone;
pub use named::CustomMilestones;
pub use network_evidence::{NetworkEvidence, NetworkTime};
pub use nodes::{
    LateNode, MeasuredStep, NodeEvent, NodeFaults, NodeHold, NodeObservation, NodeOutcome,
    NodeState, NodeStep,
};
pub use observation::{
    EventDropReason, ImageSource, Observation, PodObservation, PodState, PullObservation,
    ResizeResult, TrackerObservation,
};
pub use observer::{LabelMove, LabelObserver, Observer};
pub use outcome::Outcome;
pub use pod_in_flight::{PodInFlight, SharedParts};
pub use pod_node::{NodeAge, StartupImages};
#[cfg(test)]
pub(crate) use record::fixtures as record_fixtures;
pub use record::{
    EndedStartup, GateState, InFlightPosition, InFlightRecord, IntervalKind, IntervalResult,
    MOST_CAUSES, MilestoneSource, Needed, Progress, Record, RecordAmendment, RecordedCause,
    RecordedContainer, RecordedCustomMilestone, RecordedGate, RecordedImage, RecordedInterval,
    RecordedMilestone, RecordedPull, RecordedRelapse, SloResult, StageSpans, TimelineSpan,
};
pub use reentry::LastTrue;
pub use rollouts::{
    EndedRollout, EndingPod, HeldNanos, RolloutHolder, RolloutObservation, RolloutOutcome,
    RolloutPod, RolloutProgress, RolloutWorkload, SavedRollouts, StandingPods,
};
pub use saved::{SavedFinished, SavedPod, SavedTracker};
pub use slo::{Namespaces, Selection, SloRule, UnmatchedSlo};
pub use slo_verdict::{ExclusionReason, SloId, SloVerdict};
pub use sources::{FirstList, SavedSource, SourceProgress, SourceSuccessor};
pub use startup_sli_verdict::{StartupSli, StartupSliExclusion};
pub use stuck::StuckAfter;
pub use tracker::{Tracker, TrackerConfig};
pub use version::Version;
