//! The pods of a source as of one moment: what `stuck`, `problems`, `explain` and its ten worst are answered from.
//!
//! ```text
//! a recording ─▶ replay ──────┐
//! lists of a cluster ─────────┼─▶ Tracked ─┐
//!                             ·            ├─▶ Pods ─▶ stuck | problems | explanation | worst
//! the API of an exporter ─────┴─▶ Told ────┘
//! ```
//!
//! All sources give the same answers about the same pods.

mod as_of;
mod exporter_answer;
mod kept;
mod list;
mod listed_cluster;
mod looks;
mod question;
mod started_before;
mod statuses;
mod tracked;

use as_of::NoInstant;
pub use as_of::{AsOf, RecordingTime};
pub use exporter_answer::{ExporterAnswer, kept_records};
pub use listed_cluster::{ClusterListing, ListedCluster, ListedEvidence, ListedNodes};
pub use question::PodQuestion;

use std::cmp::Reverse;

use crate::api::client::{ApiClient, AskError};
use crate::explain::{ExplainTarget, Explanation, ExplanationContext, NoStartup, Peers, Worst};
use crate::freshness::Freshness;
use crate::node_clocks;
use crate::problems::Problems;
use crate::rollouts::{RolloutFilter, Rollouts};
use podinit_core::lifecycle::{
    Delivery, InFlightRecord, Progress, Record, TrackerConfig, WaitReason,
};
use podinit_core::pod::{PodInfo, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::reader::{ClockAhead, RecordingDocument};
use podinit_recordings::replay::ReplayConfig;
use tracked::TrackedPods;

/// The pods of a source as of one moment, as far as a question needs them.
pub struct SourcePods {
    account: PodOrigin,
    /// Whether the source knows the present
    pub fresh: bool,
    /// How far an exporter can be trusted; `None` of another source
    pub freshness: Option<Freshness>,
    /// The clocks by which a recording states times that lie in the future
    pub clocks_ahead: Vec<ClockAhead>,
    /// What the source leaves in doubt of every startup
    pub doubts: Vec<String>,
    /// As of when a recording is answered
    as_of: Option<Timestamp>,
    /// The instant of a lone list that was not taken
    other: Option<as_of::OtherInstant>,
}

/// The source of the pods.
enum PodOrigin {
    Tracked(Box<TrackedPods>),
    Told(Box<ExporterAnswer>),
}

/// A pod in flight.
#[derive(Clone, Copy)]
pub enum SourcePodInFlight<'a> {
    Tracked(InFlightRecord<'a>),
    Told(&'a Record, WaitReason),
}

impl SourcePodInFlight<'_> {
    /// The names and the owner of the pod.
    pub const fn pod(&self) -> &PodInfo {
        match self {
            Self::Tracked(pod) => pod.pod(),
            Self::Told(record, _) => &record.pod,
        }
    }

    /// The stage and cause of the pod.
    pub const fn waiting(&self) -> WaitReason {
        match self {
            Self::Tracked(pod) => pod.waiting(),
            Self::Told(_, waiting) => *waiting,
        }
    }

    /// The UID of the pod.
    pub fn uid(&self) -> PodUid {
        match self {
            Self::Tracked(pod) => pod.uid(),
            Self::Told(record, _) => record.uid,
        }
    }

    /// Whether the pod counts as stuck.
    pub const fn is_stuck(&self) -> bool {
        match self {
            Self::Tracked(pod) => pod.is_stuck(),
            Self::Told(record, _) => {
                matches!(record.progress, Progress::InFlight { is_stuck: true, .. })
            }
        }
    }

    /// The record of the pod.
    pub fn record(&self) -> Record {
        match self {
            Self::Tracked(pod) => pod.record(),
            Self::Told(record, _) => (*record).clone(),
        }
    }
}

impl SourcePods {
    fn tracked(tracked: TrackedPods) -> Self {
        Self {
            account: PodOrigin::Tracked(Box::new(tracked)),
            fresh: true,
            freshness: None,
            clocks_ahead: Vec::new(),
            doubts: Vec::new(),
            as_of: None,
            other: None,
        }
    }

    /// The pods at the end of a recording, a lone list as one moment ([§13.2](crate::specification#s13-2)).
    ///
    /// # Errors
    /// If a document is malformed.
    pub fn of_recording<E>(
        documents: impl IntoIterator<Item = Result<RecordingDocument, E>>,
        config: ReplayConfig,
        question: &PodQuestion,
    ) -> Result<Self, E> {
        Ok(Self::tracked(TrackedPods::of_recording(documents, config, question)?))
    }

    /// Answers as of an instant from now on, which for a recording is the newest one until then
    /// ([§8.7](crate::specification#s8-7)).
    ///
    /// # Errors
    /// If the recording states no time, or is not to be answered as of the one that is asked for.
    pub fn answer_as_of(&mut self, making: RecordingTime) -> Result<(), NoInstant> {
        let now = self.now();
        if let PodOrigin::Tracked(tracked) = &mut self.account {
            let (at, other) = as_of::instant(now, tracked.lone_list, making)?;
            self.other = other.map(|other| as_of::other(tracked, at, other, making.now));
            tracked.move_to(at);
            self.as_of = Some(at);
        }
        Ok(())
    }

    /// One line that a lone list gives another answer at another instant; `None` if it does not. No other answer can
    /// follow.
    pub fn other_instant(&mut self) -> Option<String> {
        match &mut self.account {
            PodOrigin::Tracked(tracked) => self.other.take()?.line(tracked),
            PodOrigin::Told(_) => None,
        }
    }

    /// The pods of a cluster that was not listed yet, accounted for by `config`.
    pub fn of_cluster(config: TrackerConfig, question: &PodQuestion) -> Self {
        Self::tracked(TrackedPods::new(config, question))
    }

    /// The pods of an exporter in these namespaces; an empty list means all.
    ///
    /// # Errors
    /// If there is no answer that can be used.
    pub async fn of_exporter(
        exporter: &ApiClient,
        namespaces: &[String],
        question: &PodQuestion,
    ) -> Result<Self, AskError> {
        Ok(ExporterAnswer::ask(exporter, namespaces, question).await?.into())
    }

    /// Accounts for another listing of the cluster, at its end because it shows one moment.
    pub fn add(&mut self, listed: ClusterListing) {
        if let PodOrigin::Tracked(tracked) = &mut self.account {
            self.doubts = tracked.add(listed);
        }
    }

    /// Accounts for a delivery of a list-watch of the cluster, after a first listing.
    pub fn watched(&mut self, delivery: Delivery) {
        if let PodOrigin::Tracked(tracked) = &mut self.account {
            tracked.watched(delivery);
        }
    }

    /// Accounts for time that has passed without a delivery.
    pub fn advance(&mut self, now: Timestamp) {
        if let PodOrigin::Tracked(tracked) = &mut self.account {
            tracked.move_to(now);
        }
    }

    /// The problems of the pods of a cluster that count.
    pub fn problems_of(&mut self, counts: impl Fn(PodUid) -> bool) -> Problems {
        match &mut self.account {
            PodOrigin::Tracked(tracked) => tracked.problems_of(counts),
            PodOrigin::Told(_) => Problems::default(),
        }
    }

    /// The newest startups of a cluster that have ended.
    pub fn newest_ended(&self) -> Vec<Record> {
        match &self.account {
            PodOrigin::Tracked(tracked) => tracked.kept.newest_records(&tracked.tracker),
            PodOrigin::Told(_) => Vec::new(),
        }
    }

    /// Up to when everything is accounted for; `None` before anything is known.
    pub fn now(&self) -> Option<Timestamp> {
        match &self.account {
            PodOrigin::Tracked(tracked) => tracked.tracker.accounted_time(),
            PodOrigin::Told(told) => told.time,
        }
    }

    /// The pods in flight by stage, in each the one that entered it first.
    pub fn in_flight(&self) -> Box<dyn Iterator<Item = SourcePodInFlight<'_>> + '_> {
        match &self.account {
            PodOrigin::Tracked(tracked) => {
                let in_flight = tracked.tracker.in_flight_after(None);
                Box::new(in_flight.map(|(_, pod)| SourcePodInFlight::Tracked(pod)))
            }
            PodOrigin::Told(told) => Box::new(told.in_flight.iter().filter_map(|record| {
                let Progress::InFlight { waiting, .. } = record.progress else {
                    return None;
                };
                Some(SourcePodInFlight::Told(record, waiting))
            })),
        }
    }

    /// Whether the source has more pods in flight than it was asked for.
    pub(super) const fn has_more(&self) -> bool {
        match &self.account {
            PodOrigin::Tracked(_) => false,
            PodOrigin::Told(told) => told.has_more,
        }
    }

    /// The kubeconfig of the cluster, where its exporter names one.
    pub fn kubeconfig(&self) -> Option<&str> {
        self.freshness.as_ref()?.kubeconfig.as_deref()
    }

    /// The problems, with those of earlier listings; `None` where an exporter was not asked for them, or has no answer.
    pub fn problems(&mut self) -> Option<Problems> {
        let found = match &mut self.account {
            PodOrigin::Tracked(tracked) => tracked.problems(),
            PodOrigin::Told(told) => return told.problems.take(),
        };
        Some(Problems { clocks_ahead: self.clocks_ahead.clone(), ..found })
    }

    /// The rollouts, at most `limit`; `None` where an exporter was not asked for them.
    pub fn rollouts(&mut self, limit: usize) -> Option<Rollouts> {
        let found = match &mut self.account {
            PodOrigin::Tracked(tracked) => tracked.rollouts(),
            PodOrigin::Told(told) => return told.rollouts.take(),
        };
        let told = Rollouts::told(&found, &RolloutFilter::default(), limit);
        Some(Rollouts { clocks_ahead: self.clocks_ahead.clone(), ..told })
    }

    /// Explains the startup of `target`. Of a workload it is the pod in flight that was created first, or else
    /// the one that took longest, those whose times are known first; of several pods of one name, the newest.
    ///
    /// # Errors
    /// If there is no such startup.
    pub fn explanation(&mut self, target: &ExplainTarget) -> Result<Explanation, NoStartup> {
        let fitting = self.in_flight().filter(|pod| target.fits(pod.pod()));
        let in_flight: Vec<Record> = fitting.map(|pod| pod.record()).collect();
        let (mut ended, mut pods) = match &mut self.account {
            PodOrigin::Tracked(tracked) => tracked.ended(),
            PodOrigin::Told(told) => (told.ended(target), told.counted(target)),
        };
        pods.in_flight = in_flight.len() as u64;
        let chosen = choose_in_flight(target, in_flight).or_else(|| ended.take());
        let mut record = chosen.ok_or_else(|| self.excluded())?;
        let peers = self.peers(&record);
        let clock = match &self.account {
            PodOrigin::Tracked(tracked) => {
                record.pod.node.as_deref().and_then(|node| tracked.tracker.clock_off(node))
            }
            PodOrigin::Told(told) => {
                let mut clocks = told.clocks.iter();
                clocks.find(|clock| Some(&*clock.node) == record.pod.node.as_deref()).cloned()
            }
        };
        let mut doubts = self.doubts.clone();
        doubts.extend(clock.as_ref().map(node_clocks::doubt));
        doubts.extend(ClockAhead::line(&self.clocks_ahead));
        let now = self.now().unwrap_or(record.discovered);
        let seen = match &mut self.account {
            PodOrigin::Tracked(tracked) => tracked.seen(&mut record),
            PodOrigin::Told(told) => told.seen(&record),
        };
        let workload_pods = target.is_workload().then_some(pods);
        let context = ExplanationContext { peers, workload_pods, doubts, ..seen };
        let explanation = Explanation::new(&record, context, now);
        let explanation = Explanation { time: self.as_of, ..explanation };
        Ok(explanation.about_cluster(self.kubeconfig()))
    }

    /// The other pods that wait for the same as a pod in flight.
    fn peers(&self, record: &Record) -> Option<Peers> {
        let Progress::InFlight { waiting, .. } = record.progress else {
            return None;
        };
        let mut peers = Peers::new(waiting);
        for other in self.in_flight().filter(|other| other.uid() != record.uid) {
            peers.add(other.waiting(), other.pod());
        }
        Some(peers)
    }

    /// Why there is no startup of the target.
    fn excluded(&self) -> NoStartup {
        match &self.account {
            PodOrigin::Tracked(tracked) => tracked.kept.excluded.unwrap_or(NoStartup::Unknown),
            PodOrigin::Told(_) => NoStartup::Unknown,
        }
    }

    /// The worst startups of the pods that fit `target`.
    pub fn worst(&mut self, target: &ExplainTarget) -> Worst {
        let mut worst = match &mut self.account {
            PodOrigin::Tracked(tracked) => std::mem::take(&mut tracked.kept.worst),
            PodOrigin::Told(told) => told.worst(),
        };
        for pod in self.in_flight().filter(|pod| target.fits(pod.pod())) {
            let record = pod.record();
            let context = match &self.account {
                PodOrigin::Tracked(tracked) => tracked.kept.context(record.uid),
                PodOrigin::Told(_) => ExplanationContext::default(),
            };
            worst.add(&record, context, self.now().unwrap_or(record.discovered));
        }
        worst.clocks_ahead.clone_from(&self.clocks_ahead);
        worst.time = self.as_of;
        worst.sorted().about_cluster(self.kubeconfig())
    }
}

impl From<ExporterAnswer> for SourcePods {
    fn from(told: ExporterAnswer) -> Self {
        Self {
            fresh: told.freshness.as_ref().is_none_or(Freshness::is_fresh),
            freshness: told.freshness.clone(),
            account: PodOrigin::Told(Box::new(told)),
            clocks_ahead: Vec::new(),
            doubts: Vec::new(),
            as_of: None,
            other: None,
        }
    }
}

/// Of a workload, the pod that was created first; of several pods of one name, the newest.
fn choose_in_flight(target: &ExplainTarget, in_flight: Vec<Record>) -> Option<Record> {
    match target.is_workload() {
        true => in_flight.into_iter().min_by_key(created),
        false => in_flight.into_iter().max_by_key(created),
    }
}

/// When a pod was created, or at least was there.
fn created(record: &Record) -> (Timestamp, Reverse<PodUid>) {
    let times = record.milestones.iter().filter_map(|reached| reached.time);
    let first = times.min();
    (first.unwrap_or(record.discovered), Reverse(record.uid))
}
