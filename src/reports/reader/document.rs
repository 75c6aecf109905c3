//! Documents of a recording, made from the fields found in their text.

use super::error::Fault;
use super::position::RecordingPosition;
use podinit_core::kube_event::KubeEvent;
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::pod::DecodeContext;
use podinit_decode::pod::envelope::{Envelope, Items, ObservedAt};
use podinit_decode::pod::object::shorten;
use podinit_decode::{DecodeError, ObjectFault, WatchEventKind, event, event_kind};

/// One document of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Where it begins
    pub position: RecordingPosition,
    /// `observedAt`
    pub observed_at: Option<Timestamp>,
    pub body: Body,
}

/// The contents of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A `PodList`, or a `List` that is not of Events only
    List {
        /// Its pods
        pods: Vec<PodSnapshot>,
        /// The Events among them, which follow the pods
        events: Vec<KubeEvent>,
        /// `metadata.continue`: the next document has the next page of this list
        continue_token: Option<String>,
        /// `metadata.resourceVersion`
        resource_version: Option<String>,
    },
    /// A pod by itself
    Pod(PodSnapshot),
    /// A watch event of a pod, a bookmark, or an error
    Event(WatchEventKind),
    /// Events only ([§9.5](crate::specification#s9-5)): an `EventList`, a `List` of Events, an Event by
    /// itself, or a watch event of one. The last is empty unless the Event was added or modified.
    Events(Vec<KubeEvent>),
}

impl Document {
    /// Makes the document from `envelope`. `streamed` are the items that were decoded before it.
    pub(super) fn new(
        position: RecordingPosition,
        envelope: Option<Envelope<'_>>,
        streamed: Option<Items>,
        context: &mut DecodeContext,
    ) -> Result<Self, Fault> {
        let mut envelope = envelope.ok_or(Fault::Object(ObjectFault::NotAnObject))?;
        let observed_at = match envelope.observed_at {
            ObservedAt::Absent => None,
            ObservedAt::At(instant) => Some(instant),
            ObservedAt::Unusable => return Err(Fault::ObservedAt),
        };
        if let Some(streamed) = streamed {
            let items = envelope.items.get_or_insert_default();
            items.pods.extend(streamed.pods);
            items.events.extend(streamed.events);
        }
        Ok(Self {
            position,
            observed_at,
            body: body(envelope, context)?,
        })
    }
}

fn body(envelope: Envelope<'_>, context: &mut DecodeContext) -> Result<Body, Fault> {
    let kind = envelope.own.kind.as_deref();
    // Secrets and Events have a `type` of their own.
    let is_event = envelope.object.is_some() || (envelope.event_type.is_some() && kind.is_none());
    if is_event {
        let event_type = envelope.event_type.as_deref();
        let object = match (envelope.object.flatten(), event_type) {
            (Some(object), Some("ADDED" | "MODIFIED")) if object.is_event() => {
                return Ok(Body::Events(vec![event::of_object(object, context)]));
            }
            // A bookmark of a watch of Events says nothing about pods.
            (Some(object), Some("DELETED" | "BOOKMARK")) if object.is_event() => {
                return Ok(Body::Events(Vec::new()));
            }
            (object, _) => object,
        };
        return event_kind(event_type, object, context)
            .map(Body::Event)
            .map_err(|error| match error {
                DecodeError::Object { fault, .. } => Fault::Object(fault),
                DecodeError::Json { why, .. } => Fault::Syntax {
                    format: "JSON",
                    why,
                },
                DecodeError::Protobuf(why) => Fault::Syntax {
                    format: "protobuf",
                    why,
                },
            });
    }
    match kind {
        Some("Event") => Ok(Body::Events(vec![event::of_object(envelope.own, context)])),
        Some("EventList") => events_of_list(envelope),
        Some("PodList" | "List") => list(envelope),
        None if envelope.items.is_some() => {
            Err(Fault::Object(ObjectFault::NotAList(String::new())))
        }
        Some(kind) if kind.ends_with("List") => {
            Err(Fault::Object(ObjectFault::NotAList(shorten(kind))))
        }
        _ => envelope
            .own
            .into_pod(context)
            .map(Body::Pod)
            .map_err(Fault::Object),
    }
}

fn list(envelope: Envelope<'_>) -> Result<Body, Fault> {
    let of_pods = envelope.own.kind.as_deref() == Some("PodList");
    let Items { pods, events, .. } = items(envelope.items)?;
    if of_pods && !events.is_empty() {
        return Err(Fault::Object(ObjectFault::NotAPod("Event".to_owned())));
    }
    if pods.is_empty() && !events.is_empty() {
        return Ok(Body::Events(events));
    }
    let metadata = envelope.own.metadata;
    Ok(Body::List {
        pods,
        events,
        continue_token: metadata.continue_token.map(String::from),
        resource_version: metadata.resource_version.map(String::from),
    })
}

fn events_of_list(envelope: Envelope<'_>) -> Result<Body, Fault> {
    let Items { pods, events, .. } = items(envelope.items)?;
    match pods.is_empty() {
        true => Ok(Body::Events(events)),
        false => Err(Fault::NotAnEvent),
    }
}

/// The items of a list, all of which could be decoded.
fn items(items: Option<Items>) -> Result<Items, Fault> {
    let items = items.ok_or(Fault::Object(ObjectFault::NoItems))?;
    match items.first_fault {
        None => Ok(items),
        Some((index, fault)) => Err(Fault::Item {
            number: index + 1,
            fault,
        }),
    }
}
