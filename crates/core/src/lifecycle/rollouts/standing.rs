//! How a pod stands in the rollouts of its workload ([§17.1](crate::specification#s17-1)), in 8 bytes.

use std::iter::Sum;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pod::{ConditionType, PodPhase, PodSnapshot, Revision};

/// How a pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodStanding {
    /// It is not ending and has never been up
    Starting,
    /// It is not ending, and Ready
    Up,
    /// It is not ending, was up and is not
    Down,
    /// It lives, and its deletion was asked for
    Ending,
}

impl PodStanding {
    /// How a pod stands that was up before or not; `None` if it does not live.
    pub(super) fn of(snapshot: &PodSnapshot, was_up: bool) -> Option<Self> {
        if snapshot.phase != PodPhase::Active {
            return None;
        }
        if snapshot.terminating {
            return Some(Self::Ending);
        }
        let is_up = snapshot.conditions.holding(ConditionType::Ready).is_some();
        Some(match (is_up, was_up) {
            (true, _) => Self::Up,
            (false, true) => Self::Down,
            (false, false) => Self::Starting,
        })
    }

    /// Whether it has been up and is not ending.
    pub(super) const fn has_been_up(self) -> bool {
        matches!(self, Self::Up | Self::Down)
    }
}

/// How many pods stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "standing_pods")]
pub struct StandingPods {
    /// Not ending, and never up
    pub starting: u32,
    /// Not ending, and Ready
    pub up: u32,
    /// Not ending; was up, and is not
    pub down: u32,
    /// Living, and their deletion was asked for
    pub ending: u32,
}

impl StandingPods {
    pub(super) const fn count_mut(&mut self, standing: PodStanding) -> &mut u32 {
        match standing {
            PodStanding::Starting => &mut self.starting,
            PodStanding::Up => &mut self.up,
            PodStanding::Down => &mut self.down,
            PodStanding::Ending => &mut self.ending,
        }
    }

    /// How many live and are not ending.
    pub const fn live(&self) -> u32 {
        self.starting + self.up + self.down
    }

    /// How many live.
    pub const fn all(&self) -> u32 {
        self.live() + self.ending
    }

    /// Of how many pods those are told that are up, where so many are `wanted`.
    pub const fn of_wanted(&self, wanted: u32) -> u32 {
        let live = self.live();
        if live > wanted { live } else { wanted }
    }

    /// Which pods may hold a rollout: those of the new revision, or where it has none the `others`
    /// ([§17.3](crate::specification#s17-3)).
    pub(super) const fn holding(new: Self, others: Self) -> Self {
        if new.live() > 0 { new } else { others }
    }
}

impl Add for StandingPods {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            starting: self.starting + other.starting,
            up: self.up + other.up,
            down: self.down + other.down,
            ending: self.ending + other.ending,
        }
    }
}

impl Sum for StandingPods {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Where a pod stands: the workload, its revision, and how. Of pods of Jobs and of pods without a
/// controller it is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolloutPod {
    /// The number of the revision; 0 for none
    revision: u32,
    /// From the lowest bit on: the workload's place in 16 bits, the standing in 3, the generation in 13
    place: u32,
}

const WORKLOAD_BITS: u32 = 16;
const STANDING_BITS: u32 = 3;
const STANDING_MASK: u32 = (1 << STANDING_BITS) - 1;
/// The code of a pod that lived and does not any more.
const GONE: u32 = 5;
/// How many generations of starting pods are told apart.
pub(super) const GENERATIONS: u16 = 1 << (u32::BITS - WORKLOAD_BITS - STANDING_BITS);

/// A pod that lives and has a part in rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LivePod {
    pub(super) revision: Revision,
    /// The place of its workload
    pub(super) workload: u16,
    pub(super) standing: PodStanding,
    /// The generation of starting pods in which it came (see `WorkloadPods::generation`)
    pub(super) generation: u16,
}

impl RolloutPod {
    /// It has no part in rollouts, as far as that is known.
    pub(in crate::lifecycle) const NONE: Self = Self { revision: 0, place: 0 };
    /// It does not live any more.
    pub(in crate::lifecycle) const GONE: Self = Self { revision: 0, place: GONE << WORKLOAD_BITS };

    /// Whether it does not live any more.
    pub(super) fn is_gone(self) -> bool {
        self == Self::GONE
    }

    /// Whether it is ending.
    pub(in crate::lifecycle) fn is_ending(self) -> bool {
        self.live().is_some_and(|pod| pod.standing == PodStanding::Ending)
    }

    /// The pod, if it lives and has a part.
    pub(super) fn live(self) -> Option<LivePod> {
        let standing = match self.place >> WORKLOAD_BITS & STANDING_MASK {
            1 => PodStanding::Starting,
            2 => PodStanding::Up,
            3 => PodStanding::Down,
            4 => PodStanding::Ending,
            _ => return None,
        };
        Some(LivePod {
            revision: Revision::of_number(self.revision)?,
            workload: self.place as u16,
            standing,
            generation: (self.place >> (WORKLOAD_BITS + STANDING_BITS)) as u16,
        })
    }
}

impl From<LivePod> for RolloutPod {
    fn from(pod: LivePod) -> Self {
        let standing = match pod.standing {
            PodStanding::Starting => 1,
            PodStanding::Up => 2,
            PodStanding::Down => 3,
            PodStanding::Ending => 4,
        };
        let generation = u32::from(pod.generation) << STANDING_BITS;
        Self {
            revision: pod.revision.into(),
            place: (generation | standing) << WORKLOAD_BITS | u32::from(pod.workload),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_what_was_packed() {
        let standings =
            [PodStanding::Starting, PodStanding::Up, PodStanding::Down, PodStanding::Ending];
        for standing in standings {
            for (workload, generation) in [(0, 0), (u16::MAX, GENERATIONS - 1), (7, 4095)] {
                let revision = Revision::from(u32::MAX);
                let pod = LivePod { revision, workload, standing, generation };
                assert_eq!(RolloutPod::from(pod).live(), Some(pod));
            }
        }
        assert!([RolloutPod::NONE, RolloutPod::GONE].iter().all(|pod| pod.live().is_none()));
        assert!(RolloutPod::GONE.is_gone() && !RolloutPod::NONE.is_gone());
        assert_eq!(size_of::<RolloutPod>(), 8);
    }
}
