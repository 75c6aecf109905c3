//! The contents of a report, whatever its format.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::rollouts::RolloutReport;
use super::slowest_pods::SlowPod;
use super::waiting::WaitingReport;
use podinit_core::lifecycle::{GateKind, NodeAge, StartupImages};
use podinit_core::pod::PodInfo;
use podinit_recordings::probes::ProbeReport;
use podinit_recordings::reader::ClockAhead;

/// The summary of a recording. Durations are in seconds; quantiles have three significant digits,
/// minimum and maximum are exact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The time of the first document that was counted (RFC 3339)
    pub from: Option<String>,
    /// The time of the last one (RFC 3339)
    pub to: Option<String>,
    /// The value of `--timestamps`; `of the exporter` of records, which do not say
    pub timestamps: &'static str,
    /// Only what a running exporter has kept: its newest startups and the pods in flight; the slowest pods are
    /// also of the last hour
    pub(crate) only_kept: bool,
    /// A lone list, which does not tell what a pod waited for before it was bound: `scheduling` is all the time before
    /// that, behind gates and as unschedulable too
    pub lone_list: bool,
    /// How many pods were discovered
    pub discovered: u64,
    /// Pods that have finished their startup, by outcome
    pub finished: BTreeMap<&'static str, u64>,
    /// Pods that have not, by stage
    pub in_flight: BTreeMap<&'static str, InFlightSummary>,
    /// Every interval: the stages in their order, each followed by its steps, then the end-to-end durations.
    /// `network` is followed by its two parts first: the pods whose time may include image pulls, and
    /// the others. Both durations of each milestone of your own follow at the end
    pub intervals: Vec<IntervalSummary>,
    /// The gates of pods, those of most pods first, then all others together; left out where no pod has one
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateSummary>,
    /// Created to Ready by whether the node was new and the images were on it: startups that are warm, that are cold,
    /// and others, each followed by its combinations; left out where neither nodes nor Events tell
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) startups: Vec<StartupSummary>,
    /// What waiting costs; left out where no startup is counted
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingReport>,
    /// What became of rollouts; left out where no workload rolls out
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rollouts: Option<RolloutReport>,
    /// The distribution from Scheduled to Ready: the upper bound of each bucket in seconds (`None` for
    /// the last one) and the number of pods in it
    pub(super) scheduled_to_ready: Vec<(Option<f64>, u64)>,
    /// Stages, steps and milestones of your own that were not observed: which, reason and how often, without zeros
    pub unobserved: Vec<(Cow<'static, str>, &'static str, u64)>,
    /// Clock anomalies, by kind
    pub clock_anomalies: BTreeMap<&'static str, u64>,
    /// The clocks by which pods state times that lie in the future; left out where there are none
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks_ahead: Vec<ClockAhead>,
    /// Pods that stood in the first list and are not observed, because their status has lost when they
    /// started up, by why; without zeros
    pub set_aside: BTreeMap<&'static str, u64>,
    /// Conditions that became True again, by milestone
    pub reentries: BTreeMap<&'static str, u64>,
    /// The pods that took longest from Scheduled to Ready, the slowest first
    pub(crate) slowest: Vec<SlowPod>,
    /// The step `probe` of the workloads beside their probes
    pub(crate) probes: ProbeReport,
}

/// Pods in flight in one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InFlightSummary {
    pub pods: u64,
    /// When the pod that has been in the stage longest entered it (RFC 3339)
    pub(super) oldest_entered: Option<String>,
    /// That pod
    pub oldest: Option<ReportedPodName>,
}

/// A pod by its names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedPodName {
    pub namespace: String,
    pub name: String,
}

impl ReportedPodName {
    pub(super) fn from_pod(pod: &PodInfo) -> Self {
        Self { namespace: pod.namespace.to_string(), name: pod.name.to_string() }
    }
}

/// The durations of one interval, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalSummary {
    /// The stage or step, a part of `network`, `scheduled_to_ready` or `created_to_ready`, or a duration of a milestone
    /// of your own
    pub interval: Cow<'static, str>,
    /// How many durations were observed
    pub count: u64,
    /// The shortest; `None`, like the rest, if none was observed
    pub min: Option<f64>,
    /// The median
    pub p50: Option<f64>,
    /// The 90th percentile
    pub p90: Option<f64>,
    /// The 95th percentile
    pub(super) p95: Option<f64>,
    /// The 99th percentile; `None` of fewer than 100 durations
    pub p99: Option<f64>,
    /// The longest
    pub max: Option<f64>,
}

/// One gate of pods, or several together. Durations are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateSummary {
    /// `None` of all others together
    pub kind: Option<GateKind>,
    /// The name of the scheduling gate, or the condition type of the readiness gate; `None` as `kind`
    pub gate: Option<String>,
    /// How many pods have had it; a pod with several of the others counts for each
    pub pods: u64,
    /// How many pods in flight it holds
    pub holding: u64,
    /// How many durations were observed
    pub count: u64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    /// `None` of fewer than 100 durations
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// Whether a startup had what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Warmth {
    /// Its node was there, and its images were on it
    Warm,
    /// Its node was new, or at least one image was pulled
    Cold,
    /// Not all is known
    Unknown,
}

/// Some of the startups that became ready, from Created to Ready. Durations are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StartupSummary {
    pub startups: Warmth,
    /// The capacity of these startups; `None` in the row of all that are warm, cold or unknown
    pub capacity: Option<NodeAge>,
    /// Their images; `None` as `capacity`
    pub images: Option<StartupImages>,
    pub count: u64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    /// `None` of fewer than 100 startups
    pub p99: Option<f64>,
    /// All their durations together
    pub waited: f64,
    /// The share of all startups that became ready, 0 to 1
    pub share: f64,
    /// The share of the durations of all of them
    pub(super) share_of_waiting: f64,
}
