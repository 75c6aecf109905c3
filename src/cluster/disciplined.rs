//! A clock that nobody can step: it is held against the dates of the API server's answers.
//!
//! Every time that podinit measures by is one that the cluster states, so the clock that counts is
//! the cluster's. The machine's is usually as good (both are kept by NTP) and far finer than a
//! `Date` header, which is cut to the second; but it may be wrong, or be set. Hence:
//!
//! - Between two answers time is the last time plus what has passed by a clock that cannot be set
//!   and that runs while the machine sleeps (`CLOCK_BOOTTIME`).
//! - Each answer that took less than two seconds bounds the cluster's time: it lies between the
//!   date and the date plus one second plus the time that the answer took. While the machine's
//!   clock keeps within two seconds of that, it is followed, slewing and all.
//! - When it does not, podinit keeps its own time within those bounds, until the machine's clock is
//!   right again. The bounds for leaving and for coming back lie more than a second apart, the
//!   grain of a date, so that a clock at the edge is not left and taken again with each answer.
//!
//! Where no answer carries a date, time is the machine's at the start plus what has passed since.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::{Clock, Corrections, Reading, SystemClock};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// An answer that took longer says too little about the time.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// The machine's clock is followed while it is at most this far outside the bounds,
const KEEP_NANOS: i64 = 2 * NANOS_PER_SECOND;

/// and taken up again when it is at most this far outside.
const RETURN_NANOS: i64 = NANOS_PER_SECOND / 4;

/// A change of more than this is told of.
const STEP_NANOS: i64 = NANOS_PER_SECOND;

/// Reads the clock of the machine, which can be set.
type Wall = dyn Fn() -> Timestamp + Send + Sync;
/// Reads a clock that cannot be set, in time since some moment.
type Elapsed = dyn Fn() -> Duration + Send + Sync;

/// The time of the cluster, as well as it is known. See the module.
pub struct DisciplinedClock {
    wall: Box<Wall>,
    elapsed: Box<Elapsed>,
    line: Mutex<Line>,
}

/// Time as a line over what has passed.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The time at elapsed zero
    origin: Timestamp,
    /// Whether the clock of the machine is followed
    follows_machine: bool,
    /// What was added to the clock of the machine after the last answer
    correction: i64,
    steps: u64,
    jumps: u64,
}

/// What one dated answer says: the time now lies between these.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    earliest: Timestamp,
    latest: Timestamp,
}

impl DisciplinedClock {
    /// A clock that follows the machine's for as long as it is right.
    pub fn of_machine() -> Self {
        Self::new(|| SystemClock.now(), since_boot)
    }

    /// A clock over these two: one that tells the time of day and can be set, and one that tells
    /// the time since some moment and cannot.
    pub fn new(
        wall: impl Fn() -> Timestamp + Send + Sync + 'static,
        elapsed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let line = Line {
            origin: wall().plus_nanos(-nanos(elapsed())),
            follows_machine: true,
            correction: 0,
            steps: 0,
            jumps: 0,
        };
        Self {
            wall: Box::new(wall),
            elapsed: Box::new(elapsed),
            line: Mutex::new(line),
        }
    }

    /// An answer of the API server has arrived now that was asked for at `asked` (by
    /// [`Clock::elapsed`]) and says that it was made in the second `date`.
    pub fn dated(&self, asked: Duration, date: Timestamp) {
        let elapsed = (self.elapsed)();
        let took = elapsed.saturating_sub(asked);
        if took >= LONGEST_ANSWER {
            return;
        }
        let bounds = Bounds {
            earliest: date,
            latest: date.plus_nanos(NANOS_PER_SECOND + nanos(took)),
        };
        let mut line = self.line();
        let told = *line;
        line.hold(bounds, elapsed, (self.wall)());
        if line.steps != told.steps {
            line.tell(told);
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Every change is complete before anything could panic.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for DisciplinedClock {
    fn read(&self) -> Reading {
        // Read under the lock, so that the times of two readers are in the order of their readings.
        let line = self.line();
        Reading {
            now: line.at((self.elapsed)()),
            jumps: line.jumps,
        }
    }

    fn elapsed(&self) -> Duration {
        (self.elapsed)()
    }

    fn corrections(&self) -> Corrections {
        let line = self.line();
        let now = line.at((self.elapsed)());
        let correction = now.nanos_since((self.wall)());
        Corrections {
            steps: line.steps,
            seconds: correction as f64 / NANOS_PER_SECOND as f64,
        }
    }
}

impl Line {
    fn at(&self, elapsed: Duration) -> Timestamp {
        self.origin.plus_nanos(nanos(elapsed))
    }

    /// Keeps within `bounds`, at `elapsed`, when the machine says `wall`.
    fn hold(&mut self, bounds: Bounds, elapsed: Duration, wall: Timestamp) {
        let before = self.at(elapsed);
        let tolerance = if self.follows_machine {
            KEEP_NANOS
        } else {
            RETURN_NANOS
        };
        self.follows_machine = bounds.distance(wall) <= tolerance;
        let now = if self.follows_machine {
            wall
        } else if bounds.distance(before) <= KEEP_NANOS {
            bounds.nearest(before)
        } else {
            bounds.middle()
        };
        let moved = now.nanos_since(before);
        let correction = now.nanos_since(wall);
        let changed = correction.saturating_sub(self.correction);
        self.origin = self.origin.plus_nanos(moved);
        self.correction = correction;
        self.jumps += u64::from(moved.saturating_abs() > STEP_NANOS);
        self.steps +=
            u64::from(moved.saturating_abs() > STEP_NANOS || changed.saturating_abs() > STEP_NANOS);
    }

    fn tell(&self, before: Self) {
        let seconds = |nanos: i64| nanos as f64 / NANOS_PER_SECOND as f64;
        let (correction, was) = (seconds(self.correction), seconds(before.correction));
        if self.correction.saturating_abs() > STEP_NANOS {
            tracing::warn!(
                correction,
                was,
                "the machine's clock is not the API server's; podinit corrects it"
            );
        } else {
            tracing::info!(
                correction,
                was,
                "the machine's clock is the API server's again"
            );
        }
    }
}

impl Bounds {
    /// How far outside of them `at` lies; 0 inside.
    fn distance(self, at: Timestamp) -> i64 {
        at.nanos_since(self.nearest(at)).saturating_abs()
    }

    /// What lies within them and nearest to `at`.
    fn nearest(self, at: Timestamp) -> Timestamp {
        at.clamp(self.earliest, self.latest)
    }

    fn middle(self) -> Timestamp {
        let width = self.latest.nanos_since(self.earliest);
        self.earliest.plus_nanos(width / 2)
    }
}

impl fmt::Debug for DisciplinedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisciplinedClock")
            .field("line", &self.line())
            .finish_non_exhaustive()
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// The time since the machine was started, sleep included.
fn since_boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let at = clock_gettime(CLOCK);
    let whole = u64::try_from(at.tv_sec).unwrap_or_default();
    Duration::new(whole, u32::try_from(at.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
#[path = "disciplined_tests.rs"]
mod tests;
