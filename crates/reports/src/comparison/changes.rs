//! What else is different between both sides: nodes and images that came and went, versions of kubelets.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::side::{ComparedPod, ComparisonSide};

/// So many names of nodes, images or versions are listed.
pub(super) const MOST_NAMES: usize = 20;

/// What is only on one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChangedNames {
    /// How many names are only there
    pub count: usize,
    /// The first of them
    pub names: Vec<String>,
}

/// A name that both sides count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counted {
    pub name: String,
    pub before: u64,
    pub after: u64,
}

/// What else is different.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Changes {
    pub(super) nodes_only_before: ChangedNames,
    pub(super) nodes_only_after: ChangedNames,
    pub(super) images_only_before: ChangedNames,
    pub(super) images_only_after: ChangedNames,
    /// How many nodes of observed pods had each version of the kubelet, at most 20 versions; empty where nodes are not
    /// known. A node that was upgraded meanwhile has two
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) kubelet_versions: Vec<Counted>,
}

impl Changes {
    pub(super) fn from_sides(before: &ComparisonSide, after: &ComparisonSide) -> Self {
        let nodes = |side| names(side, |pod| pod.node.iter().map(|node| &**node).collect());
        let images = |side| names(side, |pod| pod.images.iter().map(|image| &**image).collect());
        let (nodes, images) = ([nodes(before), nodes(after)], [images(before), images(after)]);
        let mut versions = counted(&kubelets(before), &kubelets(after));
        versions.truncate(MOST_NAMES);
        Self {
            nodes_only_before: only(&nodes[0], &nodes[1]),
            nodes_only_after: only(&nodes[1], &nodes[0]),
            images_only_before: only(&images[0], &images[1]),
            images_only_after: only(&images[1], &images[0]),
            kubelet_versions: versions,
        }
    }
}

fn names<'a>(
    side: &'a ComparisonSide,
    of: impl Fn(&'a ComparedPod) -> Vec<&'a str>,
) -> BTreeSet<&'a str> {
    side.pods().iter().flat_map(of).collect()
}

fn only(own: &BTreeSet<&str>, others: &BTreeSet<&str>) -> ChangedNames {
    let names: Vec<_> = own.difference(others).collect();
    ChangedNames {
        count: names.len(),
        names: names.iter().take(MOST_NAMES).map(|name| (**name).to_owned()).collect(),
    }
}

/// How many nodes had each version of the kubelet.
fn kubelets(side: &ComparisonSide) -> BTreeMap<&str, u64> {
    let nodes = side.pods().iter().filter_map(|pod| {
        let version = &*pod.node_labels.as_deref()?.kubelet_version;
        Some((version, pod.node.as_deref()?)).filter(|_| !version.is_empty())
    });
    let mut versions = BTreeMap::new();
    for (version, _) in nodes.collect::<BTreeSet<_>>() {
        *versions.entry(version).or_default() += 1;
    }
    versions
}

/// The same, those first whose count changed most.
pub(super) fn most_changed(
    before: &BTreeMap<&str, u64>,
    after: &BTreeMap<&str, u64>,
) -> Vec<Counted> {
    let mut found = counted(before, after);
    found.sort_by_key(|one| Reverse(one.before.abs_diff(one.after)));
    found
}

fn counted(before: &BTreeMap<&str, u64>, after: &BTreeMap<&str, u64>) -> Vec<Counted> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    let of = |counts: &BTreeMap<&str, u64>, name| counts.get(name).copied().unwrap_or(0);
    let counted = names.into_iter().map(|name| Counted {
        name: name.to_owned(),
        before: of(before, name),
        after: of(after, name),
    });
    counted.collect()
}
