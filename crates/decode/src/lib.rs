//! Bytes of a watch stream or of a list to [`PodSnapshot`]s and [`KubeEvent`](podinit_core::kube_event::KubeEvent)s, from
//! JSON or from protobuf ([`ObjectEncoding`]).
//!
//! Both encodings go through the same readers of fields, so they cannot disagree. One odd field never costs the pod.
//! It knows core; it must not know where bytes come from or what becomes of a snapshot.

#![forbid(unsafe_code)]

mod encoding;
mod error;
pub mod event;
mod json_list_reader;
mod list_page;
pub mod node;
mod page_reader;
pub mod pod;
pub mod protobuf;
mod recorded;
mod recover;
pub use podinit_core::rfc3339;

#[doc(no_inline)]
pub use podinit_core::specification;

use serde::Deserialize;
use serde::de::DeserializeSeed;

pub use encoding::ObjectEncoding;
pub use error::DecodeError;
pub use list_page::ListPage;
use pod::DecodeContext;
pub use pod::DecodeOptions;
use pod::envelope::{DocumentEnvelope, ListItem, ObservedAt, read_lossily};
use pod::lenient::LenientSeed;
use pod::memory::PodMemory;
pub use pod::object::ObjectFault;
use pod::object::{ObjectFields, ObjectReader, shorten};
pub use pod::spec_field::SpecField;
use podinit_core::pod::PodSnapshot;
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
pub use recorded::{RecordedKind, recorded_kind};

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
    /// `ADDED`, `MODIFIED` or `DELETED` of a pod of another shard, which is not decoded
    OtherShard {
        /// What happened to it
        event_type: PodEventType,
        /// Its version
        resource_version: Option<u64>,
    },
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

/// The types of watch events that are about a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodEventType {
    /// `ADDED`
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
}

impl PodEventType {
    fn parse(event_type: &str) -> Option<Self> {
        match event_type {
            "ADDED" => Some(Self::Added),
            "MODIFIED" => Some(Self::Modified),
            "DELETED" => Some(Self::Deleted),
            _ => None,
        }
    }

    fn with(self, pod: PodSnapshot) -> WatchEventKind {
        match self {
            Self::Added => WatchEventKind::Added(pod),
            Self::Modified => WatchEventKind::Modified(pod),
            Self::Deleted => WatchEventKind::Deleted(pod),
        }
    }
}

/// A Kubernetes `Status`: why the API server refuses to go on.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct ApiStatus {
    /// The HTTP status code; 0 when it is missing
    pub code: u16,
    /// A word for machines, such as `Expired`
    pub reason: String,
    /// A sentence for people
    pub message: String,
}

/// Decodes what the API server sends. One decoder serves one list-watch for its whole life, so
/// that its pods share the texts they have in common (namespaces, nodes, owners).
#[derive(Debug)]
pub struct PodDecoder(DecodeContext);

impl PodDecoder {
    /// A decoder that reads the fields that `options` needs.
    pub fn new(options: DecodeOptions) -> Self {
        Self(DecodeContext::new(options))
    }

    /// The same decoder for the pods of `shard` only, or for all ([§12](crate::specification#s12)).
    #[must_use]
    pub fn of_shard(mut self, shard: Option<Shard>) -> Self {
        self.0.shard = shard;
        self
    }

    /// The same decoder as one of so many, which together take no more memory for what they remember than a single one.
    #[must_use]
    pub fn one_in(mut self, decoders: usize) -> Self {
        self.0.memory = PodMemory::of_one_in(decoders);
        self
    }

    /// Decodes one event of a watch, which is in `encoding`.
    ///
    /// # Errors
    /// As [`PodDecoder::watch_event`] and [`PodDecoder::watch_frame`].
    pub fn decode_event(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
    ) -> Result<WatchEvent, DecodeError> {
        match encoding {
            ObjectEncoding::Json => self.watch_event(event),
            ObjectEncoding::Protobuf => self.watch_frame(event),
        }
    }

    /// Decodes one line of a watch stream in JSON.
    ///
    /// # Errors
    /// [`DecodeError::Json`] where the line is no JSON object; [`DecodeError::Object`] where it
    /// is one, but its `type` is unknown or its `object` is no pod with a UID. Bookmarks and
    /// errors of the API server need none.
    pub fn watch_event(&mut self, line: &[u8]) -> Result<WatchEvent, DecodeError> {
        match read_lossily(line, |line| self.event(line)) {
            Err(error @ DecodeError::Json { .. }) => {
                Err(recover::watch_event(line, &mut self.0).unwrap_or(error))
            }
            result => result,
        }
    }

    fn event(&mut self, line: &[u8]) -> Result<WatchEvent, DecodeError> {
        let envelope = DocumentEnvelope::parse(line, &mut self.0)?;
        let observed_at = match envelope.observed_at {
            ObservedAt::At(instant) => Some(instant),
            ObservedAt::Absent | ObservedAt::Unusable => None,
        };
        let object = envelope.object.flatten();
        let kind = event_kind(envelope.event_type.as_deref(), object, &mut self.0)?;
        Ok(WatchEvent { kind, observed_at })
    }

    /// Decodes one page of a list in JSON. An item that is no pod with a UID, or cannot be read, costs
    /// only itself.
    ///
    /// # Errors
    /// [`DecodeError::Json`] where the body is no JSON object; [`DecodeError::Object`] where it
    /// is not of kind `PodList` or `List`, or has no `items`.
    pub fn list_page(&mut self, body: &[u8]) -> Result<ListPage, DecodeError> {
        match DocumentEnvelope::parse(body, &mut self.0) {
            Ok(envelope) => ListPage::from_envelope(envelope),
            Err(error @ DecodeError::Json { .. }) => {
                recover::list_page(body, &mut self.0).unwrap_or(Err(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Decodes one item of a list in JSON; the inner error is that of an item which costs only itself.
    fn list_item(&mut self, json: &[u8]) -> Result<Result<ListItem, ObjectFault>, DecodeError> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let object = LenientSeed(ObjectReader(&mut self.0)).deserialize(&mut deserializer);
        let read = object.and_then(|object| deserializer.end().map(|()| object));
        match read {
            Ok(object) => Ok(ListItem::from_object(object, &mut self.0)),
            Err(error) => recover::list_item(json, &mut self.0).ok_or_else(|| error.into()),
        }
    }
}

/// The event of type `event_type` with `object`.
pub fn event_kind(
    event_type: Option<&str>,
    object: Option<ObjectFields<'_>>,
    context: &mut DecodeContext,
) -> Result<WatchEventKind, DecodeError> {
    let event_type = match event_type {
        Some("BOOKMARK") => {
            let metadata = object.ok_or(ObjectFault::NotAnObject)?.metadata;
            return Ok(WatchEventKind::Bookmark {
                resource_version: metadata.resource_version.map(String::from),
                initial_events_end: metadata.initial_events_end,
            });
        }
        Some("ERROR") => return Ok(WatchEventKind::Error(api_status(object))),
        other => match other.and_then(PodEventType::parse) {
            Some(event_type) => event_type,
            None => {
                return Err(DecodeError::Object {
                    resource_version: object.and_then(|object| object.metadata.version()),
                    fault: ObjectFault::UnknownType(shorten(other.unwrap_or_default())),
                });
            }
        },
    };
    let object = object.ok_or(ObjectFault::NotAnObject)?;
    let resource_version = object.metadata.version();
    if object.is_pod_of_other_shard() {
        return Ok(WatchEventKind::OtherShard { event_type, resource_version });
    }
    object
        .into_pod(context)
        .map(|pod| event_type.with(pod))
        .map_err(|fault| DecodeError::Object { resource_version, fault })
}

/// An ERROR event is never refused, even if its object lacks fields.
fn api_status(object: Option<ObjectFields<'_>>) -> ApiStatus {
    let object = object.unwrap_or_default();
    ApiStatus {
        code: object.code.and_then(|code| u16::try_from(code).ok()).unwrap_or_default(),
        reason: object.reason.map(String::from).unwrap_or_default(),
        message: object.message.map(String::from).unwrap_or_default(),
    }
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
