//! The clocks of the edge. The core gets every time as an argument; this is where one is read.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::timestamp::Timestamp;

/// Where deliveries get their times from.
pub trait Clock: Send + Sync {
    /// The time of day, in UTC.
    fn now(&self) -> Timestamp;

    /// The time since some fixed moment. It passes evenly whatever is done to the time of day, and
    /// where the system can tell, also while the machine sleeps.
    fn elapsed(&self) -> Duration {
        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        ORIGIN.elapsed()
    }

    /// What has been put right of this clock; nothing by default.
    fn corrections(&self) -> Corrections {
        Corrections::default()
    }
}

/// What has been put right of a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corrections {
    /// How often the clock of the machine and the one that it is held against came apart, or
    /// together again (`podinit_clock_steps_total`)
    pub steps: u64,
    /// How often [`Clock::now`] itself had to jump by more than a second. Whoever accounts by it
    /// cannot take the time between two readings for time that has passed.
    pub jumps: u64,
    /// What is added to the clock of the machine at present, in seconds
    /// (`podinit_clock_correction_seconds`)
    pub seconds: f64,
}

/// The clock of the machine. It may be stepped: whoever accounts by it must not let it go back.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let nanos = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
        };
        Timestamp::from_nanos(nanos)
    }
}

impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}
