//! From records to documents.

use super::continue_token;
use super::model::{
    Cause, Container, Ended, Ending, InFlight, Interval, Milestone, Needed, NodeDetails, Page,
    Pull, Slo, Startup, Termination, Unschedulable, Workload,
};
use crate::inspect::freshness::Freshness;
use crate::inspect::records::Answer;
use podinit_core::image_registry;
use podinit_core::lifecycle::{
    self, IntervalResult, Progress, Record, RecordedCapacity, RecordedCause, RecordedContainer,
    RecordedImage, RecordedInterval, RecordedMilestone, RecordedPull, RecordedSlo, SloVerdict,
    StageOrStep, StartupCapacity, StartupImages,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::{self, ContainerKind};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;

/// The page with an answer that can be trusted so far. `label_keys` are the keys of the chosen pod labels.
pub fn page_of(answer: &Answer, label_keys: &[String], freshness: Freshness) -> Page {
    let records = answer.records.iter();
    Page {
        time: answer.now.map(text),
        fresh: freshness.is_fresh(),
        freshness: Some(freshness),
        items: records
            .map(|record| startup_of(record, label_keys))
            .collect(),
        next: answer.next.map(continue_token::write),
    }
}

/// The document of a record. `label_keys` are the keys of the chosen pod labels.
pub fn startup_of(record: &Record, label_keys: &[String]) -> Startup {
    let pod = &record.pod;
    let workload = pod.workload.as_ref().map(|workload| Workload {
        kind: workload.kind.to_string(),
        name: workload.name.to_string(),
    });
    let labels = label_keys.iter().zip(pod.pod_labels.iter());
    let labels = labels.filter(|(_, value)| !value.is_empty());
    let (in_flight, ended) = progress(record.progress);
    let ended = ended.map(|ended| Ended {
        status: record.ending.as_deref().map(Ending::from),
        ..ended
    });
    Startup {
        uid: record.uid.to_string(),
        namespace: pod.namespace.to_string(),
        name: pod.name.to_string(),
        node: pod.node.as_ref().map(ToString::to_string),
        workload,
        labels: labels
            .map(|(key, value)| (key.clone(), value.to_string()))
            .collect(),
        discovered: text(record.discovered),
        in_flight,
        ended,
        node_details: record.node_labels.as_deref().map(NodeDetails::from),
        needed: needed(record),
        milestones: record.milestones.iter().map(Milestone::from).collect(),
        network_time: record.network_time.map(|time| time.as_str().to_owned()),
        intervals: record.intervals.iter().map(Interval::from).collect(),
        containers: record.containers.iter().map(Container::from).collect(),
        image: record.image().map(ToString::to_string),
        message: record.message.as_deref().map(str::to_owned),
        unschedulable: record.unschedulable.as_ref().map(Unschedulable::from),
        pulls: record.pulls.iter().map(Pull::from).collect(),
        causes: record.causes.iter().map(Cause::from).collect(),
        slos: record.slos.iter().map(Slo::from).collect(),
    }
}

fn needed(record: &Record) -> Option<Needed> {
    let (capacity, images) = (record.startup_capacity, record.startup_images);
    let is_known = capacity.is_some() || images != StartupImages::Unknown;
    is_known.then(|| Needed {
        capacity: capacity.map(|capacity| capacity.as_str().to_owned()),
        images: images.as_str().to_owned(),
    })
}

impl From<&pod::Ending> for Ending {
    fn from(ending: &pod::Ending) -> Self {
        let owned = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        let containers = ending.containers.iter().map(|one| Termination {
            container: one.container as u64,
            started: one.started.map(text),
            finished: one.finished.map(text),
            exit_code: one.exit_code,
            signal: one.signal,
            reason: owned(&one.reason),
            message: owned(&one.message),
            restarts: one.restarts,
        });
        Self {
            time: ending.at.map(text),
            reason: owned(&ending.reason),
            message: owned(&ending.message),
            containers: containers.collect(),
        }
    }
}

impl From<&NodeLabels> for NodeDetails {
    fn from(node: &NodeLabels) -> Self {
        Self {
            pool: node.pool.to_string(),
            zone: node.zone.to_string(),
            instance_type: node.instance_type.to_string(),
            arch: node.arch.to_string(),
            capacity_type: node.capacity_type.to_string(),
            kubelet_version: node.kubelet_version.to_string(),
        }
    }
}

fn text(at: Timestamp) -> String {
    rfc3339::format(at)
}

fn progress(progress: Progress) -> (Option<InFlight>, Option<Ended>) {
    match progress {
        Progress::InFlight {
            waiting,
            entered,
            stuck_after,
            is_stuck,
        } => {
            let in_flight = InFlight {
                stage: waiting.stage().as_str().to_owned(),
                cause: waiting.cause().as_str().to_owned(),
                entered: text(entered),
                stuck_at: text(entered.plus(stuck_after)),
                stuck: is_stuck,
            };
            (Some(in_flight), None)
        }
        Progress::Ended { outcome, at } => {
            let ended = Ended {
                outcome: outcome.as_str().to_owned(),
                time: text(at),
                status: None,
            };
            (None, Some(ended))
        }
    }
}

impl From<&RecordedMilestone> for Milestone {
    fn from(recorded: &RecordedMilestone) -> Self {
        Self {
            milestone: recorded.milestone.as_str().to_owned(),
            time: recorded.time.map(|(at, _)| text(at)),
            source: recorded.time.map(|(_, source)| source.as_str().to_owned()),
        }
    }
}

impl From<&RecordedInterval> for Interval {
    fn from(recorded: &RecordedInterval) -> Self {
        let (result, seconds, reason) = match recorded.result {
            IntervalResult::Open => ("open", None, None),
            IntervalResult::Measured(latency) => ("measured", Some(latency.as_seconds_f64()), None),
            IntervalResult::Unobserved(reason) => ("unobserved", None, Some(reason.as_str())),
        };
        Self {
            interval: recorded.interval.as_str().to_owned(),
            kind: kind_of(recorded.interval).to_owned(),
            began: recorded.began.map(text),
            ended: recorded.ended.map(text),
            result: result.to_owned(),
            seconds,
            reason: reason.map(ToOwned::to_owned),
        }
    }
}

const fn kind_of(interval: lifecycle::Interval) -> &'static str {
    match interval.stage_or_step() {
        Some(StageOrStep::Stage(_)) => "stage",
        Some(StageOrStep::Step(_)) => "step",
        None => "whole",
    }
}

impl From<&RecordedContainer> for Container {
    fn from(recorded: &RecordedContainer) -> Self {
        let image = recorded.image.as_deref();
        Self {
            name: recorded.name.to_string(),
            init: recorded.kind != ContainerKind::Regular,
            image: image.map(str::to_owned),
            registry: image.map(|image| image_registry::of(image).to_owned()),
            problem: recorded.problem.map(|cause| cause.as_str().to_owned()),
        }
    }
}

impl From<&RecordedCapacity> for Unschedulable {
    fn from(recorded: &RecordedCapacity) -> Self {
        Self {
            capacity: recorded.state.as_str().to_owned(),
            by: recorded.by.as_deref().map(str::to_owned),
            since: recorded.since.map(text),
            message: recorded.message.as_deref().map(str::to_owned),
        }
    }
}

impl From<&RecordedPull> for Pull {
    fn from(recorded: &RecordedPull) -> Self {
        let (image, ended, seconds) = match recorded.image {
            RecordedImage::Unknown => ("unknown", None, None),
            RecordedImage::Present => ("present", None, None),
            RecordedImage::Pulled { ended, with_wait } => {
                ("pulled", ended, Some(with_wait.as_secs_f64()))
            }
        };
        Self {
            container: recorded.container.to_string(),
            init: recorded.kind != ContainerKind::Regular,
            registry: recorded.registry.to_string(),
            image: image.to_owned(),
            failed: recorded.has_failed,
            ended: ended.map(text),
            seconds,
        }
    }
}

impl From<&RecordedCause> for Cause {
    fn from(recorded: &RecordedCause) -> Self {
        Self {
            stage: recorded.waiting.stage().as_str().to_owned(),
            cause: recorded.waiting.cause().as_str().to_owned(),
            began: text(recorded.began),
        }
    }
}

impl From<&RecordedSlo> for Slo {
    fn from(recorded: &RecordedSlo) -> Self {
        let (result, waiting, reason) = match recorded.verdict {
            None => ("undecided", None, None),
            Some(SloVerdict::Good) => ("good", None, None),
            Some(SloVerdict::Bad(waiting)) => ("bad", waiting, None),
            Some(SloVerdict::Excluded(reason)) => ("excluded", None, Some(reason.as_str())),
        };
        Self {
            slo: recorded.slo.to_string(),
            result: result.to_owned(),
            deadline: recorded.deadline.map(text),
            stage: waiting.map(|waiting| waiting.stage().as_str().to_owned()),
            cause: waiting.map(|waiting| waiting.cause().as_str().to_owned()),
            reason: reason.map(ToOwned::to_owned),
            capacity: (recorded.selection.existing_capacity)
                .then(|| StartupCapacity::Existing.as_str().to_owned()),
            images: (recorded.selection.present_images)
                .then(|| StartupImages::Present.as_str().to_owned()),
        }
    }
}
