//! The documents that contain pods: a watch event, a list, or (in recordings) a single pod.
//!
//! The keys of a JSON or YAML object can be in any order, and the one that shows which of these a
//! document is may be the last. So one visitor reads all of them in one pass.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::DecodeContext;
use super::lenient::{LenientField, LenientSeed, LenientText};
use super::object::{ObjectFault, ObjectFields, ObjectReader};
use crate::{DecodeError, event};
use podinit_core::kube_event::KubeEvent;
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::PodSnapshot;
use podinit_core::rfc3339;
use podinit_core::timestamp::Timestamp;

/// The fields of a document that are read, whatever it is.
#[derive(Default)]
pub struct DocumentEnvelope<'de> {
    /// `type` of a watch event
    pub event_type: Option<Cow<'de, str>>,
    /// `object` of a watch event; the inner `None` where it is there and is no object
    pub object: Option<Option<ObjectFields<'de>>>,
    /// `items` of a list; `None` where it is missing or no array
    pub items: Option<ListItems>,
    pub observed_at: ObservedAt,
    /// The fields of the document itself
    pub own: ObjectFields<'de>,
}

impl<'de> DocumentEnvelope<'de> {
    /// The document that `json` is.
    ///
    /// # Errors
    /// Where it is no JSON, or no object.
    pub fn parse(json: &'de [u8], context: &mut DecodeContext) -> Result<Self, DecodeError> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let envelope = LenientSeed(EnvelopeReader(context)).deserialize(&mut deserializer)?;
        deserializer.end()?;
        envelope.ok_or(ObjectFault::NotAnObject.into())
    }
}

/// Reads a line in JSON with `read`. Invalid UTF-8 in a text of it is replaced, so that the rest can be read.
///
/// # Errors
/// That of the line as it is.
pub(crate) fn read_lossily<T>(
    line: &[u8],
    mut read: impl FnMut(&[u8]) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    read(line).or_else(|error| match String::from_utf8_lossy(line) {
        Cow::Owned(text) if matches!(error, DecodeError::Json { .. }) => {
            read(text.as_bytes()).map_err(|_| error)
        }
        _ => Err(error),
    })
}

/// `observedAt` of a recorded document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ObservedAt {
    /// Missing or null
    #[default]
    Absent,
    /// No text, or no time that [§4.6](crate::specification#s4-6) would take
    Unusable,
    /// A time
    At(Timestamp),
}

/// One item of a list.
pub enum ListItem {
    Pod(PodSnapshot),
    /// A pod of another shard
    OtherShard,
    Event(KubeEvent),
    Node(Box<NodeSnapshot>),
    /// What does not state its kind, as a pod and as a node
    Unnamed(Box<(PodSnapshot, NodeSnapshot)>),
}

impl ListItem {
    /// The item that `object` is.
    pub fn from_object(
        object: Option<ObjectFields<'_>>,
        context: &mut DecodeContext,
    ) -> Result<Self, ObjectFault> {
        let object = object.ok_or(ObjectFault::NotAnObject)?;
        if context.mixed_lists {
            object.check()?;
            if object.is_event() {
                return Ok(Self::Event(event::of_object(object, context)));
            }
        }
        if context.options.nodes.is_some() {
            if object.is_node() {
                let node = object.into_node(context)?;
                return Ok(Self::Node(Box::new(node)));
            }
            if object.kind.is_none() {
                let mut object = object;
                let node = object.node(context).ok_or(ObjectFault::NoUid)?;
                let pod = object.into_pod(context)?;
                return Ok(Self::Unnamed(Box::new((pod, node))));
            }
        }
        if object.is_pod_of_other_shard() {
            return Ok(Self::OtherShard);
        }
        object.into_pod(context).map(Self::Pod)
    }
}

/// The decoded items of a list.
#[derive(Debug, Default)]
pub struct ListItems {
    pub pods: Vec<PodSnapshot>,
    /// How many pods of other shards were left out
    pub of_other_shards: u64,
    /// Only where lists may be mixed
    pub events: Vec<KubeEvent>,
    /// Only where nodes are read
    pub nodes: Vec<NodeSnapshot>,
    /// The pods that do not state their kind, if they are nodes
    pub unnamed_nodes: Vec<NodeSnapshot>,
    /// How many items could not be decoded
    pub undecodable: u64,
    /// The first of them: its position, from 0, and its fault
    pub first_fault: Option<(usize, ObjectFault)>,
}

impl ListItems {
    /// Adds the item at `position`, or its fault.
    pub fn push(&mut self, position: usize, item: Result<ListItem, ObjectFault>) {
        match item {
            Ok(ListItem::Pod(pod)) => self.pods.push(pod),
            Ok(ListItem::OtherShard) => self.of_other_shards += 1,
            Ok(ListItem::Event(event)) => self.events.push(event),
            Ok(ListItem::Node(node)) => self.nodes.push(*node),
            Ok(ListItem::Unnamed(both)) => {
                let (pod, node) = *both;
                self.pods.push(pod);
                self.unnamed_nodes.push(node);
            }
            Err(fault) => {
                self.undecodable += 1;
                self.first_fault.get_or_insert((position, fault));
            }
        }
    }
}

/// Reads an [`DocumentEnvelope`]; `None` for what is no object.
pub struct EnvelopeReader<'c>(pub &'c mut DecodeContext);

impl<'de> LenientField<'de> for EnvelopeReader<'_> {
    type Value = Option<DocumentEnvelope<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(context) = self;
        let mut envelope = DocumentEnvelope::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("type") => {
                    envelope.event_type = map.next_value_seed(LenientSeed(LenientText))?
                }
                Some("object") => {
                    envelope.object =
                        Some(map.next_value_seed(LenientSeed(ObjectReader(context)))?);
                }
                Some("items") => {
                    envelope.items = map.next_value_seed(LenientSeed(ItemsReader(context)))?;
                }
                Some("observedAt") => {
                    envelope.observed_at = map.next_value_seed(LenientSeed(ObservedAtReader))?;
                }
                key => envelope.own.take(key, &mut map, context)?,
            }
        }
        Ok(Some(envelope))
    }
}

/// Reads an [`ObservedAt`].
struct ObservedAtReader;

impl<'de> LenientField<'de> for ObservedAtReader {
    type Value = ObservedAt;

    fn absent(self) -> ObservedAt {
        ObservedAt::Unusable
    }

    fn null(self) -> ObservedAt {
        ObservedAt::Absent
    }

    fn text(self, text: &str) -> ObservedAt {
        rfc3339::parse(text).map_or(ObservedAt::Unusable, ObservedAt::At)
    }
}

/// Reads [`ListItems`], one at a time. Go writes an empty list as null; anything else but an
/// array is `None`, because an empty list would say that every pod is gone.
struct ItemsReader<'c>(&'c mut DecodeContext);

impl<'de> LenientField<'de> for ItemsReader<'_> {
    type Value = Option<ListItems>;

    fn absent(self) -> Self::Value {
        None
    }

    fn null(self) -> Self::Value {
        Some(ListItems::default())
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Self(context) = self;
        let mut items = ListItems::default();
        let mut position = 0;
        while let Some(object) = seq.next_element_seed(LenientSeed(ObjectReader(context)))? {
            items.push(position, ListItem::from_object(object, context));
            position += 1;
        }
        Ok(Some(items))
    }
}
