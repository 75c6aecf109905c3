//! The queue of deadlines.
//!
//! Deadlines are kept in one bucket per second, and only those of a second that has been reached are
//! sorted. So adding one costs the logarithm of the number of distinct seconds, which the longest
//! threshold bounds, however many pods wait. A deadline is not removed when its pod is decided earlier
//! or forgotten; the caller checks that when it pops the deadline. The caller also has to call
//! [`SloTimers::tidy`], or the deadlines of forgotten pods would accumulate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::slo_verdict::SloId;
use crate::pod::PodUid;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Up to this number of deadlines, removing stale ones is not worth the cost.
const FEW: usize = 256;

/// A deadline, whose it is, and of which SLO.
pub(crate) type TimerEntry = (Timestamp, PodUid, SloId);

/// A deadline in its second: the nanoseconds since the second began. Pods in flight have little room.
type EntryInSecond = (u32, PodUid, SloId);

/// The deadlines that have not passed yet.
#[derive(Debug, Default)]
pub(crate) struct SloTimers {
    /// Deadlines of seconds up to `came`, the earliest first
    current: BinaryHeap<Reverse<TimerEntry>>,
    /// Deadlines of later seconds, by second, and those of `came` that are not sorted yet
    future: BTreeMap<i64, Vec<EntryInSecond>>,
    /// Deadlines that wait for their source, the earliest first
    held: BTreeMap<SourceId, BinaryHeap<Reverse<TimerEntry>>>,
    /// The last second whose deadlines are sorted, or are being sorted
    came: Option<i64>,
    /// The number of deadlines, stale ones included
    waiting: usize,
}

impl SloTimers {
    /// Adds the deadline of `uid` for `slo`. It passes strictly after `deadline`.
    pub(crate) fn add(&mut self, deadline: Timestamp, uid: PodUid, slo: SloId) {
        self.waiting += 1;
        let second = second_of(deadline);
        if self.came.is_some_and(|came| second <= came) {
            self.current.push(Reverse((deadline, uid, slo)));
        } else {
            let entry = (nanos_in_second(deadline), uid, slo);
            self.future.entry(second).or_default().push(entry);
        }
    }

    /// The earliest time at which a deadline can pass, stale ones included; `None` without deadlines. Those that are held
    /// wait for their source.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let current = self.current.peek().map(|Reverse((deadline, ..))| *deadline);
        let future = self.future.first_key_value().map(|(second, _)| instant(*second, 0));
        current.into_iter().chain(future).min()
    }

    /// Sorts at most `most` deadlines of the earliest second that has been reached at `now`. False if that second has
    /// more. Deadlines of the next second follow once all of these have been popped: the heap never grows by a copy of
    /// what it has.
    pub(crate) fn sort(&mut self, now: Timestamp, most: usize) -> bool {
        let second = second_of(now);
        let earliest = self.future.first_entry();
        let Some(mut bucket) = earliest.filter(|bucket| *bucket.key() <= second) else {
            self.came = self.came.max(Some(second));
            return true;
        };
        let begin = *bucket.key();
        if self.came != Some(begin) {
            if !self.current.is_empty() {
                return true;
            }
            self.came = Some(begin);
            self.current.reserve(bucket.get().len());
        }
        let kept = bucket.get().len().saturating_sub(most);
        let entries = bucket.get_mut().drain(kept..);
        self.current
            .extend(entries.map(|(nanos, uid, slo)| Reverse((instant(begin, nanos), uid, slo))));
        if kept == 0 {
            bucket.remove();
        }
        kept == 0
    }

    /// Removes and returns the earliest deadline that has passed at `now`.
    pub(crate) fn pop_passed(&mut self, now: Timestamp) -> Option<TimerEntry> {
        self.sort(now, usize::MAX);
        let Reverse(entry) = *self.current.peek()?;
        (entry.0 < now).then(|| {
            self.current.pop();
            self.waiting -= 1;
            entry
        })
    }

    /// Keeps a deadline of `source` until it is [released](SloTimers::release).
    pub(crate) fn hold(&mut self, source: SourceId, entry: TimerEntry) {
        self.waiting += 1;
        self.held.entry(source).or_default().push(Reverse(entry));
    }

    /// Lets the deadlines pass that are held, up to the instant until which those of their source have passed, if any
    /// may.
    pub(crate) fn release(&mut self, until: impl Fn(SourceId) -> Option<Timestamp>) {
        let Self { current, held, .. } = self;
        if held.is_empty() {
            return;
        }
        held.retain(|source, entries| {
            if let Some(until) = until(*source) {
                while entries.peek().is_some_and(|Reverse((deadline, ..))| *deadline < until) {
                    current.extend(entries.pop());
                }
            }
            !entries.is_empty()
        });
    }

    /// Removes the stale deadlines, of which `is_awaited` is false, once there are about twice as many
    /// deadlines as the `live` ones, of which there are at most so many. That bounds the queue, and
    /// the amortized cost per removed deadline is constant.
    pub(crate) fn tidy(&mut self, live: usize, mut is_awaited: impl FnMut(PodUid, SloId) -> bool) {
        if self.waiting <= live.saturating_mul(2).saturating_add(FEW) {
            return;
        }
        self.current.retain(|Reverse((_, uid, slo))| is_awaited(*uid, *slo));
        self.current.shrink_to_fit();
        self.future.retain(|_, bucket| {
            bucket.retain(|(_, uid, slo)| is_awaited(*uid, *slo));
            bucket.shrink_to_fit();
            !bucket.is_empty()
        });
        self.held.retain(|_, entries| {
            entries.retain(|Reverse((_, uid, slo))| is_awaited(*uid, *slo));
            entries.shrink_to_fit();
            !entries.is_empty()
        });
        let (future, held) = (self.future.values(), self.held.values());
        let later = future.map(Vec::len).sum::<usize>() + held.map(BinaryHeap::len).sum::<usize>();
        self.waiting = self.current.len() + later;
    }

    /// The number of deadlines, stale ones included.
    #[cfg(test)]
    pub(in crate::lifecycle) fn waiting(&self) -> usize {
        self.waiting
    }
}

fn second_of(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(NANOS_PER_SECOND)
}

fn nanos_in_second(at: Timestamp) -> u32 {
    // Less than a second, so it fits.
    u32::try_from(at.as_nanos().rem_euclid(NANOS_PER_SECOND)).unwrap_or_default()
}

/// The instant that [`second_of`] and [`nanos_in_second`] name. The product may pass the least integer,
/// and the sum comes back.
fn instant(second: i64, nanos: u32) -> Timestamp {
    let begin = second.wrapping_mul(NANOS_PER_SECOND);
    Timestamp::from_nanos(begin.wrapping_add(nanos.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_deadline_passes_strictly_after_its_instant() {
        let mut timers = SloTimers::default();
        let at = |nanos| Timestamp::from_nanos(7 * NANOS_PER_SECOND + nanos);
        let uid = PodUid::from_text("u");
        timers.add(at(5), uid, SloId(0));
        assert_eq!(timers.pop_passed(at(4)), None);
        assert_eq!(timers.pop_passed(at(5)), None);
        assert_eq!(timers.pop_passed(at(6)), Some((at(5), uid, SloId(0))));
        assert_eq!(timers.pop_passed(at(6)), None);
    }

    #[test]
    fn what_is_held_passes_when_it_is_released_and_is_tidied_too() {
        let mut timers = SloTimers::default();
        let at = Timestamp::from_seconds;
        let uid = PodUid::from_text("u");
        timers.add(at(1), uid, SloId(0));
        let passed = timers.pop_passed(at(9));
        assert_eq!(passed, Some((at(1), uid, SloId(0))));
        timers.hold(SourceId(3), (at(1), uid, SloId(0)));
        timers.release(|source| (source != SourceId(3)).then_some(at(9)));
        assert_eq!((timers.pop_passed(at(9)), timers.waiting), (None, 1));
        timers.release(|_| Some(at(1)));
        assert_eq!((timers.pop_passed(at(9)), timers.waiting), (None, 1));
        timers.release(|_| Some(at(2)));
        assert_eq!((timers.pop_passed(at(9)), timers.waiting), (passed, 0));
        for _ in 0..=FEW {
            timers.hold(SourceId(3), (at(1), uid, SloId(0)));
        }
        timers.tidy(0, |_, _| false);
        assert_eq!((timers.held.len(), timers.waiting), (0, 0));
    }

    #[test]
    fn an_instant_is_its_second_and_its_nanoseconds() {
        for nanos in [i64::MIN, -1, 0, 1, NANOS_PER_SECOND, i64::MAX] {
            let at = Timestamp::from_nanos(nanos);
            assert_eq!(instant(second_of(at), nanos_in_second(at)), at);
        }
        assert_eq!(size_of::<EntryInSecond>(), 24);
    }

    #[test]
    fn stale_deadlines_are_removed_when_there_are_many() {
        let mut timers = SloTimers::default();
        let at = Timestamp::from_seconds;
        let uid = |number: i64| PodUid::from_text(&number.to_string());
        timers.pop_passed(at(100));
        for number in 0..1000 {
            timers.add(at(number), uid(number), SloId(0));
        }
        let awaited = [uid(50), uid(500)];
        timers.tidy(400, |uid, _| awaited.contains(&uid));
        assert_eq!(timers.waiting, 1000);
        timers.tidy(2, |uid, _| awaited.contains(&uid));
        assert_eq!(timers.waiting, 2);
        for expected in [Some((at(50), awaited[0], SloId(0))), None] {
            assert_eq!(timers.pop_passed(at(400)), expected);
        }
        assert_eq!(timers.pop_passed(at(501)), Some((at(500), awaited[1], SloId(0))));
        assert_eq!(timers.waiting, 0);
    }

    #[test]
    fn only_deadlines_of_seconds_that_have_been_reached_are_sorted() {
        let mut timers = SloTimers::default();
        let at = |tenths: i64| Timestamp::from_nanos(tenths * NANOS_PER_SECOND / 10);
        let add = |timers: &mut SloTimers, tenths: i64| {
            timers.add(at(tenths), PodUid::from_text(&tenths.to_string()), SloId(0));
            (timers.current.len(), timers.future.len())
        };
        let added = [75, 72, 90, 99].map(|tenths| add(&mut timers, tenths));
        assert_eq!(added, [(0, 1), (0, 1), (0, 2), (0, 2)]);
        assert!(timers.pop_passed(at(74)).is_some());
        assert_eq!((timers.current.len(), timers.future.len()), (1, 1));
        let added = [61, 79, 80].map(|tenths| add(&mut timers, tenths));
        assert_eq!(added, [(2, 1), (3, 1), (3, 2)]);
    }

    #[test]
    fn the_next_is_due_with_its_second_and_once_that_is_sorted_at_its_instant() {
        let mut timers = SloTimers::default();
        let at = |tenths: i64| Timestamp::from_nanos(tenths * NANOS_PER_SECOND / 10);
        assert_eq!(timers.next_due(), None);
        for tenths in [95, 77, 75] {
            timers.add(at(tenths), PodUid::from_text(&tenths.to_string()), SloId(0));
        }
        assert_eq!(timers.next_due(), Some(at(70)));
        assert_eq!(timers.pop_passed(at(72)), None);
        assert_eq!(timers.next_due(), Some(at(75)));
        assert!(timers.pop_passed(at(76)).is_some());
        assert_eq!(timers.next_due(), Some(at(77)));
        assert!(timers.pop_passed(at(78)).is_some());
        assert_eq!(timers.next_due(), Some(at(90)));
    }

    #[test]
    fn a_second_is_sorted_once_the_one_before_has_passed() {
        let mut timers = SloTimers::default();
        let at = Timestamp::from_seconds;
        let uid = |number: i64| PodUid::from_text(&number.to_string());
        for number in 0..6 {
            timers.add(at(number / 3), uid(number), SloId(0));
        }
        let now = at(9);
        assert!(!timers.sort(now, 2));
        timers.add(at(0), uid(6), SloId(0));
        assert!(timers.sort(now, 2));
        assert_eq!((timers.current.len(), timers.future.len()), (4, 1));
        for _ in 0..4 {
            assert!(timers.sort(now, 2));
            assert!(timers.pop_passed(now).is_some());
        }
        assert!(!timers.sort(now, 2));
        assert_eq!((timers.current.len(), timers.waiting), (2, 3));
    }

    proptest! {
        #[test]
        fn passes_what_a_sorted_list_would(steps in prop::collection::vec((0i64..20_000, 0i64..300), 1..200)) {
            let mut timers = SloTimers::default();
            let mut model: Vec<(i64, PodUid)> = Vec::new();
            let mut now = 1;
            for (number, (ahead, pass)) in steps.into_iter().enumerate() {
                let uid = PodUid::from_text(&number.to_string());
                let millis = |millis: i64| Timestamp::from_nanos(millis * 1_000_000);
                timers.add(millis(now + ahead - 500), uid, SloId(0));
                model.push((now + ahead - 500, uid));
                now += pass;
                if pass % 2 == 0 {
                    while !timers.sort(millis(now), 2) {}
                }
                let mut passed = Vec::new();
                while let Some((_, uid, _)) = timers.pop_passed(millis(now)) {
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
