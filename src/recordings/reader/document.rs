//! Documents of a recording, made from the fields found in their text.

use super::error::Fault;
use super::position::RecordingPosition;
use crate::decode::pod::DecodeContext;
use crate::decode::pod::envelope::{Envelope, Items, ObservedAt};
use crate::decode::pod::object::shorten;
use crate::decode::{DecodeError, ObjectFault, WatchEventKind, event_kind};
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

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
    /// A `PodList`, or a `List` of pods
    List {
        /// Its pods
        pods: Vec<PodSnapshot>,
        /// `metadata.continue`: the next document has the next page of this list
        continue_token: Option<String>,
        /// `metadata.resourceVersion`
        resource_version: Option<String>,
    },
    /// A pod by itself
    Pod(PodSnapshot),
    /// A watch event
    Event(WatchEventKind),
}

impl Document {
    /// Makes the document from `envelope`. `streamed` are the items that were decoded before it.
    pub(super) fn new(
        position: RecordingPosition,
        envelope: Option<Envelope<'_>>,
        streamed: Option<Vec<PodSnapshot>>,
        context: &mut DecodeContext,
    ) -> Result<Self, Fault> {
        let mut envelope = envelope.ok_or(Fault::Object(ObjectFault::NotAnObject))?;
        let observed_at = match envelope.observed_at {
            ObservedAt::Absent => None,
            ObservedAt::At(instant) => Some(instant),
            ObservedAt::Unusable => return Err(Fault::ObservedAt),
        };
        if let Some(pods) = streamed {
            envelope.items.get_or_insert_default().pods.extend(pods);
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
        return event_kind(event_type, envelope.object.flatten(), context)
            .map(Body::Event)
            .map_err(|error| match error {
                DecodeError::Object { fault, .. } => Fault::Object(fault),
                DecodeError::Json { why, .. } => Fault::Syntax {
                    format: "JSON",
                    why,
                },
            });
    }
    match kind {
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
    let Items {
        pods, first_fault, ..
    } = envelope.items.ok_or(Fault::Object(ObjectFault::NoItems))?;
    if let Some((index, fault)) = first_fault {
        return Err(Fault::Item {
            number: index + 1,
            fault,
        });
    }
    let metadata = envelope.own.metadata;
    Ok(Body::List {
        pods,
        continue_token: metadata.continue_token.map(String::from),
        resource_version: metadata.resource_version.map(String::from),
    })
}
