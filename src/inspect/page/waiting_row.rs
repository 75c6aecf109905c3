//! A pod in flight as a row of the page's table.

use super::link::pod_path;
use crate::inspect::explain::next_command;
use crate::text::human_time::{hour_and_minute, seconds};
use podinit_core::lifecycle::{Progress, Record};
use podinit_core::timestamp::Timestamp;

/// A pod in flight: where it is, since when, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingRow {
    /// `namespace/name`
    pub pod: String,
    /// The path of the pod's page
    pub path: String,
    pub stage: &'static str,
    pub cause: &'static str,
    /// How long it has been in the stage
    pub wait: String,
    pub since: String,
    /// The wait as a share of the time after which it counts as stuck, in percent, at most 100
    pub bar: u64,
    /// After how long it counts as stuck
    pub deadline: String,
    pub is_stuck: bool,
    pub node: String,
    pub owner: String,
    /// The image that it is about
    pub image: String,
    /// What Kubernetes says of the cause
    pub message: String,
    /// The command that shows more
    pub command: String,
}

impl WaitingRow {
    /// The row of a pod in flight; `None` for any other.
    pub(super) fn new(record: &Record, now: Timestamp) -> Option<Self> {
        let Progress::InFlight {
            waiting,
            entered,
            stuck_after,
            is_stuck,
        } = record.progress
        else {
            return None;
        };
        let waited = now.nanos_since(entered).max(0) as f64 / 1e9;
        let limit = stuck_after.as_secs_f64();
        let owner = record.pod.workload.as_deref();
        Some(Self {
            pod: format!("{}/{}", record.pod.namespace, record.pod.name),
            path: pod_path(&record.pod),
            stage: waiting.stage().as_str(),
            cause: waiting.cause().as_str(),
            wait: seconds((waited * 10.0).round() / 10.0),
            since: hour_and_minute(entered),
            bar: (waited / limit.max(0.001) * 100.0).clamp(0.0, 100.0) as u64,
            deadline: seconds(limit),
            is_stuck,
            node: record.pod.node.as_deref().unwrap_or_default().to_owned(),
            owner: owner.map_or_else(String::new, ToString::to_string),
            image: record.image().map_or_else(String::new, ToString::to_string),
            message: record.message.as_deref().unwrap_or_default().to_owned(),
            command: next_command(record),
        })
    }
}
