//! Checkpoints that no tracker of a test has written: every form of a value, and values that cannot be.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use super::tests::{decoded, sections};
use super::*;
use crate::checkpoint::frame;
use crate::metrics::CheckpointLoad;
use crate::metrics::histogram::SavedHistogram;
use crate::metrics::{SavedLabel, SavedLabels};
use podinit_core::lifecycle::{
    FirstList, Interval, Namespaces, SavedSource, Selection, SloRule, SourceId,
};
use podinit_core::timestamp::Timestamp;

fn rule(namespaces: Namespaces) -> SloRule {
    SloRule {
        name: Arc::from("fast"),
        interval: Interval::ScheduledToReady,
        threshold: Duration::from_nanos(1),
        grace: Duration::from_nanos(2),
        namespaces,
        owner_kinds: vec!["Job".into()],
        selection: Selection::default(),
    }
}

/// The same rule, of startups with present images only or not.
fn selecting(present_images: bool, rule: SloRule) -> SloRule {
    let selection = Selection { present_images, ..Selection::default() };
    SloRule { selection, ..rule }
}

/// A checkpoint of nothing but these.
fn of(tracker: SavedTracker, metrics: SavedMetrics) -> (Content, Vec<u8>) {
    let content = Content { tracker, metrics, ..Content::default() };
    let checkpoint = encode(&content, std::iter::empty::<SavedPod>()).finish();
    (content, checkpoint)
}

/// Nothing counted yet, in cells with these bounds.
fn cells(bounds: &[u64]) -> SavedMetrics {
    SavedMetrics { bounds: bounds.to_vec(), ..SavedMetrics::default() }
}

/// That the checkpoint is read as it was written, or else is corrupt.
fn assert_read(content: &Content, checkpoint: &[u8], good: bool) {
    match decode(&frame::read(checkpoint).unwrap()) {
        Ok((read, _)) => assert_eq!((&read, good), (content, true)),
        Err(error) => assert_eq!((error.reason(), good), (CheckpointLoad::Corrupt, false)),
    }
}

#[test]
fn rules_and_sources_of_every_kind_are_read_as_they_were_written() {
    let began = FirstList::BeganAt(Timestamp::from_seconds(7));
    let first_lists = [None, Some(FirstList::NeverHad), Some(began)];
    let sources =
        first_lists.map(|first_list| SavedSource { first_list, ..SavedSource::default() });
    let names = || vec!["kube-system".into()];
    let tracker = SavedTracker {
        sources: (0..).map(SourceId).zip(sources).collect(),
        rules: [Namespaces::All, Namespaces::Include(names()), Namespaces::Exclude(names())]
            .map(|namespaces| {
                [false, true].map(|images| selecting(images, rule(namespaces.clone())))
            })
            .concat()
            .into(),
        ..SavedTracker::default()
    };
    let (content, checkpoint) = of(tracker, cells(&[1]));
    assert_read(&content, &checkpoint, true);
}

/// What earlier checkpoints hold is written again of a rule that selects no startups.
#[test]
fn a_rule_without_a_selection_has_the_form_that_it_always_had() {
    let names: Vec<Box<str>> = vec!["kube-system".into()];
    for (namespaces, form) in [
        (Namespaces::All, 0_u8),
        (Namespaces::Include(names.clone()), 1),
        (Namespaces::Exclude(names.clone()), 2),
    ] {
        let names = (form > 0).then_some(&names);
        let mut expected = Vec::new();
        append(&mut expected, &("fast", Interval::ScheduledToReady, 1_i64, 2_i64, form));
        if let Some(names) = names {
            append(&mut expected, names);
        }
        append(&mut expected, &["Job"].as_slice());
        let mut written = Vec::new();
        append(&mut written, &rule(namespaces));
        assert_eq!(written, expected);
    }
}

/// A later podinit may have intervals that this one does not know.
#[test]
fn a_rule_for_an_unknown_interval_was_written_by_a_later_podinit() {
    let tracker = SavedTracker { rules: [rule(Namespaces::All)].into(), ..SavedTracker::default() };
    let mut sections = sections(&of(tracker, cells(&[1])).1);
    let (_, payload) = sections.iter_mut().find(|(tag, _)| *tag == TRACKER).unwrap();
    let name = Interval::ScheduledToReady.as_str().as_bytes();
    let mut places = payload.windows(name.len());
    let at = places.position(|bytes| bytes == name).unwrap();
    payload[at] ^= 1;
    let error = decoded(&sections).unwrap_err();
    assert_eq!(error.reason(), CheckpointLoad::FutureVersion, "{error}");
}

#[test]
fn bounds_of_cells_that_do_not_ascend_are_corrupt() {
    for (bounds, good) in [(&[1, 2][..], true), (&[1, 1], false), (&[2, 1], false), (&[], false)] {
        let (content, checkpoint) = of(SavedTracker::default(), cells(bounds));
        assert_read(&content, &checkpoint, good);
    }
}

/// Of a label with one value: none, the rest, and that value.
#[test]
fn a_set_has_only_values_that_its_labels_have() {
    for (value, good) in [(0, true), (1, true), (2, true), (3, false)] {
        let label = SavedLabel { name: "namespace".to_owned(), values: vec![Arc::from("shop")] };
        let metrics = SavedMetrics {
            bounds: vec![1],
            labels: SavedLabels { labels: vec![label], sets: vec![vec![value]] },
            durations: vec![Vec::new()],
            ..SavedMetrics::default()
        };
        let (content, checkpoint) = of(SavedTracker::default(), metrics);
        assert_read(&content, &checkpoint, good);
    }
}

/// Of a histogram with two cells.
#[test]
fn a_histogram_has_only_cells_that_there_are() {
    for (cell, good) in [(0, true), (1, true), (2, false)] {
        let metrics = SavedMetrics {
            bounds: vec![1, 2],
            delivery: SavedHistogram { cells: vec![(cell, 5)], sum: 3_000_000_007 },
            ..SavedMetrics::default()
        };
        let (content, checkpoint) = of(SavedTracker::default(), metrics);
        assert_read(&content, &checkpoint, good);
    }
}
