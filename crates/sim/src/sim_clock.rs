//! Simulated time: real time at a chosen speed, or time that a test steps.
//! And a queue by due time; entries that are due at the same instant keep the order of their insertion.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Nanoseconds in a millisecond.
pub const MILLI: i64 = SECOND / 1_000;
/// Nanoseconds in a second.
pub const SECOND: i64 = NANOS_PER_SECOND;

/// The clock of a simulated cluster. Clones show the same time.
#[derive(Clone, Debug)]
pub struct SimClock(TimeSource);

#[derive(Clone, Debug)]
enum TimeSource {
    Running { epoch: Timestamp, since: Instant, speed: f64 },
    Stepped(Arc<AtomicI64>),
}

impl SimClock {
    /// A clock that shows `epoch` now and runs at `speed` times real time (a positive number).
    pub fn running(epoch: Timestamp, speed: f64) -> Self {
        Self(TimeSource::Running { epoch, since: Instant::now(), speed })
    }

    /// A clock that stays at `at` until it is stepped.
    pub fn stepped(at: Timestamp) -> Self {
        Self(TimeSource::Stepped(Arc::new(AtomicI64::new(at.as_nanos()))))
    }

    /// The simulated time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            TimeSource::Running { epoch, since, speed } => {
                let nanos = since.elapsed().as_nanos() as f64 * speed;
                epoch.plus_nanos(nanos as i64)
            }
            // Relaxed: the number is all that is shared; what happened by then is published by
            // the locks of the store.
            TimeSource::Stepped(nanos) => Timestamp::from_nanos(nanos.load(Ordering::Relaxed)),
        }
    }

    /// Moves a stepped clock on and returns its new time; a running one is not moved.
    pub fn step(&self, by: Duration) -> Timestamp {
        if let TimeSource::Stepped(nanos) = &self.0 {
            let by = i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
            nanos.fetch_add(by, Ordering::Relaxed);
        }
        self.now()
    }

    /// How long the real wait for the simulated instant `due` is; zero when it has come, and
    /// `None` for a clock that only a test moves.
    pub fn wait_for(&self, due: Timestamp) -> Option<Duration> {
        match &self.0 {
            TimeSource::Running { speed, .. } => {
                let nanos = due.nanos_since(self.now()).max(0) as f64 / speed;
                Some(Duration::from_nanos(nanos as u64))
            }
            TimeSource::Stepped(_) => None,
        }
    }
}

/// As Kubernetes writes it, cut to the second.
pub(super) fn meta_time(at: Timestamp) -> Time {
    let nanos = i128::from(at.as_nanos());
    // All of these instants are within the range of jiff's.
    Time(jiff::Timestamp::from_nanosecond(nanos).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}

/// `metav1.Time`: RFC 3339 in UTC, truncated to the second.
pub fn time(at: Timestamp) -> String {
    meta_time(at).0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time of the machine.
pub(super) fn wall_clock() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_nanos(i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX))
}

/// A queue of entries that become due, by their instants and the order of their insertion.
#[derive(Debug)]
pub(super) struct TimerQueue<T>(BTreeMap<(Timestamp, u64), T>, u64);

impl<T> TimerQueue<T> {
    /// An empty queue.
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new(), 0)
    }

    /// Adds `thing`, due at `at`.
    pub(super) fn push(&mut self, at: Timestamp, thing: T) {
        self.0.insert((at, self.1), thing);
        self.1 += 1;
    }

    /// When the next thing is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.0.keys().next().map(|(at, _)| *at)
    }

    /// Takes the next thing that is due at `now`, with its instant.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<(Timestamp, T)> {
        let next = self.0.first_entry().filter(|next| next.key().0 <= now)?;
        let ((at, _), thing) = next.remove_entry();
        Some((at, thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepped_clock_moves_only_by_steps_and_for_all_its_clones() {
        let clock = SimClock::stepped(Timestamp::from_seconds(100));
        let other = clock.clone();
        assert_eq!(clock.now(), Timestamp::from_seconds(100));
        clock.step(Duration::from_millis(1500));
        assert_eq!(other.now(), Timestamp::from_nanos(101_500_000_000));
        assert_eq!(other.wait_for(Timestamp::from_seconds(500)), None);
    }

    #[test]
    fn a_running_clock_waits_less_the_faster_it_runs() {
        let epoch = Timestamp::from_seconds(1000);
        let clock = SimClock::running(epoch, 1000.0);
        let wait = clock.wait_for(Timestamp::from_seconds(1_000_000));
        assert!(wait.is_some_and(|wait| wait <= Duration::from_secs(999)));
        assert_eq!(clock.wait_for(epoch), Some(Duration::ZERO));
    }

    #[test]
    fn times_are_cut_to_the_second() {
        let at = Timestamp::from_nanos(1_795_247_403_999_999_999);
        assert_eq!(time(at), "2026-11-21T07:50:03Z");
    }
}

#[cfg(test)]
mod timer_queue_tests {
    use super::*;

    #[test]
    fn things_come_in_the_order_of_time_and_then_of_insertion() {
        let mut timers = TimerQueue::new();
        let at = Timestamp::from_seconds;
        for (second, thing) in [(3, "d"), (1, "a"), (2, "b"), (2, "c")] {
            timers.push(at(second), thing);
        }
        let taken: Vec<&str> =
            std::iter::from_fn(|| timers.take_due(at(2)).map(|(_, thing)| thing)).collect();
        assert_eq!(taken, ["a", "b", "c"]);
        assert_eq!(timers.next_due(), Some(at(3)));
    }
}
