//! What another version of podinit has more or less of in a checkpoint: nothing else is lost.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use super::tests::{checkpoint_of, decoded, sections};
use super::*;
use crate::checkpoint::form::tree::Tree;
use crate::checkpoint::form::{ValueWriter, Values};
use crate::checkpoint::frame;

/// All sections of a file, each with its values.
type Trees = Vec<(u32, Vec<Tree>)>;

fn trees(file: &[u8]) -> Trees {
    let all = sections(file).into_iter().map(|(tag, payload)| {
        let mut values = Values::of(&payload).unwrap();
        let trees = std::iter::from_fn(|| values.next::<Tree>().unwrap());
        (tag, trees.map(Option::unwrap).collect())
    });
    all.collect()
}

fn read(trees: &Trees) -> Result<Decoded, ContentError> {
    let all = trees.iter().map(|(tag, trees)| {
        let mut payload = Vec::new();
        let mut values = ValueWriter::begin(&payload);
        trees.iter().for_each(|tree| values.append(&mut payload, tree));
        values.finish(&mut payload);
        (*tag, payload)
    });
    decoded(&all.collect::<Vec<_>>())
}

fn written(decoded: &Decoded) -> Trees {
    trees(&encode(&decoded.content, decoded.pods.iter().cloned()).finish())
}

/// Calls `change` with each value, and the way to it.
fn walk(trees: &mut Trees, mut change: impl FnMut(&str, &mut Tree)) {
    for (tag, trees) in trees {
        let name = ["", "scope", "tracker", "pods", "metrics", "records"][*tag as usize];
        trees.iter_mut().for_each(|tree| tree.walk(name, &mut change));
    }
}

/// A file with everything that there is.
fn whole() -> (Trees, Decoded) {
    let file = checkpoint_of(true);
    let decoded = decode(&frame::read(&file).unwrap()).unwrap();
    (trees(&file), decoded)
}

/// Takes a field away, wherever the way leads to it.
fn without(mut trees: Trees, way: &str) -> Trees {
    let (of, name) = way.rsplit_once('.').unwrap();
    walk(&mut trees, |at, tree| {
        if at == of
            && let Some(fields) = tree.fields()
        {
            fields.retain(|(key, _)| *key != Tree::text(name));
        }
    });
    trees
}

/// The ways to all fields.
fn ways(trees: &Trees) -> BTreeSet<String> {
    let mut ways = BTreeSet::new();
    walk(&mut trees.clone(), |way, tree| {
        for (key, _) in tree.fields().into_iter().flatten() {
            if let Tree::Text(name) = key {
                ways.insert(format!("{way}.{name}"));
            }
        }
    });
    ways
}

#[test]
fn a_tree_is_the_file_that_it_was_read_of() {
    let (trees, expected) = whole();
    assert_eq!(read(&trees), Ok(expected));
    assert!(ways(&trees).len() > 100, "{:?}", ways(&trees));
}

#[test]
fn an_additional_field_of_any_struct_is_skipped_and_counted() {
    let (mut trees, expected) = whole();
    let mut added = 0;
    walk(&mut trees, |_, tree| {
        let more = Tree::List(vec![Tree::Number(7), Tree::text("more"), Tree::Nil]);
        if let Some(fields) = tree.fields() {
            // A duration of the standard library has no more fields.
            if fields.first().is_none_or(|(key, _)| *key != Tree::text("secs")) {
                fields.insert(fields.len() / 2, (Tree::text("of a later version"), more));
                added += 1;
            }
        }
    });
    let read = read(&trees).unwrap();
    assert_eq!(read, Decoded { skipped: added, ..expected });
}

/// The field that a way leads to, or into.
fn field(way: &str) -> &str {
    way.trim_end_matches("[]")
}

/// Of these ways, those where more is lost than what they lead to.
fn lost(ways: &BTreeSet<String>, change: impl Fn(&str) -> Trees) -> Vec<String> {
    let original = whole().0;
    let lost = ways.iter().filter(|way| {
        let Ok(read) = read(&change(way)) else { return true };
        without(written(&read), field(way)) != without(original.clone(), field(way))
    });
    lost.cloned().collect()
}

/// Without these a value cannot be what it is, and is lost alone; where it says so much, the file is corrupt. They are
/// those of the first version: what is added has a default.
const NEEDED: &[&str] = &[
    "metrics.bounds",
    "metrics.durations",
    "metrics.families[].labels",
    "metrics.families[].name",
    "metrics.families[].series",
    "metrics.families[].series[].labels",
    "metrics.families[].series[].value",
    "metrics.holds.sets",
    "metrics.holds.values",
    "metrics.intervals",
    "metrics.labels",
    "metrics.labels.labels",
    "metrics.labels.labels[].values",
    "metrics.labels.sets",
    "metrics.starts.sets",
    "pods.Finished.uid",
    "pods.InFlight.info.node_labels.pool",
    "pods.InFlight.slos[].slo",
    "pods.InFlight.uid",
    "pods.InFlight.waiting.cause",
    "pods.InFlight.waiting.stage",
    "records.count",
    "records.number",
    "records.startup",
    "records.startup.at",
    "records.startup.outcome",
    "records.startup.pod",
    "records.startup.pod.info.node_labels.pool",
    "records.startup.pod.sli.decided",
    "records.startup.pod.slos[].decided",
    "records.startup.pod.slos[].slo",
    "records.startup.pod.startup.node.labels.pool",
    "records.startup.pod.uid",
    "records.startup.pod.waiting.cause",
    "records.startup.pod.waiting.stage",
    "records.startup.rules",
    "records.startup.rules[].grace.nanos",
    "records.startup.rules[].interval",
    "records.startup.rules[].name",
    "records.startup.rules[].threshold.nanos",
    "tracker.deleted[].at",
    "tracker.deleted[].created",
    "tracker.deleted[].uid",
    "tracker.nodes.nodes[].decided",
    "tracker.nodes.nodes[].labels",
    "tracker.nodes.nodes[].labels.pool",
    "tracker.nodes.nodes[].name",
    "tracker.nodes.nodes[].uid",
    "tracker.nodes.nodes[].version",
    "tracker.rules",
    "tracker.rules[].grace.nanos",
    "tracker.rules[].interval",
    "tracker.rules[].name",
    "tracker.rules[].threshold.nanos",
    "tracker.stuck.containers.after",
    "tracker.stuck.containers.after.nanos",
    "tracker.stuck.containers.after.secs",
    "tracker.stuck.gated.after",
    "tracker.stuck.gated.after.nanos",
    "tracker.stuck.gated.after.secs",
    "tracker.stuck.init.after",
    "tracker.stuck.init.after.nanos",
    "tracker.stuck.init.after.secs",
    "tracker.stuck.network.after",
    "tracker.stuck.network.after.nanos",
    "tracker.stuck.network.after.secs",
    "tracker.stuck.readiness.after",
    "tracker.stuck.readiness.after.nanos",
    "tracker.stuck.readiness.after.secs",
    "tracker.stuck.scheduling.after",
    "tracker.stuck.scheduling.after.nanos",
    "tracker.stuck.scheduling.after.secs",
    "tracker.stuck.unschedulable.after",
    "tracker.stuck.unschedulable.after.nanos",
    "tracker.stuck.unschedulable.after.secs",
];

#[test]
fn a_field_that_is_missing_has_its_default_and_nothing_else_is_lost() {
    let trees = whole().0;
    assert_eq!(lost(&ways(&trees), |way| without(trees.clone(), way)), NEEDED);
}

/// These name what a value is about: it is lost with them, alone. Where a pod waits is told anew.
const NAMES: &[&str] = &[
    "metrics.families[].labels[]",
    "metrics.families[].name",
    "metrics.families[].series[].labels[]",
    "pods.InFlight.waiting.cause",
    "pods.InFlight.waiting.stage",
    "records.startup.outcome",
    "records.startup.pod.slos[].verdict.Excluded",
    "records.startup.pod.waiting.cause",
    "records.startup.pod.waiting.stage",
    "records.startup.rules[].interval",
    "records.startup.rules[].namespaces.Exclude[]",
    "tracker.rules[].interval",
    "tracker.rules[].namespaces.Exclude[]",
];

#[test]
fn a_value_that_is_not_known_is_skipped_and_nothing_else_is_lost() {
    let trees = whole().0;
    let mut texts = BTreeSet::new();
    walk(&mut trees.clone(), |way, tree| {
        if matches!(tree, Tree::Text(_)) {
            texts.insert(way.to_owned());
        }
    });
    let renamed = |way: &str| {
        let mut trees = trees.clone();
        walk(&mut trees, |at, tree| {
            if let (true, Tree::Text(text)) = (at == way, tree) {
                text.push_str(" of a later version");
            }
        });
        trees
    };
    assert_eq!(lost(&texts, renamed), NAMES);
}

#[test]
fn an_additional_family_or_section_is_skipped_and_counted() {
    let (mut trees, expected) = whole();
    walk(&mut trees, |way, tree| {
        if let ("metrics.families", Tree::List(families)) = (way, tree) {
            let mut family = families[0].clone();
            *family.field("name").unwrap() = Tree::text("podinit_of_a_later_version_total");
            families.insert(1, family);
        }
    });
    trees.push((99, vec![Tree::Nil]));
    assert_eq!(read(&trees), Ok(Decoded { skipped: 2, ..expected }));
}

/// Adds a label to all families, or takes their last one away.
fn relabelled(trees: &mut Trees, change: impl Fn(&mut Vec<Tree>)) {
    walk(trees, |way, tree| {
        if ["metrics.families[].labels", "metrics.families[].series[].labels"].contains(&way)
            && let Tree::List(labels) = tree
        {
            change(labels);
        }
    });
}

#[test]
fn an_additional_label_is_skipped_and_a_missing_one_has_its_first_value() {
    let (mut trees, expected) = whole();
    let families = &expected.content.metrics.families;
    let names: Vec<String> = families.names().map(str::to_owned).collect();
    relabelled(&mut trees, |labels| labels.push(Tree::text("later")));
    let skipped = names.len() as u64;
    assert_eq!(read(&trees), Ok(Decoded { skipped, ..expected.clone() }));
    let mut trees = whole().0;
    relabelled(&mut trees, |labels| _ = labels.pop());
    let read = read(&trees).unwrap();
    assert_eq!(read.skipped, 0);
    for name in names {
        assert_eq!(read.content.metrics.families.sum(&name), families.sum(&name), "{name}");
    }
    assert_eq!(read.pods, expected.pods);
}
