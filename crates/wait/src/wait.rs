//! What is known of one target ([§17.6](crate::specification#s17-6)): its object, its pods, its revisions, and what Events
//! say. It does no I/O, and its times are arguments.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use kube::ResourceExt;
use kube::core::DynamicObject;
use podinit_core::kube_event::KubeEvent;
use podinit_core::lifecycle::{
    Backfill, Delivery, PodEvent, SourceId, TimestampMode, TrackerConfig,
};
use podinit_core::pod::{HashedBy, LastingName, PodPhase, PodSnapshot, PodUid, Revision};
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_kube::watch::objects::ObjectNews;
use podinit_oncall::pods::{ClusterListing, PodQuestion, SourcePods};
use serde_json::value::RawValue;

use super::creations::FailedCreations;
use super::object::{RolloutProgress, Standing, WorkloadObject, lacks};
use super::patience::Patience;
use super::pods::{NewRevision, TargetPods};
use super::target::{WaitTarget, WorkloadKind};

/// Names the revision of a Deployment and of its ReplicaSets.
const REVISION_ANNOTATION: &str = "deployment.kubernetes.io/revision";
const TEMPLATE_HASH: &str = "pod-template-hash";

/// What is decoded of pods and Events.
pub(crate) fn decode_options() -> DecodeOptions {
    DecodeOptions::of_records().with_claims()
}

/// The wait for one target.
pub(crate) struct Wait {
    pub target: WaitTarget,
    pub namespace: String,
    pub began: Timestamp,
    /// The newest that is known
    pub object: Option<WorkloadObject>,
    /// Whether the object was looked for, found or not
    pub is_object_seen: bool,
    /// What was waited for was there, and is not any more
    pub is_gone: bool,
    /// ReplicaSets or ControllerRevisions by name
    revisions: HashMap<String, DynamicObject>,
    are_revisions_listed: bool,
    /// What cannot be read, and what that means
    pub unread: Option<String>,
    pub pods: TargetPods,
    /// There was a pod
    pub was_there: bool,
    /// The new revision at the last look, as the API calls it
    pub revision: Option<String>,
    /// Those that were the new one before
    pub replaced: Vec<String>,
    pub account: SourcePods,
    pub is_listed: bool,
    decoder: EventDecoder,
    /// Those that came before the first list of pods
    early_events: Vec<KubeEvent>,
    pub creations: FailedCreations,
    /// How often a container of the pods that crash was restarted
    pub restarts: HashMap<PodUid, i32>,
    /// The pods of the new revision that were up
    pub been_up: HashSet<PodUid>,
    pub patience: Patience,
    /// The progress deadline of an earlier generation has passed then
    pub stale_deadline: Option<Timestamp>,
    pub done_since: Option<Timestamp>,
}

impl Wait {
    pub(crate) fn new(
        target: WaitTarget,
        namespace: &str,
        fail_after: Option<Duration>,
        now: Timestamp,
    ) -> Self {
        let config = TrackerConfig {
            timestamps: TimestampMode::Fused,
            // Pods may have started up before the wait began.
            backfill: Backfill::Trusted,
            events: true,
            ..TrackerConfig::default()
        };
        Self {
            object: None,
            is_object_seen: false,
            is_gone: false,
            target,
            namespace: namespace.to_owned(),
            began: now,
            revisions: HashMap::new(),
            are_revisions_listed: false,
            unread: None,
            pods: TargetPods::default(),
            was_there: false,
            revision: None,
            replaced: Vec::new(),
            account: SourcePods::of_cluster(config, &PodQuestion::Problems),
            is_listed: false,
            decoder: EventDecoder::new(decode_options()),
            early_events: Vec::new(),
            creations: FailedCreations::default(),
            restarts: HashMap::new(),
            been_up: HashSet::new(),
            patience: Patience::new(fail_after, now),
            stale_deadline: None,
            done_since: None,
        }
    }

    pub(super) fn kind(&self) -> Option<WorkloadKind> {
        match self.target {
            WaitTarget::Workload(kind, _) => Some(kind),
            _ => None,
        }
    }

    /// Takes in what is said of the object.
    ///
    /// # Errors
    /// If that is no such object.
    pub(crate) fn take_object(&mut self, news: &ObjectNews) -> serde_json::Result<()> {
        let Some(kind) = self.kind() else {
            return Ok(());
        };
        let newest = match news {
            ObjectNews::Listed(objects) => objects.first(),
            ObjectNews::Applied(object) => Some(object),
            ObjectNews::Deleted(_) => None,
            ObjectNews::Unread(_) => return Ok(()),
        };
        let newest = newest.map(|json| WorkloadObject::parse(kind, json.get())).transpose()?;
        let uid = |object: &WorkloadObject| object.metadata.uid.clone();
        let known = self.object.as_ref().map(uid);
        self.is_gone |= known.is_some() && known != newest.as_ref().map(uid);
        (self.object, self.is_object_seen) = (newest, true);
        if let Some(Standing { progress: RolloutProgress::Unobserved, deadline_passed, .. }) =
            self.object.as_ref().map(|object| &object.standing)
        {
            self.stale_deadline = *deadline_passed;
        }
        Ok(())
    }

    /// Takes in what is said of its ReplicaSets or ControllerRevisions.
    pub(crate) fn take_revisions(&mut self, news: ObjectNews) {
        let read = |json: &RawValue| -> Option<(String, DynamicObject)> {
            let object: DynamicObject = serde_json::from_str(json.get()).ok()?;
            Some((object.name_any(), object))
        };
        match news {
            ObjectNews::Listed(objects) => {
                self.revisions = objects.iter().filter_map(|json| read(json)).collect();
                self.unread = None;
                self.are_revisions_listed = true;
            }
            ObjectNews::Applied(json) => self.revisions.extend(read(&json)),
            ObjectNews::Deleted(json) => {
                let name = read(&json).map(|(name, _)| name);
                self.revisions.remove(&name.unwrap_or_default());
            }
            ObjectNews::Unread(error) if self.revisions.is_empty() => {
                let (what, _) = self.kind().and_then(WorkloadKind::revisions).unwrap_or_default();
                self.unread = Some(format!(
                    "the {what} cannot be read, so the youngest revision is taken for the new one: {}",
                    error.detail
                ));
            }
            ObjectNews::Unread(_) => {}
        }
    }

    /// Takes in an Event of the namespace.
    pub(crate) fn take_event(&mut self, json: &RawValue, now: Timestamp) {
        if let Ok(event) = serde_json::from_str::<Event>(json.get())
            && event.involved_object.kind.as_deref().is_some_and(|kind| kind != "Pod")
        {
            self.creations.take(event);
        }
        let line = format!("{{\"type\":\"ADDED\",\"object\":{}}}", json.get());
        let Ok(EventLineKind::Applied(event)) =
            self.decoder.line(line.as_bytes()).map(|line| line.kind)
        else {
            return;
        };
        match self.is_listed {
            true => self.deliver(PodEvent::Event(event), now, None),
            // They are told with the first list of pods.
            false => self.early_events.push(event),
        }
    }

    fn deliver(&mut self, event: PodEvent, now: Timestamp, observed: Option<Timestamp>) {
        let source = SourceId(0);
        self.account.watched(Delivery { source, event, now, observed, version: None });
    }

    /// Takes in what the list-watch of pods has delivered.
    pub(crate) fn take_pods(&mut self, delivery: Delivery) {
        let Delivery { event, now, observed, .. } = delivery;
        match event {
            PodEvent::Listed { pods, began } => {
                let controlled = |pod: &PodSnapshot| self.target.controls(&pod.info);
                let pods: Vec<PodSnapshot> = pods.into_iter().filter(controlled).collect();
                self.pods.list(&pods, now);
                self.was_there |= !pods.is_empty();
                let is_first = !std::mem::replace(&mut self.is_listed, true);
                if !is_first {
                    return self.deliver(PodEvent::Listed { pods: pods.into(), began }, now, None);
                }
                self.account.add(ClusterListing {
                    pods: vec![(began, pods)],
                    events: std::mem::take(&mut self.early_events),
                    nodes: None,
                    unlisted: Vec::new(),
                    now,
                });
            }
            PodEvent::Applied(pod) if self.target.controls(&pod.info) => {
                self.pods.apply(&pod, now);
                self.was_there = true;
                self.deliver(PodEvent::Applied(pod), now, observed);
            }
            PodEvent::Deleted(pod) if self.target.controls(&pod.info) => {
                self.pods.remove(pod.uid);
                // Nobody makes another one.
                if matches!(self.target, WaitTarget::Pod(_)) && pod.info.workload.is_none() {
                    self.is_gone = true;
                }
                self.deliver(PodEvent::Deleted(pod), now, observed);
            }
            PodEvent::Applied(_) | PodEvent::Deleted(_) => {}
            event => self.deliver(event, now, observed),
        }
    }

    /// Whether all that is needed was listed.
    pub(super) fn is_known(&self) -> bool {
        let needs_revisions = self.kind().and_then(WorkloadKind::revisions).is_some();
        let is_there = self.kind().is_none() || self.object.is_some();
        let are_listed = self.are_revisions_listed || self.unread.is_some();
        self.is_listed && is_there && (are_listed || !needs_revisions)
    }

    /// The revisions that the object controls.
    fn owned(&self) -> impl Iterator<Item = (&str, &DynamicObject)> {
        let uid = self.object.as_ref().and_then(|object| object.metadata.uid.as_deref());
        let all = self.revisions.iter().map(|(name, one)| (&**name, one));
        all.filter(move |(_, one)| {
            one.owner_references().iter().any(|owner| Some(&*owner.uid) == uid)
        })
    }

    /// Of a Deployment the ReplicaSet of the same revision, by name.
    fn newest_replica_set(&self) -> Option<(&str, &DynamicObject)> {
        let object =
            self.object.as_ref().filter(|_| self.kind() == Some(WorkloadKind::Deployment))?;
        let number = object.metadata.annotations.as_ref()?.get(REVISION_ANNOTATION)?;
        self.owned().find(|(_, one)| one.annotations().get(REVISION_ANNOTATION) == Some(number))
    }

    /// The name of the ReplicaSet that makes the new pods of a Deployment.
    pub(super) fn maker(&self) -> Option<&str> {
        self.newest_replica_set().map(|(name, _)| name)
    }

    /// The new revision, and its name.
    pub(super) fn new_revision(&self) -> (NewRevision, Option<String>) {
        let (WaitTarget::Workload(kind, name), Some(object)) = (&self.target, self.object.as_ref())
        else {
            let selected = matches!(self.target, WaitTarget::Selected { .. });
            return (if selected { NewRevision::Youngest } else { NewRevision::Every }, None);
        };
        if self.unread.is_some() {
            return (NewRevision::Youngest, None);
        }
        let label = |(_, one): (&str, &DynamicObject), label| one.labels().get(label).cloned();
        let value = match kind {
            WorkloadKind::Deployment => {
                self.newest_replica_set().and_then(|one| label(one, TEMPLATE_HASH))
            }
            WorkloadKind::DaemonSet => {
                let newest = self.owned().max_by_key(|(_, one)| one.data["revision"].as_i64());
                newest.and_then(|one| label(one, Revision::LABEL))
            }
            WorkloadKind::StatefulSet => object.standing.revision.clone(),
            WorkloadKind::ReplicaSet | WorkloadKind::Job => return (NewRevision::Every, None),
        };
        let revision = value.as_deref().map(|value| {
            let hashes = HashedBy::of_label(TEMPLATE_HASH).map(|by| (by, value));
            let lasting = LastingName::new(kind.as_str(), name, hashes.as_slice());
            Revision::new(&self.namespace, &lasting, value)
        });
        (NewRevision::Is(revision), value)
    }

    /// How far the pods of a target without an object are.
    pub(super) fn standing_of_pods(&self, now: Timestamp) -> Standing {
        let all = self.pods.all().map(|(_, pod)| pod);
        let going = |text: &str| RolloutProgress::Going(text.to_owned());
        let (wanted, progress) = match &self.target {
            WaitTarget::Selected { pods, .. } => {
                let missing = lacks(all.filter(|pod| pod.is_up(now)).count(), *pods, "are ready");
                let progress = match (missing, self.pods.are_of_one_revision()) {
                    (Some(missing), _) => RolloutProgress::Going(missing),
                    (None, true) => RolloutProgress::Done,
                    (None, false) => going("pods of an older revision are left"),
                };
                (*pods, progress)
            }
            _ => {
                let progress =
                    match all.max_by_key(|pod| (!pod.newest.terminating, pod.newest.created)) {
                        Some(pod) if pod.has_arrived(now) => RolloutProgress::Done,
                        Some(pod) if pod.newest.phase == PodPhase::Failed => {
                            RolloutProgress::Failed("the pod has failed".to_owned())
                        }
                        Some(pod) if pod.newest.terminating => going("it is being deleted"),
                        Some(_) => going("it is not ready"),
                        None => going("no pod has this name"),
                    };
                (1, progress)
            }
        };
        Standing { wanted, progress, ..Standing::default() }
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
