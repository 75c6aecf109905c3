//! The single pods of a recording, for the formats that have a row, a track or a bar for each.

use std::collections::HashMap;
use std::sync::Arc;

use podinit_core::dimension::PodValues;
use podinit_core::lifecycle::{
    EndedStartup, Interval, LostStartup, Outcome, PodObservation, PodState, Progress, Record,
    RecordAmendment, Tracker,
};
use podinit_core::pod::{ContainerKind, PodInfo, PodUid};
use podinit_core::quantile::ExactDistribution;
use podinit_recordings::reader::RecordingDocument;

/// One pod of a recording, as far as the recording shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedPod {
    /// `None` where the startup was over at first sight and was not set aside
    pub uid: Option<PodUid>,
    /// Namespace, name, node and owner
    pub info: PodInfo,
    /// The images of `spec.containers`
    pub images: Box<[Arc<str>]>,
    /// How the startup ended; `None` while the pod is in flight
    pub outcome: Option<Outcome>,
    /// Why its startup was not observed although the pods of the first list were
    pub set_aside: Option<LostStartup>,
    /// Its startup; `None` where that was over at first sight
    pub record: Option<Record>,
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

/// How long an interval took of those of `pods` of which it was observed.
pub(super) fn durations<'a>(
    pods: impl IntoIterator<Item = &'a ReportedPod>,
    interval: Interval,
) -> ExactDistribution {
    let records = pods.into_iter().filter_map(|pod| pod.record.as_ref());
    records.filter_map(|record| record.duration(interval)).collect()
}

/// Collects the pods while a recording is replayed.
#[derive(Debug, Default)]
pub(super) struct PodCollector {
    ended: Vec<EndedStartup>,
    /// What became of pods after that
    amended: HashMap<PodUid, RecordAmendment>,
    /// Pods whose startup was over at first sight
    over: Vec<(Option<PodUid>, PodInfo, Outcome)>,
    set_aside: HashMap<PodUid, LostStartup>,
    /// The pod that was set aside last, until it is discovered, which is the next that is observed
    pending: Option<PodUid>,
}

impl PodCollector {
    pub(super) fn observe(&mut self, pod: &PodInfo, observation: PodObservation) {
        match observation {
            PodObservation::SetAside { uid, lost } => {
                self.set_aside.insert(uid, lost);
                self.pending = Some(uid);
            }
            PodObservation::Moved { from: PodState::Undiscovered, to } => {
                let uid = self.pending.take();
                if let PodState::Finished(outcome) = to {
                    self.over.push((uid, pod.clone(), outcome));
                }
            }
            _ => {}
        }
    }

    pub(super) fn ended(&mut self, startup: EndedStartup) {
        self.ended.push(startup);
    }

    pub(super) fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        self.amended.insert(uid, amendment.clone());
    }

    /// All pods by namespace and name, with those that are in flight at the end.
    pub(super) fn into_pods(self, tracker: &Tracker, images: &RecordedImages) -> Vec<ReportedPod> {
        let in_flight = tracker.in_flight_after(None);
        let in_flight = in_flight.map(|(_, pod)| pod.record());
        let ended = self.ended.into_iter().map(|mut startup| {
            if let Some(amendment) = self.amended.get(&startup.uid()) {
                startup.amend(amendment);
            }
            startup.record()
        });
        let records = ended.chain(in_flight);
        let started = records.map(|record| ReportedPod {
            uid: Some(record.uid),
            info: record.pod.clone(),
            images: images.pod_images(Some(record.uid)),
            outcome: match record.progress {
                Progress::InFlight { .. } => None,
                Progress::Ended { outcome, .. } => Some(outcome),
            },
            set_aside: self.set_aside.get(&record.uid).copied(),
            record: Some(record),
        });
        let over = self.over.into_iter().map(|(uid, info, outcome)| ReportedPod {
            uid,
            info,
            images: images.pod_images(uid),
            outcome: Some(outcome),
            set_aside: uid.and_then(|uid| self.set_aside.get(&uid).copied()),
            record: None,
        });
        in_order(started.chain(over).collect())
    }
}

/// Pods by namespace and name.
pub(super) fn in_order(mut pods: Vec<ReportedPod>) -> Vec<ReportedPod> {
    pods.sort_by(|one, other| {
        let key = |pod: &ReportedPod| {
            let created = pod.record.as_ref().map(|record| record.discovered);
            (pod.info.namespace.clone(), pod.info.name.clone(), created)
        };
        key(one).cmp(&key(other))
    });
    pods
}

/// The images of the pods that a recording has shown.
#[derive(Debug, Default)]
pub(super) struct RecordedImages(HashMap<PodUid, Box<[Arc<str>]>>);

impl RecordedImages {
    pub(super) fn read(&mut self, document: &RecordingDocument) {
        for pod in document.snapshots() {
            let Some(images) = &pod.info.images else {
                continue;
            };
            let all = pod.containers.iter().zip(images.iter());
            let regular = all.filter(|(container, _)| container.kind == ContainerKind::Regular);
            let images = regular.map(|(_, image)| Arc::clone(image));
            self.0.insert(pod.uid, images.filter(|image| !image.is_empty()).collect());
        }
    }

    fn pod_images(&self, uid: Option<PodUid>) -> Box<[Arc<str>]> {
        let found = uid.and_then(|uid| self.0.get(&uid));
        found.cloned().unwrap_or_default()
    }
}
