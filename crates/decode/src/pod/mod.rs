//! The decoder of pods. It reads only the fields that podinit accounts for, straight from the input,
//! and skips the rest (half of a pod's JSON is `managedFields`). It is lenient.
//!
//! What cannot be decoded is only: no JSON or YAML at all, no object, an object of another kind,
//! or a pod without a `metadata.uid`. Everything below that (unknown enum values, nulls, missing
//! fields, values of the wrong type) counts as absent, since one odd pod must not blind the
//! exporter to the others.
//!
//! [`lenient`] holds the visitors that make this so, [`metadata`], [`spec`], [`status`],
//! [`container`] and [`volumes`] the fields, [`object`] the object they belong to, and [`envelope`] what objects come in: watch
//! events, lists and recorded documents. All of it works on any serde deserializer, so that JSON
//! and YAML cannot disagree.

mod conditions;
pub mod container;
pub(crate) mod deletion;
pub mod envelope;
mod eviction;
pub mod fixed;
pub mod foreign;
pub(crate) mod intern;
pub mod lenient;
pub mod memory;
pub mod metadata;
mod named;
pub mod object;
mod owner;
mod probes;
pub mod restarts;
pub mod snapshot;
pub mod spec;
pub(crate) mod spec_field;
pub mod status;
pub mod volumes;

use std::sync::Arc;

use intern::Interner;
use memory::PodMemory;
use spec_field::SpecField;

use crate::node::NodeOptions;

use podinit_core::lifecycle::CustomMilestone;
use podinit_core::pod::text;
use podinit_core::pod::{ContainerProbes, GateNames, MOST_FOLLOWED, PodUid, Workload};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;

/// The optional fields to decode: those that a configured label or a report needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Keys of the pod labels whose values are wanted, each key once, in the order in which
    /// [`PodInfo::pod_labels`](podinit_core::pod::PodInfo::pod_labels) shall hold the values.
    pub pod_labels: Vec<String>,
    /// The fields of the spec whose values are wanted, each once. They follow those of the pod labels.
    pub spec_fields: Vec<SpecField>,
    /// Whether [`PodInfo::node`](podinit_core::pod::PodInfo::node) is wanted.
    pub node: bool,
    /// Whether [`PodInfo::workload`](podinit_core::pod::PodInfo::workload) is wanted.
    pub workload: bool,
    /// Whether [`PodInfo::probes`](podinit_core::pod::PodInfo::probes) are wanted.
    pub probes: bool,
    /// Whether [`PodInfo::images`](podinit_core::pod::PodInfo::images) are wanted.
    pub images: bool,
    /// Whether [`PodSnapshot::waiting_messages`](podinit_core::pod::PodSnapshot::waiting_messages) are wanted,
    /// and the messages of Events.
    pub messages: bool,
    /// How nodes are read; `None` where none are
    pub nodes: Option<NodeOptions>,
    /// The condition types that are milestones of their own, each once, in the order in which
    /// [`NamedConditions::milestones`](podinit_core::pod::NamedConditions::milestones) shall hold their conditions.
    pub milestones: Vec<String>,
    /// Whether [`PodSnapshot::ending`](podinit_core::pod::PodSnapshot::ending) is wanted.
    pub endings: bool,
    /// Whether [`PodSnapshot::claim_names`](podinit_core::pod::PodSnapshot::claim_names) are wanted, and Events about
    /// them.
    pub claims: bool,
}

impl DecodeOptions {
    /// Reads what records show of a pod, and keep about its owner, node and images.
    pub fn of_records() -> Self {
        Self::default().with_records()
    }

    /// What the values of [`PodInfo::pod_labels`](podinit_core::pod::PodInfo::pod_labels) are of: the keys of the pod
    /// labels, and the paths of the fields of the spec.
    pub fn value_names(&self) -> Vec<String> {
        let fields = self.spec_fields.iter().map(ToString::to_string);
        self.pod_labels.iter().cloned().chain(fields).collect()
    }

    /// With what records show.
    #[must_use]
    pub fn with_records(self) -> Self {
        Self { node: true, workload: true, images: true, messages: true, endings: true, ..self }
    }

    /// With what Events say of the claims of pods.
    #[must_use]
    pub fn with_claims(self) -> Self {
        Self { claims: true, ..self }
    }

    /// With the conditions of these milestones of your own.
    #[must_use]
    pub fn with_milestones(self, milestones: &[CustomMilestone]) -> Self {
        let types = milestones.iter().map(|milestone| milestone.condition.to_string());
        Self { milestones: types.collect(), ..self }
    }

    /// Reads what a report on a recording shows, of nodes as `nodes` says.
    pub fn of_report(nodes: NodeOptions) -> Self {
        Self {
            node: true,
            workload: true,
            probes: true,
            images: true,
            endings: true,
            nodes: Some(nodes),
            ..Self::default()
        }
    }
}

/// What is carried from pod to pod: the options, and the texts that many pods share.
#[derive(Debug, Default)]
pub struct DecodeContext {
    pub options: DecodeOptions,
    /// Whether items of a list may be Events as well as pods, as in recordings
    /// ([§9.5](crate::specification#s9-5)). A list of a live cluster has one kind.
    pub mixed_lists: bool,
    /// The API times that no snapshot holds, by the UID of their pod or node: those of conditions that are not
    /// read. `None` where nobody wants them
    pub other_times: Option<Vec<(PodUid, Timestamp)>>,
    /// Beside them, the latest lastHeartbeatTime of each node: kubelets state it every 5 minutes at least
    pub heartbeats: Vec<Timestamp>,
    /// The pods to decode; of others no more is read than their UID and version
    /// ([§12](crate::specification#s12)). `None` is all.
    pub shard: Option<Shard>,
    pub(crate) texts: Interner<str>,
    pub(crate) workloads: Interner<Workload>,
    pub(crate) probes: Interner<Vec<ContainerProbes>>,
    /// The images of all containers: those of the pods of a workload are the same
    pub(crate) images: Interner<Vec<Arc<str>>>,
    /// The gates: those of the pods of a workload are the same
    pub(crate) gates: Interner<GateNames>,
    /// The values of the chosen labels and fields of the spec: those of the pods of a workload are the same
    pub(crate) label_values: Interner<[Box<str>]>,
    /// Of the pods of a watch in protobuf
    pub(crate) memory: PodMemory,
}

impl DecodeContext {
    pub fn new(options: DecodeOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Whether the pod `uid` belongs to another shard.
    pub(super) fn is_of_other_shard(&self, uid: PodUid) -> bool {
        self.shard.is_some_and(|shard| !shard.contains(uid))
    }

    /// Keeps the API times of a pod or a node that no snapshot holds, if somebody wants them.
    fn keep_other_times(&mut self, uid: PodUid, times: &[Timestamp]) {
        if let Some(kept) = &mut self.other_times {
            kept.extend(times.iter().map(|time| (uid, *time)));
        }
    }

    /// Keeps the latest heartbeat of a node, likewise.
    fn keep_heartbeat(&mut self, latest: Option<Timestamp>) {
        if self.other_times.is_some() {
            self.heartbeats.extend(latest);
        }
    }

    /// The shared copy of the name of a namespace, a node or a container.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        self.texts.get(text, || Arc::from(text))
    }

    /// The shared copy of the probes of a pod; none for a pod without any.
    fn shared_probes(&mut self, probes: Vec<ContainerProbes>) -> Option<Arc<Vec<ContainerProbes>>> {
        let shared = |context: &mut Self| context.probes.get(&probes, || Arc::new(probes.clone()));
        (!probes.is_empty()).then(|| shared(self))
    }

    /// The shared copy of the name of an image. Kubernetes has no limit for it, so that it is cut.
    pub fn image(&mut self, name: &str) -> Arc<str> {
        const MOST_BYTES: usize = 256;
        self.text(text::cut(name, MOST_BYTES))
    }

    /// The shared copy of the images of the first containers of a pod; none for a pod without any.
    fn shared_images(&mut self, mut images: Vec<Arc<str>>) -> Option<Arc<Vec<Arc<str>>>> {
        images.truncate(MOST_FOLLOWED);
        let shared = |context: &mut Self| context.images.get(&images, || Arc::new(images.clone()));
        (!images.is_empty()).then(|| shared(self))
    }

    /// The shared copy of the names of gates; none for a pod without any.
    fn shared_gates(&mut self, gates: GateNames) -> Option<Arc<GateNames>> {
        let shared = |context: &mut Self| context.gates.get(&gates, || Arc::new(gates.clone()));
        (!gates.is_empty()).then(|| shared(self))
    }

    /// The shared copy of the values of the chosen labels and fields of the spec of a pod.
    pub fn pod_labels(&mut self, values: Box<[Box<str>]>) -> Arc<[Box<str>]> {
        if values.is_empty() {
            return Arc::default();
        }
        match self.label_values.shared(&*values) {
            Some(shared) => shared,
            None => self.label_values.insert(values.into()),
        }
    }
}

#[cfg(test)]
pub mod tests;
