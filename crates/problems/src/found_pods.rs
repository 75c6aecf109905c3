//! The pods of a finding in little memory: in a large outage an exporter has those of two findings at a time.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::blocks::{BlockTexts, BlockVec, DistinctValues, NONE};
use super::capacity::FoundCapacity;
use super::found_pod::{FoundPod, FoundState};
use podinit_core::lifecycle::{Outcome, Record, WaitReason};
use podinit_core::pod::{PodUid, Workload};
use podinit_core::timestamp::Timestamp;

/// Pods by place, from 0 on: each once.
#[derive(Debug, Default)]
pub struct FoundPods {
    rows: BlockVec<FoundPodRow>,
    /// The names of the pods, without a prefix that is the name of the workload
    names: BlockTexts,
    namespaces: DistinctValues<str>,
    nodes: DistinctValues<str>,
    workloads: DistinctValues<Workload>,
    /// After how many nanoseconds pods count as stuck: one time for each stage
    limits: Vec<i64>,
    /// The capacity of unschedulable pods, by place
    capacities: BTreeMap<u32, FoundCapacity>,
    /// Why no node comes, in their words
    whys: DistinctValues<str>,
    /// The places by UID
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// One pod, with numbers of the values that it may share with others.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FoundPodRow {
    uid: PodUid,
    /// When it entered its stage, or ended
    at: Timestamp,
    namespace: u32,
    node: u32,
    workload: u32,
    state: FoundPodState,
    limit: u8,
    /// Its name begins with that of its workload, which is left out
    is_rest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FoundPodState {
    InFlight(WaitReason),
    Stuck(WaitReason),
    Ended(Outcome),
}

impl PartialEq for FoundPods {
    fn eq(&self, other: &Self) -> bool {
        let pods = |all: &Self| (0..all.len() as u32).map_while(|place| all.get(place)).collect();
        let (one, other): (Vec<_>, Vec<_>) = (pods(self), pods(other));
        one == other
    }
}

impl FoundPods {
    /// The number of pods.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds no pod.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pod at a place.
    pub fn get(&self, place: u32) -> Option<FoundPod> {
        let row = self.rows.get(place)?;
        let (before, rest) = self.name(place);
        Some(FoundPod {
            uid: row.uid,
            namespace: self.namespaces.get(row.namespace).cloned()?,
            name: [before, rest].concat().into(),
            node: self.node(place).cloned(),
            workload: self.workload(place).cloned(),
            state: self.state(place)?,
            capacity: self.capacities.get(&place).cloned(),
        })
    }

    /// The pods at these places.
    pub fn all<'a>(&'a self, places: &'a [u32]) -> impl Iterator<Item = FoundPod> + 'a {
        places.iter().filter_map(|place| self.get(*place))
    }

    /// Adds the pod of `record`, and returns its place; `None` where it is there already.
    pub(super) fn add(&mut self, record: &Record) -> Option<u32> {
        if self.place(record.uid).is_some() {
            return None;
        }
        let pod = &record.pod;
        let found = FoundState::from_record(record);
        let (state, at, limit) = match found {
            FoundState::InFlight { waiting, entered, stuck_at, is_stuck } => {
                let state = match is_stuck {
                    true => FoundPodState::Stuck(waiting),
                    false => FoundPodState::InFlight(waiting),
                };
                (state, entered, self.limit(stuck_at.nanos_since(entered)))
            }
            FoundState::Ended { outcome, at } => (FoundPodState::Ended(outcome), at, 0),
        };
        let owner = pod.workload.as_deref();
        let rest = owner.and_then(|owner| pod.name.strip_prefix(&*owner.name));
        let place = self.rows.push(FoundPodRow {
            uid: record.uid,
            at,
            namespace: self.namespaces.number(&pod.namespace),
            node: self.nodes.number_of(pod.node.as_ref()),
            workload: self.workloads.number_of(pod.workload.as_ref()),
            state,
            limit,
            is_rest: rest.is_some(),
        });
        self.names.push(rest.unwrap_or(&pod.name));
        if let Some(mut capacity) = FoundCapacity::from_record(record) {
            // Autoscalers give most pods the same reason.
            let why = self.whys.number_of(capacity.why.as_ref());
            capacity.why = self.whys.get(why).cloned();
            self.capacities.insert(place, capacity);
        }
        let Self { places, hasher, rows, .. } = self;
        let hash = |place: &u32| rows.get(*place).map_or(0, |row| hasher.hash_one(row.uid));
        places.insert_unique(hasher.hash_one(record.uid), place, hash);
        Some(place)
    }

    /// Frees what only adding needs. No pod is added afterwards.
    pub(super) fn seal(&mut self) {
        self.namespaces.seal();
        self.nodes.seal();
        self.workloads.seal();
        self.whys.seal();
    }

    /// The number of a time after which a pod counts as stuck.
    fn limit(&mut self, nanos: i64) -> u8 {
        let known = self.limits.iter().position(|one| *one == nanos);
        let number = known.unwrap_or(self.limits.len());
        if number == self.limits.len() && number < usize::from(u8::MAX) {
            self.limits.push(nanos);
        }
        u8::try_from(number).unwrap_or(u8::MAX)
    }

    /// The stage that a pod is in, and why it waits there; `None` of a startup that is over.
    pub fn waiting(&self, place: u32) -> Option<WaitReason> {
        self.state(place)?.waiting()
    }

    /// The place of the pod with this UID; `None` if it is not there.
    pub fn place(&self, uid: PodUid) -> Option<u32> {
        let is_it = |place: &u32| self.uid(*place) == Some(uid);
        self.places.find(self.hasher.hash_one(uid), is_it).copied()
    }

    pub(super) fn uid(&self, place: u32) -> Option<PodUid> {
        self.rows.get(place).map(|row| row.uid)
    }

    pub(super) fn state(&self, place: u32) -> Option<FoundState> {
        let row = self.rows.get(place)?;
        let limit = self.limits.get(usize::from(row.limit));
        let in_flight = |waiting, is_stuck| FoundState::InFlight {
            waiting,
            entered: row.at,
            stuck_at: row.at.plus_nanos(limit.copied().unwrap_or_default()),
            is_stuck,
        };
        Some(match row.state {
            FoundPodState::InFlight(waiting) => in_flight(waiting, false),
            FoundPodState::Stuck(waiting) => in_flight(waiting, true),
            FoundPodState::Ended(outcome) => FoundState::Ended { outcome, at: row.at },
        })
    }

    pub(super) fn capacity(&self, place: u32) -> Option<&FoundCapacity> {
        self.capacities.get(&place)
    }

    /// The number of its namespace.
    pub fn namespace_number(&self, place: u32) -> u32 {
        self.rows.get(place).map_or(NONE, |row| row.namespace)
    }

    /// The number of its node, if it is bound.
    pub fn node_number(&self, place: u32) -> Option<u32> {
        let row = self.rows.get(place)?;
        (row.node != NONE).then_some(row.node)
    }

    /// The numbers of its namespace and of the owner in it, if it has one.
    pub fn workload_number(&self, place: u32) -> Option<(u32, u32)> {
        let row = self.rows.get(place)?;
        (row.workload != NONE).then_some((row.namespace, row.workload))
    }

    /// The name of its namespace.
    pub fn namespace(&self, place: u32) -> &str {
        self.namespaces.get(self.namespace_number(place)).map_or("", |name| name)
    }

    /// The name of its node, if it is bound.
    pub fn node(&self, place: u32) -> Option<&Arc<str>> {
        self.nodes.get(self.rows.get(place)?.node)
    }

    /// Its owner, if it has one.
    pub fn workload(&self, place: u32) -> Option<&Arc<Workload>> {
        self.workloads.get(self.rows.get(place)?.workload)
    }

    /// The two parts of its name.
    pub(super) fn name(&self, place: u32) -> (&str, &str) {
        let is_rest = self.rows.get(place).is_some_and(|row| row.is_rest);
        let owner = self.workload(place).filter(|_| is_rest);
        (owner.map_or("", |owner| &owner.name), self.names.get(place))
    }

    /// Orders pods by namespace and name.
    pub(super) fn order(&self, one: u32, other: u32) -> Ordering {
        let names = [one, other].map(|place| {
            let (before, rest) = self.name(place);
            before.bytes().chain(rest.bytes())
        });
        let [first, second] = names;
        let namespaces = self.namespace(one).cmp(self.namespace(other));
        namespaces.then_with(|| first.cmp(second))
    }
}
