//! When which deadline passes.
//!
//! Deadlines wait in a bucket for each second, and only those of the seconds that have come are
//! put in order. So adding one costs the logarithm of how many different seconds are waited for,
//! which the longest threshold bounds, however many pods wait. A deadline is not taken back when
//! its pod is decided earlier or forgotten; whoever pops it finds that out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::SloId;
use crate::pod::PodUid;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

type Entry = (Timestamp, PodUid, SloId);

/// The deadlines that are still to pass.
#[derive(Debug, Default)]
pub struct Timers {
    /// Of seconds that have come, the earliest first
    current: BinaryHeap<Reverse<Entry>>,
    /// Of later seconds
    future: BTreeMap<i64, Vec<Entry>>,
    /// The last second that has come
    came: Option<i64>,
}

impl Timers {
    /// Lets the deadline of `uid` for `slo` pass strictly after `deadline`.
    pub fn add(&mut self, deadline: Timestamp, uid: PodUid, slo: SloId) {
        let second = second_of(deadline);
        let entry = (deadline, uid, slo);
        if self.came.is_some_and(|came| second <= came) {
            self.current.push(Reverse(entry));
        } else {
            self.future.entry(second).or_default().push(entry);
        }
    }

    /// Takes out the earliest deadline that has passed at `now`.
    pub fn pop_passed(&mut self, now: Timestamp) -> Option<(PodUid, SloId)> {
        let second = second_of(now);
        self.came = self.came.max(Some(second));
        while let Some(bucket) = self.future.first_entry()
            && *bucket.key() <= second
        {
            self.current
                .extend(bucket.remove().into_iter().map(Reverse));
        }
        let Reverse((deadline, uid, slo)) = *self.current.peek()?;
        (deadline < now).then(|| {
            self.current.pop();
            (uid, slo)
        })
    }
}

fn second_of(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(NANOS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_deadline_passes_strictly_after_its_instant() {
        let mut timers = Timers::default();
        let at = |nanos| Timestamp::from_nanos(7 * NANOS_PER_SECOND + nanos);
        let uid = PodUid::from_text("u");
        timers.add(at(5), uid, SloId(0));
        assert_eq!(timers.pop_passed(at(4)), None);
        assert_eq!(timers.pop_passed(at(5)), None);
        assert_eq!(timers.pop_passed(at(6)), Some((uid, SloId(0))));
        assert_eq!(timers.pop_passed(at(6)), None);
    }

    proptest! {
        #[test]
        fn passes_what_a_sorted_list_would(steps in prop::collection::vec((0i64..20_000, 0i64..300), 1..200)) {
            let mut timers = Timers::default();
            let mut model: Vec<(i64, PodUid)> = Vec::new();
            let mut now = 1;
            for (number, (ahead, pass)) in steps.into_iter().enumerate() {
                let uid = PodUid::from_text(&number.to_string());
                let millis = |millis: i64| Timestamp::from_nanos(millis * 1_000_000);
                timers.add(millis(now + ahead - 500), uid, SloId(0));
                model.push((now + ahead - 500, uid));
                now += pass;
                let mut passed = Vec::new();
                while let Some((uid, _)) = timers.pop_passed(millis(now)) {
                    passed.push(uid);
                }
                model.sort();
                let due = model.partition_point(|(deadline, _)| *deadline < now);
                let expected: Vec<PodUid> = model.drain(..due).map(|(_, uid)| uid).collect();
                prop_assert_eq!(passed, expected);
            }
        }
    }
}
