//! How the pods of records ended, by the numbers of the records.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::section::{ContentError, ENDINGS, take};
use crate::inspect::records::KeptRecord;
use podinit_core::pod::{Ending, MOST_TERMINATIONS};

/// Their texts take no more bytes than this. Beyond it, the oldest are left out.
const MOST_BYTES: usize = 2 << 20;
/// The longest text of a status, as the decoder cuts it.
const LONGEST_TEXT: usize = 256;

/// What is written of records, the oldest first.
pub(super) fn of(records: &[KeptRecord]) -> Vec<(u64, &Ending)> {
    let mut bytes = 0;
    let endings =
        records.iter().rev().filter_map(|record| Some((record.number, record.startup.ending()?)));
    let mut endings: Vec<_> = endings
        .take_while(|(_, ending)| {
            bytes += texts(ending).map(str::len).sum::<usize>();
            bytes <= MOST_BYTES
        })
        .collect();
    endings.reverse();
    endings
}

/// Gives `records` what the section says of them.
///
/// # Errors
/// If it says what no podinit writes.
pub(super) fn give(mut bytes: &[u8], records: &mut [KeptRecord]) -> Result<(), ContentError> {
    let impossible = |what| Err(ContentError::Impossible(ENDINGS, what));
    let read: BTreeMap<u64, Ending> = {
        let read: Vec<(u64, Ending)> = take(&mut bytes, ENDINGS)?;
        read.into_iter().collect()
    };
    if !bytes.is_empty() {
        return impossible("bytes are left over");
    }
    if read.values().any(|ending| {
        ending.containers.len() > MOST_TERMINATIONS
            || texts(ending).any(|text| text.len() > LONGEST_TEXT)
    }) {
        return impossible("an ending is too long");
    }
    for record in records {
        let ending = read.get(&record.number);
        if let Some(startup) = ending.and(Arc::get_mut(&mut record.startup)) {
            startup.take_ending(ending);
        }
    }
    Ok(())
}

fn texts(ending: &Ending) -> impl Iterator<Item = &str> {
    let own = [ending.reason.as_deref(), ending.message.as_deref()];
    let containers = ending.containers.iter();
    let theirs = containers.flat_map(|one| [one.reason.as_deref(), one.message.as_deref()]);
    own.into_iter().chain(theirs).flatten()
}
