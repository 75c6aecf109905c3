//! For how long each has held a rollout ([§17.3](crate::specification#s17-3)).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rollout::RolloutHolder;

/// The nanoseconds for which each has held a rollout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeldNanos {
    pub starting: u64,
    pub not_ready: u64,
    pub ending: u64,
    pub controller: u64,
}

impl HeldNanos {
    fn of_mut(&mut self, holder: RolloutHolder) -> &mut u64 {
        match holder {
            RolloutHolder::Starting => &mut self.starting,
            RolloutHolder::NotReady => &mut self.not_ready,
            RolloutHolder::Ending => &mut self.ending,
            RolloutHolder::Controller => &mut self.controller,
        }
    }

    /// Those of one.
    pub fn of(mut self, holder: RolloutHolder) -> u64 {
        *self.of_mut(holder)
    }

    pub(super) fn add(&mut self, holder: RolloutHolder, nanos: u64) {
        *self.of_mut(holder) += nanos;
    }

    /// Adds those of another rollout.
    pub fn merge(&mut self, other: Self) {
        other.iter().for_each(|(holder, nanos)| self.add(holder, nanos));
    }

    /// Each that has any.
    pub fn iter(self) -> impl Iterator<Item = (RolloutHolder, u64)> {
        let all = RolloutHolder::ALL.iter().map(move |holder| (*holder, self.of(*holder)));
        all.filter(|(_, nanos)| *nanos > 0)
    }
}
