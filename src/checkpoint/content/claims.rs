//! What the pods of records claim, by the numbers of the records: a record is compared with pods that lack such a thing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::section::{CLAIMS, ContentError};
use crate::inspect::records::KeptRecord;
use podinit_core::pod::Claims;

/// What is written of records that claim anything, the oldest first: their numbers and the bits.
pub(super) fn of(records: &[KeptRecord]) -> Vec<(u64, u8)> {
    let all = records.iter();
    let all = all.map(|record| (record.number, record.startup.claims().bits()));
    all.filter(|(_, bits)| *bits != 0).collect()
}

/// Gives `records` what the section says of them. One that it does not name claims nothing.
///
/// # Errors
/// If it says what no podinit writes.
pub(super) fn give(read: Vec<(u64, u8)>, records: &mut [KeptRecord]) -> Result<(), ContentError> {
    let read: BTreeMap<u64, u8> = read.into_iter().collect();
    if read.values().any(|bits| bits & !Claims::BITS != 0) {
        return Err(ContentError::Impossible(CLAIMS, "no such claim"));
    }
    for record in records {
        let bits = read.get(&record.number);
        if let Some((bits, startup)) = bits.zip(Arc::get_mut(&mut record.startup)) {
            startup.take_claims(Claims::of_bits(*bits));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::checkpoint::content::section::append;
    use crate::checkpoint::content::tests::{checkpoint, decoded, sections};

    /// What is read of a checkpoint with this section, as it is written again.
    fn with(section: &[(u64, u8)]) -> Result<Vec<(u64, u8)>, ContentError> {
        let mut all = sections(&checkpoint());
        let mut payload = Vec::new();
        append(&mut payload, &section);
        all.push((CLAIMS, payload));
        let (content, _) = decoded(&all)?;
        Ok(of(&content.records.records))
    }

    #[test]
    fn what_a_record_claims_comes_back_and_is_written_again() {
        for bits in 1..=Claims::BITS {
            assert_eq!(with(&[(0, bits)]).unwrap(), [(0, bits)]);
        }
        // A checkpoint of before has no such section, and one of a record that is not kept says nothing.
        let (content, _) = decoded(&sections(&checkpoint())).unwrap();
        assert!(content.records.records[0].startup.claims().is_none());
        assert_eq!(with(&[(77, 1)]).unwrap(), []);
        assert_eq!(with(&[]).unwrap(), []);
    }

    #[test]
    fn what_no_podinit_writes_is_corrupt() {
        let wrong = ContentError::Impossible(CLAIMS, "no such claim");
        assert_eq!(with(&[(0, Claims::BITS + 1)]).unwrap_err(), wrong);
    }
}
