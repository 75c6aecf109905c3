//! Where the time of a startup went: a split without gaps or overlaps, from its begin to its end.

use serde::Serialize;

use crate::label_values;
use crate::lifecycle::{Interval, Milestone, Record, RecordedPull, Stage};
use crate::timestamp::Timestamp;

label_values! {
    /// What a startup spends its time on, in words.
    pub enum Part {
        Gates => "scheduling gates",
        Scheduling => "scheduling",
        Network => "network",
        InitContainers => "init containers",
        Image => "image",
        Create => "creating containers",
        Application => "application",
        Containers => "containers",
        ReadinessGates => "readiness gates",
    }
}

/// How much of a startup a part took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    pub part: &'static str,
    pub seconds: f64,
    /// Of the whole, from 0 to 1
    pub share: f64,
}

/// The parts of a startup that took any time until `end`, the longest first.
pub fn shares(record: &Record, end: Timestamp) -> Vec<Share> {
    let pulls = pulls(record);
    let mut nanos = [0_i64; Part::ALL.len()];
    for (part, from, to) in segments(record, end) {
        let all = to.nanos_since(from).max(0);
        let pulled: i64 = pulls.iter().map(|pull| overlap(*pull, (from, to))).sum();
        nanos[part as usize] += all - pulled;
        nanos[Part::Image as usize] += pulled;
    }
    let total: i64 = nanos.iter().sum();
    let mut shares: Vec<Share> = Part::ALL
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

/// The stages with known ends, one after the other; `containers` in two where its containers' start is
/// known. What is open lasts until `end`.
fn segments(record: &Record, end: Timestamp) -> Vec<(Part, Timestamp, Timestamp)> {
    let mut segments = Vec::new();
    for recorded in &record.intervals {
        let (Interval::Stage(stage), Some(from)) = (recorded.interval, recorded.began) else {
            continue;
        };
        let to = recorded.ended.unwrap_or(end).min(end).max(from);
        let whole = match stage {
            Stage::Gated => Part::Gates,
            Stage::Scheduling | Stage::Unschedulable => Part::Scheduling,
            Stage::Network => Part::Network,
            Stage::Init => Part::InitContainers,
            Stage::Readiness => Part::ReadinessGates,
            Stage::Containers => {
                match started(record) {
                    Some(started) => {
                        let started = started.clamp(from, to);
                        segments.push((Part::Create, from, started));
                        segments.push((Part::Application, started, to));
                    }
                    None => segments.push((Part::Containers, from, to)),
                }
                continue;
            }
        };
        segments.push((whole, from, to));
    }
    segments
}

/// When the containers had started.
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
