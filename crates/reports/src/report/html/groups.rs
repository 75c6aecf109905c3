//! Tables of pods by pool, zone, image, owner and namespace.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::report::ReportedPod;
use crate::report::formatting::seconds;
use crate::report::pods::durations;
use podinit_core::dimension::{Dimension, grouped};
use podinit_core::lifecycle::{Interval, Outcome};
use podinit_core::node::NO_POOL;
use podinit_text::table::TextTable;

/// So many rows of a table are shown.
const MOST_ROWS: usize = 25;

/// The columns of a table, after the one that names the group.
const HEAD: [&str; 8] =
    ["pods", "ready", "failed", "in flight", "p50", "p90", "max", "scheduled p50"];

/// Pods by what they have in common.
type GroupedPods<'a> = BTreeMap<Cow<'a, str>, Vec<&'a ReportedPod>>;

/// Each table: by what its pods are grouped, itself, the slowest first, and how many rows there would be in all.
pub(super) fn tables(pods: &[ReportedPod]) -> Vec<(&'static str, TextTable, usize)> {
    let owner = |pod: &ReportedPod| match pod.workload() {
        // Pods without an owner have nothing in common but that.
        ("Pod", _) => format!("{}: pods without an owner", pod.info.namespace),
        (kind, name) => format!("{}/{name} ({kind})", pod.info.namespace),
    };
    let by = |dimension| rows(by_value(pods, dimension));
    [
        ("pool", by(Dimension::Nodepool)),
        ("zone", by(Dimension::Zone)),
        ("image", by(Dimension::Image)),
        ("owner", rows(grouped(known(pods), |pod| [owner(pod).into()]))),
        ("namespace", by(Dimension::Namespace)),
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

/// The pods whose startup is known.
fn known(pods: &[ReportedPod]) -> impl Iterator<Item = &ReportedPod> {
    pods.iter().filter(|pod| pod.record.is_some())
}

/// The pods whose startup is known by what they have in common.
pub(super) fn by_value(pods: &[ReportedPod], dimension: Dimension) -> GroupedPods<'_> {
    grouped(known(pods), |pod| pod.has().values(dimension))
}

fn rows(groups: GroupedPods<'_>) -> Vec<Vec<String>> {
    let groups = groups.into_iter();
    let mut groups: Vec<_> = groups.map(|(name, pods)| group(name.into_owned(), &pods)).collect();
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
