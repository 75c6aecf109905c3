//! What the stores hold and deliver: objects of a resource, events, and pages of lists.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A resource of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedKind {
    /// `v1` Pods
    Pods,
    /// `v1` Events
    Events,
    /// `v1` Nodes
    Nodes,
    /// `v1` Namespaces
    Namespaces,
    /// `apps/v1` Deployments
    Deployments,
    /// `apps/v1` ReplicaSets
    ReplicaSets,
    /// `apps/v1` StatefulSets, of which there are none
    StatefulSets,
    /// `apps/v1` DaemonSets, of which there are none
    DaemonSets,
    /// `apps/v1` ControllerRevisions, of which there are none
    ControllerRevisions,
    /// `batch/v1` Jobs, of which there are none
    Jobs,
}

/// The names of a resource.
pub(super) struct KindNames {
    /// Empty for the core group
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) plural: &'static str,
    pub(super) singular: &'static str,
    /// `kind` of its objects; that of its lists ends in `List`
    pub(super) kind: &'static str,
    pub(super) short: &'static [&'static str],
}

impl KindNames {
    /// `apiVersion` of its objects.
    pub(super) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Its entry in the discovery.
    pub(super) fn discovered(&self, namespaced: bool, verbs: &[&str]) -> Value {
        json!({
            "name": self.plural, "singularName": self.singular, "namespaced": namespaced, "kind": self.kind,
            "verbs": verbs, "shortNames": self.short,
        })
    }
}

impl ServedKind {
    /// Every resource that is served from a store.
    pub(super) const ALL: [Self; 10] = [
        Self::Pods,
        Self::Events,
        Self::Nodes,
        Self::Namespaces,
        Self::Deployments,
        Self::ReplicaSets,
        Self::StatefulSets,
        Self::DaemonSets,
        Self::ControllerRevisions,
        Self::Jobs,
    ];

    pub(super) const fn names(self) -> KindNames {
        let (group, plural, singular, kind, short): (_, _, _, _, &[&str]) = match self {
            Self::Pods => ("", "pods", "pod", "Pod", &["po"]),
            Self::Events => ("", "events", "event", "Event", &["ev"]),
            Self::Nodes => ("", "nodes", "node", "Node", &["no"]),
            Self::Namespaces => ("", "namespaces", "namespace", "Namespace", &["ns"]),
            Self::Deployments => ("apps", "deployments", "deployment", "Deployment", &["deploy"]),
            Self::ReplicaSets => ("apps", "replicasets", "replicaset", "ReplicaSet", &["rs"]),
            Self::StatefulSets => ("apps", "statefulsets", "statefulset", "StatefulSet", &["sts"]),
            Self::DaemonSets => ("apps", "daemonsets", "daemonset", "DaemonSet", &["ds"]),
            Self::ControllerRevisions => {
                ("apps", "controllerrevisions", "controllerrevision", "ControllerRevision", &[])
            }
            Self::Jobs => ("batch", "jobs", "job", "Job", &[]),
        };
        KindNames { group, version: "v1", plural, singular, kind, short }
    }

    /// As it stands in paths and in messages.
    pub const fn plural(self) -> &'static str {
        self.names().plural
    }

    /// `kind` of its objects; that of its lists ends in `List`.
    pub const fn kind(self) -> &'static str {
        self.names().kind
    }

    /// Whether its objects are in no namespace.
    pub(super) const fn is_of_cluster(self) -> bool {
        matches!(self, Self::Nodes | Self::Namespaces)
    }

    /// Whether its objects are also served as protobuf, which podinit asks for.
    pub(super) const fn has_protobuf(self) -> bool {
        matches!(self, Self::Pods | Self::Events)
    }

    /// The fields that its objects can be selected by, besides name and namespace.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Pods => &["spec.nodeName", "status.phase"],
            Self::Events => &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.fieldPath",
                "reason",
                "type",
                "reportingComponent",
            ],
            Self::Nodes => &["spec.unschedulable"],
            Self::Namespaces => &["status.phase"],
            _ => &[],
        }
    }
}

/// Namespace and name; lists are in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
}

impl ObjectKey {
    /// The key of `namespace`/`name`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// What selectors match, besides namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SelectableFields {
    /// `metadata.labels`
    pub labels: Arc<[(String, String)]>,
    /// The other fields that an object of its resource can be selected by; a missing one is empty
    pub fields: Vec<(&'static str, String)>,
}

impl SelectableFields {
    /// What selectors match of a pod or an Event.
    pub(super) fn of_json(object: &Value) -> Self {
        let labels = object["metadata"]["labels"].as_object();
        let labels = (labels.into_iter().flatten())
            .filter_map(|(name, label)| Some((name.clone(), label.as_str()?.to_owned())));
        let fields = [ServedKind::Pods, ServedKind::Events].map(ServedKind::fields);
        let mut fields: Vec<_> = (fields.into_iter().flatten())
            .filter_map(|field| {
                let value = object.pointer(&format!("/{}", field.replace('.', "/")))?;
                Some((*field, value.as_str()?.to_owned()))
            })
            .collect();
        // The API server sets it.
        fields.push(("status.phase", "Pending".to_owned()));
        Self { labels: labels.collect(), fields }
    }
}

/// One version of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredObject {
    /// Its namespace and name
    pub key: ObjectKey,
    /// Its `metadata.resourceVersion`
    pub version: u64,
    /// What selectors match
    pub(super) selectable: SelectableFields,
    /// The object without `kind` and `apiVersion`
    pub json: Bytes,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It was created
    Added,
    /// It was changed
    Modified,
    /// It was removed
    Deleted,
}

/// One entry of the history.
#[derive(Clone, Debug)]
pub struct HistoryEvent {
    /// What happened
    pub kind: EventKind,
    /// The object after it (for a deletion: as it last stood, at the deletion's version)
    pub object: Arc<StoredObject>,
    /// The object before it
    pub(super) previous: Option<Arc<StoredObject>>,
}

/// The requested version is older than the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooOld {
    /// The requested version
    pub requested: u64,
    /// The oldest version that can still be served
    pub oldest: u64,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct ObjectPage {
    /// The version of the whole list
    pub version: u64,
    /// The objects of this part
    pub objects: Vec<Arc<StoredObject>>,
    /// Whether objects follow after this part
    pub more: bool,
    /// How many, where they were counted
    pub remaining: usize,
}

/// Events that follow a version.
#[derive(Clone, Debug)]
pub struct EventBatch {
    /// The events, oldest first
    pub events: Vec<HistoryEvent>,
    /// The version up to which this is complete
    pub up_to: u64,
}
