//! The last causes for which a pod in flight waited.

use serde::{Deserialize, Serialize, Serializer};

use super::WaitReason;
use crate::lifecycle::record::{MOST_CAUSES, RecordedCause};
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

const WAITING_BITS: u32 = 8;
const CONTAINER_BITS: u32 = 8;
const TIME_AT: u32 = WAITING_BITS + CONTAINER_BITS;

/// The last causes with the time at which each began, the oldest first; empty until the first change.
///
/// One word for each cause, because a pod in flight has little room: milliseconds since the epoch above the
/// position of the container, counted from one, above the index of stage and cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<SavedCause>")]
pub(in crate::lifecycle) struct CauseLog(Box<[u64]>);

/// The saved form of a cause.
#[derive(Serialize, Deserialize)]
struct SavedCause {
    waiting: WaitReason,
    #[serde(default)]
    began: Timestamp,
}

impl Serialize for CauseLog {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let causes =
            self.iter().map(|RecordedCause { waiting, began, .. }| SavedCause { waiting, began });
        causes.collect::<Vec<_>>().serialize(to)
    }
}

impl From<Vec<SavedCause>> for CauseLog {
    fn from(saved: Vec<SavedCause>) -> Self {
        let mut log = Self::default();
        for SavedCause { waiting, began } in saved {
            log.push(RecordedCause { waiting, began, container: None });
        }
        log
    }
}

impl CauseLog {
    pub(in crate::lifecycle) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the newest one. The oldest gives way once there are [`MOST_CAUSES`].
    pub(in crate::lifecycle) fn push(&mut self, cause: RecordedCause) {
        let mut words = std::mem::take(&mut self.0).into_vec();
        if words.len() == MOST_CAUSES {
            words.remove(0);
        }
        words.reserve_exact(1);
        words.push(to_word(cause));
        self.0 = words.into();
    }

    /// Sets which container gave the newest cause.
    pub(in crate::lifecycle) fn set_container(&mut self, container: Option<u8>) {
        if let Some(word) = self.0.last_mut()
            && let Some(cause) = of_word(*word)
        {
            *word = to_word(RecordedCause { container, ..cause });
        }
    }

    /// The causes, the oldest first.
    pub(in crate::lifecycle) fn into_causes(self) -> impl Iterator<Item = RecordedCause> {
        self.0.into_iter().filter_map(of_word)
    }

    /// The causes, the oldest first.
    fn iter(&self) -> impl Iterator<Item = RecordedCause> {
        self.0.iter().filter_map(|word| of_word(*word))
    }
}

fn to_word(cause: RecordedCause) -> u64 {
    // A time before the epoch is no time of a pod.
    let millis = cause.began.as_nanos().max(0).cast_unsigned() / NANOS_PER_MILLI.cast_unsigned();
    let container = cause.container.map_or(0, |position| u64::from(position.saturating_add(1)));
    millis << TIME_AT | container << WAITING_BITS | cause.waiting.index() as u64
}

fn of_word(word: u64) -> Option<RecordedCause> {
    let index = word & ((1 << WAITING_BITS) - 1);
    let millis = (word >> TIME_AT).cast_signed();
    let container = u8::try_from(word >> WAITING_BITS & ((1 << CONTAINER_BITS) - 1)).ok()?;
    Some(RecordedCause {
        waiting: *WaitReason::ALL.get(usize::try_from(index).ok()?)?,
        began: Timestamp::from_nanos(millis.saturating_mul(NANOS_PER_MILLI)),
        container: container.checked_sub(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(number: usize) -> RecordedCause {
        let seconds = 1_700_000_000 + i64::try_from(number).unwrap_or(0);
        RecordedCause {
            waiting: WaitReason::ALL[number % WaitReason::COUNT],
            began: Timestamp::from_seconds(seconds).plus_nanos(7_000_000),
            container: u8::try_from(number).ok().filter(|position| *position < 64),
        }
    }

    #[test]
    fn the_last_sixteen_are_kept_in_their_order() {
        let mut log = CauseLog::default();
        assert!(log.is_empty());
        for number in 0..100 {
            log.push(cause(number));
            let first = (number + 1_usize).saturating_sub(MOST_CAUSES);
            let expected: Vec<_> = (first..=number).map(cause).collect();
            assert_eq!(log.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn every_cause_and_any_time_is_kept_to_the_millisecond() {
        for waiting in WaitReason::ALL {
            for (nanos, kept) in [
                (i64::MIN, 0),
                (0, 0),
                (1_999_999, 1_000_000),
                (i64::MAX, i64::MAX / NANOS_PER_MILLI * NANOS_PER_MILLI),
            ] {
                let mut log = CauseLog::default();
                let began = Timestamp::from_nanos(nanos);
                log.push(RecordedCause { waiting, began, container: None });
                let began = Timestamp::from_nanos(kept);
                assert_eq!(
                    log.iter().next(),
                    Some(RecordedCause { waiting, began, container: None })
                );
            }
        }
    }
}
