//! Which label values and label sets have a pod or what else they are kept for, and since when the others have none
//! ([§7.5](crate::specification#s7-5)).

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// For so long a place is kept without a pod.
const KEPT_NANOS: i64 = 24 * 3600 * NANOS_PER_SECOND;

/// Whether the place of a value or a set is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceOccupancy {
    /// How many holds name it; those are of one pod or more
    holds: u32,
    /// Since when it has none; in the future where that is not known
    since: Timestamp,
}

impl Default for PlaceOccupancy {
    /// Without a pod, for an unknown time.
    fn default() -> Self {
        Self::vacant(None)
    }
}

impl PlaceOccupancy {
    const UNKNOWN: Timestamp = Timestamp::from_nanos(i64::MAX);

    /// Without a pod since then.
    pub(super) fn vacant(since: Option<i64>) -> Self {
        Self { holds: 0, since: since.map_or(Self::UNKNOWN, Timestamp::from_nanos) }
    }

    /// A place that is never given back.
    pub(super) const fn permanent() -> Self {
        Self { holds: 1, since: Self::UNKNOWN }
    }

    /// It has pods of one hold more.
    pub(super) const fn enter(&mut self) {
        self.holds += 1;
    }

    /// The last pod of a hold is gone at `now`.
    pub(super) const fn leave(&mut self, now: Timestamp) {
        self.holds = self.holds.saturating_sub(1);
        self.since = now;
    }

    /// Whether a permanent place has pods.
    pub(super) const fn is_taken_besides(&self) -> bool {
        self.holds > 1
    }

    /// Since when it has no pod, as it is saved; `None` where it has one or that is not known.
    pub(super) fn saved(&self) -> Option<i64> {
        let is_known = self.holds == 0 && self.since != Self::UNKNOWN;
        is_known.then(|| self.since.as_nanos())
    }
}

/// When places may be given back.
#[derive(Debug)]
pub(super) struct PlaceVacancies {
    /// None may be before: what was found when they were looked at last
    not_before: Timestamp,
}

impl Default for PlaceVacancies {
    fn default() -> Self {
        Self { not_before: Timestamp::from_nanos(i64::MIN) }
    }
}

impl PlaceVacancies {
    /// The place that has been without a pod for the longest time, if that is a day at `now`.
    pub(super) fn oldest<'a>(
        &mut self,
        places: impl Iterator<Item = (usize, &'a mut PlaceOccupancy)>,
        now: Timestamp,
    ) -> Option<usize> {
        let wait = self.not_before.as_nanos().saturating_sub(now.as_nanos());
        // A wait of more than a day is one of a clock that was set back.
        if (1..=KEPT_NANOS).contains(&wait) {
            return None;
        }
        let vacant = places.filter(|(_, place)| place.holds == 0);
        let vacant = vacant.map(|(index, place)| {
            // What is not known yet, or lies ahead of a clock that was set back, begins now.
            place.since = place.since.min(now);
            (place.since, index)
        });
        let oldest = vacant.min();
        let (since, _) = oldest.unwrap_or((now, 0));
        if now.as_nanos().saturating_sub(since.as_nanos()) >= KEPT_NANOS {
            return oldest.map(|(_, index)| index);
        }
        self.not_before = Timestamp::from_nanos(since.as_nanos().saturating_add(KEPT_NANOS));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(hour: i64) -> Timestamp {
        Timestamp::from_seconds(hour * 3600)
    }

    fn oldest(
        places: &mut [PlaceOccupancy],
        vacancies: &mut PlaceVacancies,
        now: i64,
    ) -> Option<usize> {
        vacancies.oldest(places.iter_mut().enumerate(), hour(now))
    }

    #[test]
    fn the_place_that_was_left_first_is_given_back_after_a_day() {
        let mut places =
            [PlaceOccupancy::permanent(), PlaceOccupancy::default(), PlaceOccupancy::default()];
        let mut vacancies = PlaceVacancies::default();
        places[1].enter();
        places[2].enter();
        assert_eq!(oldest(&mut places, &mut vacancies, 90), None);
        places[2].leave(hour(100));
        places[1].leave(hour(101));
        assert_eq!(oldest(&mut places, &mut vacancies, 123), None);
        assert_eq!(oldest(&mut places, &mut vacancies, 124), Some(2));
        places[2].enter();
        assert_eq!(oldest(&mut places, &mut vacancies, 124), None);
        assert_eq!(oldest(&mut places, &mut vacancies, 125), Some(1));
    }

    #[test]
    fn an_unknown_time_and_one_that_lies_ahead_begin_with_the_first_look() {
        let mut vacancies = PlaceVacancies::default();
        let mut places =
            [PlaceOccupancy::default(), PlaceOccupancy::vacant(Some(hour(500).as_nanos()))];
        assert_eq!(places.map(|place| place.saved()), [None, Some(hour(500).as_nanos())]);
        assert_eq!(oldest(&mut places, &mut vacancies, 100), None);
        assert_eq!(oldest(&mut places, &mut vacancies, 123), None);
        assert_eq!(oldest(&mut places, &mut vacancies, 124), Some(0));
    }

    #[test]
    fn a_clock_that_was_set_back_delays_no_place_by_more_than_a_day() {
        let mut vacancies = PlaceVacancies::default();
        let mut places = [PlaceOccupancy::default()];
        assert_eq!(oldest(&mut places, &mut vacancies, 10_000), None);
        assert_eq!(oldest(&mut places, &mut vacancies, 100), None);
        assert_eq!(oldest(&mut places, &mut vacancies, 124), Some(0));
    }
}
