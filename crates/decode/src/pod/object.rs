//! One Kubernetes object: a pod, an Event, a bookmark, or a `Status` that reports an error.

use std::borrow::Cow;

use serde::de::MapAccess;

use super::DecodeContext;
use super::fixed::FixedPart;
use super::foreign::ForeignObject;
use super::lenient::{LenientField, LenientNumber, LenientSeed, LenientText, skip};
use super::metadata::{MetadataFields, MetadataReader};
use super::restarts::RestartPolicy;
use super::snapshot::SnapshotEdition;
use super::spec::{PodSpec, SpecReader};
use super::status::{PodStatus, StatusReader};
use crate::event::fields::EventFields;
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::{Claims, ConditionStatus, ConditionType, PodInfo, PodSnapshot};

/// Why an object is no pod that podinit could account for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectFault {
    /// It is a text, a number, null, or anything else that is no object
    #[error("this is not an object")]
    NotAnObject,
    /// Its `kind` is another
    #[error("a {0} is not a Pod")]
    NotAPod(String),
    /// Its `kind` is another
    #[error("a {0} is not a Node")]
    NotANode(String),
    /// Its `kind` is right, and of another API group
    #[error("kind {kind} of {api_version} is not the {kind} of Kubernetes")]
    OfOtherGroup { kind: String, api_version: String },
    /// Its fields are not those of the API
    #[error("{0}")]
    Foreign(ForeignObject),
    /// `metadata.uid` is missing, empty or no text
    #[error("this pod has no metadata.uid")]
    NoUid,
    /// It is JSON, but holds a text or a number that cannot be represented
    #[error("this holds a text or a number that cannot be represented")]
    Unreadable,
    /// A watch event whose `type` is missing or none that Kubernetes defines
    #[error("{0:?} is not a type of watch event")]
    UnknownType(String),
    /// A list was expected, and its `kind` is missing or another
    #[error("a list of pods has kind PodList or List, not {0:?}")]
    NotAList(String),
    /// A list whose `items` are missing or no array. Not taken for an empty list, which would
    /// say that every pod is gone
    #[error("this list has no items")]
    NoItems,
}

/// The fields that are read of an object of any kind.
#[derive(Default)]
pub struct ObjectFields<'de> {
    pub kind: Option<Cow<'de, str>>,
    api_version: Option<Cow<'de, str>>,
    /// What a field says that the API does not write
    foreign: Option<ForeignObject>,
    pub metadata: MetadataFields<'de>,
    spec: PodSpec,
    status: PodStatus<'de>,
    /// What only an Event has
    pub(crate) event: EventFields<'de>,
    /// `code` of a `Status`
    pub code: Option<u64>,
    /// `reason` and `message` of an Event or a `Status`; `note` in events.k8s.io/v1
    pub reason: Option<Cow<'de, str>>,
    pub message: Option<Cow<'de, str>>,
}

impl<'de> ObjectFields<'de> {
    /// Takes the value of the key `key`.
    pub fn take<A: MapAccess<'de>>(
        &mut self,
        key: Option<&str>,
        map: &mut A,
        context: &mut DecodeContext,
    ) -> Result<(), A::Error> {
        match key {
            Some("kind") => self.kind = map.next_value_seed(LenientSeed(LenientText))?,
            Some("apiVersion") => {
                self.api_version = map.next_value_seed(LenientSeed(LenientText))?
            }
            Some("metadata") => {
                self.metadata = map.next_value_seed(LenientSeed(MetadataReader(context)))?;
            }
            // The API server writes the metadata first, so that nothing else of a pod is decoded that
            // belongs to another shard.
            Some("spec" | "status") if self.metadata.is_of_other_shard => skip(map)?,
            Some("spec") => self.spec = map.next_value_seed(LenientSeed(SpecReader(context)))?,
            Some("status") => self.status = map.next_value_seed(LenientSeed(StatusReader))?,
            Some("code") => self.code = map.next_value_seed(LenientSeed(LenientNumber))?,
            Some("reason") => self.reason = map.next_value_seed(LenientSeed(LenientText))?,
            Some("message" | "note") => {
                self.message = map.next_value_seed(LenientSeed(LenientText))?
            }
            key => {
                let foreign = key.and_then(ForeignObject::of_object);
                self.foreign = self.foreign.or(foreign);
                self.event.take(key, map)?;
            }
        }
        Ok(())
    }

    /// Whether it is as the API writes it, and pods, Events and nodes, and their lists, are those of Kubernetes. A live
    /// cluster was asked for no others.
    pub fn check(&self) -> Result<(), ObjectFault> {
        if let Some(foreign) = self.foreign.or(self.metadata.foreign) {
            return Err(ObjectFault::Foreign(foreign));
        }
        let (Some(kind), Some(version)) = (self.kind.as_deref(), self.api_version.as_deref())
        else {
            return Ok(());
        };
        let is_own = match kind {
            "Pod" | "PodList" | "Node" | "NodeList" => version == "v1",
            "Event" | "EventList" => version == "v1" || version.starts_with("events.k8s.io/"),
            _ => true,
        };
        match is_own {
            true => Ok(()),
            false if version.starts_with("audit.k8s.io/") => {
                Err(ObjectFault::Foreign(ForeignObject::AuditLog))
            }
            false => Err(ObjectFault::OfOtherGroup {
                kind: shorten(kind),
                api_version: shorten(version),
            }),
        }
    }

    /// Whether it is an Event: by its kind, or where that is not stated, as in items of a list, by the
    /// field that only Events have.
    pub fn is_event(&self) -> bool {
        match self.kind.as_deref() {
            Some(kind) => kind == "Event",
            None => self.event.involved.is_some(),
        }
    }

    /// Whether it is a node: by its kind, or where that is not stated, as in items of a list, by the field
    /// that only nodes have.
    pub fn is_node(&self) -> bool {
        match self.kind.as_deref() {
            Some(kind) => kind == "Node",
            None => self.status.node_info.is_some(),
        }
    }

    /// The node that the object is. Items of a list need not state their kind.
    pub fn into_node(mut self, context: &mut DecodeContext) -> Result<NodeSnapshot, ObjectFault> {
        if let Some(kind) = self.kind.as_deref().filter(|kind| *kind != "Node") {
            return Err(ObjectFault::NotANode(shorten(kind)));
        }
        self.node(context).ok_or(ObjectFault::NoUid)
    }

    /// What the object states of a node, whatever it is; `None` without a UID.
    pub fn node(&mut self, context: &mut DecodeContext) -> Option<NodeSnapshot> {
        let uid = self.metadata.uid?;
        let read = &self.status.conditions;
        context.keep_other_times(uid, &read.other_transitions);
        context.keep_heartbeat(read.latest_heartbeat);
        let info = self.status.node_info.take().flatten();
        let labels = self.metadata.take_node_labels();
        Some(NodeSnapshot {
            uid,
            name: context.text(&self.metadata.name),
            resource_version: self.metadata.version(),
            created: self.metadata.created,
            latest_api_time: self.metadata.created.max(read.latest_transition),
            ready: read.conditions.get(ConditionType::Ready),
            not_ready: read.not_true.as_deref().and_then(NodeSnapshot::kept_message),
            unschedulable: self.spec.unschedulable,
            startup_taints: std::mem::take(&mut self.spec.startup_taints),
            labels: labels.with_version(info.as_deref().unwrap_or_default()),
            claimed_by: self.metadata.node_claim.take(),
        })
    }

    /// Whether it is a pod of another shard, which is not to be decoded.
    pub(crate) fn is_pod_of_other_shard(&self) -> bool {
        let is_pod = self.kind.as_deref().is_none_or(|kind| kind == "Pod");
        is_pod && self.metadata.is_of_other_shard
    }

    /// The pod that the object is. Items of a list need not state their kind.
    pub fn into_pod(mut self, context: &mut DecodeContext) -> Result<PodSnapshot, ObjectFault> {
        if let Some(kind) = self.kind.as_deref().filter(|kind| *kind != "Pod") {
            return Err(ObjectFault::NotAPod(shorten(kind)));
        }
        let edition = SnapshotEdition {
            resource_version: self.metadata.version(),
            deletion: self.metadata.deletion,
        };
        let status = std::mem::take(&mut self.status);
        let fixed = self.into_fixed(context).ok_or(ObjectFault::NoUid)?;
        context.keep_other_times(fixed.uid, &status.conditions.other_transitions);
        // A ready pod hardly changes, and nearly all of a streamed list are ready.
        let ready = status.conditions.conditions.get(ConditionType::Ready);
        if ready.is_none_or(|ready| ready.status != ConditionStatus::True) {
            context.memory.remember(&fixed);
        }
        Ok(fixed.with_status(edition, status, &context.options))
    }

    /// What the metadata and the spec of a pod say; `None` without a UID.
    fn into_fixed(mut self, context: &mut DecodeContext) -> Option<FixedPart> {
        let uid = self.metadata.uid?;
        let workload = context.options.workload.then(|| self.metadata.workload(context)).flatten();
        let revision = self.metadata.revision();
        let probes = context.shared_probes(self.spec.probes);
        let wanted = &context.options;
        let mut pod_labels = self.metadata.take_labels().into_vec();
        pod_labels.resize(wanted.pod_labels.len(), Box::default());
        pod_labels.extend(self.spec.fields);
        pod_labels.resize(wanted.pod_labels.len() + wanted.spec_fields.len(), Box::default());
        let pod_labels = context.pod_labels(pod_labels.into());
        let claim_names = self.spec.volumes.claim_names(&self.metadata.name);
        let namespace = match self.metadata.namespace {
            Some(namespace) => namespace,
            None => context.text(""),
        };
        let images = self.spec.init_images.into_iter().chain(self.spec.images);
        let images = context.shared_images(images.collect());
        let gates = context.shared_gates(self.spec.gates);
        let init_containers = self.spec.init_containers.len();
        let containers = self.spec.init_containers.into_iter();
        Some(FixedPart {
            uid,
            info: PodInfo {
                namespace,
                name: self.metadata.name,
                node: self.spec.node,
                node_labels: None,
                workload,
                host_network: self.spec.host_network,
                pod_labels,
                probes,
                images,
            },
            revision,
            created: self.metadata.created,
            is_static: self.metadata.is_static,
            is_bound: self.spec.is_bound,
            gated: self.spec.gated,
            gates,
            // Of exactly the size that is needed: a large list has very many of them.
            containers: containers.chain(self.spec.containers).collect(),
            init_containers,
            is_stateful: self.spec.volumes.is_stateful,
            volume_images: (!self.spec.volumes.images.is_empty())
                .then(|| self.spec.volumes.images.into()),
            claims: Claims::new(self.spec.volumes.has_claim, self.spec.has_resource_claims),
            claim_names,
            readiness_gates: self.spec.readiness_gates,
            restarts_always: self.spec.restarts.pod != Some(RestartPolicy::EndsForGood),
        })
    }
}

/// As much of a text from outside as an error message can bear.
pub fn shorten(text: &str) -> String {
    const LIMIT: usize = 64;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads an [`ObjectFields`]; `None` for a value that is not an object.
pub struct ObjectReader<'c>(pub &'c mut DecodeContext);

impl<'de> LenientField<'de> for ObjectReader<'_> {
    type Value = Option<ObjectFields<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(context) = self;
        let mut object = ObjectFields::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            object.take(key.as_deref(), &mut map, context)?;
        }
        Ok(Some(object))
    }
}
