//! Lengths of simulated time, in nanoseconds.

use crate::timestamp::NANOS_PER_SECOND;

/// Nanoseconds in a millisecond.
pub const MILLI: i64 = SECOND / 1_000;
/// Nanoseconds in a second.
pub const SECOND: i64 = NANOS_PER_SECOND;
