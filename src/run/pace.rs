//! Keeps the time of the accounting, and notices when time did not pass as it should: the process was
//! stopped, the machine slept, or the clock had to be put right. What time says then is no reason for
//! a deadline to pass, until what happened meanwhile has been delivered.

use std::time::Duration;

use tokio::time::Instant;

use crate::cluster::clock::Clock;
use crate::lifecycle::delivery::Delivery;
use crate::lifecycle::observation::Sink;
use crate::lifecycle::tracker::Tracker;
use crate::timestamp::Timestamp;
use crate::watch::stats::WatchStats;

/// The loop turns at every tick. A turn that is this late was kept from turning.
const STALL: Duration = Duration::from_secs(2);

/// A watch that was not heard of for longer says nothing about the present. The API server ends
/// quiet watches, and with them sends a bookmark, more often than this.
const FRESH: Duration = Duration::from_secs(30);

/// How time passed since the last turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    /// As it should
    Evenly,
    /// Without us, until now
    Unattended(Timestamp),
    /// Nobody knows how: the clock jumped, and says this now
    Jumped(Timestamp),
}

impl Passed {
    fn tell(self, tracker: &mut Tracker) {
        match self {
            Self::Evenly => {}
            Self::Unattended(now) => tracker.catch_up(now),
            Self::Jumped(now) => tracker.set_time(now),
        }
    }
}

/// Watches over the passing of time, on behalf of the loop that accounts for deliveries.
#[derive(Debug)]
pub struct Pace {
    last_turn: Duration,
    jumps: u64,
    /// The API server has to be heard of after this before time may pass
    disturbed: Option<Instant>,
}

impl Pace {
    /// Time that begins to pass now for `tracker`. If that was restored, it may be of a time when the
    /// clock was wrong.
    pub fn begin(clock: &dyn Clock, tracker: &mut Tracker) -> Self {
        let now = clock.now();
        if tracker.is_ahead_of(now) {
            tracker.set_time(now);
        }
        Self::new(clock)
    }

    /// The loop has turned. To be called a few times a second, whatever else happens.
    pub fn turn(&mut self, clock: &dyn Clock, tracker: &mut Tracker) {
        self.since_turn(clock).tell(tracker);
    }

    /// `delivery` is about to be accounted for. Nothing has arrived after the present: a time that
    /// says so is of before a jump of the clock.
    pub fn receive(&mut self, clock: &dyn Clock, delivery: &mut Delivery, tracker: &mut Tracker) {
        self.look(clock).tell(tracker);
        let present = clock.now();
        delivery.now = present.min(delivery.now);
        delivery.observed = delivery.observed.map(|observed| present.min(observed));
    }

    /// Lets time pass for `tracker`, which has been told of everything that was delivered; unless the
    /// API server has not been heard of for a while: a process that was stopped has time to make up
    /// for, but first what was delivered meanwhile.
    pub fn let_time_pass(
        &self,
        clock: &dyn Clock,
        stats: &WatchStats,
        tracker: &mut Tracker,
        sink: &mut impl Sink,
    ) {
        let heard = stats.last_contact().map(Instant::from_std);
        if heard.is_some_and(|heard| self.is_fresh(heard)) {
            tracker.advance(clock.now(), sink);
        }
    }

    fn new(clock: &dyn Clock) -> Self {
        Self {
            last_turn: clock.elapsed(),
            jumps: clock.corrections().jumps,
            disturbed: None,
        }
    }

    /// How time has passed since the loop last turned.
    fn since_turn(&mut self, clock: &dyn Clock) -> Passed {
        let elapsed = clock.elapsed();
        let stalled = elapsed.saturating_sub(self.last_turn) > STALL;
        self.last_turn = elapsed;
        match self.look(clock) {
            Passed::Evenly if stalled => {
                self.disturbed = Some(Instant::now());
                Passed::Unattended(clock.now())
            }
            passed => passed,
        }
    }

    /// Whether the clock has jumped. For every moment at which time is told, since a jump must be
    /// known before anything is accounted for at a time after it.
    fn look(&mut self, clock: &dyn Clock) -> Passed {
        let jumps = clock.corrections().jumps;
        if jumps == self.jumps {
            return Passed::Evenly;
        }
        self.jumps = jumps;
        self.disturbed = Some(Instant::now());
        Passed::Jumped(clock.now())
    }

    /// Whether time may pass, the API server having been heard of at `heard` on behalf of every
    /// source: not long ago, and since time was last disturbed.
    fn is_fresh(&self, heard: Instant) -> bool {
        heard.elapsed() < FRESH && self.disturbed.is_none_or(|at| heard > at)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Mutex;

    use super::*;
    use crate::cluster::clock::Corrections;

    /// Shows what it is told to.
    #[derive(Default)]
    struct Shown(Mutex<(u64, u64)>);

    impl Shown {
        fn show(&self, second: u64, jumps: u64) {
            *self.0.lock().unwrap() = (second, jumps);
        }
    }

    impl Clock for Shown {
        fn now(&self) -> Timestamp {
            Timestamp::from_seconds(self.0.lock().unwrap().0 as i64)
        }
        fn elapsed(&self) -> Duration {
            Duration::from_secs(self.0.lock().unwrap().0)
        }
        fn corrections(&self) -> Corrections {
            Corrections {
                jumps: self.0.lock().unwrap().1,
                ..Corrections::default()
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn stalls_and_jumps_are_told_once_and_end_when_the_server_is_heard() {
        let clock = Shown::default();
        let mut pace = Pace::new(&clock);
        let before = Instant::now();
        clock.show(2, 0);
        assert_eq!(pace.since_turn(&clock), Passed::Evenly);
        assert!(pace.is_fresh(before));
        clock.show(600, 0);
        let at = Timestamp::from_seconds(600);
        assert_eq!(pace.since_turn(&clock), Passed::Unattended(at));
        assert_eq!(pace.since_turn(&clock), Passed::Evenly);
        assert!(!pace.is_fresh(before));
        tokio::time::advance(Duration::from_secs(1)).await;
        let heard = Instant::now();
        assert!(pace.is_fresh(heard));
        clock.show(600, 1);
        assert_eq!(pace.look(&clock), Passed::Jumped(at));
        assert_eq!(pace.since_turn(&clock), Passed::Evenly);
        assert!(!pace.is_fresh(heard));
        tokio::time::advance(Duration::from_secs(1)).await;
        let heard = Instant::now();
        tokio::time::advance(FRESH).await;
        assert!(!pace.is_fresh(heard));
    }
}
