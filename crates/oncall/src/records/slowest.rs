//! The slowest startups of each of the last 60 minutes.

use std::collections::BTreeMap;

use super::query::EndToEndDuration;
use podinit_core::lifecycle::Latency;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_exporter::records::KeptRecord;

/// How many minutes have records, the present one included.
pub const MINUTES: usize = 60;

/// How many records of a minute are kept, by each end-to-end duration.
pub(super) const SLOWEST_OF_A_MINUTE: usize = 10;

/// By minute, for each end-to-end duration, the records of the slowest startups that ended in it.
#[derive(Debug, Default)]
pub(super) struct SlowestStartups(
    BTreeMap<i64, [Vec<(Latency, KeptRecord)>; EndToEndDuration::ALL.len()]>,
);

impl SlowestStartups {
    /// Keeps a record if it is among the slowest of the minute in which its startup ended. Drops the
    /// minutes that are not among the last 60 then; those after it, too, because the clock was set back.
    pub(super) fn add(&mut self, record: &KeptRecord) {
        let minute = minute(record.startup.ended());
        self.0.retain(|other, _| is_recent(*other, minute));
        for whole in EndToEndDuration::ALL {
            let Some(duration) = record.startup.duration(whole.interval()) else {
                continue;
            };
            let slowest = &mut self.0.entry(minute).or_default()[whole as usize];
            // The slowest first; of those that took equally long, the first that ended.
            let place = slowest.partition_point(|(other, _)| *other >= duration);
            if place < SLOWEST_OF_A_MINUTE {
                slowest.truncate(SLOWEST_OF_A_MINUTE - 1);
                slowest.insert(place, (duration, record.clone()));
            }
        }
    }

    /// The records of the minutes that are among the last 60 at `now`.
    pub(super) fn since(
        &self,
        whole: EndToEndDuration,
        now: Timestamp,
    ) -> impl Iterator<Item = &KeptRecord> {
        let recent = self.0.iter();
        let recent = recent.filter(move |(other, _)| is_recent(**other, minute(now)));
        recent
            .flat_map(move |(_, slowest)| slowest[whole as usize].iter().map(|(_, record)| record))
    }

    /// Every record, in no particular order; one that is among the slowest by both durations comes twice.
    pub(super) fn all(&self) -> impl Iterator<Item = &KeptRecord> {
        let all = self.0.values().flatten().flatten();
        all.map(|(_, record)| record)
    }

    /// Every record, to change them.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut KeptRecord> {
        let all = self.0.values_mut().flatten().flatten();
        all.map(|(_, record)| record)
    }
}

const fn minute(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(60 * NANOS_PER_SECOND)
}

/// Whether `other` is one of the last 60 minutes in the minute `now`.
fn is_recent(other: i64, now: i64) -> bool {
    (0..MINUTES as i64).contains(&(now - other))
}
