//! What a report says, whatever form it takes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::slowest::SlowPod;

/// What there is to say about a recording. Durations are in seconds; quantiles are exact to three
/// significant digits, minimum and maximum fully.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The times of the first and of the last thing that was accounted for (RFC 3339)
    pub from: Option<String>,
    /// See `from`
    pub to: Option<String>,
    /// Which times durations are made of
    pub timestamps: &'static str,
    /// How many pods there were
    pub discovered: u64,
    /// Pods that have finished their startup, by outcome
    pub finished: BTreeMap<&'static str, u64>,
    /// Pods that have not, by the stage they are in
    pub in_flight: BTreeMap<&'static str, InFlight>,
    /// Every interval, the stages in their order first
    pub intervals: Vec<IntervalSummary>,
    /// How many pods took how long from Scheduled to Ready: the upper bound of each bucket in
    /// seconds (`None` for the last one) and the pods in it
    pub scheduled_to_ready: Vec<(Option<f64>, u64)>,
    /// What was not observed: stage, reason and how often, where it happened
    pub unobserved: Vec<(&'static str, &'static str, u64)>,
    /// Odd times, by kind
    pub clock_anomalies: BTreeMap<&'static str, u64>,
    /// Conditions that became True again, by milestone
    pub reentries: BTreeMap<&'static str, u64>,
    /// The pods that took longest from Scheduled to Ready, the slowest first
    pub slowest: Vec<SlowPod>,
}

/// Pods in flight in one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InFlight {
    /// How many
    pub pods: u64,
    /// When the one that has been in the stage longest entered it (RFC 3339)
    pub oldest_entered: Option<String>,
}

/// The durations of one interval, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalSummary {
    /// The stage, `scheduled_to_ready` or `created_to_ready`
    pub interval: &'static str,
    /// How many were observed
    pub count: u64,
    /// The shortest; like the rest `None` where there is none
    pub min: Option<f64>,
    /// The median
    pub p50: Option<f64>,
    /// The 90th percentile
    pub p90: Option<f64>,
    /// The 95th percentile
    pub p95: Option<f64>,
    /// The 99th percentile
    pub p99: Option<f64>,
    /// The longest
    pub max: Option<f64>,
}
