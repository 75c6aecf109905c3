//! `podinit problems`: what is broken, where and since when ([§13](crate::specification#s13)).
//!
//! ```text
//! records of serve ─▶ Finder ─▶ Seen ─▶ Snapshots ─▶ /api/v1/problems, page
//!                        │               └─▶ podinit_problem_pods
//! Pods of any source ────┴─▶ Problems ─▶ table | wide | json
//! ```

mod breakdown;
mod finder;
mod late_deliveries;
mod lost_budget;
mod routes;
mod snapshot;
mod snapshots;
mod table;
mod wording;

pub(super) use breakdown::TopLocations;
pub use breakdown::{
    BreakdownGroup, BreakdownWorkload, PodBreakdown, PodFilter, TooNew, WorkloadBreakdown,
};
pub use finder::ProblemFinder;
pub(super) use late_deliveries::{ClockCheck, LateDeliveries};
pub use lost_budget::LostBudget;
pub(super) use lost_budget::clause as lost_budgets;
pub use routes::router;
pub(super) use snapshot::MatchedPods;
pub use snapshot::ProblemSnapshot;
use snapshots::FindingPublisher;
pub use snapshots::{FindingSnapshots, channel};
use wording::ProblemWords;
pub(crate) use wording::{ProblemMoment, of_some};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{is_zero, with_freshness};
use crate::explain::next_command_of_problem;
use crate::freshness::Freshness;
use podinit_core::lifecycle::{Cause, NodeClock, NodeFaults, Record, UnmatchedSlo};
use podinit_core::timestamp::Timestamp;
use podinit_problems::{
    Earlier, FoundCapacity, FoundLateNodes, FoundPod, FoundProblem, ProblemKind,
};
use podinit_recordings::reader::ClockAhead;
use podinit_text::strangers_text;

/// Where the sections of causes stand, without the name of one.
const RUNBOOKS: &str = "deploy/runbooks.md#cause-";

/// What is broken at an instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "problems", transform = with_freshness)]
pub struct Problems {
    /// Up to which instant everything was accounted for when they were found; `None` before anything was
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// How many seconds ago an exporter found them; left out before it did
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<f64>,
    /// Whether the source knows the present
    pub fresh: bool,
    /// How far an exporter can be trusted; left out of a list or a recording
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Freshness")]
    pub freshness: Option<Freshness>,
    /// The clocks by which a recording states times that lie in the future; left out where there are none
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks_ahead: Vec<ClockAhead>,
    /// Those with new pods first, and then those that stand still; of each the one with the most pods first
    pub problems: Vec<Problem>,
    /// How many affected pods have a value that was not compared, because there are too many different ones; left out
    /// where none has
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) not_compared: usize,
    /// Those that have ended within 10 minutes, the newest first, each as it was last
    pub ended: Vec<Problem>,
    /// Of one list, how many other pods that had started wait with CrashLoopBackOff now; left out where none does
    #[serde(default, skip_serializing_if = "is_zero")]
    pub crashing: usize,
    /// The nodes whose clocks are off, by name, with pods in flight or without
    #[serde(default)]
    pub clocks: Vec<NodeClock>,
    /// The SLOs that have matched no pod for 10 minutes, or that name a kind which no pod has had; left out where
    /// each SLO matches pods
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched_slos: Vec<UnmatchedSlo>,
    /// The SLOs that lost their budget within the last hour, the one first that lost it fastest; left out where none did
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_budgets: Vec<LostBudget>,
    /// That what is known of pods is late; left out while it is not
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) late_deliveries: Option<LateDeliveries>,
}

/// A set of pods that one cause affects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "problem")]
pub struct Problem {
    pub cause: String,
    /// What kind of thing its pods share, where they share one
    pub dimension: Option<String>,
    /// Which one
    pub value: Option<String>,
    /// Tells it from others of its cause, where its pods share nothing; known to the exporter alone
    #[serde(skip)]
    pub fault: Option<u64>,
    /// How many pods it has
    pub pods: usize,
    /// How many of them are stuck
    pub stuck: usize,
    /// How many of them have ended within 10 minutes, rejected or failed; left out where none has
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: usize,
    /// How many of them became ready within 10 minutes and crash again; left out where none does
    #[serde(default, skip_serializing_if = "is_zero")]
    pub relapsed: usize,
    /// When the first of them, but for `earlier`, had the cause first in its stage
    pub since: Timestamp,
    /// The few, at most a tenth, that had it at least 15 minutes before those; left out if no pod did
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
    /// On how many nodes they are
    pub nodes: usize,
    /// Of how many workloads they are
    pub workloads: usize,
    /// In how many namespaces they are
    pub namespaces: usize,
    /// The container that gives nine tenths of them the cause; left out where they have only one, or differ
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// What Kubernetes says of most of them
    pub message: Option<String>,
    /// What autoscalers say of most of those that are unschedulable
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<FoundCapacity>,
    /// The causes, where its pods have several; left out where they have one
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<ProblemCause>,
    /// The nodes that do not become schedulable, of the cause `node_startup` only
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_nodes: Option<FoundLateNodes>,
    /// The three pods that have waited longest
    pub oldest: Vec<PodName>,
    /// All of this for people
    pub sentence: String,
    /// What is wrong, without figures; empty where an exporter does not say it yet
    #[serde(default)]
    pub headline: String,
    /// How many pods, since when and where, for people; empty where an exporter does not say it yet
    #[serde(default)]
    pub(super) extent: String,
    /// A command that shows more
    pub next_command: String,
    /// Where it says what to do
    pub runbook: String,
    /// When it was found to have no pod any longer; the figures are those before that. Left out while it lasts
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
}

/// One of the causes of a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "problem_cause")]
pub struct ProblemCause {
    pub cause: String,
    /// How many pods it affects
    pub pods: usize,
}

/// Which pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "pod")]
pub struct PodName {
    pub namespace: String,
    pub name: String,
}

impl Problems {
    /// The problems among the pods in flight at `now`, by the newest records, the oldest of them first, and what is
    /// wrong with nodes.
    pub fn find(
        in_flight: Vec<Record>,
        newest: &[Record],
        faults: NodeFaults,
        now: Option<Timestamp>,
    ) -> Self {
        ProblemSnapshot::from_records(in_flight, newest, faults, now).problems
    }

    /// The same of a list in which so many pods crash that had started, those of problems included.
    pub(super) fn with_crashing(mut self, all: usize) -> Self {
        let counted: usize = self.problems.iter().map(|problem| problem.relapsed).sum();
        self.crashing = all.saturating_sub(counted);
        self
    }

    /// The same where deliveries are late by so many nanoseconds, if they are, by a clock that is checked so.
    pub(super) fn with_late_deliveries(mut self, nanos: Option<i64>, check: ClockCheck) -> Self {
        self.late_deliveries = nanos.map(|nanos| LateDeliveries::of_nanos(nanos, check));
        self
    }

    /// Names the runbooks at `url` in place of those of the repository.
    fn lead_to(&mut self, url: &str) {
        for problem in self.problems.iter_mut().chain(&mut self.ended) {
            problem.runbook = format!("{url}#cause-{}", problem.cause);
        }
    }

    /// As JSON.
    ///
    /// # Errors
    /// Never for what this crate makes: it holds no maps.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}

impl ProblemCause {
    /// Those of a problem that has several.
    fn several(problem: &FoundProblem) -> Vec<Self> {
        let causes = problem.causes().into_iter();
        let causes = causes.filter(|_| matches!(problem.kind, ProblemKind::SeveralCauses(_)));
        causes.map(|(cause, pods)| Self { cause: cause.as_str().to_owned(), pods }).collect()
    }
}

impl Problem {
    /// Its causes, that of most pods first.
    pub(super) fn causes(&self) -> impl Iterator<Item = &str> {
        let several = self.causes.iter().map(|one| &*one.cause);
        let one = self.causes.is_empty().then_some(&*self.cause);
        one.into_iter().chain(several)
    }

    /// Whether it is that a clock is off, which keeps no pod from starting.
    pub(super) fn is_of_clock(&self) -> bool {
        self.cause == Cause::Clock.as_str()
    }

    fn from_found(problem: &FoundProblem, moment: ProblemMoment) -> Self {
        let ProblemWords { sentence, headline, extent } = ProblemWords::new(problem, moment);
        let shared = problem.shared.as_ref();
        let name = |pod: &FoundPod| PodName {
            namespace: pod.namespace.to_string(),
            name: pod.name.to_string(),
        };
        Self {
            cause: problem.cause.as_str().to_owned(),
            dimension: shared.map(|(dimension, _)| dimension.as_str().to_owned()),
            value: shared.map(|(_, value)| value.to_string()),
            fault: problem.fault,
            pods: problem.pods,
            stuck: problem.stuck,
            failed: problem.failed,
            relapsed: problem.relapsed,
            since: problem.since,
            earlier: problem.earlier,
            nodes: problem.nodes,
            workloads: problem.workloads,
            namespaces: problem.namespaces,
            container: (problem.container.as_deref()).map(|container| container.name.to_string()),
            message: problem.message.as_deref().map(str::to_owned),
            unschedulable: problem.capacity.clone(),
            causes: ProblemCause::several(problem),
            late_nodes: problem.kind.late_nodes().cloned(),
            oldest: problem.oldest.iter().map(name).collect(),
            sentence,
            headline,
            extent,
            next_command: next_command_of_problem(problem),
            runbook: format!("{RUNBOOKS}{}", problem.cause.as_str()),
            ended: moment.ended,
        }
    }
}

/// Those of `clocks` of which none of `problems` tells.
pub fn untold<'a>(
    clocks: &'a [NodeClock],
    problems: &'a [Problem],
) -> impl Iterator<Item = &'a NodeClock> {
    clocks.iter().filter(|clock| {
        let mut of_clocks = problems.iter().filter(|problem| problem.is_of_clock());
        !of_clocks.any(|problem| problem.value.as_deref() == Some(&*clock.node))
    })
}
