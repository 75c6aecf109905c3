//! The records that are kept of startups that have ended: the newest, and the slowest of the last hour.

use std::collections::VecDeque;
use std::sync::Arc;

use super::query::Whole;
use super::slowest::Slowest;
use crate::lifecycle::EndedStartup;
use crate::timestamp::Timestamp;

/// So many of the newest records are kept.
pub const MOST_NEWEST: usize = 1000;

/// A record that is kept. Its number tells it from the others, and says in which order startups ended.
#[derive(Clone, Debug)]
pub struct KeptRecord {
    pub number: u64,
    pub startup: Arc<EndedStartup>,
}

/// The records that are kept of startups that have ended.
#[derive(Debug, Default)]
pub struct RecordStore {
    newest: VecDeque<KeptRecord>,
    slowest: Slowest,
    /// How many records there have been
    count: u64,
}

impl RecordStore {
    /// Keeps a record, and drops those that it takes the place of.
    pub fn add(&mut self, startup: EndedStartup) {
        self.add_shared(Arc::new(startup));
    }

    fn add_shared(&mut self, startup: Arc<EndedStartup>) {
        let record = KeptRecord {
            number: self.count,
            startup,
        };
        self.count += 1;
        self.slowest.add(&record);
        if self.newest.len() == MOST_NEWEST {
            self.newest.pop_front();
        }
        self.newest.push_back(record);
    }

    /// How many records there have been, kept or not.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The newest records, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &KeptRecord> {
        self.newest.iter().rev()
    }

    /// The slowest records by a whole duration, of each of the 60 minutes that end with that of `now`,
    /// in no particular order.
    pub fn slowest(&self, whole: Whole, now: Timestamp) -> impl Iterator<Item = &KeptRecord> {
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
