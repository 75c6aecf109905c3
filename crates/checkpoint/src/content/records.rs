//! The records of startups that have ended, the newest first, between how many there have been and what they have in
//! common.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::section::{self, ContentError, RECORDS, TypedFile, corrupt};
use super::shared::{Numbers, Shared, SharedTexts, SharedWriter};
use crate::shape::SavedType;
use crate::{CheckpointRecords, KeptRecord, MOST_KEPT};
use podinit_core::lifecycle::{EndedRollout, EndedStartup};

/// The records take no more bytes than this. Where names or very many containers would make them larger,
/// the oldest are left out.
pub(super) const MOST_BYTES: usize = 8 << 20;

const RECORD: u8 = 0;
const SHARED: u8 = 1;

/// What stands before the records.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RecordsHead {
    /// How many records there have been, kept or not
    count: u64,
    rollouts: Vec<Arc<EndedRollout>>,
}

/// A record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    number: u64,
    startup: Arc<EndedStartup>,
    /// The number of its SLOs
    rules: u32,
    #[serde(default)]
    shared: Numbers,
}

impl SavedType for RecordsHead {
    const NAME: &'static str = "RecordsHead";
}

impl SavedType for Record {
    const NAME: &'static str = "Record";

    fn check(&self) -> Result<(), &'static str> {
        self.startup.known().check()
    }
}

/// Appends the section.
pub(super) fn append(out: &mut Vec<u8>, kept: &CheckpointRecords) {
    let CheckpointRecords { count, records, rollouts } = kept;
    let begin = out.len();
    let mut shared = SharedWriter::default();
    section::append(out, &RecordsHead { count: *count, rollouts: rollouts.clone() });
    for KeptRecord { number, startup } in records.iter().rev() {
        let end = out.len();
        out.push(RECORD);
        let record = Record {
            number: *number,
            startup: Arc::clone(startup),
            rules: shared.number_of_rules(startup.rules()),
            shared: shared.numbers(startup.known()),
        };
        section::append(out, &record);
        if out.len() - begin > MOST_BYTES {
            out.truncate(end);
            break;
        }
    }
    out.push(SHARED);
    section::append(out, &shared.finish());
}

/// Reads the section, and how much of it was skipped.
pub(super) fn read(
    file: &TypedFile<'_>,
    texts: &mut SharedTexts,
) -> Result<(CheckpointRecords, u64), ContentError> {
    let impossible = |what| ContentError::Impossible(RECORDS, what);
    let mut values = file.values(RECORDS)?;
    let head: Option<RecordsHead> = values.next().map_err(corrupt(RECORDS))?;
    let RecordsHead { count, rollouts } = head.unwrap_or_default();
    let knows_count = file.is_same::<RecordsHead>();
    let mut records: Vec<KeptRecord> = Vec::new();
    let mut numbers = Vec::new();
    let mut shared = Shared::default();
    while !values.is_at_end() {
        match values.plain().map_err(corrupt(RECORDS))? {
            RECORD => {
                let read: Option<Record> = values.next().map_err(corrupt(RECORDS))?;
                let Some(record) = read else { continue };
                let most = if knows_count { count } else { u64::MAX };
                let above = records.last().map_or(most, |after| after.number);
                if record.number >= above || records.len() == MOST_KEPT {
                    return Err(impossible("records that cannot be kept together"));
                }
                numbers.push((record.rules, record.shared));
                records.push(KeptRecord { number: record.number, startup: record.startup });
            }
            SHARED => shared = values.next().map_err(corrupt(RECORDS))?.unwrap_or_default(),
            _ => return Err(impossible("no such value")),
        }
    }
    shared.share(texts);
    for (record, (rules, numbers)) in records.iter_mut().zip(numbers) {
        let rules = shared.rules(rules).cloned().unwrap_or_default();
        if let Some(startup) = Arc::get_mut(&mut record.startup) {
            let (pod, rules_of_startup) = startup.known_mut();
            pod.keep_slos(&rules);
            *rules_of_startup = rules;
            pod.take_shared_parts(shared.parts(numbers));
            texts.share(pod);
        }
    }
    let count = records.first().map_or(count, |newest| count.max(newest.number + 1));
    records.reverse();
    Ok((CheckpointRecords { count, records, rollouts }, values.skipped()))
}
