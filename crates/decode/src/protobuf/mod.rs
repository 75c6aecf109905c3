//! Protobuf, as API servers send it (`application/vnd.kubernetes.protobuf`):
//!
//! ```text
//! answer       "k8s\0" Unknown { typeMeta 1 { kind 2 }, raw 2 }
//! list         its raw is PodList { metadata 1, items 2 }, and the items follow the metadata
//! watch event  WatchEvent { type 1, object 2 { raw 1 } }, whose raw is an answer again
//! ```
//!
//! Like the JSON decoder it is total: nothing panics, what is no field that is read is skipped, and an
//! object that is malformed costs only itself. It holds no rule of its own: `deserializer` shows a message
//! to the readers of `pod` and `event` as a map with the keys of the JSON. `wire` reads fields, `schema`
//! says which of them, and `list_reader` reads a list while it arrives.

mod deserializer;
mod known_pod;
pub(super) mod list_reader;
mod schema;
pub(super) mod wire;

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use serde::de::DeserializeSeed;

use super::error::DecodeError;
use super::event::watch::{EventDecoder, EventLine};
use super::node::watch::{NodeDecoder, NodeListPage, NodeWatchLine};
use super::pod::DecodeContext;
use super::pod::lenient::LenientSeed;
use super::pod::metadata::{MetadataFields, MetadataReader};
use super::pod::object::{ObjectFault, ObjectFields, ObjectReader, shorten};
use super::{PodDecoder, PodEventType, WatchEvent, WatchEventKind, event_kind};
use deserializer::MessageDeserializer;
use known_pod::PodParts;
use schema::MessageSchema;
use wire::Malformed;
use wire::{WireField, WireFields, WireValue};

/// What every answer begins with.
const MAGIC: &[u8; 4] = b"k8s\0";

/// What of a `Status` explains an error.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ErrorStatus {
    /// `message`
    pub message: String,
    /// `details.retryAfterSeconds`
    pub retry_after_seconds: Option<u64>,
}

/// The `Status` that `answer` is; `None` for anything else.
pub fn error_status(answer: &[u8]) -> Option<ErrorStatus> {
    let RuntimeUnknown { kind, raw } = unknown(answer).ok()?;
    if kind.is_some_and(|kind| kind != "Status") {
        return None;
    }
    let mut status = ErrorStatus::default();
    let mut fields = WireFields::new(raw);
    while let Some(WireField { number, value }) = fields.next().ok()? {
        match (number, value) {
            (3, WireValue::Bytes(message)) => {
                status.message = String::from_utf8_lossy(message).into_owned();
            }
            (5, WireValue::Bytes(details)) => status.retry_after_seconds = retry_after(details),
            _ => {}
        }
    }
    Some(status)
}

fn retry_after(details: &[u8]) -> Option<u64> {
    let mut fields = WireFields::new(details);
    let mut seconds = None;
    while let Some(WireField { number, value }) = fields.next().ok()? {
        if let (5, WireValue::Varint(value)) = (number, value) {
            seconds = u64::try_from(value.cast_signed()).ok();
        }
    }
    // An absent number is 0.
    seconds.filter(|seconds| *seconds > 0)
}

impl PodDecoder {
    /// Decodes one event of a watch in protobuf, without the length that stands before it.
    ///
    /// # Errors
    /// As [`PodDecoder::watch_event`]: [`DecodeError::Protobuf`] where it is no watch event;
    /// [`DecodeError::Object`] where only its object cannot be used.
    pub fn watch_frame(&mut self, frame: &[u8]) -> Result<WatchEvent, DecodeError> {
        let Self(context) = self;
        let sent = SentEvent::from_frame(frame)?;
        let event_type = sent.event_type.as_deref();
        let parts = (sent.answer).and_then(|answer| pod_parts(answer, &context.memory.hashes));
        let pod_event = parts.as_ref().zip(event_type.and_then(PodEventType::parse));
        let known = pod_event.and_then(|(pod, event)| Some(event.with(pod.pod(context)?)));
        let kind = match known {
            Some(kind) => kind,
            None => {
                context.memory.next = parts.as_ref().map(|parts| parts.fingerprint);
                let object = sent.object(context);
                let kind = object.and_then(|object| event_kind(event_type, object, context));
                context.memory.next = None;
                kind?
            }
        };
        if let WatchEventKind::Deleted(pod) = &kind {
            context.memory.forget(pod.uid);
        }
        let observed_at = None;
        Ok(WatchEvent { kind, observed_at })
    }
}

impl EventDecoder {
    /// Decodes one event of a watch in protobuf, without the length that stands before it.
    ///
    /// # Errors
    /// As [`EventDecoder::line`].
    pub fn frame(&mut self, frame: &[u8]) -> Result<EventLine, DecodeError> {
        let context = self.context();
        let (event_type, object) = event_parts(frame, context)?;
        EventLine::from_object(event_type.as_deref(), object, context)
    }

    /// The version of a list of Events in protobuf.
    ///
    /// # Errors
    /// Where the body is no list of Events.
    pub fn version_of_protobuf_list(&mut self, body: &[u8]) -> Result<Option<String>, DecodeError> {
        let RuntimeUnknown { kind, raw } = unknown(body)?;
        match kind.as_deref() {
            Some("EventList" | "List") => {}
            kind => return Err(ObjectFault::NotAList(shorten(kind.unwrap_or_default())).into()),
        }
        let [metadata] = WireFields::new(raw).bytes([1])?;
        let metadata =
            metadata_of(metadata.unwrap_or_default(), schema::LIST_META, self.context())?;
        Ok(metadata.resource_version.map(Cow::into_owned))
    }
}

impl NodeDecoder {
    /// Decodes one event of a watch in protobuf, without the length that stands before it.
    ///
    /// # Errors
    /// As [`NodeDecoder::decode_event`].
    pub fn frame(&mut self, frame: &[u8]) -> Result<NodeWatchLine, DecodeError> {
        let context = self.context();
        let (event_type, object) = event_parts(frame, context)?;
        NodeWatchLine::from_object(event_type.as_deref(), object, context)
    }

    /// Decodes one page of a list in protobuf.
    ///
    /// # Errors
    /// As [`NodeDecoder::list_page`].
    pub(super) fn protobuf_page(&mut self, body: &[u8]) -> Result<NodeListPage, DecodeError> {
        let RuntimeUnknown { kind, raw } = unknown(body)?;
        match kind.as_deref() {
            Some("NodeList") => {}
            kind => return Err(ObjectFault::NotAList(shorten(kind.unwrap_or_default())).into()),
        }
        let context = self.context();
        let mut page = NodeListPage::default();
        let mut fields = WireFields::new(raw);
        while let Some(WireField { number, value }) = fields.next()? {
            match (number, value) {
                (1, WireValue::Bytes(metadata)) => {
                    let metadata = metadata_of(metadata, schema::LIST_META, context)?;
                    page.resource_version = metadata.resource_version.map(Cow::into_owned);
                    page.continue_token = metadata.continue_token.map(Cow::into_owned);
                }
                (2, WireValue::Bytes(item)) => {
                    let node = object_of(item, schema::NODE, context).ok();
                    match node.and_then(|object| object.into_node(context).ok()) {
                        Some(node) => page.nodes.push(node),
                        None => page.undecodable += 1,
                    }
                }
                _ => {}
            }
        }
        Ok(page)
    }
}

/// The type and the object of a watch event.
fn event_parts<'de>(
    frame: &'de [u8],
    context: &mut DecodeContext,
) -> Result<(Option<Cow<'de, str>>, Option<ObjectFields<'de>>), DecodeError> {
    let sent = SentEvent::from_frame(frame)?;
    let object = sent.object(context)?;
    Ok((sent.event_type, object))
}

/// A watch event whose object is not read yet.
struct SentEvent<'de> {
    event_type: Option<Cow<'de, str>>,
    answer: Option<&'de [u8]>,
}

impl<'de> SentEvent<'de> {
    fn from_frame(frame: &'de [u8]) -> Result<Self, Malformed> {
        let [event_type, extension] = WireFields::new(frame).bytes([1, 2])?;
        let answer = extension.map(|extension| WireFields::new(extension).bytes([1]));
        Ok(Self {
            event_type: event_type.map(String::from_utf8_lossy),
            answer: answer.transpose()?.map(|[answer]| answer.unwrap_or_default()),
        })
    }

    fn object(
        &self,
        context: &mut DecodeContext,
    ) -> Result<Option<ObjectFields<'de>>, DecodeError> {
        let Some(answer) = self.answer else {
            return Ok(None);
        };
        match object(answer, context) {
            Ok(object) => Ok(Some(object)),
            Err(_) if self.event_type.as_deref() == Some("ERROR") => Ok(None),
            Err(_) => Err(DecodeError::Object {
                resource_version: version(answer, context),
                fault: ObjectFault::Unreadable,
            }),
        }
    }
}

/// The type with which a watch event begins, where it is whole.
pub(super) fn event_type(frame: &[u8]) -> Option<&[u8]> {
    let (length, rest) = frame.strip_prefix(b"\x0a")?.split_first()?;
    rest.get(..usize::from(*length))
}

/// An answer.
struct RuntimeUnknown<'de> {
    kind: Option<Cow<'de, str>>,
    raw: &'de [u8],
}

fn unknown(answer: &[u8]) -> Result<RuntimeUnknown<'_>, Malformed> {
    let begins_otherwise = || Malformed::new("an object does not begin with \"k8s\\0\"");
    let fields = WireFields::new(answer.strip_prefix(MAGIC).ok_or_else(begins_otherwise)?);
    let [type_meta, raw] = fields.bytes([1, 2])?;
    Ok(RuntimeUnknown {
        kind: type_meta.map(kind).transpose()?.flatten(),
        raw: raw.unwrap_or_default(),
    })
}

/// The parts of the pod that `answer` is.
fn pod_parts<'de>(answer: &'de [u8], hashes: &DefaultHashBuilder) -> Option<PodParts<'de>> {
    let RuntimeUnknown { kind, raw } = unknown(answer).ok()?;
    PodParts::from_object(kind.as_deref(), raw, hashes)
}

/// The kind that a `TypeMeta` states.
fn kind(type_meta: &[u8]) -> Result<Option<Cow<'_, str>>, Malformed> {
    let [kind] = WireFields::new(type_meta).bytes([2])?;
    let kind = kind.filter(|kind| !kind.is_empty());
    Ok(kind.map(String::from_utf8_lossy))
}

/// The object that `answer` is.
fn object<'de>(
    answer: &'de [u8],
    context: &mut DecodeContext,
) -> Result<ObjectFields<'de>, Malformed> {
    let RuntimeUnknown { kind, raw } = unknown(answer)?;
    let known = schema::object(kind.as_deref());
    let mut object = object_of(raw, known, context)?;
    object.kind = kind;
    Ok(object)
}

fn object_of<'de>(
    message: &'de [u8],
    known: MessageSchema,
    context: &mut DecodeContext,
) -> Result<ObjectFields<'de>, Malformed> {
    let message = MessageDeserializer { message, known };
    let object = LenientSeed(ObjectReader(context)).deserialize(message)?;
    Ok(object.unwrap_or_default())
}

fn metadata_of<'de>(
    message: &'de [u8],
    known: MessageSchema,
    context: &mut DecodeContext,
) -> Result<MetadataFields<'de>, Malformed> {
    let message = MessageDeserializer { message, known };
    LenientSeed(MetadataReader(context)).deserialize(message)
}

/// The version of an object that is malformed somewhere else, from which a watch may go on.
fn version(answer: &[u8], context: &mut DecodeContext) -> Option<u64> {
    let mut fields = WireFields::new(unknown(answer).ok()?.raw);
    // The metadata comes first.
    match fields.next().ok()?? {
        WireField { number: 1, value: WireValue::Bytes(metadata) } => {
            metadata_of(metadata, schema::OBJECT_META, context).ok()?.version()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
