//! The node of a pod, and what the pod waited for if it had to start ([§14.6](crate::specification#s14-6)).

use serde::Serialize;

use podinit_core::lifecycle::{Interval, NodeAge, Record, Stage, Step};
use podinit_core::node::NO_POOL;
use podinit_text::human_time::seconds;

/// What is known of a node. A label that it lacks is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeLine {
    /// `new`, `existing` or `unknown`: whether the node is younger than the pod
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<&'static str>,
    /// `_none` for a node without a pool
    pub nodepool: String,
    pub zone: String,
    pub kubelet_version: String,
}

impl NodeLine {
    /// Such as "new, pool blue, zone eu-1a, kubelet v1.36.2".
    pub fn words(&self) -> String {
        let new = (self.capacity == Some(NodeAge::New.as_str())).then(|| "new".to_owned());
        let pool = if self.nodepool == NO_POOL {
            Some("no pool".to_owned())
        } else {
            named("pool", &self.nodepool)
        };
        let zone = named("zone", &self.zone);
        let kubelet = named("kubelet", &self.kubelet_version);
        let words = [new, pool, zone, kubelet].into_iter().flatten();
        words.collect::<Vec<_>>().join(", ")
    }
}

fn named(what: &str, value: &str) -> Option<String> {
    (!value.is_empty()).then(|| format!("{what} {value}"))
}

/// The node of the pod; `None` where nodes are no source of evidence, or the node is unknown.
pub(super) fn details(record: &Record) -> Option<NodeLine> {
    let labels = record.node_labels.as_deref()?;
    Some(NodeLine {
        capacity: record.needed.capacity.map(NodeAge::as_str),
        nodepool: labels.pool.to_string(),
        zone: labels.zone.to_string(),
        kubelet_version: labels.kubelet_version.to_string(),
    })
}

/// Whether the pod was unschedulable until a new node came.
pub(super) fn waited(record: &Record) -> bool {
    record.needed.capacity == Some(NodeAge::New)
        && record
            .intervals
            .iter()
            .any(|one| one.interval == Interval::Stage(Stage::Unschedulable) && one.began.is_some())
}

/// The steps of the wait, such as "38s until it existed, 95s until it was ready, 7s until the pod was bound". Steps
/// that were not observed are left out; `None` if none was.
pub(super) fn steps(record: &Record) -> Option<String> {
    if !waited(record) {
        return None;
    }
    let steps = [
        (Step::NodeLaunch, "until it existed"),
        (Step::NodeReady, "until it was ready"),
        (Step::NodeJoin, "until the pod was bound"),
    ];
    let observed = steps.into_iter().filter_map(|(step, until)| {
        let took = record.duration(Interval::Step(step))?;
        Some(format!("{} {until}", seconds(took.as_nanos() as f64 / 1e9)))
    });
    let observed: Vec<String> = observed.collect();
    (!observed.is_empty()).then(|| observed.join(", "))
}
