//! Which families are promised, and which are not.

use super::families::{
    BUILD_INFO, CONFIG_RELOAD_SUCCESSFUL, CONFIG_RELOAD_TIMESTAMP, CREATED_TO_READY, DISCOVERED,
    FINISHED, FamilyDoc, INFLIGHT, LABEL_VALUES_DROPPED, OLDEST_INFLIGHT, SCHEDULED_TO_READY,
    SLO_EVENTS, SLO_EXCLUDED, SLO_OBJECTIVE, SLO_THRESHOLD, STAGE_DURATION, SYNCED, UNOBSERVED,
};

/// What a version may do to a family (Semantic Versioning).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Name, type and labels change with a major version alone (before 1.0: with a minor one)
    Stable,
    /// It may change, and go, with any minor version
    Experimental,
}

impl Stability {
    /// The word for it in the documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Experimental => "experimental",
        }
    }
}

/// The families that are promised. A new one is not, until its name is put here.
const STABLE: [FamilyDoc; 17] = [
    STAGE_DURATION,
    SCHEDULED_TO_READY,
    CREATED_TO_READY,
    INFLIGHT,
    OLDEST_INFLIGHT,
    DISCOVERED,
    FINISHED,
    UNOBSERVED,
    LABEL_VALUES_DROPPED,
    SLO_EVENTS,
    SLO_EXCLUDED,
    SLO_OBJECTIVE,
    SLO_THRESHOLD,
    SYNCED,
    CONFIG_RELOAD_SUCCESSFUL,
    CONFIG_RELOAD_TIMESTAMP,
    BUILD_INFO,
];

impl FamilyDoc {
    /// What a version may do to the family.
    pub fn stability(&self) -> Stability {
        if STABLE.contains(self) {
            Stability::Stable
        } else {
            Stability::Experimental
        }
    }
}
