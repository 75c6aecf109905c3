//! The pairs of a stage and a cause that can be: the specification's table.

use std::num::NonZeroU8;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Cause;
use crate::label_value::{LabelValue, deserialize_variant};
use crate::lifecycle::interval::Stage;

/// The causes that a pod in a stage can have, in the order of the specification's table, where the
/// first one that fits counts. The last one fits always.
const CAUSES: [(Stage, &[Cause]); Stage::ALL.len()] = {
    use Cause::*;
    const SCHEDULING: &[Cause] = &[
        Terminating,
        Acknowledge,
        Binding,
        Queue,
        Gang,
        Preempting,
        SchedulerError,
        Quota,
        Resources,
        Taint,
        Topology,
        Volume,
        Claim,
        Affinity,
        Other,
    ];
    // The causes of later stages are for kubelets without the network condition.
    const NETWORK: &[Cause] = &[
        Terminating,
        Image,
        Config,
        Crash,
        Exited,
        Pull,
        Create,
        Run,
        Probe,
        ReadinessGate,
        Acknowledge,
        Claim,
        Volume,
        Cni,
        Sandbox,
        NoSandbox,
        NoIp,
        Unknown,
    ];
    [
        (Stage::Gated, &[Terminating, Gate]),
        (Stage::Scheduling, SCHEDULING),
        (Stage::Unschedulable, SCHEDULING),
        (Stage::Network, NETWORK),
        (Stage::Init, &[Terminating, Image, Config, Crash, Pull, Create, Run]),
        (
            Stage::Containers,
            &[
                Terminating,
                Image,
                Config,
                Crash,
                Exited,
                Pull,
                Create,
                // Of init containers that run again.
                Run,
                Probe,
            ],
        ),
        (Stage::Readiness, &[Terminating, Unknown, ReadinessGate]),
    ]
};

/// The stage of a pod in flight, and what else decides the rows of its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lifecycle) struct PodStage {
    pub stage: Stage,
    /// The stage, had NetworkReady been reached
    pub beyond_network: Stage,
    pub has_readiness_gates: bool,
}

/// Where a pod in flight is, and why it waits there: one of the pairs of stage and cause that can be, by its index and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(with = "StageAndCause")]
pub struct WaitReason(NonZeroU8);

/// The form in a document.
#[derive(Serialize, Deserialize, JsonSchema)]
struct StageAndCause {
    stage: Stage,
    cause: Cause,
}

impl From<WaitReason> for StageAndCause {
    fn from(waiting: WaitReason) -> Self {
        Self { stage: waiting.stage(), cause: waiting.cause() }
    }
}

/// The names of the pairs in a checkpoint, where each is a variant: `stage/cause`.
fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<[&str; WaitReason::COUNT]> = LazyLock::new(|| {
        WaitReason::ALL.map(|waiting| {
            let (stage, cause) = (waiting.stage().as_str(), waiting.cause().as_str());
            &*format!("{stage}/{cause}").leak()
        })
    });
    &*NAMES
}

impl Serialize for WaitReason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return StageAndCause::from(*self).serialize(to);
        }
        to.serialize_unit_variant("WaitReason", self.index() as u32, names()[self.index()])
    }
}

impl<'de> Deserialize<'de> for WaitReason {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            return deserialize_variant("WaitReason", names(), &Self::ALL, from);
        }
        let StageAndCause { stage, cause } = StageAndCause::deserialize(from)?;
        let waiting = Self::new(stage, cause);
        waiting.ok_or_else(|| D::Error::custom("no pod in this stage has this cause"))
    }
}

/// Where the pairs of each stage begin in [`WaitReason::ALL`]; the last entry is their number.
const BEGINS: [usize; Stage::ALL.len() + 1] = {
    let mut begins = [0; Stage::ALL.len() + 1];
    let mut row = 0;
    while row < CAUSES.len() {
        assert!(CAUSES[row].0 as usize == row, "a row for each stage");
        begins[row + 1] = begins[row] + CAUSES[row].1.len();
        row += 1;
    }
    begins
};

impl WaitReason {
    /// How many pairs there are.
    pub const COUNT: usize = BEGINS[Stage::ALL.len()];

    /// Every pair, in the order of the specification's table.
    pub const ALL: [Self; Self::COUNT] = {
        assert!(Self::COUNT < u8::MAX as usize, "a pair is a byte");
        let mut all = [Self(NonZeroU8::MIN); Self::COUNT];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(NonZeroU8::MIN.saturating_add(index as u8));
            index += 1;
        }
        all
    };

    /// The pair, if a pod in `stage` can have `cause`.
    pub fn new(stage: Stage, cause: Cause) -> Option<Self> {
        let causes = CAUSES[stage as usize].1;
        let position = causes.iter().position(|possible| *possible == cause)?;
        Self::ALL.get(BEGINS[stage as usize] + position).copied()
    }

    /// The pair of `stage` with the cause that always fits: the last one of the stage.
    pub fn otherwise(stage: Stage) -> Self {
        Self::ALL[BEGINS[stage as usize + 1] - 1]
    }

    /// The stage.
    pub fn stage(self) -> Stage {
        let index = self.index();
        let begun = BEGINS.partition_point(|begin| *begin <= index);
        Stage::ALL[begun - 1]
    }

    /// The cause.
    pub fn cause(self) -> Cause {
        let stage = self.stage() as usize;
        CAUSES[stage].1[self.index() - BEGINS[stage]]
    }

    /// The position in [`WaitReason::ALL`].
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The pair with these label values.
    pub fn from_texts(stage: &str, cause: &str) -> Option<Self> {
        Self::new(Stage::from_text(stage)?, Cause::from_text(cause)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_leads_back_to_its_stage_and_cause() {
        assert_eq!(WaitReason::COUNT, 69);
        for (index, waiting) in WaitReason::ALL.into_iter().enumerate() {
            assert_eq!(waiting.index(), index);
            let (stage, cause) = (waiting.stage(), waiting.cause());
            assert_eq!(WaitReason::new(stage, cause), Some(waiting));
            let again = WaitReason::from_texts(stage.as_str(), cause.as_str());
            assert_eq!(again, Some(waiting));
        }
        assert_eq!(WaitReason::new(Stage::Network, Cause::Queue), None);
    }

    #[test]
    fn every_stage_has_a_cause_that_fits_always() {
        let causes = Stage::ALL.map(|stage| WaitReason::otherwise(stage).cause().as_str());
        let expected = ["gate", "other", "other", "unknown", "run", "probe", "readiness_gate"];
        assert_eq!(causes, expected);
    }
}
