//! What another version of podinit has more or less of in a checkpoint: nothing else is lost.

#![allow(clippy::unwrap_used, clippy::panic)]

use ciborium::Value;

use super::section::append;
use super::tests::{checkpoint_of, decoded, read_file, sections};
use super::*;
use crate::frame::{self, SectionWriter};
use crate::shape::editing_tests::Name;
use podinit_core::lifecycle::{SourceSuccessor, Tracker, TrackerConfig};
use podinit_expo::metrics::{ExpositionBuilder, LabelConfig};

/// The values of a file, with the names of their types.
type Trees = Vec<(&'static str, Value)>;

fn trees(file: &[u8]) -> Trees {
    fn take<T: SavedType>(bytes: &mut &[u8]) -> (&'static str, Value) {
        (T::NAME, shapes().take::<T>(bytes))
    }
    let mut all = Vec::new();
    for (tag, payload) in sections(file) {
        let mut bytes = &payload[..];
        match tag {
            SCOPE => all.push(take::<SavedScope>(&mut bytes)),
            TRACKER => all.push(take::<SavedTracker>(&mut bytes)),
            METRICS => all.push(take::<SavedMetrics>(&mut bytes)),
            RECORDS => all.push(take::<RecordsHead>(&mut bytes)),
            _ => {}
        }
        while let (PODS | RECORDS, Some((kind, rest))) = (tag, bytes.split_first()) {
            bytes = rest;
            all.push(match (tag, kind) {
                (PODS, 0) => take::<SavedFinished>(&mut bytes),
                (PODS, 1) => take::<InFlight>(&mut bytes),
                (RECORDS, 0) => take::<Record>(&mut bytes),
                _ => take::<Shared>(&mut bytes),
            });
        }
    }
    all
}

/// A file with everything that there is.
fn whole() -> &'static [u8] {
    static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| checkpoint_of(true));
    &WHOLE
}

/// A file that says that its values have these shapes.
pub(super) fn with_shapes(file: &[u8], shapes: &Shapes) -> Vec<u8> {
    let mut other = SectionWriter::begin();
    for (tag, payload) in frame::read(file).unwrap().iter() {
        other.section(tag, |out| match tag {
            SHAPES => append(out, shapes),
            _ => out.extend(payload),
        });
    }
    other.finish()
}

/// What is read of the file with everything, where it says that.
fn read(shapes: &Shapes) -> Result<DecodedCheckpoint, ContentError> {
    read_file(&with_shapes(whole(), shapes))
}

pub(super) fn renamed(name: &Name) -> Shapes {
    let mut shapes = shapes().clone();
    shapes.rename(name);
    shapes
}

fn written(decoded: &DecodedCheckpoint) -> Trees {
    trees(&encode(&decoded.content, decoded.pods.iter().cloned()).finish())
}

/// Without a field, wherever there is such a struct.
fn without_field(mut trees: Trees, (of, field): &Name) -> Trees {
    for (name, tree) in &mut trees {
        shapes().walk(name, tree, &mut |other, value| {
            if let (true, Value::Map(fields)) = (other == of, value) {
                fields.retain(|(key, _)| key.as_text() != Some(field));
            }
        });
    }
    trees
}

fn whole_decoded() -> DecodedCheckpoint {
    read_file(whole()).unwrap()
}

#[test]
fn the_values_of_a_file_are_written_as_they_were_read() {
    assert_eq!(written(&whole_decoded()), trees(whole()));
    let (fields, variants) = shapes().names();
    assert!(fields.len() > 100 && variants.len() > 100, "{} {}", fields.len(), variants.len());
}

/// Without these a value cannot be what it is, and is lost with them, as histograms are without their bounds or label
/// sets. They are those of the first version, and those that make a gate, a milestone or a rollout: what else is added has a
/// default.
const NEEDED: &[(&str, &str)] = &[
    ("CustomMilestone", "name"),
    ("CustomMilestone", "condition"),
    ("Duration", "secs"),
    ("Duration", "nanos"),
    ("EndedRollout", "workload"),
    ("EndedRollout", "outcome"),
    ("EndedRollout", "began"),
    ("EndedRollout", "ended"),
    ("EndedStartup", "pod"),
    ("EndedStartup", "outcome"),
    ("EndedStartup", "at"),
    ("GonePod", "revision"),
    ("GonePod", "at"),
    ("InFlight", "pod"),
    ("InFlight", "shared"),
    ("NodeLabels", "pool"),
    ("Numbers", "node"),
    ("PodInFlight", "uid"),
    ("PodInFlight", "startup"),
    ("Record", "number"),
    ("Record", "startup"),
    ("Record", "rules"),
    ("Record", "shared"),
    ("Rollout", "new"),
    ("Rollout", "began"),
    ("Rollout", "wanted"),
    ("Rollout", "holder"),
    ("Rollout", "held_since"),
    ("Rollout", "divided"),
    ("Rollout", "last_ready"),
    ("Rollout", "changed"),
    ("RolloutWorkload", "namespace"),
    ("RolloutWorkload", "workload"),
    ("SavedCause", "waiting"),
    ("SavedDeleted", "uid"),
    ("SavedDeleted", "at"),
    ("SavedDeleted", "created"),
    ("SavedFamily", "name"),
    ("SavedFamily", "labels"),
    ("SavedFamily", "series"),
    ("SavedFinished", "uid"),
    ("SavedHolds", "values"),
    ("SavedHolds", "sets"),
    ("SavedLabel", "values"),
    ("SavedLabels", "labels"),
    ("SavedLabels", "sets"),
    ("SavedMetrics", "bounds"),
    ("SavedMetrics", "labels"),
    ("SavedMetrics", "intervals"),
    ("SavedMetrics", "durations"),
    ("SavedNode", "uid"),
    ("SavedNode", "name"),
    ("SavedNode", "version"),
    ("SavedNode", "ready"),
    ("SavedNode", "labels"),
    ("SavedNode", "state"),
    ("SavedNode", "decided"),
    ("SavedPodGate", "kind"),
    ("SavedPodGate", "gate"),
    ("SavedPodMilestone", "milestone"),
    ("SavedSeries", "labels"),
    ("SavedSeries", "value"),
    ("SavedState", "slo"),
    ("SavedState", "decided"),
    ("SavedTracker", "rules"),
    ("SavedWorkload", "place"),
    ("SavedWorkload", "name"),
    ("SavedWorkload", "source"),
    ("SavedWorkload", "own"),
    ("Shared", "nodes"),
    ("Shared", "rules"),
    ("SloRule", "name"),
    ("SloRule", "interval"),
    ("Startup", "node"),
    ("StuckBeforeOfStage", "after"),
    ("Workload", "kind"),
    ("Workload", "name"),
];

#[test]
fn a_field_of_another_name_is_skipped_and_missing_and_nothing_else_is_lost() {
    let original = trees(whole());
    let fields = shapes().names().0;
    let lost = fields.iter().filter(|name| {
        let Ok(read) = read(&renamed(name)) else { return true };
        without_field(written(&read), name) != without_field(original.clone(), name)
    });
    let lost: Vec<(&str, &str)> = lost.map(|(of, name)| (&**of, &**name)).collect();
    assert_eq!(lost, NEEDED);
}

/// Takes away the elements of sequences that are this variant.
fn without_elements(value: &mut Value, variant: &str) {
    let is_it = |value: &Value| match value {
        Value::Text(text) => text == variant,
        Value::Map(all) => matches!(&all[..], [(name, _)] if name.as_text() == Some(variant)),
        _ => false,
    };
    match value {
        Value::Array(all) => {
            all.retain(|one| !is_it(one));
            all.iter_mut().for_each(|one| without_elements(one, variant));
        }
        Value::Map(all) => all.iter_mut().for_each(|(_, one)| without_elements(one, variant)),
        _ => {}
    }
}

/// Without the fields that can be this variant, and without the elements that are it.
fn without_variant(mut trees: Trees, (of, variant): &Name) -> Trees {
    for field in shapes().fields_of(of) {
        trees = without_field(trees, &field);
    }
    trees.iter_mut().for_each(|(_, tree)| without_elements(tree, variant));
    trees
}

/// A cause, a verdict, a source, an SLO, a node or a record that cannot be without these is lost with them, alone.
const NAMES: &[(&str, &str)] = &[
    ("ExclusionReason", "failed"),
    ("ExclusionReason", "deleted"),
    ("GateKind", "scheduling"),
    ("GateKind", "readiness"),
    ("NodeState", "Starting"),
    ("Outcome", "ready"),
    ("Outcome", "failed"),
    ("Outcome", "deleted"),
    ("Reached", "No"),
    ("RolloutHolder", "starting"),
    ("RolloutOutcome", "completed"),
    ("WaitReason", "gated/gate"),
    ("WaitReason", "network/acknowledge"),
];

#[test]
fn a_value_of_another_name_is_skipped_and_nothing_else_is_lost() {
    let original = trees(whole());
    let variants = shapes().names().1;
    let pods = whole_decoded().pods.len();
    let lost = variants.iter().filter(|name| {
        let read = read(&renamed(name)).unwrap();
        assert_eq!(read.pods.len(), pods, "{name:?}");
        without_variant(written(&read), name) != without_variant(original.clone(), name)
    });
    let lost: Vec<(&str, &str)> = lost.map(|(of, name)| (&**of, &**name)).collect();
    assert_eq!(lost, NAMES);
}

#[test]
fn what_was_skipped_is_counted() {
    let skipped = |of: &str, name: &str| {
        let read = read(&renamed(&(of.to_owned(), name.to_owned()))).unwrap();
        assert_eq!(read.pods.len(), whole_decoded().pods.len());
        read.skipped
    };
    let DecodedCheckpoint { content, pods, .. } = whole_decoded();
    let all = pods.len() + content.records.records.len();
    assert_eq!(skipped("SavedLastSeen", "version"), all as u64);
    assert_eq!(skipped("SavedTracker", "watermark"), 1);
    assert_eq!(skipped("SavedScope", "shard"), 1);
}

#[test]
fn an_additional_section_is_skipped_and_counted() {
    let mut all = sections(whole());
    all.push((99, vec![1, 2, 3]));
    assert_eq!(decoded(&all), Ok(DecodedCheckpoint { skipped: 1, ..whole_decoded() }));
}

/// A family is saved by its name and those of its labels: as plain texts, whatever the shapes are.
fn with_families(change: impl Fn(&mut Vec<u8>)) -> Result<DecodedCheckpoint, ContentError> {
    let mut all = sections(whole());
    let (_, payload) = all.iter_mut().find(|(tag, _)| *tag == METRICS).unwrap();
    change(payload);
    decoded(&all)
}

#[test]
fn a_family_a_label_and_a_label_value_of_another_name_are_skipped_alone() {
    let expected = whole_decoded().content.metrics.families;
    for (name, other) in [
        ("podinit_pods_finished_total", "podinit_pods_finishes_total"),
        ("outcome", "outcame"),
        ("ready", "raedy"),
    ] {
        let read = with_families(|payload| {
            let text = payload.windows(name.len()).position(|text| text == name.as_bytes());
            let at = text.unwrap();
            payload[at..at + name.len()].copy_from_slice(other.as_bytes());
        });
        let read = read.unwrap();
        assert_eq!(read.skipped, 1, "{name}");
        let families = read.content.metrics.families;
        let changed =
            expected.names().filter(|family| expected.sum(family) != families.sum(family));
        assert!(changed.count() <= 1, "{name}");
        assert_eq!(read.pods, whole_decoded().pods);
    }
}

/// What one rename may cost besides the value that it is about: nothing but histograms and label values, where they
/// cannot be told from each other any more.
#[test]
fn no_rename_refuses_the_whole_file_and_what_is_left_can_be_restored() {
    let (fields, variants) = shapes().names();
    let whole = whole_decoded();
    for name in fields.iter().chain(&variants) {
        let read = read(&renamed(name));
        let DecodedCheckpoint { content, mut pods, skipped } =
            read.unwrap_or_else(|error| panic!("{name:?}: {error}"));
        assert!(skipped > 0 || content == whole.content, "{name:?}");
        if !name.0.starts_with("SavedFamil") && !name.0.starts_with("SavedLabelText") {
            let sum = |content: &CheckpointContent| {
                content.metrics.families.sum("podinit_pods_finished_total")
            };
            let is_whole = sum(&content) == sum(&whole.content);
            assert!(is_whole || name.1 == "families" || name.0 == "SavedSeries", "{name:?}");
        }
        let (mut recorder, _) = ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
        recorder.restore(&content.metrics, pods.iter().filter_map(SavedPod::in_flight));
        recorder.restore_holds(content.tracker.now.unwrap_or_default(), &mut pods);
        let config = TrackerConfig::default();
        Tracker::restored(config, content.tracker, pods, SourceSuccessor::Same, &mut recorder);
        let again = recorder.saved();
        assert!(again.clone().keep_what_fits().is_empty(), "{name:?}");
    }
}
