//! The wall clock of the edge. The core gets every time as an argument; this is where one is read.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::timestamp::Timestamp;

/// Where deliveries get their times from.
pub trait Clock: Send + Sync {
    /// The time of day, in UTC.
    fn now(&self) -> Timestamp;
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
