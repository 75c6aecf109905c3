//! `metadata`, of pods and of lists.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::MapAccess;

use super::DecodeContext;
use super::deletion::{DeletionTime, StatedDeletion};
use super::foreign::ForeignObject;
use super::lenient::{
    IsObject, LenientField, LenientNumber, LenientParsed, LenientSeed, LenientText, LenientTime,
    skip,
};
use super::owner::{ControllerOwner, OwnerReferences};
use crate::node::{NodeOptions, ReadNodeLabels};
use podinit_core::pod::{HashedBy, PodUid, Revision, TemplateHash, Workload};
use podinit_core::timestamp::Timestamp;

/// Marks the mirror of a static pod ([§1.14](crate::specification#s1-14)).
const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";
/// Says where the kubelet has a pod from, in the kubelet's own list and on mirrors.
const SOURCE_ANNOTATION: &str = "kubernetes.io/config.source";
/// The sources of static pods: all but the API server.
const STATIC_SOURCES: [&str; 2] = ["file", "http"];
/// Marks the bookmark that ends a streamed list (KEP-3157).
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What is read of a `metadata`.
#[derive(Default)]
pub struct MetadataFields<'de> {
    pub uid: Option<PodUid>,
    /// The pod belongs to another shard
    pub(crate) is_of_other_shard: bool,
    pub name: Box<str>,
    pub namespace: Option<Arc<str>>,
    pub created: Option<Timestamp>,
    pub deletion: StatedDeletion,
    pub resource_version: Option<Cow<'de, str>>,
    pub is_static: bool,
    pub initial_events_end: bool,
    pub continue_token: Option<Cow<'de, str>>,
    pub remaining: Option<u64>,
    /// What a field says that the API does not write
    pub foreign: Option<ForeignObject>,
    /// `shardInfo` is there: the API server has applied the shard selector
    pub(crate) has_shard_info: bool,
    labels: PodLabels<'de>,
    owner: Option<ControllerOwner<'de>>,
    /// The NodeClaim that owns a node
    pub(super) node_claim: Option<Arc<str>>,
}

impl<'de> MetadataFields<'de> {
    /// `resourceVersion` as a number.
    pub fn version(&self) -> Option<u64> {
        self.resource_version.as_deref().and_then(version)
    }

    /// The values of the chosen labels, in their order.
    pub(super) fn take_labels(&mut self) -> Box<[Box<str>]> {
        std::mem::take(&mut self.labels.chosen)
    }

    /// What is read of the labels of a node.
    pub(super) fn take_node_labels(&mut self) -> ReadNodeLabels {
        std::mem::take(&mut self.labels.of_node)
    }

    /// The workload that the pod belongs to.
    pub fn workload(&self, context: &mut DecodeContext) -> Option<Arc<Workload>> {
        let owner = self.owner.as_ref()?;
        Some(owner.workload(&self.template_hashes(), context))
    }

    /// The revision of the workload that the pod is of, by the first of the labels that name it.
    pub(crate) fn revision(&self) -> Option<Revision> {
        let owner = self.owner.as_ref()?;
        let hashes = self.template_hashes();
        let [deployment, rollout, _] = hashes.map(|(_, hash)| hash);
        let of_controller = self.labels.controller_revision.as_deref().unwrap_or_default();
        let mut named = [rollout, deployment, of_controller].into_iter();
        let value = named.find(|value| !value.is_empty())?;
        let namespace = self.namespace.as_deref().unwrap_or_default();
        Some(Revision::new(namespace, &owner.lasting_name(&hashes), value))
    }

    fn template_hashes(&self) -> [TemplateHash<'_>; 3] {
        let hash = |by: HashedBy| (by, self.labels.template_hashes[by as usize].as_deref());
        let hashes = [HashedBy::Deployment, HashedBy::Rollout, HashedBy::Other].map(hash);
        hashes.map(|(by, hash)| (by, hash.unwrap_or_default()))
    }
}

/// Reads a [`MetadataFields`].
pub(crate) struct MetadataReader<'c>(pub &'c mut DecodeContext);

impl<'de> LenientField<'de> for MetadataReader<'_> {
    type Value = MetadataFields<'de>;

    fn absent(self) -> Self::Value {
        MetadataFields::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(context) = self;
        let mut metadata = MetadataFields::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("uid") => {
                    metadata.uid = map.next_value_seed(LenientSeed(LenientParsed(uid)))?;
                    let uid = metadata.uid;
                    metadata.is_of_other_shard =
                        uid.is_some_and(|uid| context.is_of_other_shard(uid));
                }
                Some("name") => {
                    let name = map.next_value_seed(LenientSeed(LenientParsed(|text: &str| {
                        Some(text.into())
                    })))?;
                    metadata.name = name.unwrap_or_default();
                }
                Some("namespace") => {
                    let share = LenientParsed(|text: &str| Some(context.text(text)));
                    metadata.namespace = map.next_value_seed(LenientSeed(share))?;
                }
                Some("creationTimestamp") => {
                    metadata.created = map.next_value_seed(LenientSeed(LenientTime))?;
                }
                Some("deletionTimestamp") => {
                    let stated = map.next_value_seed(LenientSeed(DeletionTime))?;
                    metadata.deletion = metadata.deletion.with_time(stated);
                }
                Some("deletionGracePeriodSeconds") => {
                    let seconds = map.next_value_seed(LenientSeed(LenientNumber))?;
                    metadata.deletion.grace_seconds = seconds;
                }
                Some("resourceVersion") => {
                    metadata.resource_version = map.next_value_seed(LenientSeed(LenientVersion))?;
                }
                Some("annotations") => {
                    let found = map.next_value_seed(LenientSeed(StaticPodAnnotations))?;
                    (metadata.is_static, metadata.initial_events_end) = found;
                }
                Some("labels") => {
                    let reader = LabelsReader {
                        keys: &context.options.pod_labels,
                        nodes: context.options.nodes.as_ref(),
                    };
                    metadata.labels = map.next_value_seed(LenientSeed(reader))?;
                }
                Some("ownerReferences") => {
                    let owners = map.next_value_seed(LenientSeed(OwnerReferences))?;
                    metadata.owner = owners.controller;
                    metadata.node_claim = owners.node_claim.map(|name| context.text(&name));
                }
                Some("continue") => {
                    let token = map.next_value_seed(LenientSeed(LenientText))?;
                    metadata.continue_token = token.filter(|token| !token.is_empty());
                }
                Some("remainingItemCount") => {
                    metadata.remaining = map.next_value_seed(LenientSeed(LenientNumber))?;
                }
                Some("shardInfo") => {
                    metadata.has_shard_info = map.next_value_seed(LenientSeed(IsObject))?;
                }
                key => {
                    let foreign = key.and_then(ForeignObject::of_metadata);
                    metadata.foreign = metadata.foreign.or(foreign);
                    skip(&mut map)?;
                }
            }
        }
        Ok(metadata)
    }
}

/// A `resourceVersion` as the decimal integer that it is (KEP-5504). One beyond 64 bits saturates. `None` for any
/// other text.
pub fn version(text: &str) -> Option<u64> {
    let decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| text.parse().unwrap_or(u64::MAX))
}

fn uid(text: &str) -> Option<PodUid> {
    (!text.is_empty()).then(|| PodUid::from_text(text))
}

/// A `resourceVersion`: a text, though a number is taken for its digits.
struct LenientVersion;

impl<'de> LenientField<'de> for LenientVersion {
    type Value = Option<Cow<'de, str>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn text(self, text: &str) -> Self::Value {
        LenientText.text(text)
    }

    fn borrowed_text(self, text: &'de str) -> Self::Value {
        LenientText.borrowed_text(text)
    }

    fn number(self, number: u64) -> Self::Value {
        Some(Cow::Owned(number.to_string()))
    }
}

/// Whether the pod is static: it has a mirror annotation, whatever its value, or comes from a source of static pods.
/// And whether the annotation that ends the initial events is `"true"`.
struct StaticPodAnnotations;

impl<'de> LenientField<'de> for StaticPodAnnotations {
    type Value = (bool, bool);

    fn absent(self) -> Self::Value {
        (false, false)
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut mirror, mut of_source, mut initial_events_end) = (false, false, false);
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some(MIRROR_ANNOTATION) => {
                    mirror = true;
                    skip(&mut map)?;
                }
                Some(SOURCE_ANNOTATION) => {
                    let source = map.next_value_seed(LenientSeed(LenientText))?;
                    of_source = source.is_some_and(|source| STATIC_SOURCES.contains(&&*source));
                }
                Some(INITIAL_EVENTS_END) => {
                    let value = map.next_value_seed(LenientSeed(LenientText))?;
                    initial_events_end = value.as_deref() == Some("true");
                }
                _ => skip(&mut map)?,
            }
        }
        Ok((mirror || of_source, initial_events_end))
    }
}

/// What is read of the labels.
#[derive(Default)]
struct PodLabels<'de> {
    chosen: Box<[Box<str>]>,
    /// By [`HashedBy`], the first of each
    template_hashes: [Option<Cow<'de, str>>; 3],
    /// The label [`Revision::LABEL`]
    controller_revision: Option<Cow<'de, str>>,
    of_node: ReadNodeLabels,
}

struct LabelsReader<'c> {
    keys: &'c [String],
    /// Where nodes are read
    nodes: Option<&'c NodeOptions>,
}

impl<'de> LenientField<'de> for LabelsReader<'_> {
    type Value = PodLabels<'de>;

    fn absent(self) -> Self::Value {
        PodLabels::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { keys, nodes } = self;
        let mut of_node = ReadNodeLabels::default();
        let mut chosen = vec![Box::default(); keys.len()].into_boxed_slice();
        let mut template_hashes = [const { None }; 3];
        let mut controller_revision = None;
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            let Some(key) = key else {
                skip(&mut map)?;
                continue;
            };
            let place = keys.iter().position(|wanted| *wanted == *key);
            let hashed_by = HashedBy::of_label(&key);
            let names_revision = key == Revision::LABEL;
            if place.is_none() && hashed_by.is_none() && !names_revision && nodes.is_none() {
                skip(&mut map)?;
                continue;
            }
            let value = map.next_value_seed(LenientSeed(LenientText))?.unwrap_or_default();
            if let Some(place) = place {
                chosen[place] = value.as_ref().into();
            }
            if let Some(options) = nodes {
                of_node.take(&key, &value, options);
            }
            if let Some(by) = hashed_by {
                template_hashes[by as usize].get_or_insert(value);
            } else if names_revision {
                controller_revision = Some(value);
            }
        }
        Ok(PodLabels { chosen, template_hashes, controller_revision, of_node })
    }
}
