//! What is certain of the present.

use podinit_core::timestamp::Timestamp;

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
