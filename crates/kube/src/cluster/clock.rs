//! Clocks. The core gets every time as an argument; these are what the rest of the program reads.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use podinit_core::timestamp::Timestamp;

/// Where deliveries get their times from.
pub trait DeliveryClock: Send + Sync {
    /// Reads the time of day, and with it whether the clock has jumped.
    fn read(&self) -> ClockReading;

    /// The time of day, in UTC.
    fn now(&self) -> Timestamp {
        self.read().now
    }

    /// The time since some fixed moment. It passes evenly even when the time of day is set, and,
    /// where the system supports it, while the machine sleeps.
    fn elapsed(&self) -> Duration {
        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        ORIGIN.elapsed()
    }

    /// How this clock corrects the machine's; not at all by default.
    fn corrections(&self) -> ClockCorrections {
        ClockCorrections::default()
    }
}

/// One reading of a clock. Both values are of the same moment: a caller that read them one after
/// the other could miss a jump between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The time of day, in UTC
    pub now: Timestamp,
    /// How often the clock has jumped by more than a second so far. When it has since the last
    /// reading, the difference of the two is not time that has passed.
    pub jumps: u64,
}

/// A reading of a clock that is never corrected.
impl From<Timestamp> for ClockReading {
    fn from(now: Timestamp) -> Self {
        Self { now, jumps: 0 }
    }
}

/// How a clock corrects the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockCorrections {
    /// How often the machine's clock and the reference came to differ by more than a second, or to
    /// agree again (`podinit_clock_steps_total`)
    pub steps: u64,
    /// What is added to the machine's clock at present, in seconds
    /// (`podinit_clock_correction_seconds`)
    pub seconds: f64,
    /// Whether it is the machine's, and no answer has said what the time is to compare it with
    pub unchecked: bool,
}

/// The machine's clock. It can be set, so accounted time must not follow it backwards.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl DeliveryClock for SystemClock {
    fn read(&self) -> ClockReading {
        instant(SystemTime::now()).into()
    }
}

/// The instant that the system states.
pub fn instant(time: SystemTime) -> Timestamp {
    let nanos = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    };
    Timestamp::from_nanos(nanos)
}

impl<F: Fn() -> Timestamp + Send + Sync> DeliveryClock for F {
    fn read(&self) -> ClockReading {
        self().into()
    }
}
