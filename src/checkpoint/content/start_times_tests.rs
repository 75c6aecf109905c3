//! Start times are read as they were written, whatever they are.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::checkpoint::frame;
use crate::metrics::{CheckpointLoad, SavedLabels, SavedStartTimes};

proptest! {
    #[test]
    fn start_times_are_read_as_they_were_written(
        families in vec((".{0,30}", option::of(any::<i64>())), 0..20),
        sets in vec(option::of(any::<i64>()), 0..20),
        label_sets in 0..20_usize,
    ) {
        let families = families.into_iter().map(|(name, start)| (name.into(), start));
        let starts = SavedStartTimes {
            families: families.collect(),
            sets,
        };
        let content = Content {
            metrics: SavedMetrics {
                bounds: vec![1],
                labels: SavedLabels {
                    sets: vec![Vec::new(); label_sets],
                    ..SavedLabels::default()
                },
                durations: vec![Vec::new(); label_sets],
                starts: starts.clone(),
                ..SavedMetrics::default()
            },
            ..Content::default()
        };
        let checkpoint = encode(&content, std::iter::empty::<SavedPod>()).finish();
        let read = decode(&frame::read(&checkpoint).unwrap());
        if starts.is_empty() {
            prop_assert!(read.unwrap().0.metrics.starts.is_empty());
        } else if starts.sets.len() == label_sets {
            prop_assert_eq!(read.unwrap().0, content);
        } else {
            prop_assert_eq!(read.unwrap_err().reason(), CheckpointLoad::Corrupt);
        }
    }

    #[test]
    fn no_bytes_of_start_times_can_make_the_reader_panic(bytes in vec(any::<u8>(), 0..60)) {
        let metrics = SavedMetrics { bounds: vec![1], ..SavedMetrics::default() };
        let content = Content { metrics, ..Content::default() };
        let checkpoint = encode(&content, std::iter::empty::<SavedPod>()).finish();
        let mut sections = super::tests::sections(&checkpoint);
        sections.push((START_TIMES, bytes));
        let _ = super::tests::decoded(&sections);
    }
}
