//! How many pods of a workload lived at one time, lately ([§17.2](crate::specification#s17-2)).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// How long a number is kept after it has changed: a rollout looks back 10 minutes from a creation that may be delivered
/// late.
const KEPT_NANOS: i64 = 1200 * NANOS_PER_SECOND;

/// The greatest numbers of pods that lived at one time, until each of them changed. What a later one has reached is
/// dropped, so that the numbers fall.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Population(VecDeque<(Timestamp, u32)>);

impl Population {
    /// `live` pods have lived until `now`, when that changes. Of several numbers of one instant the first counts.
    pub(super) fn changes(&mut self, live: u32, now: Timestamp) {
        if self.0.back().is_some_and(|(until, _)| *until >= now) {
            return;
        }
        while self.0.back().is_some_and(|(_, before)| *before <= live) {
            self.0.pop_back();
        }
        self.0.push_back((now, live));
        self.trim(now);
    }

    /// The greatest number after `from`.
    pub(super) fn greatest_after(&self, from: Timestamp) -> u32 {
        let mut later = self.0.iter().filter(|(until, _)| *until > from);
        later.next().map_or(0, |(_, live)| *live)
    }

    /// Drops the numbers until `end`.
    pub(super) fn forget(&mut self, end: Timestamp) {
        while self.0.front().is_some_and(|(until, _)| *until <= end) {
            self.0.pop_front();
        }
    }

    /// Drops what is too old at `now`. Returns whether nothing is left.
    pub(super) fn trim(&mut self, now: Timestamp) -> bool {
        self.forget(now.plus_nanos(-KEPT_NANOS - 1));
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    #[test]
    fn the_greatest_number_is_found() {
        let mut population = Population::default();
        for (live, until) in [(3, 100), (5, 110), (4, 110), (2, 120), (4, 130)] {
            population.changes(live, at(until));
        }
        let greatest =
            [99, 100, 109, 110, 129, 130].map(|from| population.greatest_after(at(from)));
        assert_eq!(greatest, [5, 5, 5, 4, 4, 0]);
        assert_eq!(population.0.len(), 2);
        assert!(!population.trim(at(1330)) && population.trim(at(1331)));
    }
}
