//! Tables of pods by pool, zone, image, owner and namespace.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::report::ReportedPod;
use crate::report::formatting::seconds;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Interval, Outcome, Record};
use podinit_core::node::NO_POOL;
use podinit_core::quantile::ExactDistribution;
use podinit_text::table::TextTable;

/// So many rows of a table are shown.
const MOST_ROWS: usize = 25;

/// The columns of a table, after the one that names the group.
const HEAD: [&str; 8] =
    ["pods", "ready", "failed", "in flight", "p50", "p90", "max", "scheduled p50"];

/// Pods that have something in common.
#[derive(Default)]
pub(super) struct PodGroup {
    /// All of them, those that became ready, those that failed, and those in flight
    counts: [usize; 4],
    pub whole: ExactDistribution,
    pub scheduled: ExactDistribution,
}

impl PodGroup {
    fn add(&mut self, pod: &ReportedPod, record: &Record) {
        let [pods, ready, failed, in_flight] = &mut self.counts;
        *pods += 1;
        match pod.outcome {
            Some(Outcome::Ready) => *ready += 1,
            Some(Outcome::Failed | Outcome::Rejected | Outcome::Disrupted) => *failed += 1,
            None => *in_flight += 1,
            Some(_) => {}
        }
        record.duration(Interval::CreatedToReady).into_iter().for_each(|took| self.whole.add(took));
        let scheduled = record.duration(Interval::ScheduledToReady);
        scheduled.into_iter().for_each(|took| self.scheduled.add(took));
    }

    /// How many pods there are.
    pub(super) const fn pods(&self) -> usize {
        self.counts[0]
    }
}

/// By what pods are grouped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GroupedBy {
    Dimension(Dimension),
    /// The controller; pods without one have nothing in common but that
    Owner,
}

/// The pods whose startup is known, in groups.
pub(super) struct PodGroups([(GroupedBy, BTreeMap<String, PodGroup>); 6]);

impl PodGroups {
    pub(super) fn new() -> Self {
        use GroupedBy::{Dimension as By, Owner};
        let (pool, zone, node) = (Dimension::Nodepool, Dimension::Zone, Dimension::Node);
        let by =
            [By(pool), By(zone), By(Dimension::Image), Owner, By(Dimension::Namespace), By(node)];
        Self(by.map(|by| (by, BTreeMap::new())))
    }

    pub(super) fn add(&mut self, pod: &ReportedPod, record: &Record) {
        for (by, groups) in &mut self.0 {
            let mut add = |value: Cow<'_, str>| match groups.get_mut(&*value) {
                Some(group) => group.add(pod, record),
                None => groups.entry(value.into_owned()).or_default().add(pod, record),
            };
            match by {
                GroupedBy::Dimension(dimension) => pod.has().values(*dimension).for_each(add),
                GroupedBy::Owner => add(owner(pod).into()),
            }
        }
    }

    /// The groups in a dimension.
    pub(super) fn by(&self, dimension: Dimension) -> impl Iterator<Item = (&str, &PodGroup)> {
        self.groups(GroupedBy::Dimension(dimension))
    }

    fn groups(&self, by: GroupedBy) -> impl Iterator<Item = (&str, &PodGroup)> {
        let groups = self.0.iter().filter(move |(own, _)| *own == by);
        groups.flat_map(|(_, groups)| groups.iter().map(|(name, group)| (name.as_str(), group)))
    }
}

fn owner(pod: &ReportedPod) -> String {
    match pod.workload() {
        ("Pod", _) => format!("{}: pods without an owner", pod.info.namespace),
        (kind, name) => format!("{}/{name} ({kind})", pod.info.namespace),
    }
}

/// Each table: by what its pods are grouped, itself, the slowest first, and how many rows there would be in all.
pub(super) fn tables(groups: &PodGroups) -> Vec<(&'static str, TextTable, usize)> {
    let by = |dimension| rows(groups.by(dimension));
    [
        ("pool", by(Dimension::Nodepool)),
        ("zone", by(Dimension::Zone)),
        ("image", by(Dimension::Image)),
        ("owner", rows(groups.groups(GroupedBy::Owner))),
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

fn rows<'a>(groups: impl Iterator<Item = (&'a str, &'a PodGroup)>) -> Vec<Vec<String>> {
    let mut groups: Vec<_> = groups.map(|(name, pods)| row(name, pods)).collect();
    // The sort is stable: groups that are as slow stay in the order of their names.
    groups.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    groups.into_iter().map(|(_, row)| row).collect()
}

/// The row of a group, and its 90th percentile, by which groups are sorted.
fn row(name: &str, group: &PodGroup) -> (f64, Vec<String>) {
    let PodGroup { counts, whole, scheduled } = group;
    let text = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let times = [whole.at(50), whole.at(90), whole.at(100), scheduled.at(50)];
    let mut row = vec![name.to_owned()];
    row.extend(counts.map(|count| count.to_string()));
    row.extend(times.map(text));
    (whole.at(90).unwrap_or(-1.0), row)
}
