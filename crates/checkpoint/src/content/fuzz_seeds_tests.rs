//! The checkpoints that the fuzz target `checkpoint_loader` begins with are of this version, so that
//! each reaches what its name says. `UPDATE_GOLDEN=1` writes them anew.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use super::tests::{checkpoint, checkpoint_of, decoded, read_file, sections};
use super::*;
use crate::CheckpointLoad;
use crate::frame::{self, FrameError, MAGIC, SectionWriter, VERSION};
use podinit_core::lifecycle::{Interval, SavedPod, SloInterval};

const HEAD_BYTES: usize = MAGIC.len() + size_of::<u32>() + size_of::<u64>();
const HASH_BYTES: usize = 32;

fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../fuzz/seeds/checkpoint_loader").join(name)
}

fn seed(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap()
}

/// The sections in a file, with their tags and lengths: what the target puts under a checksum.
const fn between(file: &[u8]) -> Range<usize> {
    HEAD_BYTES..file.len() - HASH_BYTES
}

/// The payload of a section behind its tag: what the target puts in place of a section.
fn tagged(tag: u32, payload: &[u8]) -> Vec<u8> {
    [&[u8::try_from(tag).unwrap()], payload].concat()
}

fn write() {
    let whole = checkpoint();
    let all = &whole[between(&whole)];
    let put = |name: &str, bytes: &[u8]| fs::write(path(name), bytes).unwrap();
    put("whole", &whole);
    put("future", &SectionWriter::version(VERSION + 1).finish());
    put("sections", all);
    put("sections_cut", &all[..all.len() / 2]);
    let with_nodes = checkpoint_of(true);
    put("sections_with_nodes", &with_nodes[between(&with_nodes)]);
    for (tag, payload) in sections(&with_nodes) {
        put(&format!("section_{tag}"), &tagged(tag, &payload));
    }
    for (name, payload) in hostile_shapes() {
        put(name, &tagged(SHAPES, &payload));
    }
}

/// Shapes that nobody writes: types in each other, a type with a long name, and one that has itself in it.
fn hostile_shapes() -> [(&'static str, Vec<u8>); 3] {
    let name = |name: &[u8]| [&[name.len() as u8], name].concat();
    let (option, reference) = (9, 16);
    let nested = [&[1, 0][..], &[option; 200], &[0]].concat();
    // The longest that takes one byte to say how long it is, said to be 128 times as long.
    let long = [&[1, 0xff, 0x7f][..], &[b'x'; 127]].concat();
    let itself = [&[1][..], &name(b"InFlight"), &[reference], &name(b"InFlight")].concat();
    [("shapes_nested", nested), ("shapes_long", long), ("shapes_itself", itself)]
}

#[test]
fn each_seed_is_what_its_name_says() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        write();
    }
    let whole = seed("whole");
    let DecodedCheckpoint { content, pods, .. } = read_file(&whole).unwrap();
    assert_eq!((pods.len(), content.tracker.deleted.len()), (5, 2));
    let families = &content.metrics.families;
    assert_eq!(families.sum("podinit_pods_finished_total"), 3);

    let future = frame::read(&seed("future")).unwrap_err();
    assert_eq!(future, FrameError::FutureVersion(VERSION + 1));

    let all = &whole[between(&whole)];
    assert_eq!(seed("sections"), all);
    assert_eq!(seed("sections_cut"), all[..all.len() / 2]);
    assert!(decoded(&sections(&whole)).is_ok());
    let with_nodes = checkpoint_of(true);
    assert_eq!(seed("sections_with_nodes"), with_nodes[between(&with_nodes)]);
    for (tag, payload) in &sections(&with_nodes) {
        assert_eq!(seed(&format!("section_{tag}")), tagged(*tag, payload));
    }
    for (name, payload) in hostile_shapes() {
        assert_eq!(seed(name), tagged(SHAPES, &payload));
        let mut all = sections(&whole);
        all.iter_mut()
            .filter(|(tag, _)| *tag == SHAPES)
            .for_each(|(_, old)| old.clone_from(&payload));
        assert_eq!(decoded(&all).unwrap_err().reason(), CheckpointLoad::Corrupt, "{name}");
    }
}

/// A checkpoint of a podinit without gates and milestones by name, with an interval that was no text.
#[test]
fn a_checkpoint_from_before_gates_and_milestones_is_read_whole() {
    let DecodedCheckpoint { content, pods, skipped } =
        read_file(&seed("whole_before_gates")).unwrap();
    assert_eq!((pods.len(), content.tracker.deleted.len(), skipped), (2, 1, 0));
    let intervals: Vec<SloInterval> =
        content.tracker.rules.iter().map(|rule| rule.interval.clone()).collect();
    assert_eq!(intervals, [Interval::CreatedToReady.into()]);
    assert_eq!(content.metrics.families.sum("podinit_pods_finished_total"), 2);
    let names: Vec<&str> = content.metrics.families.names().collect();
    assert!(!names.contains(&"podinit_gate_duration_seconds"));
    assert!(content.metrics.milestones.durations.is_empty());
    let in_flight = pods.iter().filter_map(SavedPod::in_flight);
    assert_eq!(in_flight.map(|pod| &*pod.info().name).collect::<Vec<_>>(), ["starts"]);
}
