//! The pods that did not become ready: those in flight with their cause, and how the others ended.

use std::collections::BTreeMap;

use crate::report::ReportedPod;
use crate::report::formatting::seconds;
use podinit_core::lifecycle::{Cause, Outcome, Progress, WaitReason};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;
use podinit_text::table::TextTable;

/// So many pods are named.
const MOST_PODS: usize = 100;

pub(super) struct UnfinishedPods {
    /// By state, stage and cause, the largest first
    pub groups: Vec<UnfinishedGroup>,
    pub pods: TextTable,
    pub count: usize,
}

/// Pods in one state, stage and cause.
pub(super) struct UnfinishedGroup {
    pub state: &'static str,
    pub stage: &'static str,
    pub cause: &'static str,
    pub pods: usize,
    /// The pod that has waited longest, as far as that is known
    pub longest: String,
    /// How long it has, of pods in flight; may be empty
    pub waits: String,
}

/// The columns of the table of pods.
const HEAD: [&str; 8] = ["pod", "state", "stage", "cause", "since", "for", "node", "owner"];

impl UnfinishedPods {
    /// The pods at `end`, the end of the recording: those that wait longest first.
    pub(super) fn from_pods(pods: &[ReportedPod], end: Option<Timestamp>) -> Self {
        let mut found: Vec<_> = pods.iter().filter_map(place).collect();
        found.sort_by_key(|(_, state, since, _)| (*state != IN_FLIGHT, since.is_none(), *since));
        let waits = |state, since: Option<Timestamp>| {
            let waits = end.filter(|_| state == IN_FLIGHT).zip(since);
            let waits = waits.map(|(end, since)| end.nanos_since(since).max(0) as f64 / 1e9);
            waits.map_or_else(String::new, seconds)
        };
        let mut groups: BTreeMap<_, UnfinishedGroup> = BTreeMap::new();
        for (pod, state, since, (stage, cause)) in &found {
            // The pods stand in the order in which they entered their stage.
            let group = groups.entry((*state, *stage, *cause)).or_insert_with(|| UnfinishedGroup {
                state,
                stage,
                cause,
                pods: 0,
                longest: pod.name(),
                waits: waits(*state, *since),
            });
            group.pods += 1;
        }
        let mut groups: Vec<UnfinishedGroup> = groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.pods));
        let count = found.len();
        let named = found.into_iter().take(MOST_PODS);
        let named = named.map(|(pod, state, since, (stage, cause))| {
            let (kind, owner) = pod.workload();
            [
                pod.name(),
                state.to_owned(),
                stage.to_owned(),
                cause.to_owned(),
                since.map(Timestamp::truncate_to_second).map_or_else(String::new, rfc3339::format),
                // How long it has been there, of pods in flight
                waits(state, since),
                pod.has().node.unwrap_or_default().to_owned(),
                format!("{owner} ({kind})"),
            ]
        });
        let pods = TextTable::new(&HEAD, named).with_numbers(5..6);
        let pods = pods.labelled("Pods in flight and failed pods");
        Self { groups, pods, count }
    }
}

/// What a pod without an outcome is called.
pub(super) const IN_FLIGHT: &str = "in flight";

/// The stage and cause of a pod that was never seen in flight.
const NOT_SEEN: (&str, &str) = ("-", "-");

/// The pod, its state, since when, if that is known, its stage and its cause.
type UnfinishedPod<'a> =
    (&'a ReportedPod, &'static str, Option<Timestamp>, (&'static str, &'static str));

/// Where a pod is that is in flight, or where it was when it failed, was rejected or disrupted.
fn place(pod: &ReportedPod) -> Option<UnfinishedPod<'_>> {
    let record = pod.record.as_ref()?;
    let texts = |waiting: WaitReason| (waiting.stage().as_str(), waiting.cause().as_str());
    match record.progress {
        Progress::InFlight { waiting, entered, .. } => {
            Some((pod, IN_FLIGHT, Some(entered), texts(waiting)))
        }
        Progress::Ended {
            outcome: outcome @ (Outcome::Failed | Outcome::Rejected | Outcome::Disrupted),
            at,
            ..
        } => {
            // A pod that had ended at first sight was never seen to wait, and ended before `at`. What its
            // conditions state is no help: the network condition is False again without a sandbox.
            let last = record.causes.last();
            let since = last.map(|_| at);
            let (stage, cause) = last.map_or(NOT_SEEN, |cause| texts(cause.waiting));
            let place = match outcome {
                Outcome::Rejected => (stage, Cause::Rejected.as_str()),
                _ => (stage, cause),
            };
            Some((pod, outcome.as_str(), since, place))
        }
        Progress::Ended { .. } => None,
    }
}
