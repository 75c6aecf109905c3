//! The stage and the cause with which a pod's event for an SLO became bad
//! ([§10.1](crate::specification#s10-1)): those for which it waited, or of which it was rejected.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Cause, WaitReason};
use crate::lifecycle::interval::Stage;

/// The stages in which a pod can be that the kubelet rejects: Scheduled is reached then
/// ([§6.11](crate::specification#s6-11)).
const REJECTED_IN: [Stage; 5] =
    [Stage::Gated, Stage::Network, Stage::Init, Stage::Containers, Stage::Readiness];

/// Where a pod was, and why it did not get further, when an event of it became bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(with = "BadStageAndCause")]
pub enum BadReason {
    /// It was not known before
    NotKnown,
    /// It waited
    Waiting(WaitReason),
    /// The kubelet rejected it while it was in this stage
    Rejected(Stage),
}

/// The form in a document: stage and cause, both left out for [`BadReason::NotKnown`].
#[derive(Serialize, Deserialize, JsonSchema)]
struct BadStageAndCause {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<Stage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
}

/// The form in a checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(remote = "BadReason")]
enum SavedBadReason {
    NotKnown,
    Waiting(WaitReason),
    Rejected(Stage),
}

impl Serialize for BadReason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match to.is_human_readable() {
            true => BadStageAndCause { stage: self.stage(), cause: self.cause() }.serialize(to),
            false => SavedBadReason::serialize(self, to),
        }
    }
}

impl<'de> Deserialize<'de> for BadReason {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            return SavedBadReason::deserialize(from);
        }
        let BadStageAndCause { stage, cause } = BadStageAndCause::deserialize(from)?;
        let Some((stage, cause)) = stage.zip(cause) else {
            return Ok(Self::NotKnown);
        };
        let reason = Self::new(stage, cause);
        let why = "no pod in this stage misses an SLO by this cause";
        reason.ok_or_else(|| D::Error::custom(why))
    }
}

impl BadReason {
    /// The number of reasons.
    pub const COUNT: usize = WaitReason::COUNT + REJECTED_IN.len() + 1;

    /// Every reason: those for which pods wait, in the order of the specification's table, then those of rejected pods,
    /// then [`BadReason::NotKnown`].
    pub fn all() -> impl Iterator<Item = Self> {
        let waiting = WaitReason::ALL.into_iter().map(Self::Waiting);
        let rejected = REJECTED_IN.into_iter().map(Self::Rejected);
        waiting.chain(rejected).chain([Self::NotKnown])
    }

    /// The reason with this stage and cause; `None` if no pod can have both.
    pub fn new(stage: Stage, cause: Cause) -> Option<Self> {
        match cause {
            Cause::Rejected => (REJECTED_IN.contains(&stage)).then_some(Self::Rejected(stage)),
            cause => WaitReason::new(stage, cause).map(Self::Waiting),
        }
    }

    /// The reason of a pod that waited; [`BadReason::NotKnown`] without one.
    pub fn of_known(waiting: Option<WaitReason>) -> Self {
        waiting.map_or(Self::NotKnown, Self::Waiting)
    }

    /// The stage; `None` for [`BadReason::NotKnown`].
    pub fn stage(self) -> Option<Stage> {
        match self {
            Self::NotKnown => None,
            Self::Waiting(waiting) => Some(waiting.stage()),
            Self::Rejected(stage) => Some(stage),
        }
    }

    /// The cause; `None` for [`BadReason::NotKnown`].
    pub fn cause(self) -> Option<Cause> {
        match self {
            Self::NotKnown => None,
            Self::Waiting(waiting) => Some(waiting.cause()),
            Self::Rejected(_) => Some(Cause::Rejected),
        }
    }

    /// The position among [`BadReason::all`].
    pub fn index(self) -> usize {
        let rejected = |stage| REJECTED_IN.iter().position(|one| *one == stage);
        match self {
            Self::Waiting(waiting) => waiting.index(),
            // No pod is rejected in any other stage.
            Self::Rejected(stage) => WaitReason::COUNT + rejected(stage).unwrap_or_default(),
            Self::NotKnown => Self::COUNT - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leads_back_to_its_stage_and_cause() {
        assert_eq!(BadReason::all().count(), BadReason::COUNT);
        for (index, reason) in BadReason::all().enumerate() {
            assert_eq!(reason.index(), index);
            let pair = reason.stage().zip(reason.cause());
            let again = pair
                .map_or(Some(BadReason::NotKnown), |(stage, cause)| BadReason::new(stage, cause));
            assert_eq!(again, Some(reason));
        }
    }

    #[test]
    fn a_bound_pod_is_not_rejected_while_it_is_scheduled() {
        assert_eq!(BadReason::new(Stage::Scheduling, Cause::Rejected), None);
        assert_eq!(WaitReason::new(Stage::Network, Cause::Rejected), None);
    }
}
