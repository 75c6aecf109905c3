//! From documents back to records, for the commands that ask a running exporter.
//!
//! A document has the durations as floating-point seconds and of a container only whether it is an init
//! container; everything else that it has is read exactly.

use std::sync::Arc;
use std::time::Duration;

use super::model::{
    Cause, Container, Ended, Ending, InFlight, Interval, Milestone, NodeDetails, Pull, Slo,
    Startup, Termination, Unschedulable, Workload as Owner,
};
use crate::text::strangers_text::shown;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    self, ExclusionReason, IntervalResult, Latency, Progress, Record, RecordedCapacity,
    RecordedCause, RecordedContainer, RecordedImage, RecordedInterval, RecordedMilestone,
    RecordedPull, RecordedSlo, Selection, SloVerdict, WaitReason,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::{self, ContainerKind, PodInfo, PodUid, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;

/// A document that says something that this podinit does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is '{}'", shown(value))]
pub struct Unreadable {
    what: &'static str,
    value: String,
}

type Read<T> = Result<T, Unreadable>;

/// The record that a document was made of, without the probes, the labels and `hostNetwork` of the pod,
/// which it does not have.
///
/// # Errors
/// If the document has a value that is unknown here, as one of a newer podinit can.
pub fn record_of(startup: &Startup) -> Read<Record> {
    let pod = PodInfo {
        namespace: startup.namespace.as_str().into(),
        name: startup.name.as_str().into(),
        node: startup.node.as_deref().map(Arc::from),
        workload: startup.workload.as_ref().map(owner),
        ..PodInfo::default()
    };
    let network_time = startup.network_time.as_deref();
    let needed = startup.needed.as_ref();
    let capacity = needed.and_then(|needed| needed.capacity.as_deref());
    let images = needed.map(|needed| named("images", &needed.images));
    Ok(Record {
        startup_capacity: capacity.map(|text| named("capacity", text)).transpose()?,
        startup_images: images.transpose()?.unwrap_or_default(),
        node_labels: startup.node_details.as_ref().map(node_labels),
        uid: PodUid::from_text(&startup.uid),
        pod,
        discovered: time("discovered", &startup.discovered)?,
        progress: progress(startup)?,
        milestones: all(&startup.milestones, milestone)?,
        network_time: network_time
            .map(|text| named("network_time", text))
            .transpose()?,
        intervals: all(&startup.intervals, interval)?,
        containers: all(&startup.containers, container)?,
        message: startup.message.as_deref().map(Arc::from),
        ending: (startup.ended.as_ref())
            .and_then(|ended| ended.status.as_ref())
            .map(ending)
            .transpose()?,
        unschedulable: startup
            .unschedulable
            .as_ref()
            .map(unschedulable)
            .transpose()?,
        pulls: all(&startup.pulls, pull)?,
        causes: all(&startup.causes, cause)?,
        slos: all(&startup.slos, slo)?,
    })
}

/// The instant that a document states.
///
/// # Errors
/// If it is none.
pub fn time(what: &'static str, text: &str) -> Read<Timestamp> {
    rfc3339::parse(text).ok_or_else(|| unreadable(what, text))
}

fn unreadable(what: &'static str, value: &str) -> Unreadable {
    let value = value.chars().take(80).collect();
    Unreadable { what, value }
}

fn named<T: LabelValue>(what: &'static str, text: &str) -> Read<T> {
    T::from_text(text).ok_or_else(|| unreadable(what, text))
}

fn optional_time(what: &'static str, text: Option<&String>) -> Read<Option<Timestamp>> {
    text.map(|text| time(what, text)).transpose()
}

fn all<D, T>(documents: &[D], read: impl Fn(&D) -> Read<T>) -> Read<Vec<T>> {
    documents.iter().map(read).collect()
}

fn owner(owner: &Owner) -> Arc<Workload> {
    Arc::new(Workload {
        kind: owner.kind.as_str().into(),
        name: owner.name.as_str().into(),
    })
}

fn node_labels(details: &NodeDetails) -> Arc<NodeLabels> {
    Arc::new(NodeLabels {
        pool: NodeLabels::value(&details.pool),
        zone: NodeLabels::value(&details.zone),
        instance_type: NodeLabels::value(&details.instance_type),
        arch: NodeLabels::value(&details.arch),
        capacity_type: NodeLabels::value(&details.capacity_type),
        kubelet_version: NodeLabels::value(&details.kubelet_version),
    })
}

fn ending(document: &Ending) -> Read<Box<pod::Ending>> {
    let owned = |text: &Option<String>| text.as_deref().map(Box::from);
    let termination = |one: &Termination| {
        Ok(pod::Termination {
            container: usize::try_from(one.container).unwrap_or(usize::MAX),
            started: optional_time("started", one.started.as_ref())?,
            finished: optional_time("finished", one.finished.as_ref())?,
            exit_code: one.exit_code,
            signal: one.signal,
            reason: owned(&one.reason),
            message: owned(&one.message),
            restarts: one.restarts,
        })
    };
    Ok(Box::new(pod::Ending {
        at: optional_time("the time of the end", document.time.as_ref())?,
        reason: owned(&document.reason),
        message: owned(&document.message),
        containers: all(&document.containers, termination)?,
    }))
}

fn progress(startup: &Startup) -> Read<Progress> {
    match (&startup.in_flight, &startup.ended) {
        (Some(in_flight), None) => progress_in_flight(in_flight),
        (
            None,
            Some(Ended {
                outcome, time: at, ..
            }),
        ) => Ok(Progress::Ended {
            outcome: named("outcome", outcome)?,
            at: time("the time of the end", at)?,
        }),
        _ => Err(unreadable("whether it is in flight or has ended", "")),
    }
}

fn progress_in_flight(in_flight: &InFlight) -> Read<Progress> {
    let entered = time("entered", &in_flight.entered)?;
    let stuck_at = time("stuck_at", &in_flight.stuck_at)?;
    let stuck_after = u64::try_from(stuck_at.nanos_since(entered)).unwrap_or(0);
    Ok(Progress::InFlight {
        waiting: waiting(&in_flight.stage, &in_flight.cause)?,
        entered,
        stuck_after: Duration::from_nanos(stuck_after),
        is_stuck: in_flight.stuck,
    })
}

fn waiting(stage: &str, cause: &str) -> Read<WaitReason> {
    WaitReason::new(named("stage", stage)?, named("cause", cause)?)
        .ok_or_else(|| unreadable("the cause of the stage", cause))
}

fn milestone(document: &Milestone) -> Read<RecordedMilestone> {
    let at = optional_time("the time of a milestone", document.time.as_ref())?;
    let source = document.source.as_deref();
    let source = source.map(|text| named("source", text)).transpose()?;
    Ok(RecordedMilestone {
        milestone: named("milestone", &document.milestone)?,
        time: at.zip(source),
    })
}

fn interval(document: &Interval) -> Read<RecordedInterval> {
    let result = match (document.result.as_str(), document.seconds, &document.reason) {
        ("open", ..) => IntervalResult::Open,
        ("measured", Some(seconds), _) => IntervalResult::Measured(latency(seconds)),
        ("unobserved", _, Some(reason)) => IntervalResult::Unobserved(named("reason", reason)?),
        (other, ..) => return Err(unreadable("the result of an interval", other)),
    };
    Ok(RecordedInterval {
        interval: named::<lifecycle::Interval>("interval", &document.interval)?,
        began: optional_time("began", document.began.as_ref())?,
        ended: optional_time("ended", document.ended.as_ref())?,
        result,
    })
}

/// Rounded: the document has a binary fraction. What is no duration counts as none.
fn latency(seconds: f64) -> Latency {
    Latency::from_nanos((seconds * 1e9).round() as u64)
}

fn container(document: &Container) -> Read<RecordedContainer> {
    let problem = document.problem.as_deref();
    Ok(RecordedContainer {
        name: document.name.as_str().into(),
        kind: kind(document.init),
        image: document.image.as_deref().map(Arc::from),
        problem: problem.map(|text| named("problem", text)).transpose()?,
    })
}

const fn kind(init: bool) -> ContainerKind {
    match init {
        true => ContainerKind::Init,
        false => ContainerKind::Regular,
    }
}

fn unschedulable(document: &Unschedulable) -> Read<RecordedCapacity> {
    Ok(RecordedCapacity {
        state: named("capacity", &document.capacity)?,
        by: document.by.as_deref().map(Arc::from),
        since: optional_time("since", document.since.as_ref())?,
        message: document.message.as_deref().map(Arc::from),
    })
}

fn pull(document: &Pull) -> Read<RecordedPull> {
    let image = match (document.image.as_str(), document.seconds) {
        ("unknown", _) => RecordedImage::Unknown,
        ("present", _) => RecordedImage::Present,
        ("pulled", Some(seconds)) => RecordedImage::Pulled {
            ended: optional_time("the end of a pull", document.ended.as_ref())?,
            with_wait: Duration::from_nanos(latency(seconds).as_nanos()),
        },
        (other, _) => return Err(unreadable("image", other)),
    };
    Ok(RecordedPull {
        container: document.container.as_str().into(),
        kind: kind(document.init),
        registry: document.registry.as_str().into(),
        has_failed: document.failed,
        image,
    })
}

fn cause(document: &Cause) -> Read<RecordedCause> {
    Ok(RecordedCause {
        waiting: waiting(&document.stage, &document.cause)?,
        began: time("the begin of a cause", &document.began)?,
        container: None,
    })
}

fn slo(document: &Slo) -> Read<RecordedSlo> {
    let verdict = match document.result.as_str() {
        "undecided" => None,
        "good" => Some(SloVerdict::Good),
        "bad" => Some(SloVerdict::Bad(match (&document.stage, &document.cause) {
            (Some(stage), Some(cause)) => Some(waiting(stage, cause)?),
            _ => None,
        })),
        "excluded" => Some(SloVerdict::Excluded(excluded(document)?)),
        other => return Err(unreadable("the result of an SLO", other)),
    };
    Ok(RecordedSlo {
        slo: document.slo.as_str().into(),
        deadline: optional_time("deadline", document.deadline.as_ref())?,
        verdict,
        selection: Selection {
            existing_capacity: document.capacity.is_some(),
            present_images: document.images.is_some(),
        },
    })
}

fn excluded(document: &Slo) -> Read<ExclusionReason> {
    let text = document.reason.as_deref().unwrap_or_default();
    let mut reasons = ExclusionReason::ALL.into_iter();
    let reason = reasons.find(|reason| reason.as_str() == text);
    reason.ok_or_else(|| unreadable("reason", text))
}
