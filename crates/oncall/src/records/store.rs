//! The records that are kept of startups that have ended: the newest, and the slowest of the last hour.

use std::cmp::Reverse;
use std::sync::Arc;

use super::newest::{MOST_NEWEST, NewestRecords};
use super::query::EndToEndDuration;
use super::slowest::{MINUTES, SLOWEST_OF_A_MINUTE, SlowestStartups};
use crate::rollouts::EndedRollouts;
use podinit_core::lifecycle::{EndedRollout, EndedStartup, RecordAmendment};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_exporter::records::{CheckpointRecords, KeptRecord, MOST_KEPT};

/// The most records that are kept: a checkpoint has room for them.
const MOST: usize = 2 * MOST_NEWEST + EndToEndDuration::ALL.len() * MINUTES * SLOWEST_OF_A_MINUTE;
const _: () = assert!(MOST <= MOST_KEPT);

/// The records that are kept of startups that have ended.
#[derive(Debug, Default)]
pub struct RecordStore {
    newest: NewestRecords<KeptRecord>,
    slowest: SlowestStartups,
    /// How many records there have been
    count: u64,
    rollouts: EndedRollouts,
}

impl RecordStore {
    /// Keeps a record, and drops those that it takes the place of.
    pub fn add(&mut self, startup: impl Into<Arc<EndedStartup>>) {
        let number = self.count;
        self.count += 1;
        let startup = startup.into();
        self.keep(KeptRecord { number, startup });
    }

    /// Adds what became of a pod after its startup, if its record is kept.
    pub fn amend(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        let all = self.newest.iter_mut().chain(self.slowest.all_mut());
        for record in all.filter(|record| record.startup.uid() == uid) {
            Arc::make_mut(&mut record.startup).amend(amendment);
        }
    }

    fn keep(&mut self, record: KeptRecord) {
        self.slowest.add(&record);
        self.newest.push(record.startup.outcome(), record);
    }

    /// Keeps a rollout that has ended.
    pub fn add_rollout(&mut self, rollout: EndedRollout) {
        self.rollouts.push(rollout);
    }

    /// The newest rollouts that have ended, the newest first.
    pub(crate) fn ended_rollouts(&self) -> Vec<Arc<EndedRollout>> {
        self.rollouts.newest()
    }

    /// The store of a checkpoint.
    pub fn restored(kept: CheckpointRecords) -> Self {
        let mut store = Self { count: kept.count, ..Self::default() };
        // Each takes the place that it had: those that are not kept had none.
        kept.records.into_iter().for_each(|record| store.keep(record));
        kept.rollouts.into_iter().for_each(|rollout| store.rollouts.push(rollout));
        store
    }

    /// The form for a checkpoint. Copies no record.
    pub fn kept(&self) -> CheckpointRecords {
        CheckpointRecords { count: self.count, records: self.all(), rollouts: self.rollouts.all() }
    }

    /// How many records there have been, kept or not.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The newest records, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &KeptRecord> {
        let mut newest: Vec<&KeptRecord> = self.newest.iter().collect();
        newest.sort_unstable_by_key(|record| Reverse(record.number));
        newest.into_iter()
    }

    /// The slowest records by an end-to-end duration, of each of the 60 minutes that end with that of `now`,
    /// in no particular order.
    pub fn slowest(
        &self,
        whole: EndToEndDuration,
        now: Timestamp,
    ) -> impl Iterator<Item = &KeptRecord> {
        self.slowest.since(whole, now)
    }

    /// Every record that is kept, once, the oldest first.
    pub fn all(&self) -> Vec<KeptRecord> {
        let slowest = self.slowest.all();
        let mut all: Vec<KeptRecord> = self.newest.iter().chain(slowest).cloned().collect();
        all.sort_unstable_by_key(|record| record.number);
        all.dedup_by_key(|record| record.number);
        all
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
