//! The pods that did not become ready: those in flight with their cause, and how the others ended.

use std::collections::BTreeMap;

use crate::report::ReportedPod;
use crate::report::formatting::seconds;
use podinit_core::lifecycle::{Cause, Outcome, Progress, Record, WaitReason};
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

/// The pods that did not become ready, while pods are read.
#[derive(Default)]
pub(super) struct UnfinishedPlaces(Vec<UnfinishedPlace>);

impl UnfinishedPlaces {
    /// Adds the pod at a position, behind all others.
    pub(super) fn add(&mut self, position: usize, record: &Record) {
        if let Some((state, since, place)) = place(record) {
            let order = (state != IN_FLIGHT, since.is_none(), since, position);
            self.0.push(UnfinishedPlace { order, state, place });
        }
    }

    /// The pods at `end`, the end of the recording: those that wait longest first. `pod` gives the pod at a position.
    pub(super) fn at(
        mut self,
        end: Option<Timestamp>,
        pod: impl Fn(usize) -> Option<ReportedPod>,
    ) -> UnfinishedPods {
        let Self(found) = &mut self;
        found.sort_unstable_by_key(|one| one.order);
        let waits = |state, since: Option<Timestamp>| {
            let waits = end.filter(|_| state == IN_FLIGHT).zip(since);
            let waits = waits.map(|(end, since)| end.nanos_since(since).max(0) as f64 / 1e9);
            waits.map_or_else(String::new, seconds)
        };
        let mut groups: BTreeMap<_, UnfinishedGroup> = BTreeMap::new();
        for UnfinishedPlace { order: (_, _, since, position), state, place: (stage, cause) } in
            &*found
        {
            // The pods stand in the order in which they entered their stage.
            let group = groups.entry((*state, *stage, *cause)).or_insert_with(|| UnfinishedGroup {
                state,
                stage,
                cause,
                pods: 0,
                longest: pod(*position).map_or_else(String::new, |pod| pod.name()),
                waits: waits(*state, *since),
            });
            group.pods += 1;
        }
        let mut groups: Vec<UnfinishedGroup> = groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.pods));
        let count = found.len();
        let named = found.iter().take(MOST_PODS).filter_map(|one| {
            let UnfinishedPlace { order: (_, _, since, position), state, place } = *one;
            let (pod, (stage, cause)) = (pod(position)?, place);
            let (kind, owner) = pod.workload();
            Some([
                pod.name(),
                state.to_owned(),
                stage.to_owned(),
                cause.to_owned(),
                since.map(Timestamp::truncate_to_second).map_or_else(String::new, rfc3339::format),
                // How long it has been there, of pods in flight
                waits(state, since),
                pod.has().node.unwrap_or_default().to_owned(),
                format!("{owner} ({kind})"),
            ])
        });
        let pods = TextTable::new(&HEAD, named).with_numbers(5..6);
        let pods = pods.labelled("Pods in flight and failed pods");
        UnfinishedPods { groups, pods, count }
    }
}

/// What a pod without an outcome is called.
pub(super) const IN_FLIGHT: &str = "in flight";

/// The stage and cause of a pod that was never seen in flight.
const NOT_SEEN: (&str, &str) = ("-", "-");

/// A stage and a cause.
type StageAndCause = (&'static str, &'static str);

/// Where a pod stands that did not become ready.
struct UnfinishedPlace {
    /// Whether it has ended, whether it is not known since when it is there, since when, and its position
    order: (bool, bool, Option<Timestamp>, usize),
    state: &'static str,
    place: StageAndCause,
}

/// Where a pod is that is in flight, or where it was when it failed, was rejected or disrupted.
fn place(record: &Record) -> Option<(&'static str, Option<Timestamp>, StageAndCause)> {
    let texts = |waiting: WaitReason| (waiting.stage().as_str(), waiting.cause().as_str());
    match record.progress {
        Progress::InFlight { waiting, entered, .. } => {
            Some((IN_FLIGHT, Some(entered), texts(waiting)))
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
            Some((outcome.as_str(), since, place))
        }
        Progress::Ended { .. } => None,
    }
}
