//! An explanation from records, as a running exporter has them.

use std::cmp::Reverse;

use super::explanation::{Context, Explanation, WorkloadPods};
use super::fleet::Fleet;
use super::peers::Peers;
use super::target::Target;
use crate::inspect::node_clocks;
use podinit_core::lifecycle::{Interval, NodeClock, Outcome, Record};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

/// What an explanation is made of.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Those among which the target is, the newest of those that have ended first
    pub candidates: Vec<Record>,
    /// Pods in flight, to find those that wait for the same
    pub in_flight: Vec<Record>,
    /// Startups that ended as ready, for the medians
    pub ready: Vec<Record>,
    /// The nodes whose clocks are off
    pub clocks: Vec<NodeClock>,
}

/// Explains the startup of `target` as of `now`, with the choice of [`explain`](super::explain). `None` if
/// no record is of it.
pub fn explain_records(target: &Target, records: Records, now: Timestamp) -> Option<Explanation> {
    let fits = |record: &Record| target.fits(&record.pod);
    let fitting = records.candidates.into_iter().filter(fits);
    let (in_flight, ended): (Vec<_>, Vec<_>) =
        fitting.partition(|record| record.outcome().is_none());
    let pods = count(&in_flight, &ended);
    let record = choose_in_flight(target, in_flight).or_else(|| choose_ended(target, ended))?;
    let context = Context {
        fleet: Fleet::of_records(&records.ready, record.uid),
        peers: Peers::among(&records.in_flight, &record),
        workload_pods: target.is_workload().then_some(pods),
        ending: record.ending().cloned(),
        doubts: node_clocks::doubt_on(record.pod.node.as_deref(), &records.clocks)
            .into_iter()
            .collect(),
        ..Context::default()
    };
    Some(Explanation::new(&record, context, now))
}

fn count(in_flight: &[Record], ended: &[Record]) -> WorkloadPods {
    let is_ready = |record: &&Record| record.outcome() == Some(Outcome::Ready);
    let ready = ended.iter().filter(is_ready).count();
    WorkloadPods {
        in_flight: in_flight.len() as u64,
        ready: ready as u64,
        other: (ended.len() - ready) as u64,
    }
}

/// Of a workload, the pod that was created first; of several pods of one name, the newest.
pub(super) fn choose_in_flight(target: &Target, in_flight: Vec<Record>) -> Option<Record> {
    match target.is_workload() {
        true => in_flight.into_iter().min_by_key(created),
        false => in_flight.into_iter().max_by_key(created),
    }
}

/// Of a workload, the one that took longest; of several pods of one name, the newest.
fn choose_ended(target: &Target, ended: Vec<Record>) -> Option<Record> {
    let mut ended = ended.into_iter();
    match target.is_workload() {
        true => ended.max_by_key(|record| record.duration(Interval::CreatedToReady)),
        false => ended.next(),
    }
}

/// When a pod was created, or at least was there.
fn created(record: &Record) -> (Timestamp, Reverse<PodUid>) {
    let times = record.milestones.iter().filter_map(|reached| reached.time);
    let first = times.min();
    (first.unwrap_or(record.discovered), Reverse(record.uid))
}
