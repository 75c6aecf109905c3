//! How late the deliveries of each source are ([§4.10](crate::specification#s4-10)): by when its watch shows what the API
//! server has stamped. A source that is late passes the deadlines of its pods later.

use std::collections::BTreeMap;

use super::delivery::SourceId;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// How many of the newest bindings, and creations, of a source count.
const MOST: usize = 16;

/// The lag is known with so many of the last minute. A source is no longer late after so many in time.
const ENOUGH: usize = 4;

/// How many bindings are enough among the last [`ENOUGH`] of [`A_WHILE`].
const FEW: usize = 2;

/// What is stated is truncated to the second, by half a second on average.
const TRUNCATED: i64 = NANOS_PER_SECOND / 2;

/// A source whose lag is above this is late, ...
const LATE: i64 = 5 * NANOS_PER_SECOND;

/// ... until that of the last [`ENOUGH`] is below this.
const IN_TIME: i64 = 5 * NANOS_PER_SECOND / 2;

/// What says how late deliveries are now is of the last minute. So long before a source was found late, it was late.
pub(super) const A_MINUTE: i64 = 60 * NANOS_PER_SECOND;
const A_WHILE: i64 = 5 * A_MINUTE;

/// How much later deadlines pass at most: a process that is starved for days must not show a clean SLO.
const LONGEST_HOLD: i64 = 10 * A_MINUTE;

/// What the API server has stamped of a pod, and a watch event was the first to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerStamp {
    /// PodScheduled=True, of a pod that an earlier snapshot showed without a node
    Binding,
    /// The creation of a pod that had no node yet, and no startTime
    Creation,
}

/// When something arrived, and how long after what it states, in nanoseconds.
type ArrivalLag = (Timestamp, i64);

/// The lags of the newest bindings or creations, the newest first.
#[derive(Clone, Copy, Debug, Default)]
struct RecentLags([Option<ArrivalLag>; MOST]);

impl RecentLags {
    fn add(&mut self, shown: ArrivalLag) {
        self.0.rotate_right(1);
        self.0[0] = Some(shown);
    }

    /// The lags, in nanoseconds, of what arrived at most `age` nanoseconds before `now`.
    fn within(&self, age: i64, now: Timestamp) -> impl Iterator<Item = i64> {
        let all = self.0.iter().flatten();
        all.filter(move |(at, _)| now.nanos_since(*at) <= age).map(|(_, late)| *late)
    }
}

/// The lag of one source.
#[derive(Clone, Copy, Debug, Default)]
struct SourceLag {
    /// When it last came into sync; `None` while it is not
    synced: Option<Timestamp>,
    bindings: RecentLags,
    creations: RecentLags,
    /// Its lag in nanoseconds, where it is known
    nanos: Option<i64>,
    is_late: bool,
    /// How much later the deadlines of its pods pass, in nanoseconds; 0 while it is not late
    hold: i64,
    /// Until when these figures stay the same without a delivery
    until: Option<Timestamp>,
}

impl SourceLag {
    /// The lags in nanoseconds that count at `now`, the newest first: of bindings, or of creations where these are too
    /// few.
    fn telling(&self, now: Timestamp) -> Vec<i64> {
        let bindings: Vec<i64> = self.bindings.within(A_MINUTE, now).collect();
        if bindings.len() >= ENOUGH {
            return bindings;
        }
        let bindings: Vec<i64> = self.bindings.within(A_WHILE, now).take(ENOUGH).collect();
        if bindings.len() >= FEW {
            return bindings;
        }
        let creations: Vec<i64> = self.creations.within(A_MINUTE, now).collect();
        if creations.len() >= ENOUGH { creations } else { Vec::new() }
    }

    fn update(&mut self, now: Timestamp) {
        let telling = self.telling(now);
        self.nanos = median(&telling);
        let newest = median(&telling[..telling.len().min(ENOUGH)]);
        self.is_late = match (self.nanos, newest) {
            (Some(lag), Some(newest)) => newest >= IN_TIME && (self.is_late || lag > LATE),
            _ => false,
        };
        let greatest = telling.into_iter().max().unwrap_or_default();
        self.hold = match self.is_late {
            true => greatest.saturating_mul(2).clamp(0, LONGEST_HOLD),
            false => 0,
        };
        let all = self.bindings.0.iter().chain(&self.creations.0).flatten();
        let ends = all.flat_map(|(at, _)| [A_MINUTE, A_WHILE].map(|age| at.plus_nanos(age)));
        self.until = ends.filter(|end| *end >= now).min();
    }
}

/// The median; of an even number the lesser of the middle two, and `None` without values.
fn median(of: &[i64]) -> Option<i64> {
    let mut sorted = of.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The lags of all sources.
#[derive(Debug, Default)]
pub(super) struct SourceLags {
    sources: BTreeMap<SourceId, SourceLag>,
    /// Until when no lag changes without a delivery
    until: Option<Timestamp>,
    /// The greatest lag that is known
    greatest: Option<i64>,
    /// The longest time by which the deadlines of a source pass later
    longest_hold: i64,
}

impl SourceLags {
    /// `source` has delivered something and is in sync at `now`.
    pub(super) fn in_sync(&mut self, source: SourceId, now: Timestamp) {
        self.sources.entry(source).or_default().synced.get_or_insert(now);
    }

    /// `source` is not in sync: what it delivers says nothing of its lag.
    pub(super) fn out_of_sync(&mut self, source: SourceId) {
        if self.sources.insert(source, SourceLag::default()).is_some() {
            self.sum_up();
        }
    }

    /// Forgets all lags: the clock that measured them was wrong.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A watch event of `source` has arrived at `arrived`, so many nanoseconds after what it is the first to show, and is
    /// accounted for at `now`. Returns whether the source is found late with it.
    pub(super) fn add(
        &mut self,
        source: SourceId,
        stamp: ServerStamp,
        (arrived, after): (Timestamp, i64),
        now: Timestamp,
    ) -> bool {
        let Some(lag) = self.sources.get_mut(&source) else {
            return false;
        };
        let stated = arrived.plus_nanos(after.saturating_neg());
        if lag.synced.is_none_or(|since| stated < since) {
            return false;
        }
        let recent = match stamp {
            ServerStamp::Binding => &mut lag.bindings,
            ServerStamp::Creation => &mut lag.creations,
        };
        recent.add((arrived, after.saturating_sub(TRUNCATED)));
        self.update(source, now)
    }

    /// Advances to `now`. Returns whether a source is found late with it: older lags that were in time no longer count.
    pub(super) fn advance(&mut self, now: Timestamp) -> bool {
        if self.until.is_none_or(|until| now <= until) {
            return false;
        }
        let ended = self.sources.iter();
        let ended = ended.filter(|(_, lag)| lag.until.is_some_and(|until| until < now));
        let ended: Vec<SourceId> = ended.map(|(source, _)| *source).collect();
        ended.into_iter().fold(false, |found, source| found | self.update(source, now))
    }

    fn update(&mut self, source: SourceId, now: Timestamp) -> bool {
        let Some(lag) = self.sources.get_mut(&source) else {
            return false;
        };
        let was_late = lag.is_late;
        lag.update(now);
        let is_late = lag.is_late;
        self.sum_up();
        is_late && !was_late
    }

    fn sum_up(&mut self) {
        let sources = || self.sources.values();
        self.until = sources().filter_map(|lag| lag.until).min();
        self.greatest = sources().filter_map(|lag| lag.nanos).max();
        self.longest_hold = sources().map(|lag| lag.hold).max().unwrap_or_default();
    }

    /// Whether the deliveries of `source` are late.
    pub(super) fn is_late(&self, source: SourceId) -> bool {
        self.sources.get(&source).is_some_and(|lag| lag.is_late)
    }

    /// The greatest known lag of a source, in nanoseconds.
    pub(super) const fn greatest(&self) -> Option<i64> {
        self.greatest
    }

    /// The greatest lag of the sources that are late, in nanoseconds; `None` if none is.
    pub(super) fn late_by(&self) -> Option<i64> {
        let late = self.sources.values().filter(|lag| lag.is_late);
        late.filter_map(|lag| lag.nanos).max()
    }

    /// The longest time by which deadlines pass later, in nanoseconds.
    pub(super) const fn longest_hold(&self) -> i64 {
        self.longest_hold
    }

    /// Until when the deadlines of the pods of `source` have passed, where those of others have until `at`.
    pub(super) fn passed_until(&self, source: SourceId, at: Timestamp) -> Timestamp {
        self.sources.get(&source).map_or(at, |lag| at.plus_nanos(-lag.hold))
    }
}

#[cfg(test)]
#[path = "lag_tests.rs"]
mod tests;
