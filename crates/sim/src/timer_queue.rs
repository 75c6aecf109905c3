//! A queue by due time; entries that are due at the same instant keep the order of their insertion.

use std::collections::BTreeMap;

use podinit_core::timestamp::Timestamp;

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
