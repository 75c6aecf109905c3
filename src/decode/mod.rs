//! Decodes the bytes of a watch stream or of a list into [`PodSnapshot`]s. Another encoding
//! (protobuf) would be added here.

pub(crate) mod pod;
mod recover;
pub mod rfc3339;

use std::borrow::Cow;

use serde::de::DeserializeSeed;

use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;
use pod::Context;
pub use pod::DecodeOptions;
use pod::envelope::{Envelope, EnvelopeReader, ObservedAt};
use pod::lenient::Lenient;
pub use pod::object::ObjectFault;
use pod::object::{Object, shorten};

/// One event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchEvent {
    /// What happened.
    pub kind: WatchEventKind,
    /// `observedAt` of a recorded event; an API server sends none.
    pub observed_at: Option<Timestamp>,
}

/// The content of a watch event, by its `type`.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEventKind {
    /// `ADDED`
    Added(PodSnapshot),
    /// `MODIFIED`
    Modified(PodSnapshot),
    /// `DELETED`: the last state of the pod
    Deleted(PodSnapshot),
    /// `BOOKMARK`: everything up to a version was delivered
    Bookmark {
        /// The version, as it is to be given back
        resource_version: Option<String>,
        /// Annotated `k8s.io/initial-events-end: "true"`: a streamed list ends here (KEP-3157)
        initial_events_end: bool,
    },
    /// `ERROR`: the watch failed, for example with code 410 when its version is too old
    Error(ApiStatus),
}

/// A Kubernetes `Status`: why the API server refuses to go on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ApiStatus {
    /// The HTTP status code; 0 when it is missing
    pub code: u16,
    /// A word for machines, such as `Expired`
    pub reason: String,
    /// A sentence for people
    pub message: String,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListPage {
    /// The pods on the page
    pub pods: Vec<PodSnapshot>,
    /// How many items were left out because they are no pods or have no UID
    pub undecodable: u64,
    /// The version of the list, from which a watch may go on
    pub resource_version: Option<String>,
    /// Where the next page begins; `None` on the last one
    pub continue_token: Option<String>,
    /// About how many pods follow on further pages, where the API server says so
    pub remaining: Option<u64>,
}

/// Why bytes could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They are no JSON. Nothing is known of what was meant.
    #[error("invalid JSON at line {line}, column {column}: {why}")]
    Json {
        /// The line, from 1
        line: usize,
        /// The column in bytes, from 1
        column: usize,
        /// What is wrong there
        why: String,
    },
    /// They are JSON, but the object in it is not what it should be.
    #[error("{fault}")]
    Object {
        /// The version of the object, where it has one: a watch may go on from it
        resource_version: Option<u64>,
        /// What is wrong with it
        fault: ObjectFault,
    },
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        let why = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Self::Json { line, column, why }
    }
}

impl From<ObjectFault> for DecodeError {
    fn from(fault: ObjectFault) -> Self {
        Self::Object {
            resource_version: None,
            fault,
        }
    }
}

/// Decodes what the API server sends. One decoder serves one list-watch for its whole life, so
/// that its pods share the texts they have in common (namespaces, nodes, owners).
#[derive(Debug)]
pub struct PodDecoder(Context);

impl PodDecoder {
    /// A decoder that reads the fields that `options` needs.
    pub fn new(options: DecodeOptions) -> Self {
        Self(Context::new(options))
    }

    /// Decodes one line of a watch stream.
    ///
    /// # Errors
    /// [`DecodeError::Json`] where the line is no JSON object; [`DecodeError::Object`] where it
    /// is one, but its `type` is unknown or its `object` is no pod with a UID. Bookmarks and
    /// errors of the API server need none.
    pub fn watch_event(&mut self, line: &[u8]) -> Result<WatchEvent, DecodeError> {
        let error = match self.event(line) {
            Err(error @ DecodeError::Json { .. }) => error,
            result => return result,
        };
        // Invalid UTF-8 in a text is replaced, so that the rest can be read.
        if let Cow::Owned(text) = String::from_utf8_lossy(line) {
            let event = self.event(text.as_bytes());
            if event.is_ok() {
                return event;
            }
        }
        Err(recover::watch_event(line, &mut self.0).unwrap_or(error))
    }

    fn event(&mut self, line: &[u8]) -> Result<WatchEvent, DecodeError> {
        let envelope = self.envelope(line)?;
        let observed_at = match envelope.observed_at {
            ObservedAt::At(instant) => Some(instant),
            ObservedAt::Absent | ObservedAt::Unusable => None,
        };
        let object = envelope.object.flatten();
        let kind = event_kind(envelope.event_type.as_deref(), object, &mut self.0)?;
        Ok(WatchEvent { kind, observed_at })
    }

    /// Decodes one page of a list. An item that is no pod with a UID, or cannot be read, costs
    /// only itself.
    ///
    /// # Errors
    /// [`DecodeError::Json`] where the body is no JSON object; [`DecodeError::Object`] where it
    /// is not of kind `PodList` or `List`, or has no `items`.
    pub fn list_page(&mut self, body: &[u8]) -> Result<ListPage, DecodeError> {
        match self.envelope(body) {
            Ok(envelope) => list_page_of(envelope),
            Err(error @ DecodeError::Json { .. }) => {
                recover::list_page(body, &mut self.0).unwrap_or(Err(error))
            }
            Err(error) => Err(error),
        }
    }

    fn envelope<'de>(&mut self, json: &'de [u8]) -> Result<Envelope<'de>, DecodeError> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let envelope = Lenient(EnvelopeReader(&mut self.0)).deserialize(&mut deserializer)?;
        deserializer.end()?;
        envelope.ok_or(ObjectFault::NotAnObject.into())
    }
}

/// The page of a list that `envelope` is.
fn list_page_of(envelope: Envelope<'_>) -> Result<ListPage, DecodeError> {
    let metadata = envelope.own.metadata;
    match envelope.own.kind.as_deref() {
        Some("PodList" | "List") => {}
        kind => return Err(ObjectFault::NotAList(shorten(kind.unwrap_or_default())).into()),
    }
    let items = envelope.items.ok_or(ObjectFault::NoItems)?;
    Ok(ListPage {
        pods: items.pods,
        undecodable: items.undecodable,
        resource_version: metadata.resource_version.map(String::from),
        continue_token: metadata.continue_token.map(String::from),
        remaining: metadata.remaining,
    })
}

/// The event of type `event_type` with `object`.
pub(crate) fn event_kind(
    event_type: Option<&str>,
    object: Option<Object<'_>>,
    context: &mut Context,
) -> Result<WatchEventKind, DecodeError> {
    let variant = match event_type {
        Some("ADDED") => WatchEventKind::Added,
        Some("MODIFIED") => WatchEventKind::Modified,
        Some("DELETED") => WatchEventKind::Deleted,
        Some("BOOKMARK") => {
            let metadata = object.ok_or(ObjectFault::NotAnObject)?.metadata;
            return Ok(WatchEventKind::Bookmark {
                resource_version: metadata.resource_version.map(String::from),
                initial_events_end: metadata.initial_events_end,
            });
        }
        Some("ERROR") => return Ok(WatchEventKind::Error(api_status(object))),
        unknown => {
            return Err(DecodeError::Object {
                resource_version: object.and_then(|object| object.metadata.version()),
                fault: ObjectFault::UnknownType(shorten(unknown.unwrap_or_default())),
            });
        }
    };
    let object = object.ok_or(ObjectFault::NotAnObject)?;
    let resource_version = object.metadata.version();
    object
        .into_pod(context)
        .map(variant)
        .map_err(|fault| DecodeError::Object {
            resource_version,
            fault,
        })
}

/// An ERROR event is never refused, even if its object lacks fields.
fn api_status(object: Option<Object<'_>>) -> ApiStatus {
    let object = object.unwrap_or_default();
    ApiStatus {
        code: object
            .code
            .and_then(|code| u16::try_from(code).ok())
            .unwrap_or_default(),
        reason: object.reason.map(String::from).unwrap_or_default(),
        message: object.message.map(String::from).unwrap_or_default(),
    }
}

#[cfg(test)]
pub(crate) mod properties;
#[cfg(test)]
mod tests;
