//! `google.protobuf.Timestamp`.

use super::wire::{WireType, integer_len, key, put_head, put_integer};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

const SECONDS: u8 = key(1, WireType::Varint);
const NANOS: u8 = key(2, WireType::Varint);

/// Writes `at` in the field `key`.
pub(super) fn put_timestamp(out: &mut Vec<u8>, key: u8, at: Timestamp) {
    let (seconds, nanos) = parts(at);
    put_head(out, key, timestamp_len(at));
    put_integer(out, SECONDS, seconds);
    put_integer(out, NANOS, nanos);
}

/// How long the message is that [`put_timestamp`] writes.
pub(super) const fn timestamp_len(at: Timestamp) -> usize {
    let (seconds, nanos) = parts(at);
    integer_len(seconds) + integer_len(nanos)
}

/// Seconds and nanoseconds, as the message has them.
const fn parts(at: Timestamp) -> (u64, u64) {
    let seconds = at.as_nanos().div_euclid(NANOS_PER_SECOND);
    let nanos = at.as_nanos().rem_euclid(NANOS_PER_SECOND);
    (seconds.cast_unsigned(), nanos.cast_unsigned())
}
