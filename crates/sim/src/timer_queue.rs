//! A queue by due time; entries that are due at the same instant keep the order of their insertion.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use podinit_core::timestamp::Timestamp;

/// A queue of entries that become due.
#[derive(Debug)]
pub(super) struct TimerQueue<T> {
    order: BinaryHeap<Reverse<(Timestamp, u64)>>,
    things: BTreeMap<u64, T>,
    entered: u64,
}

impl<T> Default for TimerQueue<T> {
    fn default() -> Self {
        Self {
            order: BinaryHeap::new(),
            things: BTreeMap::new(),
            entered: 0,
        }
    }
}

impl<T> TimerQueue<T> {
    /// Adds `thing`, due at `at`.
    pub(super) fn push(&mut self, at: Timestamp, thing: T) {
        self.order.push(Reverse((at, self.entered)));
        self.things.insert(self.entered, thing);
        self.entered += 1;
    }

    /// When the next thing is due.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.order.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the next thing that is due at `now`, with its instant.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<(Timestamp, T)> {
        let Reverse((at, number)) = *self.order.peek()?;
        if at > now {
            return None;
        }
        self.order.pop();
        self.things.remove(&number).map(|thing| (at, thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_in_the_order_of_time_and_then_of_insertion() {
        let mut timers = TimerQueue::default();
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
