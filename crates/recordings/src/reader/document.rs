//! Documents of a recording, made from the fields found in their text.

use super::error::RecordingFault;
use super::misfit::NonRecording;
use super::position::RecordingPosition;
use podinit_core::kube_event::KubeEvent;
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::watch::{NodeLineKind, NodeWatchLine};
use podinit_decode::pod::DecodeContext;
use podinit_decode::pod::envelope::{DocumentEnvelope, ListItems, ObservedAt};
use podinit_decode::pod::object::shorten;
use podinit_decode::{DecodeError, ObjectFault, WatchEventKind, event, event_kind};

/// One document of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingDocument {
    /// Where it begins
    pub position: RecordingPosition,
    /// `observedAt`
    pub observed_at: Option<Timestamp>,
    /// The latest time at which one of its Events happened last, of those that do not lie in the future
    /// ([§8.7](crate::specification#s8-7))
    pub latest_event: Option<Timestamp>,
    /// The latest lastHeartbeatTime of its nodes, likewise
    pub latest_heartbeat: Option<Timestamp>,
    pub body: DocumentBody,
}

/// The contents of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentBody {
    /// A `PodList`, or a `List` that is not of Events only
    List {
        /// Its pods
        pods: Vec<PodSnapshot>,
        /// The Events among them, which follow the pods
        events: Vec<KubeEvent>,
        /// The nodes among them, which come before the pods
        nodes: Vec<NodeSnapshot>,
        /// `metadata.continue`: the next document has the next page of this list
        continue_token: Option<String>,
        /// `metadata.resourceVersion`
        resource_version: Option<String>,
    },
    /// A pod by itself, one of the first list ([§8.4](crate::specification#s8-4))
    Pod(PodSnapshot),
    /// A watch event of a pod, a bookmark, or an error. A pod by itself that is not one of the first list is
    /// `MODIFIED`
    Event(WatchEventKind),
    /// A `NodeList`, a `List` of nodes without pods, or a node by itself ([§14.1](crate::specification#s14-1))
    Nodes {
        nodes: Vec<NodeSnapshot>,
        /// The Events among them, which follow the nodes
        events: Vec<KubeEvent>,
        /// `metadata.continue`: a later document has the next page of this list
        continue_token: Option<String>,
    },
    /// A watch event of a node
    NodeEvent(NodeLineKind),
    /// Events only ([§9.5](crate::specification#s9-5)): an `EventList`, a `List` of Events, an Event by
    /// itself, or a watch event of one. The last is empty unless the Event was added or modified.
    Events(Vec<KubeEvent>),
}

impl DocumentBody {
    /// Its Events.
    pub fn events(&self) -> &[KubeEvent] {
        match self {
            Self::List { events, .. } | Self::Nodes { events, .. } | Self::Events(events) => events,
            Self::Pod(_) | Self::Event(_) | Self::NodeEvent(_) => &[],
        }
    }

    /// Its Events, where it can have some.
    pub(crate) fn events_mut(&mut self) -> Option<&mut Vec<KubeEvent>> {
        match self {
            Self::List { events, .. } | Self::Nodes { events, .. } | Self::Events(events) => {
                Some(events)
            }
            Self::Pod(_) | Self::Event(_) | Self::NodeEvent(_) => None,
        }
    }
}

impl RecordingDocument {
    /// Makes the document from `envelope`. `streamed` are the items that were decoded before it.
    pub(super) fn new(
        position: RecordingPosition,
        envelope: Option<DocumentEnvelope<'_>>,
        streamed: Option<ListItems>,
        context: &mut DecodeContext,
    ) -> Result<Self, RecordingFault> {
        let mut envelope = envelope.ok_or(RecordingFault::Object(ObjectFault::NotAnObject))?;
        let observed_at = match envelope.observed_at {
            ObservedAt::Absent => None,
            ObservedAt::At(instant) => Some(instant),
            ObservedAt::Unusable => return Err(RecordingFault::ObservedAt),
        };
        if let Some(streamed) = streamed {
            let items = envelope.items.get_or_insert_default();
            items.pods.extend(streamed.pods);
            items.events.extend(streamed.events);
            items.nodes.extend(streamed.nodes);
            items.unnamed_nodes.extend(streamed.unnamed_nodes);
        }
        let body = body(envelope, context)?;
        Ok(Self { position, observed_at, latest_event: None, latest_heartbeat: None, body })
    }
}

fn body(
    envelope: DocumentEnvelope<'_>,
    context: &mut DecodeContext,
) -> Result<DocumentBody, RecordingFault> {
    let objects = [Some(&envelope.own), envelope.object.iter().flatten().next()];
    for object in objects.into_iter().flatten() {
        object.check().map_err(RecordingFault::Object)?;
    }
    let kind = envelope.own.kind.as_deref();
    // Secrets and Events have a `type` of their own.
    let is_event = envelope.object.is_some() || (envelope.event_type.is_some() && kind.is_none());
    if is_event {
        let event_type = envelope.event_type.as_deref();
        let object = match (envelope.object.flatten(), event_type) {
            (Some(object), Some("ADDED" | "MODIFIED")) if object.is_event() => {
                return Ok(DocumentBody::Events(vec![event::of_object(object, context)]));
            }
            // A bookmark of a watch of Events says nothing about pods.
            (Some(object), Some("DELETED" | "BOOKMARK")) if object.is_event() => {
                return Ok(DocumentBody::Events(Vec::new()));
            }
            (Some(object), _) if object.is_node() => {
                return NodeWatchLine::from_object(event_type, Some(object), context)
                    .map(|line| DocumentBody::NodeEvent(line.kind))
                    .map_err(fault);
            }
            (object, _) => object,
        };
        return event_kind(event_type, object, context).map(DocumentBody::Event).map_err(fault);
    }
    match kind {
        Some("Event") => Ok(DocumentBody::Events(vec![event::of_object(envelope.own, context)])),
        Some("EventList") => events_of_list(envelope),
        Some("Node") => Ok(DocumentBody::Nodes {
            nodes: vec![envelope.own.into_node(context).map_err(RecordingFault::Object)?],
            events: Vec::new(),
            continue_token: None,
        }),
        Some("NodeList") => nodes_of_list(envelope),
        Some("PodList" | "List") => list(envelope),
        None if envelope.items.is_some() => {
            Err(RecordingFault::Object(ObjectFault::NotAList(String::new())))
        }
        Some(kind) if kind.ends_with("List") => {
            Err(RecordingFault::Object(ObjectFault::NotAList(shorten(kind))))
        }
        _ => match NonRecording::of_object(&envelope.own) {
            Some(misfit) => Err(RecordingFault::Misfit(misfit)),
            None => (envelope.own.into_pod(context).map(DocumentBody::Pod))
                .map_err(RecordingFault::Object),
        },
    }
}

fn fault(error: DecodeError) -> RecordingFault {
    match error {
        DecodeError::Object { fault, .. } => RecordingFault::Object(fault),
        DecodeError::Json { why, .. } => RecordingFault::Syntax { format: "JSON", why },
        DecodeError::Protobuf(why) => RecordingFault::Syntax { format: "protobuf", why },
    }
}

fn list(envelope: DocumentEnvelope<'_>) -> Result<DocumentBody, RecordingFault> {
    let of_pods = envelope.own.kind.as_deref() == Some("PodList");
    let ListItems { pods, events, nodes, .. } = items(envelope.items)?;
    let others = [("Event", !events.is_empty()), ("Node", !nodes.is_empty())];
    let other = others.into_iter().find(|(_, is_there)| of_pods && *is_there);
    if let Some((kind, _)) = other {
        return Err(RecordingFault::Object(ObjectFault::NotAPod(kind.to_owned())));
    }
    let metadata = envelope.own.metadata;
    let continue_token = metadata.continue_token.map(String::from);
    match (pods.is_empty(), nodes.is_empty(), events.is_empty()) {
        (true, false, _) => {
            return Ok(DocumentBody::Nodes { nodes, events, continue_token });
        }
        (true, true, false) => return Ok(DocumentBody::Events(events)),
        _ => {}
    }
    Ok(DocumentBody::List {
        pods,
        events,
        nodes,
        continue_token,
        resource_version: metadata.resource_version.map(String::from),
    })
}

fn nodes_of_list(envelope: DocumentEnvelope<'_>) -> Result<DocumentBody, RecordingFault> {
    let ListItems { pods, events, mut nodes, unnamed_nodes, .. } = items(envelope.items)?;
    // An item that does not state its kind is of the kind of its list.
    if pods.len() > unnamed_nodes.len() || !events.is_empty() {
        return Err(RecordingFault::NotANode);
    }
    nodes.extend(unnamed_nodes);
    Ok(DocumentBody::Nodes {
        nodes,
        events: Vec::new(),
        continue_token: envelope.own.metadata.continue_token.map(String::from),
    })
}

fn events_of_list(envelope: DocumentEnvelope<'_>) -> Result<DocumentBody, RecordingFault> {
    let ListItems { pods, events, nodes, .. } = items(envelope.items)?;
    match pods.is_empty() && nodes.is_empty() {
        true => Ok(DocumentBody::Events(events)),
        false => Err(RecordingFault::NotAnEvent),
    }
}

/// The items of a list, all of which could be decoded.
fn items(items: Option<ListItems>) -> Result<ListItems, RecordingFault> {
    let items = items.ok_or(RecordingFault::Object(ObjectFault::NoItems))?;
    match items.first_fault {
        None => Ok(items),
        Some((index, fault)) => Err(RecordingFault::Item { number: index + 1, fault }),
    }
}
