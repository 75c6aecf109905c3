//! Pods in flight, grouped.

use std::collections::HashMap;

use podinit_core::lifecycle::{Progress, Record};

/// So many groups are named.
const NAMED: usize = 8;

/// Pods counted by something that they have in common.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// What it is
    pub by: &'static str,
    /// Its values with the number of pods and their share in percent, the largest first
    pub counts: Vec<(String, usize, u64)>,
    /// How many further values there are
    pub more: usize,
}

/// Records in flight, by cause, node, owner, image, registry of a failed pull, and namespace.
pub(super) fn groups(records: &[Record]) -> Vec<Group> {
    let by = |by, key: &dyn Fn(&Record) -> Option<String>| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for value in records.iter().filter_map(key) {
            *counts.entry(value).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let more = counts.len().saturating_sub(NAMED);
        counts.truncate(NAMED);
        let share = |pods: usize| (pods * 100 / records.len().max(1)) as u64;
        let counts = counts
            .into_iter()
            .map(|(value, pods)| (value, pods, share(pods)));
        Group {
            by,
            counts: counts.collect(),
            more,
        }
    };
    let groups = [
        by("cause", &|record| match record.progress {
            Progress::InFlight { waiting, .. } => Some(waiting.cause().as_str().to_owned()),
            Progress::Ended { .. } => None,
        }),
        by("node", &|record| {
            Some(record.pod.node.as_deref()?.to_owned())
        }),
        by("owner", &|record| {
            Some(record.pod.workload.as_deref()?.to_string())
        }),
        by("image", &|record| Some(record.image()?.to_string())),
        by("registry", &|record| {
            Some(
                record
                    .pulls
                    .iter()
                    .find(|pull| pull.has_failed)?
                    .registry
                    .to_string(),
            )
        }),
        by("namespace", &|record| {
            Some(record.pod.namespace.to_string())
        }),
    ];
    groups
        .into_iter()
        .filter(|group| !group.counts.is_empty())
        .collect()
}
