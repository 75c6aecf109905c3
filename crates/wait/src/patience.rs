//! How long something may fail before it is given up ([§17.6](crate::specification#s17-6)).

use std::time::Duration;

use podinit_core::timestamp::Timestamp;

/// Whether the capacity for a pod is unknown, it is given so many times as long.
const UNKNOWN_CAPACITY: u32 = 5;

/// What may make a rollout fail, at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FailureSigns {
    /// Since when something fails
    pub failing: Option<Timestamp>,
    /// Since when a pod fits on no node, and nobody says whether one comes
    pub unschedulable: Option<Timestamp>,
}

/// For how long nothing but failures was seen.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    /// `None` never gives up
    fail_after: Option<Duration>,
    /// Since when no pod of the new revision got ready
    quiet: Timestamp,
    /// Since when something fails without a break
    failing: Option<Timestamp>,
    /// Since when something fails, or a pod fits on no node
    either: Option<Timestamp>,
}

impl Patience {
    pub(crate) fn new(fail_after: Option<Duration>, now: Timestamp) -> Self {
        Self { fail_after, quiet: now, failing: None, either: None }
    }

    /// A pod got ready, or another revision is the new one: begins anew.
    pub(crate) fn begin(&mut self, now: Timestamp) {
        *self = Self::new(self.fail_after, now);
    }

    /// Looks at the signs of `now`. How long they have lasted, if that is too long.
    pub(crate) fn look(&mut self, signs: FailureSigns, now: Timestamp) -> Option<Duration> {
        let FailureSigns { failing, unschedulable } = signs;
        let either = failing.into_iter().chain(unschedulable).min();
        let lasts = |known: Option<Timestamp>, since: Option<Timestamp>| {
            let since = since?;
            Some(known.unwrap_or_else(|| since.max(self.quiet)))
        };
        (self.failing, self.either) = (lasts(self.failing, failing), lasts(self.either, either));
        let fail_after = self.fail_after?;
        let has_lasted = |since: Option<Timestamp>, limit: Duration| {
            let since = since.filter(|since| since.plus(limit) <= now)?;
            Some(Duration::from_nanos(u64::try_from(now.nanos_since(since)).unwrap_or_default()))
        };
        let longer = fail_after.saturating_mul(UNKNOWN_CAPACITY);
        has_lasted(self.failing, fail_after).or_else(|| has_lasted(self.either, longer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + second)
    }

    fn failing(second: i64) -> FailureSigns {
        FailureSigns { failing: Some(at(second)), ..FailureSigns::default() }
    }

    fn unschedulable(second: i64) -> FailureSigns {
        FailureSigns { unschedulable: Some(at(second)), ..FailureSigns::default() }
    }

    fn patience() -> Patience {
        Patience::new(Some(Duration::from_secs(120)), at(0))
    }

    #[test]
    fn it_ends_when_something_has_failed_for_as_long() {
        let mut patience = patience();
        assert_eq!(patience.look(FailureSigns::default(), at(17)), None);
        // It is known late that it fails since earlier.
        assert_eq!(patience.look(failing(3), at(18)), None);
        assert_eq!(patience.look(failing(3), at(122)), None);
        assert_eq!(patience.look(failing(3), at(123)), Some(Duration::from_secs(120)));
    }

    #[test]
    fn what_failed_before_the_wait_began_counts_from_then() {
        let mut patience = patience();
        assert_eq!(patience.look(failing(-900), at(0)), None);
        assert_eq!(patience.look(failing(-900), at(119)), None);
        assert!(patience.look(failing(-900), at(120)).is_some());
    }

    #[test]
    fn a_break_and_a_pod_that_got_ready_begin_anew() {
        let mut patience = patience();
        patience.look(failing(0), at(1));
        assert_eq!(patience.look(FailureSigns::default(), at(100)), None);
        assert_eq!(patience.look(failing(101), at(130)), None);
        patience.begin(at(200));
        assert_eq!(patience.look(failing(101), at(221)), None);
        assert_eq!(patience.look(failing(101), at(319)), None);
        assert!(patience.look(failing(101), at(320)).is_some());
    }

    #[test]
    fn unknown_capacity_has_five_times_as_long() {
        let mut patience = patience();
        assert_eq!(patience.look(unschedulable(0), at(0)), None);
        assert_eq!(patience.look(unschedulable(0), at(599)), None);
        assert!(patience.look(unschedulable(0), at(600)).is_some());
        // An autoscaler's no does not make the time before count as refused.
        let mut patience = self::patience();
        patience.look(unschedulable(0), at(0));
        assert_eq!(patience.look(failing(300), at(300)), None);
        assert!(patience.look(failing(300), at(420)).is_some());
        // Each may hold in turn.
        let mut patience = self::patience();
        patience.look(unschedulable(0), at(0));
        patience.look(failing(550), at(550));
        assert!(patience.look(unschedulable(0), at(600)).is_some());
    }

    #[test]
    fn never_is_never() {
        let mut patience = Patience::new(None, at(0));
        assert_eq!(patience.look(failing(0), at(1_000_000)), None);
    }
}
