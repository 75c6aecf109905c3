//! Where the time of a startup went: a split without gaps or overlaps, from its begin to its end.

use serde::Serialize;

use super::ended::ExplainedEnd;
use super::new_node;
use podinit_core::label_values;
use podinit_core::lifecycle::{
    Cause, Interval, IntervalResult, Milestone, NetworkTime, Outcome, Progress, Record,
    RecordedImage, RecordedInterval, RecordedPull, Stage, UnobservedReason,
};
use podinit_core::timestamp::Timestamp;

label_values! {
    /// What a startup spends its time on, in words.
    pub enum StartupPart {
        Gates => "scheduling gates",
        Scheduling => "scheduling",
        BeforeBinding => "before binding",
        Acknowledge => "the kubelet of its node",
        NewNode => "a node that had to start",
        Network => "network",
        NetworkOrPull => "network or image pull",
        InitContainers => "init containers",
        Image => "image",
        FailingPull => "an image that cannot be pulled",
        Create => "creating containers",
        Application => "application",
        Containers => "containers",
        ReadinessGates => "readiness gates",
        Run => "running",
        Unknown => "not known",
    }
}

/// How much of a startup a part took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Share {
    pub part: &'static str,
    pub seconds: f64,
    /// Of the whole, from 0 to 1
    pub share: f64,
}

/// The parts of a startup that took any time from `began` to `end`, the longest first.
pub(super) fn shares(
    record: &Record,
    ended: &ExplainedEnd,
    (began, end): (Timestamp, Timestamp),
) -> Vec<Share> {
    let pulls = pulls(record);
    let mut nanos = [0_i64; StartupPart::ALL.len()];
    for (part, from, to) in segments(record, ended, end) {
        let all = to.nanos_since(from).max(0);
        let pulled: i64 = pulls.iter().map(|pull| overlap(*pull, (from, to))).sum();
        nanos[part as usize] += all - pulled;
        nanos[StartupPart::Image as usize] += pulled;
    }
    if record.outcome() == Some(Outcome::Ready) && record.intervals.iter().any(was_never_judged) {
        let known: i64 = nanos.iter().sum();
        nanos[StartupPart::Unknown as usize] = (end.nanos_since(began) - known).max(0);
    }
    let total: i64 = nanos.iter().sum();
    let mut shares: Vec<Share> = StartupPart::ALL
        .into_iter()
        .zip(nanos)
        .filter(|(_, nanos)| *nanos > 0)
        .map(|(part, nanos)| Share {
            part: part.as_str(),
            seconds: nanos as f64 / 1e9,
            share: nanos as f64 / total as f64,
        })
        .collect();
    shares.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    shares
}

/// Whether nothing says when a stage ended that has ended: its condition was never seen, or never True.
fn was_never_judged(recorded: &RecordedInterval) -> bool {
    matches!(recorded.interval, Interval::Stage(_))
        && matches!(recorded.result, IntervalResult::Unobserved { .. })
        && recorded.ended.is_none()
}

/// The stages with known ends, one after the other; `containers` in two where its containers' start is
/// known. What is open lasts until `end`; of a pod that had ended when it was first seen, what its
/// containers say takes the place of that.
fn segments(
    record: &Record,
    ended: &ExplainedEnd,
    end: Timestamp,
) -> Vec<(StartupPart, Timestamp, Timestamp)> {
    let mut segments = Vec::new();
    for recorded in &record.intervals {
        let (Interval::Stage(stage), Some(from)) = (recorded.interval, recorded.began) else {
            continue;
        };
        if ended.is_over_at_first_sight && recorded.ended.is_none() {
            continue;
        }
        if was_never_judged(recorded) {
            if stage == Stage::Network {
                add_starts(&mut segments, record, from, end);
            }
            continue;
        }
        let mut to = recorded.ended.unwrap_or(end).min(end).max(from);
        if recorded.ended.is_none()
            && let Some(since) = pull_fails_since(record)
        {
            let since = since.clamp(from, to);
            segments.push((StartupPart::FailingPull, since, to));
            to = since;
        }
        let whole = match stage {
            Stage::Gated => StartupPart::Gates,
            Stage::Unschedulable if new_node::waited(record) => StartupPart::NewNode,
            Stage::Scheduling | Stage::Unschedulable if waited_for_kubelet(record) => {
                StartupPart::Acknowledge
            }
            Stage::Scheduling | Stage::Unschedulable if is_before_binding(recorded, ended) => {
                StartupPart::BeforeBinding
            }
            Stage::Scheduling | Stage::Unschedulable => StartupPart::Scheduling,
            Stage::Network => network(record),
            Stage::Init => StartupPart::InitContainers,
            Stage::Readiness => StartupPart::ReadinessGates,
            Stage::Containers => {
                match started(record) {
                    Some(started) => {
                        let started = started.clamp(from, to);
                        segments.push((StartupPart::Create, from, started));
                        segments.push((StartupPart::Application, started, to));
                    }
                    None => segments.push((StartupPart::Containers, from, to)),
                }
                continue;
            }
        };
        segments.push((whole, from, to));
    }
    if ended.is_over_at_first_sight {
        add_runs(&mut segments, record, ended, end);
    }
    segments
}

/// Since when the image pulls of a pod in flight fail; `None` if they do not.
fn pull_fails_since(record: &Record) -> Option<Timestamp> {
    if record.outcome().is_some() {
        return None;
    }
    let newest_first = record.causes.iter().rev();
    let failing = newest_first.take_while(|cause| cause.waiting.cause() == Cause::Image);
    failing.last().map(|cause| cause.began)
}

/// Whether an interval is of a pod that was bound before anything could be seen of what it waited for.
pub(super) fn is_before_binding(recorded: &RecordedInterval, ended: &ExplainedEnd) -> bool {
    let is_preexisting = IntervalResult::Unobserved { reason: UnobservedReason::Preexisting };
    let stage =
        matches!(recorded.interval, Interval::Stage(Stage::Scheduling | Stage::Unschedulable));
    stage
        && recorded.ended.is_some()
        && (ended.is_bound_at_first_sight || recorded.result == is_preexisting)
}

/// Adds the segments by the starts of containers, for a pod without a network condition: old kubelets and virtual ones
/// have none. With init containers, what came before is unknown.
fn add_starts(
    segments: &mut Vec<(StartupPart, Timestamp, Timestamp)>,
    record: &Record,
    from: Timestamp,
    end: Timestamp,
) {
    let Some(started) = started(record) else {
        return;
    };
    let started = started.clamp(from, end.max(from));
    if !record.containers.iter().any(|container| container.init) {
        segments.push((StartupPart::NetworkOrPull, from, started));
    }
    let ready = record.reached(Milestone::ContainersReady).unwrap_or(end);
    segments.push((StartupPart::Application, started, ready.clamp(started, end.max(started))));
}

/// Adds the segments by the runs of containers, for a pod that had ended when it was first seen.
fn add_runs(
    segments: &mut Vec<(StartupPart, Timestamp, Timestamp)>,
    record: &Record,
    ended: &ExplainedEnd,
    end: Timestamp,
) {
    let (init, regular) = (ended.run(record, true), ended.run(record, false));
    let Some((first, _)) = init.or(regular) else {
        return;
    };
    let known = segments.iter().map(|(_, _, to)| *to).max();
    let from = known.or_else(|| record.reached(Milestone::Scheduled));
    let from = from.unwrap_or(first).min(first);
    let waits = match record.reached(Milestone::NetworkReady) {
        Some(_) => StartupPart::Create,
        None => StartupPart::NetworkOrPull,
    };
    segments.push((waits, from, first));
    let started = regular.map_or(end, |(started, _)| started);
    if let Some((from, _)) = init {
        segments.push((StartupPart::InitContainers, from, started.max(from)));
    }
    segments.push((StartupPart::Run, started, end.max(started)));
}

/// Whether no scheduler had a part in a startup: the pod came with a node, and only waited until the kubelet took it
/// ([§10.1](crate::specification#s10-1)).
fn waited_for_kubelet(record: &Record) -> bool {
    let is_of_stage = |stage| matches!(stage, Stage::Scheduling | Stage::Unschedulable);
    let causes = record.causes.iter().map(|cause| cause.waiting);
    let mut causes = causes.filter(|waiting| is_of_stage(waiting.stage())).peekable();
    causes.peek().is_some() && causes.all(|waiting| waiting.cause() == Cause::Acknowledge)
}

/// What the stage `network` was. Kubelets up to 1.35 state only with the first container that the network was ready
/// ([§1.3](crate::specification#s1-3)); then only Events separate image pulls from it.
fn network(record: &Record) -> StartupPart {
    let mut pulls = record.pulls.iter();
    let is_told_apart = pulls.any(|pull| pull.image != RecordedImage::Unknown);
    let may_include_pulls = match record.progress {
        Progress::InFlight { waiting, .. } if waiting.stage() == Stage::Network => {
            waiting.cause() == Cause::Unknown
        }
        _ => (record.network_time).is_some_and(NetworkTime::may_include_pulls),
    };
    match may_include_pulls && !is_told_apart {
        true => StartupPart::NetworkOrPull,
        false => StartupPart::Network,
    }
}

/// When all containers had started; `None` where that is unknown.
fn started(record: &Record) -> Option<Timestamp> {
    record.reached(Milestone::ContainersStarted)
}

/// When images were pulled, the waits in the kubelet's queue included: intervals that do not overlap.
fn pulls(record: &Record) -> Vec<(Timestamp, Timestamp)> {
    let pulls = record.pulls.iter().filter_map(RecordedPull::span);
    let mut pulls: Vec<_> = pulls.collect();
    pulls.sort_unstable();
    let mut union: Vec<(Timestamp, Timestamp)> = Vec::new();
    for (from, to) in pulls {
        match union.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => union.push((from, to)),
        }
    }
    union
}

/// The nanoseconds that two intervals have in common.
fn overlap(one: (Timestamp, Timestamp), other: (Timestamp, Timestamp)) -> i64 {
    let (from, to) = (one.0.max(other.0), one.1.min(other.1));
    to.nanos_since(from).max(0)
}
