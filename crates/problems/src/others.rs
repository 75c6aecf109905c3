//! The pods that start well, with which the affected ones are compared
//! ([§13.4](crate::specification#s13-4)).

use std::sync::Arc;

use podinit_core::dimension::PodValues;
use podinit_core::lifecycle::{Milestone, Record};
use podinit_core::node::NodeLabels;
use podinit_core::pod::{Claims, Workload};
use podinit_core::timestamp::Timestamp;

/// Pods in flight that no cause affects, and startups that ended as ready or completed. Their values are counted once
/// the considered ones are known ([§13.8](crate::specification#s13-8)).
#[derive(Debug, Default)]
pub(super) struct UnaffectedPods {
    well: Vec<UnaffectedPod>,
    /// Completed startups, with their end in place of Ready ([§13.10](crate::specification#s13-10))
    completed: Vec<(Timestamp, UnaffectedPod)>,
}

/// The values of one unaffected pod.
#[derive(Debug)]
pub(super) struct UnaffectedPod {
    namespace: Arc<str>,
    node: Option<Arc<str>>,
    workload: Option<Arc<Workload>>,
    labels: Option<Arc<NodeLabels>>,
    /// The images of its containers
    pub images: Box<[Arc<str>]>,
    pub claims: Claims,
    /// When it became ready; `None` where that is not known
    pub ready: Option<Box<BecameReady>>,
}

/// A startup that ended as ready.
#[derive(Debug)]
pub(super) struct BecameReady {
    pub at: Timestamp,
    /// The images that it pulled
    pub pulled: Box<[Arc<str>]>,
}

impl UnaffectedPods {
    /// Adds a startup that ended as ready.
    pub(super) fn add_ready(&mut self, record: &Record) {
        let ready = record.reached(Milestone::Ready).map(|at| {
            let pulled = record.pulled_images().cloned().collect();
            Box::new(BecameReady { at, pulled })
        });
        self.well.push(UnaffectedPod { ready, ..UnaffectedPod::from_record(record) });
    }

    /// Adds a startup that completed at `at`.
    pub(super) fn add_completed(&mut self, record: &Record, at: Timestamp) {
        self.completed.push((at, UnaffectedPod::from_record(record)));
    }

    /// Adds a pod in flight.
    pub(super) fn add(&mut self, record: &Record) {
        self.well.push(UnaffectedPod::from_record(record));
    }

    /// *n*: the number of pods.
    pub(super) const fn count(&self) -> usize {
        self.well.len()
    }

    /// The pods, without the completed ones.
    pub(super) fn iter(&self) -> impl Iterator<Item = &UnaffectedPod> {
        self.well.iter()
    }

    /// The completed startups, each with its end.
    pub(super) fn completed(&self) -> impl Iterator<Item = &(Timestamp, UnaffectedPod)> {
        self.completed.iter()
    }
}

impl UnaffectedPod {
    fn from_record(record: &Record) -> Self {
        let (pod, images) = (&record.pod, record.containers.iter());
        Self {
            namespace: Arc::clone(&pod.namespace),
            node: pod.node.clone(),
            workload: pod.workload.clone(),
            labels: record.node_labels.clone(),
            images: images.filter_map(|one| one.image.clone()).collect(),
            claims: record.claims,
            ready: None,
        }
    }

    /// The values of the pod, without images and registries.
    pub(super) fn has(&self) -> PodValues<'_> {
        PodValues {
            namespace: &self.namespace,
            node: self.node.as_deref(),
            workload: self.workload.as_deref(),
            labels: self.labels.as_deref(),
            images: &self.images,
            ..PodValues::default()
        }
    }
}
