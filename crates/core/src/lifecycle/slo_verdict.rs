//! The event of a pod for an SLO ([§6.1](crate::specification#s6-1)): good, bad, or excluded with a
//! reason.

use serde::{Deserialize, Serialize};

use super::cause::BadReason;
use super::outcome::Outcome;
use crate::label_value::LabelValue;
use crate::serde_by_text;

/// The index of an SLO among those in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SloId(pub u16);

impl SloId {
    /// Among deadlines no SLO: the time for which a pod is followed after its Ready
    /// ([§16.5](crate::specification#s16-5)). It sorts behind every SLO.
    pub(super) const FOLLOWED: Self = Self(u16::MAX);
}

/// Why a pod is neither good nor bad for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExclusionReason {
    /// The pod ended first, with the interval open
    Ended(Outcome),
    /// It ended as ready, but the interval's milestones were not both seen
    NotSeen,
    /// It can no longer enter the interval
    NotEntered,
    /// The interval's times are unusable
    Time,
    /// A condition type that the interval needs does not exist on this cluster
    ConditionAbsent,
    /// The SLO selects startups on existing capacity, and this one was not, or it is not known
    Capacity,
    /// The SLO selects startups whose images were present, and these were not, or it is not known
    Images,
    /// It was ready before a milestone of your own, and is not followed: too many became ready later
    NotFollowed,
}

impl ExclusionReason {
    /// Every reason. `Ended(Ready)` is left out: it is `NotSeen`. Nor is `Ended(Rejected)`: such a pod is bad, or has not
    /// entered the interval ([§6.11](crate::specification#s6-11)).
    pub const ALL: [Self; 15] = [
        Self::Ended(Outcome::Completed),
        Self::Ended(Outcome::Failed),
        Self::Ended(Outcome::Deleted),
        Self::Ended(Outcome::Vanished),
        Self::Ended(Outcome::Disrupted),
        Self::Ended(Outcome::Moved),
        Self::Ended(Outcome::Preexisting),
        Self::Ended(Outcome::Static),
        Self::NotSeen,
        Self::NotEntered,
        Self::Time,
        Self::ConditionAbsent,
        Self::Capacity,
        Self::Images,
        Self::NotFollowed,
    ];

    /// The reason for a pod that ended with `outcome` before its interval did.
    pub const fn from_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ready => Self::NotSeen,
            Outcome::Rejected => Self::NotEntered,
            other => Self::Ended(other),
        }
    }

    /// The value of the label `reason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended(Outcome::Ready) | Self::NotSeen => "not_seen",
            Self::Ended(outcome) => outcome.as_str(),
            Self::NotEntered => "not_entered",
            Self::Time => "time",
            Self::ConditionAbsent => "condition_absent",
            Self::Capacity => "capacity",
            Self::Images => "images",
            Self::NotFollowed => "not_followed",
        }
    }
}

impl LabelValue for ExclusionReason {
    const ALL: &'static [Self] = &ExclusionReason::ALL;

    fn as_str(self) -> &'static str {
        ExclusionReason::as_str(self)
    }

    /// The last are exposed for SLOs that can have them.
    fn is_exposed_at_zero(self) -> bool {
        match self {
            Self::Ended(outcome) => outcome.is_exposed_at_zero(),
            Self::Capacity | Self::Images | Self::NotFollowed => false,
            Self::NotSeen | Self::NotEntered | Self::Time | Self::ConditionAbsent => true,
        }
    }

    fn index(self) -> usize {
        let mut all = Self::ALL.iter();
        let position = all.position(|other| other.as_str() == self.as_str());
        position.unwrap_or_default()
    }
}

serde_by_text!(ExclusionReason);

/// The one event of a pod for an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SloVerdict {
    /// The interval ended within the threshold
    Good,
    /// It took longer, its deadline passed, or the pod was rejected in it. Where the pod was then, and why
    /// ([§10.1](crate::specification#s10-1))
    Bad(BadReason),
    /// The pod counts for nothing
    Excluded(ExclusionReason),
}
