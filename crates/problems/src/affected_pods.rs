//! The affected pods of a finding, in the order of how long they have waited.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;

use super::affected::{AffectedPod, PodCause, is_old};
use super::blocks::{BlockVec, DistinctValues};
use super::container::{self, FoundContainer};
use super::found_pod::FoundState;
use super::found_pods::FoundPods;
use super::shared_gates::SharedGates;
use super::values::{ConsideredValues, DimensionValues, FrequentValues};
use podinit_core::dimension::{Dimension, PodValues};
use podinit_core::lifecycle::{Cause, Record, RecordedContainer};
use podinit_core::node::NodeLabels;
use podinit_core::timestamp::Timestamp;

/// The affected pods so far, and the other pods of the finding.
#[derive(Debug, Default)]
pub(super) struct AddedPods {
    pub found: FoundPods,
    affected: BlockVec<AffectedPod>,
    messages: DistinctValues<str>,
    images: DistinctValues<str>,
    containers: DistinctValues<FoundContainer>,
    labels: DistinctValues<NodeLabels>,
    gates: DistinctValues<str>,
}

/// The affected pods by rank from 0: the one that has waited longest comes first.
#[derive(Debug)]
pub(super) struct AffectedPods {
    pub found: FoundPods,
    affected: BlockVec<AffectedPod>,
    messages: DistinctValues<str>,
    containers: DistinctValues<FoundContainer>,
    images: DistinctValues<str>,
    /// By rank, the numbers of the affected pods
    order: Vec<u32>,
    pub looked_at: ConsideredValues,
}

impl AddedPods {
    /// The pod of `record` at `place`, which `had` affects, before it is added.
    pub(super) fn affected(&mut self, place: u32, had: PodCause, record: &Record) -> AffectedPod {
        let position = had.container.map(usize::from);
        let container = position.and_then(|position| record.containers.get(position));
        let named = container.and_then(|container| FoundContainer::from_record(record, container));
        let image = container.and_then(RecordedContainer::failing_image);
        AffectedPod {
            place,
            cause: had.cause,
            since: had.since,
            last: had.last,
            image: self.images.number_of(image),
            container: self.containers.number_of(named.as_ref()),
            labels: self.labels.number_of(record.node_labels.as_ref()),
            gate: self.gates.number_of(record.gate_of(had.cause).map(|held| &held.gate)),
            message: self.messages.number_of(had.message.as_ref()),
            values: DimensionValues::default(),
        }
    }

    /// Adds an affected pod.
    pub(super) fn push(&mut self, pod: AffectedPod) {
        self.affected.push(pod);
    }

    /// Ranks the pods as of `now`. Of the old and the new pods of each cause it considers the values that many of them
    /// have ([§13.8](crate::specification#s13-8)).
    pub(super) fn finish(mut self, now: Timestamp) -> AffectedPods {
        self.found.seal();
        self.messages.seal();
        self.containers.seal();
        let Self { found, mut affected, messages, images, containers, labels, gates } = self;
        let mut order: Vec<u32> = (0..affected.len() as u32).collect();
        order.sort_by(|one, other| {
            let [one, other] = [one, other].map(|number| &affected[*number]);
            let since = one.since.cmp(&other.since);
            since.then_with(|| found.order(one.place, other.place))
        });
        let shared_gates = SharedGates::new(order.iter().filter_map(|number| {
            let pod = &affected[*number];
            (pod.cause == Cause::ReadinessGate).then(|| gates.get(pod.gate))?
        }));
        let has = |pod: &AffectedPod| {
            let has = PodValues {
                namespace: found.namespace(pod.place),
                node: found.node(pod.place).map(|node| &**node),
                workload: found.workload(pod.place).map(|workload| &**workload),
                labels: labels.get(pod.labels).map(|labels| &**labels),
                images: images.get(pod.image).map(slice::from_ref).unwrap_or_default(),
                gate: gates.get(pod.gate).map(|gate| shared_gates.shown(pod.cause, gate)),
            };
            let has_registry = pod.cause.is_of_pulls();
            has.all()
                .filter(move |(dimension, _)| has_registry || *dimension != Dimension::Registry)
        };
        let mut frequent: BTreeMap<_, FrequentValues> = BTreeMap::new();
        for number in &order {
            let pod = &affected[*number];
            let key = (pod.cause.as_str(), is_old(pod.since, now));
            frequent.entry(key).or_default().add(has(pod));
        }
        let mut looked_at = ConsideredValues::default();
        frequent.into_values().for_each(|values| looked_at.take(values));
        for number in &order {
            let values = looked_at.values(has(&affected[*number]));
            affected[*number].values = values;
        }
        AffectedPods { found, affected, messages, containers, images, order, looked_at }
    }
}

impl AffectedPods {
    /// Every rank.
    pub(super) fn ranks(&self) -> std::ops::Range<u32> {
        0..self.order.len() as u32
    }

    /// The pod with a rank of [`Self::ranks`].
    pub(super) fn get(&self, rank: u32) -> &AffectedPod {
        &self.affected[self.order[rank as usize]]
    }

    /// How far the startup of the pod of a rank has come.
    pub(super) fn state(&self, rank: u32) -> Option<FoundState> {
        self.found.state(self.get(rank).place)
    }

    /// The message about the cause of a pod; `None` where none is known.
    pub(super) fn message(&self, rank: u32) -> Option<&Arc<str>> {
        self.messages.get(self.get(rank).message)
    }

    /// The container that most of the pods with these ranks have in common.
    pub(super) fn container(&self, ranks: &[u32]) -> Option<Arc<FoundContainer>> {
        let numbers = ranks.iter().map(|rank| self.get(*rank).container);
        self.containers.get(container::shared(numbers)?).cloned()
    }

    /// The image of the container that gives a pod its cause.
    pub(super) fn image(&self, rank: u32) -> Option<&str> {
        let image = self.images.get(self.get(rank).image);
        image.map(|image| &**image)
    }

    /// All pods of the finding, affected or not.
    pub(super) fn into_found(self) -> Arc<FoundPods> {
        Arc::new(self.found)
    }
}
