//! The pods of an exporter, by its API or on its page.

use super::question::PodQuestion;
use crate::api::client::{ApiClient, AskError, ListEndpoint, RecordsResponse};
use crate::explain::{
    ExplainTarget, ExplanationContext, FleetDurations, TargetName, WorkloadPods, Worst,
};
use crate::freshness::Freshness;
use crate::problems::Problems;
use crate::rollouts::Rollouts;
use podinit_core::lifecycle::{Interval, NodeClock, Outcome, Record};
use podinit_core::timestamp::Timestamp;
use podinit_kube::cluster::clock::{DeliveryClock, SystemClock};
use podinit_recordings::ExporterRecords;

/// How many records of a list are read: all kept startups that have ended, or 2,000 pods in flight.
const MOST: usize = 2_000;
/// How many records are read to compare with, and of the worst startups.
const A_PAGE: usize = 500;

/// The answers of an exporter.
#[derive(Default)]
pub struct ExporterAnswer {
    /// Up to which instant it had accounted for everything
    pub time: Option<Timestamp>,
    /// How far it can be trusted; an earlier version does not say
    pub freshness: Option<Freshness>,
    /// Pods in flight
    pub in_flight: Vec<Record>,
    /// Whether it has more pods in flight
    pub(crate) has_more: bool,
    /// Startups that have ended, of those that were asked for; the newest first
    pub ended: Vec<Record>,
    /// Startups that ended as ready, for the medians
    pub ready: Vec<Record>,
    /// The nodes whose clocks are off
    pub clocks: Vec<NodeClock>,
    /// The problems; `None` unless they were asked for
    pub problems: Option<Problems>,
    /// The rollouts; `None` unless they were asked for
    pub rollouts: Option<Rollouts>,
}

impl ExporterAnswer {
    /// Asks an exporter what a question needs, of these namespaces; none means all.
    pub(super) async fn ask(
        exporter: &ApiClient,
        namespaces: &[String],
        question: &PodQuestion,
    ) -> Result<Self, AskError> {
        match question {
            PodQuestion::Problems => {
                let found = exporter.problems().await?;
                let freshness = found.freshness.clone();
                Ok(Self { freshness, problems: Some(found), ..Self::default() })
            }
            PodQuestion::Rollouts(most) => Self::rollouts_of(exporter, namespaces, *most).await,
            PodQuestion::Stuck(most) => Self::stuck(exporter, namespaces, *most).await,
            PodQuestion::Startup(target) => Self::startup(exporter, target).await,
            PodQuestion::Worst(target) => Self::worst_of(exporter, target).await,
        }
    }

    async fn rollouts_of(
        exporter: &ApiClient,
        namespaces: &[String],
        most: usize,
    ) -> Result<Self, AskError> {
        let (first, others) = match namespaces {
            [] => (None, namespaces),
            [first, others @ ..] => (Some(&**first), others),
        };
        let mut found = exporter.rollouts(first, most).await?;
        for other in others {
            found = found.merged(exporter.rollouts(Some(other), most).await?, most);
        }
        let freshness = found.freshness.clone();
        Ok(Self { freshness, rollouts: Some(found), ..Self::default() })
    }

    async fn stuck(
        exporter: &ApiClient,
        namespaces: &[String],
        most: usize,
    ) -> Result<Self, AskError> {
        let mut told = Self::default();
        let chosen = namespaces.iter().map(|name| vec![("namespace", &**name)]);
        let chosen: Vec<_> = if namespaces.is_empty() { vec![vec![]] } else { chosen.collect() };
        for parameters in chosen {
            let room = most - told.in_flight.len();
            if room == 0 {
                told.has_more = true;
                break;
            }
            told.add(exporter.list(ListEndpoint::Stuck, &parameters, room).await?);
        }
        // Problems are of all namespaces.
        if told.in_flight.is_empty() && namespaces.is_empty() {
            // An exporter of an earlier version does not say.
            told.problems = exporter.problems().await.ok().filter(|problems| problems.fresh);
        }
        Ok(told)
    }

    async fn startup(exporter: &ApiClient, target: &ExplainTarget) -> Result<Self, AskError> {
        let (candidates, ended) = candidates(exporter, target).await?;
        let ready =
            exporter.list(ListEndpoint::Ended, &[("outcome", "ready")], A_PAGE).await?.records;
        let mut told = Self { ended, ready, ..Self::default() };
        // This question comes last, so its time is not before the other answers.
        told.add(exporter.list(ListEndpoint::InFlight, &[], MOST).await?);
        told.time = told.time.or_else(|| Some(SystemClock.now()));
        candidates.into_iter().for_each(|candidate| told.add_in_flight(candidate));
        // Without what is broken, nothing is known of clocks.
        let problems = exporter.problems().await;
        told.clocks = problems.map_or_else(|_| Vec::new(), |found| found.clocks);
        Ok(told)
    }

    async fn worst_of(exporter: &ApiClient, target: &ExplainTarget) -> Result<Self, AskError> {
        let namespace = in_namespace(target);
        let with = |more: (&'static str, &'static str)| [namespace.clone(), vec![more]].concat();
        let slowest =
            exporter.list(ListEndpoint::Ended, &with(("sort", "created_to_ready")), A_PAGE).await?;
        let failed =
            exporter.list(ListEndpoint::Ended, &with(("outcome", "failed")), A_PAGE).await?;
        let ended = [slowest.records, failed.records].concat();
        let mut told = Self { ended, ..Self::default() };
        told.add(exporter.list(ListEndpoint::InFlight, &namespace, MOST).await?);
        told.time = told.time.or_else(|| Some(SystemClock.now()));
        Ok(told)
    }

    /// Adds a list of pods in flight.
    fn add(&mut self, list: RecordsResponse) {
        self.time = list.time.or(self.time);
        self.has_more |= list.has_more;
        self.in_flight.extend(list.records);
        let was_fresh = self.freshness.as_ref().is_none_or(Freshness::is_fresh);
        // What one list does not know of the present, all of them do not.
        self.freshness = if was_fresh { list.freshness } else { self.freshness.take() };
    }

    /// Adds a pod in flight that may be among them.
    pub(crate) fn add_in_flight(&mut self, record: Record) {
        if self.in_flight.iter().all(|other| other.uid != record.uid) {
            self.in_flight.push(record);
        }
    }

    /// Of the startups of the target that have ended: of a workload, the one that took longest; of several pods of one
    /// name, the newest.
    pub(super) fn ended(&self, target: &ExplainTarget) -> Option<Record> {
        let mut ended = self.ended.iter().filter(|record| target.fits(&record.pod));
        let chosen = match target.is_workload() {
            true => ended.max_by_key(|record| record.duration(Interval::CreatedToReady)),
            false => ended.next(),
        };
        chosen.cloned()
    }

    /// The number of startups of the target.
    pub(super) fn counted(&self, target: &ExplainTarget) -> WorkloadPods {
        let ended = self.ended.iter().filter(|record| target.fits(&record.pod));
        let (ready, other): (Vec<_>, Vec<_>) =
            ended.partition(|record| record.outcome() == Some(Outcome::Ready));
        WorkloadPods { in_flight: 0, ready: ready.len() as u64, other: other.len() as u64 }
    }

    /// The context of the explained record.
    pub(super) fn seen(&self, record: &Record) -> ExplanationContext {
        ExplanationContext {
            fleet: FleetDurations::of_records(&self.ready, record.uid),
            ending: record.ending().cloned(),
            ..ExplanationContext::default()
        }
    }

    /// The worst of the startups that have ended.
    pub(super) fn worst(&self) -> Worst {
        let mut worst = Worst::default();
        for record in &self.ended {
            worst.add(
                record,
                ExplanationContext::default(),
                self.time.unwrap_or(record.discovered),
            );
        }
        worst
    }
}

fn in_namespace(target: &ExplainTarget) -> Vec<(&'static str, &str)> {
    target.namespace.iter().map(|name| ("namespace", &**name)).collect()
}

/// The records among which the target is, if the exporter has it: those in flight, and those that have ended.
async fn candidates(
    exporter: &ApiClient,
    target: &ExplainTarget,
) -> Result<(Vec<Record>, Vec<Record>), AskError> {
    let owner = match (&target.name, &target.namespace) {
        (TargetName::Pod(name), Some(namespace)) => {
            let found = exporter.pod(namespace, name).await?.into_iter();
            return Ok(found.partition(|record| record.outcome().is_none()));
        }
        // The API finds a pod by both names only.
        (TargetName::Pod(_), None) | (TargetName::Any, _) => None,
        (TargetName::Workload { kind, name }, _) => Some(format!("{kind}/{name}")),
    };
    let mut parameters = Vec::new();
    if let Some(owner) = &owner {
        parameters.push(("workload", &**owner));
        parameters.extend(in_namespace(target));
    }
    let in_flight = exporter.list(ListEndpoint::InFlight, &parameters, MOST).await?;
    let ended = exporter.list(ListEndpoint::Ended, &parameters, MOST).await?;
    Ok((in_flight.records, ended.records))
}

/// What these exporters have kept, the shards of one cluster or of several.
///
/// # Errors
/// If one of them gives no answer that can be used.
pub async fn kept_records(exporters: &[ApiClient]) -> Result<ExporterRecords, AskError> {
    let mut kept = ExporterRecords::default();
    for exporter in exporters {
        // First: a pod that becomes ready meanwhile is among those that have ended, too, and counts as one of them.
        let in_flight = exporter.list(ListEndpoint::InFlight, &[], MOST).await?;
        let newest = exporter.list(ListEndpoint::Ended, &[], MOST).await?;
        kept.time = kept.time.max(in_flight.time).max(newest.time);
        kept.ended.extend(newest.records);
        kept.in_flight.extend(in_flight.records);
        for sort in ["created_to_ready", "scheduled_to_ready"] {
            let slow = exporter.list(ListEndpoint::Ended, &[("sort", sort)], MOST).await?;
            kept.slow.extend(slow.records);
        }
    }
    kept.make_unique();
    Ok(kept)
}
