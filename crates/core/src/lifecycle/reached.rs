//! Whether something was reached, and when.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Whether a milestone was reached, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Reached {
    /// Not yet
    #[default]
    No,
    /// Yes; `None` when the time is unknown, missing or absurd
    At(Option<Timestamp>),
}

impl Reached {
    /// Whether the milestone was reached at all.
    pub(super) fn is_reached(self) -> bool {
        self != Self::No
    }

    pub(super) fn usable(self) -> Option<Timestamp> {
        match self {
            Self::At(at) => at,
            Self::No => None,
        }
    }

    /// The later of two milestones that must both be reached; unknown when either time is.
    pub(super) fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.zip(two).map(|(one, two)| one.max(two))),
            _ => Self::No,
        }
    }
}
