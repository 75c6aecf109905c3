//! Conditions that become True again ([§5.6](crate::specification#s5-6)): flaps, sandbox re-creation, node
//! reboots, in-place restarts. They add to one counter and to nothing else.

use super::milestone::Milestone;
use crate::pod::{ConditionType, StatusConditions};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// The condition types whose re-entries are counted: all but `PodScheduled`.
const TRACKED: [ConditionType; 5] = [
    ConditionType::PodReadyToStartContainers,
    ConditionType::PodHasNetwork,
    ConditionType::Initialized,
    ConditionType::ContainersReady,
    ConditionType::Ready,
];

/// What a lastTransitionTime is compared with to find a re-entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReentryBaseline {
    /// The last one seen
    Last,
    /// The latest one seen: an API server that was restored from a backup delivers the same
    /// transitions again, and they must not count twice
    Latest,
}

/// For each tracked condition type, the lastTransitionTime with which it was last seen True.
///
/// Kept for every remembered pod, so it holds whole seconds since the epoch in 32 bits (to the year
/// 2106); zero means never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LastTrue([u32; TRACKED.len()]);

impl LastTrue {
    /// The seconds, in the order of the tracked types: the two names of the network condition
    /// first.
    pub const fn seconds(self) -> [u32; TRACKED.len()] {
        self.0
    }

    /// The reverse of [`LastTrue::seconds`].
    pub const fn from_seconds(seconds: [u32; TRACKED.len()]) -> Self {
        Self(seconds)
    }

    /// Records the conditions that are True, and calls `reentered` for each one whose
    /// lastTransitionTime is later than the recorded one of the same type. `baseline` decides what is
    /// recorded.
    pub(crate) fn update(
        &mut self,
        conditions: &StatusConditions,
        baseline: ReentryBaseline,
        mut reentered: impl FnMut(Milestone),
    ) {
        for (last, kind) in self.0.iter_mut().zip(TRACKED) {
            let transition = conditions.holding(kind).and_then(|held| held.last_transition);
            let Some(second) = transition.map(to_second) else {
                continue;
            };
            if *last != 0 && second > *last {
                reentered(Milestone::from_condition(kind));
            }
            *last = match baseline {
                ReentryBaseline::Last => second,
                ReentryBaseline::Latest => second.max(*last),
            };
        }
    }
}

/// A time in whole seconds since the epoch, from 1 to what fits.
pub(super) fn to_second(at: Timestamp) -> u32 {
    let seconds = at.as_nanos().div_euclid(NANOS_PER_SECOND).clamp(1, i64::from(u32::MAX));
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::{ConditionStatus, StatusCondition};

    fn seen(last: &mut LastTrue, kind: ConditionType, holds: bool, second: i64) -> usize {
        let mut conditions = StatusConditions::default();
        let status = if holds { ConditionStatus::True } else { ConditionStatus::False };
        let last_transition = (second > 0).then(|| Timestamp::from_seconds(second));
        conditions.insert(kind, StatusCondition { status, last_transition });
        let mut count = 0;
        last.update(&conditions, ReentryBaseline::Last, |_| count += 1);
        count
    }

    #[test]
    fn only_a_later_true_of_the_same_type_is_a_reentry() {
        let mut last = LastTrue::default();
        assert_eq!(seen(&mut last, ConditionType::PodHasNetwork, true, 10), 0);
        assert_eq!(seen(&mut last, ConditionType::PodReadyToStartContainers, true, 20), 0);
        assert_eq!(seen(&mut last, ConditionType::PodHasNetwork, true, 10), 0);
        assert_eq!(seen(&mut last, ConditionType::PodHasNetwork, false, 30), 0);
        assert_eq!(seen(&mut last, ConditionType::PodHasNetwork, true, 0), 0);
        assert_eq!(seen(&mut last, ConditionType::PodHasNetwork, true, 31), 1);
        assert_eq!(seen(&mut last, ConditionType::PodScheduled, true, 1), 0);
        assert_eq!(seen(&mut last, ConditionType::PodScheduled, true, 2), 0);
    }

    #[test]
    fn the_last_one_seen_counts_not_the_latest() {
        let mut last = LastTrue::default();
        assert_eq!(seen(&mut last, ConditionType::Ready, true, 10), 0);
        assert_eq!(seen(&mut last, ConditionType::Ready, true, 8), 0);
        assert_eq!(seen(&mut last, ConditionType::Ready, true, 9), 1);
    }

    #[test]
    fn a_transition_that_a_backup_repeats_is_no_reentry() {
        let mut last = LastTrue::default();
        let mut again = |second: i64| {
            let mut conditions = StatusConditions::default();
            let condition = StatusCondition {
                status: ConditionStatus::True,
                last_transition: Some(Timestamp::from_seconds(second)),
            };
            conditions.insert(ConditionType::Ready, condition);
            let mut count = 0;
            last.update(&conditions, ReentryBaseline::Latest, |_| count += 1);
            count
        };
        let counts = [10, 20, 10, 20, 15, 20, 21].map(&mut again);
        assert_eq!(counts, [0, 1, 0, 0, 0, 0, 1]);
    }
}
