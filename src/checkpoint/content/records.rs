//! The records of startups that have ended: what they have in common, and then one after the other until
//! the section ends, the oldest first.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::pods::SharedTexts;
use super::section::{ContentError, RECORDS, append, take, unread};
use crate::inspect::records::{KeptRecord, KeptRecords, MOST_KEPT};
use podinit_core::lifecycle::{
    EndedStartup, SavedCapacity, SavedEnded, SloRule, WaitingNames, WaitingTable,
};

/// The records take no more bytes than this. Where names or very many containers would make them larger,
/// the oldest are left out.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// What records have in common.
#[derive(Serialize, Deserialize)]
struct Common {
    /// How many records there have been, kept or not
    count: u64,
    waitings: WaitingNames,
    /// The SLOs that were in force when startups ended
    rules: Vec<Arc<[SloRule]>>,
}

/// What stands before each record.
#[derive(Serialize, Deserialize)]
struct Head {
    number: u64,
    /// Which of the SLOs in [`Common`] were in force
    rules: usize,
}

/// Appends the section with these records, of so many that there have been. Each record is serialized once in its life.
pub(super) fn write(out: &mut Vec<u8>, count: u64, kept_records: &[KeptRecord]) {
    let mut rules: Vec<&Arc<[SloRule]>> = Vec::new();
    let heads = kept_records.iter().map(|record| {
        let used = record.startup.rules();
        // Nearly always those of the record before. After a restart, equal ones are in two places.
        let same = |rules: &&Arc<[SloRule]>| Arc::ptr_eq(rules, used) || *rules == used;
        let known = rules.iter().rposition(same);
        let rules = known.unwrap_or_else(|| {
            rules.push(used);
            rules.len() - 1
        });
        let number = record.number;
        Head { number, rules }
    });
    let heads: Vec<Head> = heads.collect();
    let common = Common {
        count,
        waitings: WaitingNames::default(),
        rules: rules.into_iter().cloned().collect(),
    };
    append(out, &common);
    for (head, record) in heads.iter().zip(kept_records) {
        append(out, head);
        out.extend(written(record));
    }
}

/// The newest records that [`MOST_BYTES`] have room for.
pub(super) fn newest(records: &[KeptRecord]) -> &[KeptRecord] {
    let mut bytes = 0;
    let first = records.iter().rposition(|record| {
        bytes += size_of::<Head>() + written(record).len();
        bytes > MOST_BYTES
    });
    &records[first.map_or(0, |first| first + 1)..]
}

fn written(record: &KeptRecord) -> &[u8] {
    record.startup.written(|saved| {
        let mut bytes = Vec::new();
        append(&mut bytes, saved);
        bytes.into()
    })
}

/// Reads the section. `capacities` has what is known of the capacity of records, by their numbers.
pub(super) fn read(
    mut bytes: &[u8],
    mut capacities: BTreeMap<u64, SavedCapacity>,
    texts: &mut SharedTexts,
) -> Result<KeptRecords, ContentError> {
    let impossible = |what| ContentError::Impossible(RECORDS, what);
    let Common { count, waitings, rules } = take(&mut bytes, RECORDS)?;
    let table = WaitingTable::from(waitings);
    let mut records: Vec<KeptRecord> = Vec::new();
    while !bytes.is_empty() {
        let head: Head = take(&mut bytes, RECORDS)?;
        let mut saved: SavedEnded = take(&mut bytes, RECORDS)?;
        let rules = rules.get(head.rules);
        let rules = rules.ok_or(impossible("no such SLOs"))?;
        let least = records.last().map_or(0, |last| last.number + 1);
        if !(least..count).contains(&head.number) || records.len() == MOST_KEPT {
            return Err(impossible("records that cannot be kept together"));
        }
        saved.check(rules.len()).map_err(impossible)?;
        texts.share(&mut saved.pod);
        texts.share_all(&mut saved.images);
        let startup = EndedStartup::restored(saved, Arc::clone(rules), &table);
        let mut startup = startup.map_err(unread(RECORDS))?;
        if let Some(capacity) = capacities.remove(&head.number) {
            startup.take_capacity(capacity);
        }
        records.push(KeptRecord { number: head.number, startup: Arc::new(startup) });
    }
    Ok(KeptRecords { count, records })
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
