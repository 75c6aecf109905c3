//! A startup, explained: everything that the text, JSON and HTML show.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::ended::{EndedLine, ExplainedEnd, is_end_known};
use super::fleet::FleetDurations;
use super::headline::{StartupHealth, headline};
use super::kubectl::addressed;
use super::named;
use super::new_node::{self, NodeLine};
use super::next_command::next_command;
use super::parts::{Share, shares};
use super::peers::Peers;
use super::uncertainty;
use super::verdict::verdict;
use super::waterfall::{WaterfallRow, waterfall};
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Cause, LostStartup, MilestoneSource, Outcome, Progress, Record, RecordedCapacity, RecordedGate,
    WaitReason,
};
use podinit_core::pod::Ending;
use podinit_core::quantile::ExactDistribution;
use podinit_core::timestamp::Timestamp;
use podinit_recordings::probes::{Advice, ProbeDurations, advise};
use podinit_text::human_time::since;
use podinit_text::strangers_text;

/// The context of one startup: other pods, and what its source knows beside its record.
#[derive(Clone, Debug, Default)]
pub struct ExplanationContext {
    pub fleet: FleetDurations,
    /// Of a pod in flight, the pods that wait for the same
    pub peers: Option<Peers>,
    /// The step `probe` of the pods of the same workload with the same probes and images
    pub probe_times: ExactDistribution,
    /// Where a workload was asked for, its pods
    pub workload_pods: Option<WorkloadPods>,
    /// Why the status of the pod no longer says when it started up
    pub lost: Option<LostStartup>,
    /// A report sets it aside for that
    pub is_set_aside: bool,
    /// How it ended, where its status says so
    pub ending: Option<Ending>,
    /// It had ended when it was first seen
    pub is_over_at_first_sight: bool,
    /// A list showed it first, as bound
    pub is_bound_at_first_sight: bool,
    /// What else its source leaves in doubt
    pub doubts: Vec<String>,
}

/// The pods of a workload, of which one is explained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkloadPods {
    pub in_flight: u64,
    pub ready: u64,
    /// Ended otherwise
    pub other: u64,
}

/// A startup, explained. Durations are in seconds, instants in RFC 3339.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// As of when it is; left out where that is the present
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    pub namespace: String,
    pub name: String,
    /// The owner, as `kind/name`
    pub workload: Option<String>,
    pub node: Option<Arc<str>>,
    /// What is known of it, where nodes are a source of evidence
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node_details: Option<NodeLine>,
    /// `in_flight`, or the outcome
    pub state: &'static str,
    /// One sentence
    pub verdict: String,
    /// Of a pod in flight, what it has waited for and how long, for its page
    #[serde(skip)]
    pub headline: Option<String>,
    /// Whether it has come well, or badly
    #[serde(skip)]
    pub standing: StartupHealth,
    /// Why its times may not be those of its startup, and what else its source leaves in doubt
    pub doubts: Vec<String>,
    /// When it began, the zero of the waterfall
    pub began: Timestamp,
    /// How long it took, or has taken so far; `null` where nothing says when it was ready
    pub seconds: Option<f64>,
    /// From its begin to the last instant that is known of it
    #[serde(skip)]
    pub width: f64,
    /// Where the time went, the longest part first
    pub(crate) parts: Vec<Share>,
    /// The waterfall
    pub rows: Vec<WaterfallRow>,
    pub(crate) milestones: Vec<MilestoneLine>,
    /// Its gates, scheduling gates first
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<RecordedGate>,
    /// Its containers, init containers first
    pub(crate) containers: Vec<ContainerLine>,
    /// What Kubernetes says of why it waits, or said last
    pub message: Option<Arc<str>>,
    /// Of a pod that is or was unschedulable, what autoscalers say of a node for it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unschedulable: Option<AutoscalerLine>,
    /// The causes for which it waited, the oldest first
    pub(crate) causes: Vec<CauseLine>,
    pub(crate) slos: Vec<SloLine>,
    /// What to change in its probes
    pub probes: Vec<Advice>,
    /// How many ready pods the medians are of
    pub fleet: u64,
    /// The workload that was asked for, of which this is one pod
    pub(crate) workload_pods: Option<WorkloadPods>,
    /// Of a pod in flight, those that wait for the same
    pub(crate) peers: Option<Peers>,
    /// The command that shows more
    pub next: String,
}

/// A milestone that was reached, or a gate that was passed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MilestoneLine {
    /// The name of the milestone, or `gate` and the end of the name of the gate
    pub milestone: Cow<'static, str>,
    pub time: Option<Timestamp>,
    /// From the begin of the startup
    pub(super) after_seconds: Option<f64>,
    pub source: Option<MilestoneSource>,
    pub(crate) uncertain: Option<&'static str>,
}

/// A container, and its image.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ContainerLine {
    pub name: Arc<str>,
    pub init: bool,
    pub image: Option<Arc<str>>,
    /// Of a pod in flight, what keeps it from running
    pub problem: Option<Cause>,
    /// Of a pod that has ended, how the container did
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedLine>,
}

/// Whether a node is on its way, or was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct AutoscalerLine {
    pub capacity: CapacityState,
    /// Who says so
    pub by: Option<Arc<str>>,
    pub since: Option<Timestamp>,
    /// In its own words
    pub message: Option<Arc<str>>,
}

/// A cause, and since when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CauseLine {
    pub began: Timestamp,
    pub(super) after_seconds: f64,
    #[serde(flatten)]
    pub waiting: WaitReason,
}

/// An SLO that matches the pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SloLine {
    pub slo: Arc<str>,
    /// `good`, `bad`, `excluded` or `undecided`
    pub result: &'static str,
    pub deadline: Option<Timestamp>,
}

impl Explanation {
    /// The explanation as JSON.
    ///
    /// # Errors
    /// None: every explanation can be serialized.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }

    /// Adds the kubeconfig of the cluster to the next command; `None` if kubectl finds it.
    pub fn about_cluster(self, kubeconfig: Option<&str>) -> Self {
        Self { next: addressed(&self.next, kubeconfig), ..self }
    }

    /// Explains a startup as of `now`, beside its context.
    pub fn new(record: &Record, context: ExplanationContext, now: Timestamp) -> Self {
        let ExplanationContext {
            fleet,
            peers,
            probe_times,
            workload_pods,
            lost,
            is_set_aside: _,
            ending,
            is_over_at_first_sight,
            is_bound_at_first_sight,
            mut doubts,
        } = context;
        let over = is_over_at_first_sight.then_some(uncertainty::OVER_AT_FIRST_SIGHT);
        let lost = lost.map(uncertainty::of_lost);
        doubts.splice(0..0, lost.into_iter().chain(over).map(str::to_owned));
        let ended = ExplainedEnd {
            ending: ending.unwrap_or_default(),
            is_over_at_first_sight,
            is_bound_at_first_sight,
        };
        let (began, end) = span(record, &ended, now);
        let is_known = is_end_known(record);
        let parts = match is_known {
            true => shares(record, &ended, (began, end)),
            false => Vec::new(),
        };
        let (namespace, name) = (&record.pod.namespace, &record.pod.name);
        let owner = record.pod.workload.as_deref();
        Self {
            time: None,
            namespace: namespace.to_string(),
            name: name.to_string(),
            workload: owner.map(ToString::to_string),
            node: record.pod.node.clone(),
            node_details: new_node::details(record),
            state: record.outcome().map_or("in_flight", |outcome| outcome.as_str()),
            verdict: verdict(record, &ended, &parts, began, end),
            headline: headline(record, end),
            standing: StartupHealth::from_record(record),
            doubts,
            began,
            seconds: is_known.then(|| since(began, end)),
            width: since(began, end),
            parts,
            rows: waterfall(record, &ended, &fleet, began, end),
            milestones: named::milestones(record, began),
            gates: record.gates.clone(),
            containers: containers(record, &ended),
            message: record.message.clone(),
            unschedulable: record.unschedulable.as_ref().map(autoscaler),
            causes: causes(record, &ended, began, end),
            slos: slos(record),
            probes: probes(record, &probe_times),
            fleet: fleet.pods(),
            workload_pods,
            peers,
            next: next_command(record),
        }
    }

    /// Why the pod waits; `None` of a startup that is over.
    pub fn cause(&self) -> Option<Cause> {
        let is_in_flight = self.state == "in_flight";
        self.causes.last().filter(|_| is_in_flight).map(|last| last.waiting.cause())
    }
}

/// From the first instant of a startup that is known to its end; of one in flight, to `now`.
fn span(record: &Record, ended: &ExplainedEnd, now: Timestamp) -> (Timestamp, Timestamp) {
    let times = record.milestones.iter().filter_map(|reached| reached.time);
    let times: Vec<Timestamp> = times.collect();
    let began = times.iter().min().copied().unwrap_or(record.discovered);
    let end = match record.progress {
        Progress::InFlight { .. } => now,
        // `at` may be much later than the end.
        Progress::Ended { at, .. } if record.outcome() != Some(Outcome::Ready) => {
            ended.ending.at.unwrap_or(at)
        }
        Progress::Ended { at, .. } => times.iter().max().copied().unwrap_or(at),
    };
    (began, end.max(began))
}

fn autoscaler(capacity: &RecordedCapacity) -> AutoscalerLine {
    AutoscalerLine {
        capacity: capacity.state,
        by: capacity.by.clone(),
        since: capacity.since,
        message: capacity.message.clone(),
    }
}

fn containers(record: &Record, ended: &ExplainedEnd) -> Vec<ContainerLine> {
    let in_flight = record.outcome().is_none();
    let all = record.containers.iter().enumerate();
    let lines = all.map(|(position, container)| ContainerLine {
        name: Arc::clone(&container.name),
        init: container.init,
        image: container.image.clone(),
        problem: container.problem.filter(|_| in_flight),
        ended: ended.of_container(position).map(EndedLine::from),
    });
    lines.collect()
}

/// The causes. One of a pod that was first seen when its startup was over says nothing.
fn causes(
    record: &Record,
    ended: &ExplainedEnd,
    began: Timestamp,
    end: Timestamp,
) -> Vec<CauseLine> {
    if ended.is_over_at_first_sight {
        return Vec::new();
    }
    let in_flight = record.outcome().is_none();
    let next = record.causes.iter().skip(1).map(|cause| Some(cause.began));
    let until = next.chain([None]);
    // A cause that another followed at once is one of a snapshot that showed more.
    let said = (record.causes.iter().zip(until))
        .map(|(cause, until)| until != Some(cause.began) && (in_flight || cause.began < end));
    let said = record.causes_since_entry().into_iter().zip(said);
    let lines = said.filter(|(_, is_said)| *is_said).map(|(cause, _)| CauseLine {
        began: cause.began,
        after_seconds: since(began, cause.began),
        waiting: cause.waiting,
    });
    lines.collect()
}

fn slos(record: &Record) -> Vec<SloLine> {
    let lines = record.slos.iter().map(|slo| SloLine {
        slo: Arc::clone(&slo.slo),
        result: slo.result.as_str(),
        deadline: slo.deadline,
    });
    lines.collect()
}

/// What to change in the probes of the pod, by how long the pods of its workload took.
fn probes(record: &Record, probe_times: &ExactDistribution) -> Vec<Advice> {
    let (Some(probes), Some(taken)) =
        (&record.pod.probes, ProbeDurations::from_distribution(probe_times))
    else {
        return Vec::new();
    };
    (probes.iter()).filter_map(|probes| advise(probes, taken)).collect()
}
