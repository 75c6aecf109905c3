//! The event of a pod for the startup SLI, and why it can have none
//! ([§9.4](crate::specification#s9-4)).

use super::judgement::Latency;
use super::outcome::Outcome;
use crate::label_value::LabelValue;

/// The one event of a pod for the startup SLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartupSli {
    /// How long the startup took, without image pulls and init containers
    Observed(Latency),
    Excluded(StartupSliExclusion),
}

/// Why a pod has no startup SLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartupSliExclusion {
    /// It ended otherwise than `ready` or `completed`, or was over or under way before it was seen
    Ended(Outcome),
    /// It was seen with scheduling gates
    Gated,
    /// It was seen `Unschedulable`
    Unschedulable,
    /// It has a volume that makes it stateful
    Stateful,
    /// An Event that the SLI needs was not delivered
    NoEvidence,
    /// A time was unusable, or the SLI below zero or above thirty days
    Time,
}

/// How many outcomes are no reason, or have a place of their own.
const APART: usize = 4;
const REASONS: usize = 5 + Outcome::ALL.len() - APART + 2;

impl StartupSliExclusion {
    /// Every reason, in the order in which the first that holds counts.
    pub const ALL: [Self; REASONS] = {
        let mut all = [Self::Time; REASONS];
        all[0] = Self::Ended(Outcome::Static);
        all[1] = Self::Ended(Outcome::Preexisting);
        all[2] = Self::Gated;
        all[3] = Self::Unschedulable;
        all[4] = Self::Stateful;
        let (mut place, mut index) = (5, 0);
        while index < Outcome::ALL.len() {
            match Outcome::ALL[index] {
                Outcome::Ready | Outcome::Completed | Outcome::Static | Outcome::Preexisting => {}
                outcome => {
                    all[place] = Self::Ended(outcome);
                    place += 1;
                }
            }
            index += 1;
        }
        all[place] = Self::NoEvidence;
        all
    };

    /// The value of the label `reason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended(outcome) => outcome.as_str(),
            Self::Gated => "gated",
            Self::Unschedulable => "unschedulable",
            Self::Stateful => "stateful",
            Self::NoEvidence => "no_evidence",
            Self::Time => "time",
        }
    }
}

impl LabelValue for StartupSliExclusion {
    const ALL: &'static [Self] = &Self::ALL;

    fn as_str(self) -> &'static str {
        Self::as_str(self)
    }

    fn index(self) -> usize {
        let mut all = Self::ALL.iter();
        all.position(|other| *other == self).unwrap_or_default()
    }

    fn is_exposed_at_zero(self) -> bool {
        !matches!(self, Self::Ended(outcome) if !outcome.is_exposed_at_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_stands_at_its_index() {
        for (index, reason) in StartupSliExclusion::ALL.into_iter().enumerate() {
            assert_eq!(LabelValue::index(reason), index, "{}", reason.as_str());
        }
        let last = &StartupSliExclusion::ALL[REASONS - 2..];
        assert_eq!(last, [StartupSliExclusion::NoEvidence, StartupSliExclusion::Time]);
    }
}
