//! What one list shows of pods whose startup was over before it: those that were rejected or failed lately
//! ([§13.10](crate::specification#s13-10)), and those that crash although they had started
//! ([§13.11](crate::specification#s13-11)).

use std::borrow::Cow;
use std::time::Duration;

use podinit_core::lifecycle::{
    Delivery, EndedStartup, Observer, Outcome, PodEvent, Progress, Record, RecordedRelapse,
    SourceId, Tracker, TrackerConfig,
};
use podinit_core::pod::{ConditionStatus, ConditionType, PodPhase, PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::reader::RecordingDocument;

/// A pod of a list counts if it was created less than this before the list.
const YOUNG: Duration = Duration::from_secs(600);

/// The pods of a list that may count.
#[derive(Debug, Default)]
pub(super) struct StartedBefore(Vec<PodSnapshot>);

/// The pods that count, as records.
#[derive(Debug, Default)]
pub(super) struct StartedBeforeCount {
    /// Records of those that count
    pub records: Vec<Record>,
    /// How many pods crash after they had started, also of those that do not count
    pub crashing: usize,
}

impl StartedBefore {
    /// Reads a document of what may be a lone list.
    pub(super) fn read(&mut self, document: &RecordingDocument, may_be_lone_list: bool) {
        match may_be_lone_list {
            true => document.snapshots().for_each(|pod| self.add(pod)),
            false => self.clear(),
        }
    }

    /// Takes in a pod of the list.
    pub(super) fn add(&mut self, pod: Cow<'_, PodSnapshot>) {
        let fails = pod.phase == PodPhase::Failed || crashing_container(&pod).is_some();
        if fails && !pod.is_static {
            self.0.push(pod.into_owned());
        }
    }

    /// Takes in a newer version of a pod, or that it is gone.
    pub(super) fn renew(&mut self, uid: PodUid, newer: Option<&PodSnapshot>) {
        self.0.retain(|pod| pod.uid != uid);
        if let Some(pod) = newer {
            self.add(Cow::Borrowed(pod));
        }
    }

    /// Drops the pods of the list.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The pods that count in a list at `now`. `tracker` has accounted for the list by `config`; `has_record` is
    /// whether a pod has a record.
    pub(super) fn counted(
        &self,
        tracker: &Tracker,
        config: TrackerConfig,
        has_record: impl Fn(PodUid) -> bool,
        now: Timestamp,
    ) -> StartedBeforeCount {
        let (mut counted, mut young) = (StartedBeforeCount::default(), Vec::new());
        for pod in &self.0 {
            if tracker.in_flight(pod.uid).is_some() {
                continue;
            }
            counted.crashing += usize::from(pod.phase == PodPhase::Active);
            let is_young = (pod.created).is_some_and(|created| created.plus(YOUNG) > now);
            if is_young && !has_record(pod.uid) {
                young.push(pod.clone());
            }
        }
        counted.records = records(young, config, now);
        for record in &mut counted.records {
            let node = record.pod.node.as_deref();
            record.node_labels = node.and_then(|node| tracker.node_labels(node)).cloned();
        }
        counted
    }
}

/// The records that `pods` would have, had they been watched: of those that would have been rejected or have failed, and
/// of those that crash after they have started.
fn records(pods: Vec<PodSnapshot>, config: TrackerConfig, now: Timestamp) -> Vec<Record> {
    let config = TrackerConfig { nodes: false, ..config };
    let (mut tracker, mut ends, mut records) =
        (Tracker::new(config), LastEndedStartup::default(), Vec::new());
    // What no list has shown is observed in full.
    tracker.begin_without_list(SourceId(0), None);
    for pod in pods {
        let (crash, ended) = (crash(&pod, now), latest_time(&pod).unwrap_or(now));
        let uid = pod.uid;
        let delivery = Delivery {
            source: SourceId(0),
            event: PodEvent::Applied(pod),
            now,
            observed: None,
            version: None,
        };
        tracker.apply(delivery, &mut ends);
        let in_flight = || Some(tracker.in_flight(uid)?.record());
        let Some(mut record) = ends.0.take().map(|end| end.record()).or_else(in_flight) else {
            continue;
        };
        match (crash, &mut record.progress) {
            (Some(crash), progress) => {
                *progress = Progress::Ended { outcome: Outcome::Ready, at: now, ending: None };
                record.relapse = Some(Box::new(crash));
            }
            (None, Progress::Ended { outcome, at, .. }) if outcome.is_failure() => *at = ended,
            (None, _) => continue,
        }
        records.push(record);
    }
    records
}

/// Keeps the startup that has just ended.
#[derive(Default)]
struct LastEndedStartup(Option<EndedStartup>);

impl Observer for LastEndedStartup {
    fn ended(&mut self, startup: EndedStartup) {
        self.0 = Some(startup);
    }
}

/// The position of the container of a pod that has not ended that waits with CrashLoopBackOff.
fn crashing_container(pod: &PodSnapshot) -> Option<usize> {
    let position = pod.crashing_container();
    position.filter(|_| pod.phase == PodPhase::Active)
}

/// The relapse of a pod that had started, since it was not Ready any more; `None` if it does not crash.
fn crash(pod: &PodSnapshot, now: Timestamp) -> Option<RecordedRelapse> {
    let container = crashing_container(pod)?;
    let ready = pod.conditions.get(ConditionType::Ready);
    let unready = ready.filter(|ready| ready.status == ConditionStatus::False);
    Some(RecordedRelapse {
        since: unready.and_then(|unready| unready.last_transition).unwrap_or(now),
        container,
        message: pod.waiting_message(container).map(Into::into),
    })
}

/// The latest time that the pod states, also of its containers.
fn latest_time(pod: &PodSnapshot) -> Option<Timestamp> {
    let ending = pod.ending.as_deref();
    let containers = ending.map_or(&[][..], |ending| &ending.containers);
    let times = containers.iter().flat_map(|one| [one.started, one.finished]);
    times.flatten().chain(pod.latest_api_time).max()
}
