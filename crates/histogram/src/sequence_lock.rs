//! Consistent snapshots of many atomics, for which no writer ever waits.
//!
//! **The race.** One event changes several atomics (a bucket and the sum; the stage
//! that a pod leaves and the one that it enters). A scrape that reads them one by one may see the
//! first change and not the second.
//!
//! **The scheme.** Two counters: writes begun and writes ended. A writer counts itself as begun,
//! writes, and counts itself as ended. A reader reads `ended`, then the data, then `begun`.
//!
//! **The invariant.** A reader that finds `begun == ended` has seen every write whole or not at
//! all. Let it have read `ended = n`, and let F be the n writes that had ended.
//! 1. Every write of F is seen whole: the n-th increment of `ended` is a `Release` read-modify-write
//!    that continues the release sequence of all earlier ones, and the reader's load is `Acquire`,
//!    so the data and the increments of `begun` of all of F happen before the reads that follow.
//! 2. Nothing of a write W outside F is seen. If one of W's relaxed data writes were read, then W's
//!    `Release` fence (before its data writes) would synchronize with the reader's `Acquire` fence
//!    (after its data reads), so W's increment of `begun` would happen before the reader's load of
//!    `begun`. With the n increments of F (from 1) the reader would find at least n + 1.
//!
//! Each ordering is needed: without either fence 2 fails, without `Release` or `Acquire` on `ended`
//! 1 fails. The increment of `begun` itself, its load and all data accesses may be relaxed, because
//! the fences order them. The models in `model` fail when one of these is weakened.

use std::thread::sleep;
use std::time::Duration;

use crate::sync::{AtomicU64, Ordering, fence, spin_loop, yield_now};

/// Attempts that a reader makes without giving up the processor: a write takes nanoseconds.
const SPINS: u32 = 64;
/// Further attempts, between which the reader gives up the processor, in case the writer needs it.
const YIELDS: u32 = 192;
/// Last attempts, between which the reader sleeps: only a writer that lost its processor in the
/// middle of a write takes that long, and the kernel gives it back within some milliseconds.
const SLEEPS: u32 = 32;
const SLEEP: Duration = Duration::from_millis(1);

/// The pair of counters that guards one group of atomics.
#[derive(Debug, Default)]
pub struct SequenceLock {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// What a reader got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceRead<T> {
    /// No write was under way while this was read.
    Consistent(T),
    /// Every attempt met a write; this is what the last one read. Each atomic by itself is a value
    /// that it had, but they may not belong together.
    Torn(T),
}

/// A write under way; it ends when this is dropped.
#[must_use]
pub struct SequenceWrite<'a>(&'a SequenceLock);

impl SequenceLock {
    /// Begins a write. Any number of writers may write at once; none waits.
    pub fn write(&self) -> SequenceWrite<'_> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::Release);
        SequenceWrite(self)
    }

    /// Reads the guarded atomics with `data` (relaxed loads) once; `None` if a write was under way.
    pub(super) fn try_read<T>(&self, data: impl FnOnce() -> T) -> Option<T> {
        let ended = self.ended.load(Ordering::Acquire);
        let value = data();
        fence(Ordering::Acquire);
        (self.begun.load(Ordering::Relaxed) == ended).then_some(value)
    }

    /// Reads the guarded atomics until no write interferes, within a bound.
    pub fn read<T>(&self, mut data: impl FnMut() -> T) -> SequenceRead<T> {
        for attempt in 0..SPINS + YIELDS + SLEEPS {
            if let Some(value) = self.try_read(&mut data) {
                return SequenceRead::Consistent(value);
            }
            match attempt {
                _ if attempt < SPINS => spin_loop(),
                _ if attempt < SPINS + YIELDS => yield_now(),
                _ => sleep(SLEEP),
            }
        }
        SequenceRead::Torn(data())
    }
}

impl Drop for SequenceWrite<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Release);
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_read_during_a_write_is_torn_and_one_after_it_is_not() {
        let lock = SequenceLock::default();
        let writing = lock.write();
        assert_eq!(lock.read(|| 1), SequenceRead::Torn(1));
        drop(writing);
        assert_eq!(lock.read(|| 1), SequenceRead::Consistent(1));
    }
}
