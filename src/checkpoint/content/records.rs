//! The records of startups that have ended, the newest first.

use serde::{Deserialize, Serialize};

use super::section::{ContentError, RECORDS, corrupt};
use super::shared::SharedValues;
use crate::checkpoint::form::{ValueWriter, Values};
use crate::inspect::records::{KeptRecord, KeptRecords, MOST_KEPT};

/// The records take no more bytes than this. Where names or very many containers would make them larger,
/// the oldest are left out.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// What stands before the records.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Head {
    /// How many records there have been, kept or not
    count: u64,
}

/// Appends the section.
pub(super) fn append(out: &mut Vec<u8>, KeptRecords { count, records }: &KeptRecords) {
    let begin = out.len();
    let mut values = ValueWriter::begin(out);
    values.append(out, &Head { count: *count });
    for record in records.iter().rev() {
        let end = out.len();
        values.append(out, record);
        if out.len() - begin > MOST_BYTES {
            out.truncate(end);
            break;
        }
    }
    values.finish(out);
}

/// Reads the section.
pub(super) fn read(
    values: &mut Values<'_>,
    shared: &mut SharedValues,
) -> Result<KeptRecords, ContentError> {
    let impossible = |what| ContentError::Impossible(RECORDS, what);
    let head = values.next().map_err(corrupt(RECORDS))?;
    let Head { count } = head.flatten().unwrap_or_default();
    let mut records: Vec<KeptRecord> = Vec::new();
    while let Some(read) = values.next().map_err(corrupt(RECORDS))? {
        let read: Option<KeptRecord> = read;
        let Some(mut record) = read else { continue };
        let above = records.last().map_or(count, |after| after.number);
        if record.number >= above || records.len() == MOST_KEPT {
            return Err(impossible("records that cannot be kept together"));
        }
        record.startup.check().map_err(impossible)?;
        if let Some(startup) = std::sync::Arc::get_mut(&mut record.startup) {
            shared.share_ended(startup);
        }
        records.push(record);
    }
    records.reverse();
    Ok(KeptRecords { count, records })
}
