//! From what the tracker knows of a pod in flight to its record.

use std::sync::Arc;

use super::{
    IntervalKind, IntervalResult, MilestoneSource, Needed, Progress, Record, RecordedCause,
    RecordedContainer, RecordedImage, RecordedInterval, RecordedMilestone, RecordedPull,
    RecordedSlo,
};
use crate::image_registry;
use crate::lifecycle::capacity::RecordedCapacity;
use crate::lifecycle::cause::{Cause, ContainerEvidence};
use crate::lifecycle::image_pulls::Image;
use crate::lifecycle::interval::{Interval, Stage};
use crate::lifecycle::judgement::DurationJudgement;
use crate::lifecycle::judgement::{Latency, UnobservedReason};
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::network_evidence::NetworkEvidence;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::{PodInFlight, SharedState};
use crate::lifecycle::pod_node::{NodeAge, StartupImages};
use crate::lifecycle::reached::Reached;
use crate::lifecycle::slo::SloRule;
use crate::lifecycle::startup::Startup;
use crate::pod::{ContainerKind, Ending};
use crate::timestamp::Timestamp;

impl PodInFlight {
    /// The record of the pod, whose startup is under way.
    pub(in crate::lifecycle) fn record_in_flight(&self, shared: &SharedState) -> Record {
        let stage = self.waiting.stage();
        let (_, entered) = self.entry().unwrap_or((stage, self.discovered));
        let progress = Progress::InFlight {
            waiting: self.waiting,
            entered,
            stuck_at: entered.plus(shared.stuck_after(stage)),
            is_stuck: self.stuck.is_some(),
            is_never_ready: self.startup.traits.is_never_ready(),
        };
        let record = self.record(progress, None, &shared.rules);
        let of_node = self.said_of_node(shared);
        Record {
            node_labels: shared.newest_labels(&self.info).cloned(),
            message: of_node.map(Arc::from).or(record.message),
            unschedulable: record.unschedulable.map(|capacity| RecordedCapacity {
                choices: self.capacity.choices(shared.nodes.as_ref()),
                ..capacity
            }),
            ..record
        }
    }

    /// The record of the pod, whose startup ended at `at`.
    pub(in crate::lifecycle) fn record_ended(
        &self,
        outcome: Outcome,
        at: Timestamp,
        ending: Option<Box<Ending>>,
        rules: &[SloRule],
    ) -> Record {
        let progress = Progress::Ended { outcome, at, ending };
        self.record(progress, Some(outcome), rules)
    }

    fn record(&self, progress: Progress, outcome: Option<Outcome>, rules: &[SloRule]) -> Record {
        let startup = &self.startup;
        let mut record = Record {
            uid: self.uid,
            pod: self.info.clone(),
            discovered: self.discovered,
            progress,
            milestones: startup.recorded_milestones(),
            gates: startup.recorded_gates(),
            custom_milestones: startup.recorded_custom_milestones(outcome),
            needed: Needed {
                capacity: startup.node.as_ref().map(|node| node.age),
                images: match self.images.0.is_empty() {
                    true => StartupImages::Unknown,
                    false => {
                        StartupImages::from_pulls(&self.images, self.evidence.containers.len())
                    }
                },
            },
            node_labels: startup.node.as_ref().and_then(|node| node.labels.clone()),
            network_time: startup.network_time,
            intervals: startup.recorded_intervals(outcome),
            containers: self.recorded_containers(outcome.is_none()),
            image: None,
            message: self.told().map(Arc::from),
            unschedulable: self.recorded_capacity(),
            pulls: self.recorded_pulls(),
            causes: self.recorded_causes().collect(),
            slos: self.recorded_slos(rules),
            claims: startup.traits.claims(),
            relapse: None,
        };
        record.image = record.decisive_image().cloned();
        record
    }

    /// The last causes, the oldest first.
    pub(in crate::lifecycle) fn recorded_causes(&self) -> impl Iterator<Item = RecordedCause> {
        // As long as the cause has not changed, the log is empty.
        let first = RecordedCause {
            waiting: self.waiting,
            began: self.discovered,
            container: self.container,
        };
        let only = self.causes.is_empty().then_some(first);
        let mut logged = self.causes.clone();
        logged.set_container(self.container);
        only.into_iter().chain(logged.into_causes())
    }

    fn recorded_containers(&self, in_flight: bool) -> Vec<RecordedContainer> {
        // A container that has ended well is a problem only of a startup that waits for it to be ready.
        let exited = |container: &ContainerEvidence| {
            (in_flight && container.has_exited()).then_some(Cause::Exited)
        };
        let images = self.info.images.iter().flat_map(|images| images.iter());
        let images = images.map(|image| (!image.is_empty()).then(|| Arc::clone(image)));
        let containers = self.evidence.containers.iter();
        let recorded = containers.zip(images.chain(std::iter::repeat(None)));
        let volume_image = self.volume_image().filter(|_| in_flight);
        recorded
            .enumerate()
            .map(|(position, (container, image))| RecordedContainer {
                volume_image: volume_image
                    .filter(|_| self.container.map(usize::from) == Some(position))
                    .cloned(),
                name: Arc::clone(&container.name),
                init: container.kind != ContainerKind::Regular,
                is_sidecar: container.kind == ContainerKind::RestartableInit,
                registry: image.as_deref().map(|image| image_registry::registry_of(image).into()),
                image,
                problem: container.problem.or_else(|| exited(container)),
            })
            .collect()
    }

    fn recorded_capacity(&self) -> Option<RecordedCapacity> {
        let was_unschedulable = self.startup.applies(Interval::Stage(Stage::Unschedulable));
        self.capacity.recorded().filter(|_| was_unschedulable)
    }

    fn recorded_pulls(&self) -> Vec<RecordedPull> {
        let pulls = self.images.0.iter().zip(&self.evidence.containers);
        let recorded = pulls.filter_map(|(pull, container)| {
            let registry = pull.registry.as_ref()?;
            Some(RecordedPull {
                container: Arc::clone(&container.name),
                init: container.kind != ContainerKind::Regular,
                registry: Arc::clone(registry),
                has_failed: pull.has_failed(),
                image: match pull.image() {
                    Image::Unknown => RecordedImage::Unknown,
                    Image::Present => RecordedImage::Present,
                    Image::Pulled { end, with_wait } => {
                        RecordedImage::Pulled { ended: end, with_wait: with_wait.into() }
                    }
                },
            })
        });
        recorded.collect()
    }

    fn recorded_slos(&self, rules: &[SloRule]) -> Vec<RecordedSlo> {
        let results = self.slos.results(rules, &self.startup);
        let recorded = results.map(|(rule, deadline, verdict)| RecordedSlo {
            slo: Arc::clone(&rule.name),
            deadline,
            result: verdict.into(),
            capacity: (rule.selection.existing_capacity).then_some(NodeAge::Existing),
            images: (rule.selection.present_images).then_some(StartupImages::Present),
        });
        recorded.collect()
    }
}

impl Startup {
    /// The duration of `interval`, where it was observed.
    pub(in crate::lifecycle) fn observed(&self, interval: Interval) -> Option<Latency> {
        match self.result(interval, None)? {
            IntervalResult::Measured { seconds } => Some(seconds),
            IntervalResult::Open | IntervalResult::Unobserved { .. } => None,
        }
    }

    fn recorded_milestones(&self) -> Vec<RecordedMilestone> {
        let all = Milestone::ALL.into_iter();
        let reached = all.filter_map(|milestone| match self.reached(milestone) {
            Reached::No => None,
            Reached::At(_) if milestone == Milestone::Scheduled && self.is_sharpened() => {
                Some(RecordedMilestone {
                    milestone,
                    time: self.bound().usable(),
                    source: Some(MilestoneSource::Event),
                })
            }
            Reached::At(at) => Some(RecordedMilestone {
                milestone,
                time: at,
                source: at.map(|_| self.source(milestone)),
            }),
        });
        reached.collect()
    }

    /// What gives the time of a milestone.
    fn source(&self, milestone: Milestone) -> MilestoneSource {
        match milestone {
            Milestone::Created => MilestoneSource::CreationTimestamp,
            Milestone::Ungated => MilestoneSource::Watch,
            Milestone::Acknowledged => MilestoneSource::StartTime,
            Milestone::ContainersStarted => MilestoneSource::Container,
            Milestone::NetworkReady => match self.network_evidence {
                NetworkEvidence::Condition => MilestoneSource::Condition,
                NetworkEvidence::Container => MilestoneSource::Container,
                NetworkEvidence::Event => MilestoneSource::Event,
            },
            Milestone::Scheduled
            | Milestone::Initialized
            | Milestone::ContainersReady
            | Milestone::Ready => MilestoneSource::Condition,
        }
    }

    fn recorded_intervals(&self, outcome: Option<Outcome>) -> Vec<RecordedInterval> {
        let all = Interval::ALL.into_iter();
        let recorded = all.filter_map(|interval| {
            Some(RecordedInterval {
                interval,
                kind: IntervalKind::from_interval(interval),
                began: self.start(interval).usable(),
                ended: self.end(interval).usable(),
                result: self.result(interval, outcome)?,
            })
        });
        recorded.collect()
    }

    /// What became of `interval` in a startup that ended with `outcome`, or is under way; `None` where
    /// it does not apply or has not begun.
    fn result(&self, interval: Interval, outcome: Option<Outcome>) -> Option<IntervalResult> {
        if !self.applies(interval) {
            return None;
        }
        if self.preexisting.contains(interval) {
            let reason = UnobservedReason::Preexisting;
            return Some(IntervalResult::Unobserved { reason });
        }
        match (self.start(interval), self.end(interval)) {
            (Reached::At(from), Reached::At(to)) if self.is_decided(interval) => {
                Some(match DurationJudgement::from_times(from, to) {
                    DurationJudgement::Usable { latency, .. } => {
                        IntervalResult::Measured { seconds: latency }
                    }
                    DurationJudgement::Unusable(_) => {
                        IntervalResult::Unobserved { reason: UnobservedReason::Time }
                    }
                })
            }
            _ if matches!(outcome, Some(Outcome::Ready | Outcome::Completed)) => {
                let reason = self.unobserved(interval);
                Some(IntervalResult::Unobserved { reason })
            }
            (Reached::At(_), _) => Some(IntervalResult::Open),
            (Reached::No, _) => None,
        }
    }
}
