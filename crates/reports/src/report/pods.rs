//! The single pods of a recording, for the formats that have a row, a track or a bar for each.

use std::collections::HashMap;
use std::sync::Arc;

use super::reported_pods::ReportedPods;
use podinit_core::dimension::PodValues;
use podinit_core::lifecycle::{
    CustomMilestone, EndedStartup, LostStartup, Outcome, Record, RecordAmendment, Tracker,
};
use podinit_core::pod::{ContainerKind, PodInfo, PodSnapshot, PodUid};

/// One pod of a recording, as far as the recording shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedPod {
    /// `None` where the startup was over at first sight and was not set aside
    pub uid: Option<PodUid>,
    /// Namespace, name, node and owner
    pub info: PodInfo,
    /// The images of `spec.containers`
    pub images: Arc<[Arc<str>]>,
    /// How the startup ended; `None` while the pod is in flight
    pub outcome: Option<Outcome>,
    /// Why its startup was not observed although the pods of the first list were
    pub set_aside: Option<LostStartup>,
    /// Its startup; `None` where that was over at first sight
    pub record: Option<Record>,
}

impl From<Record> for ReportedPod {
    fn from(record: Record) -> Self {
        let regular = record.containers.iter().filter(|container| !container.init);
        Self {
            uid: Some(record.uid),
            info: record.pod.clone(),
            images: regular.filter_map(|container| container.image.clone()).collect(),
            outcome: record.outcome(),
            set_aside: None,
            record: Some(record),
        }
    }
}

impl ReportedPod {
    /// What it has in common with others.
    pub(super) fn has(&self) -> PodValues<'_> {
        PodValues {
            namespace: &self.info.namespace,
            node: self.info.node.as_deref(),
            workload: self.info.workload.as_deref(),
            labels: self.record.as_ref().and_then(|record| record.node_labels.as_deref()),
            images: &self.images,
            gate: None,
        }
    }

    /// `NAMESPACE/NAME`.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.info.namespace, self.info.name)
    }

    /// Its owner: kind and name, those of the pod itself where it has none.
    pub fn workload(&self) -> (&str, &str) {
        match self.info.workload.as_deref() {
            Some(owner) => (&owner.kind, &owner.name),
            None => ("Pod", &self.info.name),
        }
    }
}

/// Collects the pods while a recording is replayed.
#[derive(Debug, Default)]
pub(super) struct PodCollector {
    pods: ReportedPods,
    /// Milestones are configured, which may come when a pod is ready
    follows: bool,
    /// The pods that became ready, if they are followed
    followed: Vec<EndedStartup>,
    /// What became of them after that
    amended: HashMap<PodUid, RecordAmendment>,
    set_aside: HashMap<PodUid, LostStartup>,
    /// The pod that was first seen last, and the images of its `spec.containers`
    newest: (PodUid, Vec<Arc<str>>),
}

impl PodCollector {
    /// No pods yet.
    pub(super) fn new(milestones: &[CustomMilestone]) -> Self {
        Self { follows: !milestones.is_empty(), ..Self::default() }
    }

    pub(super) fn set_aside(&mut self, uid: PodUid, lost: LostStartup) {
        self.set_aside.insert(uid, lost);
    }

    /// A startup has ended, of which this is the record.
    pub(super) fn ended(&mut self, startup: EndedStartup, record: Record) {
        match self.follows && startup.outcome() == Outcome::Ready {
            true => self.followed.push(startup),
            false => self.add(record),
        }
    }

    pub(super) fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        self.amended.insert(uid, amendment.clone());
    }

    /// The first snapshot of a pod.
    pub(super) fn first_seen(&mut self, pod: &PodSnapshot) {
        let images = pod.info.images.iter().flat_map(|images| images.iter());
        let regular = pod.containers.iter().zip(images);
        let regular = regular.filter(|(container, _)| container.kind == ContainerKind::Regular);
        let images = regular.map(|(_, image)| image).filter(|image| !image.is_empty());
        self.newest.0 = pod.uid;
        self.newest.1.clear();
        self.newest.1.extend(images.cloned());
    }

    /// The startup of the pod that was first seen last was over then.
    pub(super) fn excluded(&mut self, pod: &PodInfo, outcome: Outcome) {
        let (uid, images) = &self.newest;
        let set_aside = self.set_aside.get(uid).copied();
        self.pods.push(&ReportedPod {
            uid: set_aside.map(|_| *uid),
            info: pod.clone(),
            // Of a pod without its UID, the report says no more than its names.
            images: set_aside.map(|_| images.as_slice().into()).unwrap_or_default(),
            outcome: Some(outcome),
            set_aside,
            record: None,
        });
    }

    fn add(&mut self, record: Record) {
        let set_aside = self.set_aside.get(&record.uid).copied();
        self.pods.push(&ReportedPod { set_aside, ..ReportedPod::from(record) });
    }

    /// All pods, with those that are in flight at the end.
    pub(super) fn into_pods(mut self, tracker: Tracker) -> ReportedPods {
        for mut startup in std::mem::take(&mut self.followed) {
            if let Some(amendment) = self.amended.get(&startup.uid()) {
                startup.amend(amendment);
            }
            self.add(startup.record());
        }
        for (_, pod) in tracker.in_flight_after(None) {
            self.add(pod.record());
        }
        // Before more memory is needed.
        drop(tracker);
        self.pods.sort();
        self.pods
    }
}
