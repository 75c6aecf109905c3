//! What new pods say of the cluster's time where no answer has a date.
//!
//! A pod that the watch shows exists, so that the API server's clock has passed the second of its creation. And while
//! the watch is in sync, the quickest of several new pods is shown soon after that second.

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// So many of the newest pods are kept.
const MOST: usize = 16;

/// So many say that the time cannot be much later.
const ENOUGH: usize = 4;

/// How late the quickest of them may be shown: as late as for the clock of a node
/// ([§4.7](crate::specification#s4-7)).
const LATEST: i64 = 30 * NANOS_PER_SECOND;

/// What an answer with a date proves, or new pods: the time is between these.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeBounds {
    pub(super) earliest: Timestamp,
    pub(super) latest: Timestamp,
    /// The best guess
    pub(super) likely: Timestamp,
}

impl TimeBounds {
    /// How far outside the bounds `at` is, in nanoseconds; 0 inside.
    pub(super) fn distance(self, at: Timestamp) -> i64 {
        at.nanos_since(self.nearest(at)).saturating_abs()
    }

    /// The time within the bounds that is nearest to `at`.
    pub(super) fn nearest(self, at: Timestamp) -> Timestamp {
        at.clamp(self.earliest, self.latest)
    }
}

/// The creations of the newest pods, each as the time of day when the elapsed time was zero, if the pod had been shown
/// at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Creations {
    origins: [Option<Timestamp>; MOST],
}

impl Creations {
    /// Adds a pod that was created at `created`, and shown when the elapsed time was so many nanoseconds. Returns what
    /// follows for the present.
    pub(super) fn add(&mut self, created: Timestamp, elapsed: i64) -> TimeBounds {
        let origin = created.plus_nanos(elapsed.saturating_neg());
        self.origins.rotate_right(1);
        self.origins[0] = Some(origin);
        let known = self.origins.iter().flatten();
        let latest = known.max().copied().unwrap_or(origin);
        let earliest = latest.plus_nanos(elapsed);
        TimeBounds {
            earliest,
            latest: match self.origins[ENOUGH - 1] {
                Some(_) => earliest.plus_nanos(NANOS_PER_SECOND + LATEST),
                None => Timestamp::from_nanos(i64::MAX),
            },
            likely: earliest.plus_nanos(NANOS_PER_SECOND / 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600 + seconds)
    }

    #[test]
    fn the_newest_creation_bounds_the_time_and_the_quickest_of_four_from_above() {
        let mut creations = Creations::default();
        // Each is shown so many seconds after its creation.
        for (second, late) in [(10, 3), (20, 1), (30, 9)] {
            let bounds = creations.add(at(second - late), second * NANOS_PER_SECOND);
            assert_eq!(bounds.latest, Timestamp::from_nanos(i64::MAX));
        }
        let bounds = creations.add(at(35), 40 * NANOS_PER_SECOND);
        assert_eq!(bounds.earliest, at(39), "as late as the quickest");
        assert_eq!(bounds.latest, at(39 + 31));
        assert_eq!(bounds.likely, at(39).plus_nanos(NANOS_PER_SECOND / 2));
        for second in 41..41 + 16 {
            creations.add(at(second - 7), second * NANOS_PER_SECOND);
        }
        let bounds = creations.add(at(53), 60 * NANOS_PER_SECOND);
        assert_eq!(bounds.earliest, at(53), "the quickest is forgotten");
    }
}
