//! Tables of pods by pool, zone, image, owner and namespace.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::ReportedPod;
use crate::report::formatting::seconds;
use crate::report::pods::durations;
use podinit_core::lifecycle::{Interval, Outcome};
use podinit_core::node::{NO_POOL, NodeLabels};
use podinit_text::table::TextTable;

/// So many rows of a table are shown.
const MOST_ROWS: usize = 25;

/// The columns of a table, after the one that names the group.
const HEAD: [&str; 8] =
    ["pods", "ready", "failed", "in flight", "p50", "p90", "max", "scheduled p50"];

/// Each table: by what its pods are grouped, itself, the slowest first, and how many rows there would be in all.
pub(super) fn tables(pods: &[ReportedPod]) -> Vec<(&'static str, TextTable, usize)> {
    let owner = |pod: &ReportedPod| {
        let (kind, name) = pod.workload();
        vec![match kind {
            // Pods without an owner have nothing in common but that.
            "Pod" => format!("{}: pods without an owner", pod.info.namespace),
            kind => format!("{}/{name} ({kind})", pod.info.namespace),
        }]
    };
    [
        ("pool", by(pods, pool)),
        ("zone", by(pods, zone)),
        ("image", by(pods, image)),
        ("owner", by(pods, owner)),
        ("namespace", by(pods, |pod| vec![pod.info.namespace.to_string()])),
    ]
    .into_iter()
    // Where no node has a pool, the table would say nothing.
    .filter(|(_, rows)| rows.iter().any(|row| row[0] != NO_POOL))
    .map(|(what, mut rows)| {
        let count = rows.len();
        rows.truncate(MOST_ROWS);
        let head = [&[what], HEAD.as_slice()].concat();
        let table = TextTable::new(&head, rows).with_numbers(1..head.len());
        (what, table.labelled(format!("Pods by {what}")), count)
    })
    .collect()
}

/// The pool of the pod's node, where nodes are known.
pub(super) fn pool(pod: &ReportedPod) -> Vec<String> {
    let pool = labels(pod).map(|labels| labels.pool.to_string());
    pool.into_iter().collect()
}

/// The zone of the pod's node, where it is known.
pub(super) fn zone(pod: &ReportedPod) -> Vec<String> {
    let zone = labels(pod).map(|labels| labels.zone.to_string());
    zone.into_iter().filter(|zone| !zone.is_empty()).collect()
}

/// The node of the pod, where it has one.
pub(super) fn node(pod: &ReportedPod) -> Vec<String> {
    pod.info.node.iter().map(ToString::to_string).collect()
}

/// The images of the pod.
pub(super) fn image(pod: &ReportedPod) -> Vec<String> {
    pod.images.iter().map(ToString::to_string).collect()
}

fn labels(pod: &ReportedPod) -> Option<&NodeLabels> {
    pod.record.as_ref()?.node_labels.as_deref()
}

/// The pods whose startup is known by what they have in common, each once in a group.
pub(super) fn grouped<'a>(
    pods: impl IntoIterator<Item = &'a ReportedPod>,
    names: impl Fn(&ReportedPod) -> Vec<String>,
) -> BTreeMap<String, Vec<&'a ReportedPod>> {
    let mut groups: BTreeMap<String, Vec<&ReportedPod>> = BTreeMap::new();
    for pod in pods.into_iter().filter(|pod| pod.record.is_some()) {
        for name in BTreeSet::from_iter(names(pod)) {
            groups.entry(name).or_default().push(pod);
        }
    }
    groups
}

fn by(pods: &[ReportedPod], names: impl Fn(&ReportedPod) -> Vec<String>) -> Vec<Vec<String>> {
    let groups = grouped(pods, names).into_iter();
    let mut groups: Vec<_> = groups.map(|(name, pods)| group(name, &pods)).collect();
    // The sort is stable: groups that are as slow stay in the order of their names.
    groups.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    groups.into_iter().map(|(_, row)| row).collect()
}

/// The row of a group, and its 90th percentile, by which groups are sorted.
fn group(name: String, pods: &[&ReportedPod]) -> (f64, Vec<String>) {
    let of = |interval| durations(pods.iter().copied(), interval);
    let (whole, scheduled) = (of(Interval::CreatedToReady), of(Interval::ScheduledToReady));
    let text = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let with = |outcome: Option<Outcome>| pods.iter().filter(|pod| pod.outcome == outcome).count();
    let failed = [Outcome::Failed, Outcome::Rejected, Outcome::Disrupted];
    let failed: usize = failed.map(|outcome| with(Some(outcome))).iter().sum();
    let counts = [pods.len(), with(Some(Outcome::Ready)), failed, with(None)];
    let times = [whole.at(50), whole.at(90), whole.at(100), scheduled.at(50)];
    let mut row = vec![name];
    row.extend(counts.map(|count| count.to_string()));
    row.extend(times.map(text));
    (whole.at(90).unwrap_or(-1.0), row)
}
