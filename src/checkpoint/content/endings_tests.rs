//! How pods ended outlives the process.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use serde::Serialize;

use super::tests::{checkpoint, decoded, sections};
use super::*;
use crate::inspect::records::KeptRecord;
use crate::metrics::CheckpointLoad;
use podinit_core::pod::{Ending, Termination};
use podinit_core::timestamp::Timestamp;

/// A container that the kernel ended, and one that ended well.
fn ending(message: &str) -> Ending {
    let one = |container, exit_code, reason: &str| Termination {
        container,
        started: Some(Timestamp::from_seconds(5)),
        finished: Some(Timestamp::from_seconds(8)),
        exit_code: Some(exit_code),
        reason: Some(reason.into()),
        message: Some(message.into()),
        restarts: 2,
        ..Termination::default()
    };
    Ending {
        at: Some(Timestamp::from_seconds(8)),
        containers: vec![one(0, 137, "OOMKilled"), one(1, 0, "Completed")],
        ..Ending::default()
    }
}

/// A checkpoint with this section.
fn with(section: &impl Serialize) -> Result<(Content, Vec<SavedPod>), CheckpointLoad> {
    let mut all = sections(&checkpoint());
    all.retain(|(tag, _)| *tag != ENDINGS);
    let mut payload = Vec::new();
    append(&mut payload, section);
    all.push((ENDINGS, payload));
    decoded(&all).map_err(|error| error.reason())
}

#[test]
fn the_ending_of_a_record_comes_back_and_is_written_again() {
    let ending = ending("out of memory");
    let (content, _) = with(&[(0_u64, &ending)].as_slice()).unwrap();
    let record = &content.records.records[0];
    assert_eq!(record.startup.ending(), Some(&ending));
    assert_eq!(record.startup.record().ending(), Some(&ending));
    assert_eq!(endings::of(&content.records.records), [(0, &ending)]);
    // One of a record that is not kept any more says nothing.
    let (content, _) = with(&[(77_u64, &ending)].as_slice()).unwrap();
    assert_eq!(content.records.records[0].startup.ending(), None);
}

#[test]
fn what_no_podinit_writes_is_corrupt() {
    let mut many = ending("");
    many.containers = vec![Termination::default(); 9];
    let long = ending(&"x".repeat(257));
    for wrong in [many, long] {
        let read = with(&[(0_u64, &wrong)].as_slice());
        assert_eq!(read.unwrap_err(), CheckpointLoad::Corrupt);
    }
}

#[test]
fn the_endings_of_the_newest_records_are_written() {
    let (content, _) = with(&[(0_u64, &ending(&"x".repeat(256)))].as_slice()).unwrap();
    let record = &content.records.records[0];
    let records: Vec<_> = (0..5_000)
        .map(|number| KeptRecord { number, startup: Arc::clone(&record.startup) })
        .collect();
    let written = endings::of(&records);
    assert!(written.len() < records.len(), "{}", written.len());
    assert_eq!(written.last().map(|(number, _)| *number), Some(4_999));
}
