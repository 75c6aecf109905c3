//! What autoscalers have said outlives the process, of pods in flight and of records.

#![allow(clippy::unwrap_used)]

use serde::Serialize;

use super::tests::{checkpoint, decoded, sections};
use super::*;
use crate::checkpoint::frame;
use crate::metrics::CheckpointLoad;

/// The form of what is said, stated without the types of the core: state, and who has said it, since when in
/// milliseconds, and in what words.
type Form<'a> = (&'a str, Option<(&'a str, u64, Option<&'a str>)>);

/// A checkpoint with this section.
fn with(section: &impl Serialize) -> Result<(Content, Vec<SavedPod>), CheckpointLoad> {
    let mut all = sections(&checkpoint());
    all.retain(|(tag, _)| *tag != CAPACITY);
    let mut payload = Vec::new();
    append(&mut payload, section);
    all.push((CAPACITY, payload));
    decoded(&all).map_err(|error| error.reason())
}

const SAID: Form<'_> = (
    "scaling_up",
    Some((
        "cluster-autoscaler",
        1_800_000_003_000,
        Some("pod triggered scale-up: [{a 3->4 (max: 10)}]"),
    )),
);

#[test]
fn the_form_is_a_promise_to_existing_checkpoints() {
    let whole = checkpoint();
    let mut expected = Vec::new();
    append(&mut expected, &([(0_u64, SAID)].as_slice(), [(0_u64, SAID)].as_slice()));
    let written = frame::read(&whole).unwrap();
    assert_eq!(written.get(CAPACITY), Some(expected.as_slice()));
    let (content, pods) = decode(&written).unwrap();
    let in_flight: Vec<_> = pods.iter().filter_map(SavedPod::in_flight).collect();
    assert!(in_flight[0].capacity().is_some());
    assert_eq!(content.records.records[0].startup.capacity(), in_flight[0].capacity());
}

#[test]
fn a_time_at_the_end_of_all_times_is_saved_as_it_was_read() {
    let nobody: [(u64, Form<'_>); 0] = [];
    let latest: Form<'_> = ("nominated", Some(("karpenter", u64::MAX, None)));
    let (content, pods) = with(&([(0_u64, latest)].as_slice(), nobody.as_slice())).unwrap();
    let again = encode(&content, pods.iter().cloned()).finish();
    let read = decode(&frame::read(&again).unwrap()).unwrap();
    assert_eq!(read, (content, pods));
}

#[test]
fn what_cannot_be_is_corrupt_and_a_state_of_a_later_podinit_is_left_to_it() {
    let nobody: [(u64, Form<'_>); 0] = [];
    assert!(with(&([(0_u64, SAID)].as_slice(), nobody.as_slice())).is_ok());
    let long = "x".repeat(300);
    let wordy: Form<'_> = ("nominated", Some(("karpenter", 1, Some(&long))));
    let renowned: Form<'_> = ("nominated", Some((&long, 1, None)));
    for pods in
        [[(1_u64, SAID)].as_slice(), &[(0, SAID), (0, SAID)], &[(0, wordy)], &[(0, renowned)]]
    {
        let read = with(&(pods, nobody.as_slice()));
        assert_eq!(read.unwrap_err(), CheckpointLoad::Corrupt);
    }
    let later: Form<'_> = ("promised", None);
    let read = with(&([(0_u64, later)].as_slice(), nobody.as_slice()));
    assert_eq!(read.unwrap_err(), CheckpointLoad::FutureVersion);
}
