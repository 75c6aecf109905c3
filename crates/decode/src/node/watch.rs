//! Decodes what an API server sends of nodes: the events of a watch, and the pages of a list.

use std::borrow::Cow;

use super::NodeOptions;
use crate::pod::DecodeContext;
use crate::pod::envelope::{DocumentEnvelope, read_lossily};
use crate::pod::object::{ObjectFields, shorten};
use crate::{ApiStatus, DecodeError, DecodeOptions, ObjectEncoding, ObjectFault, api_status};
use podinit_core::node::NodeSnapshot;

/// One event of a watch of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeWatchLine {
    /// The version of its object, from which the watch may go on
    pub version: Option<String>,
    pub kind: NodeLineKind,
}

/// What an event of a watch of nodes says.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeLineKind {
    /// `ADDED` or `MODIFIED`
    Applied(Box<NodeSnapshot>),
    /// `DELETED`: the last state of the node
    Deleted(Box<NodeSnapshot>),
    /// `BOOKMARK`; with the annotation that ends a streamed list or without
    Bookmark { initial_events_end: bool },
    /// `ERROR`
    Error(ApiStatus),
}

/// One page of a list of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeListPage {
    pub nodes: Vec<NodeSnapshot>,
    /// How many items were left out because they are no nodes or have no UID
    pub undecodable: u64,
    /// The version of the list, from which a watch may go on
    pub resource_version: Option<String>,
    /// Where the next page begins; `None` on the last one
    pub continue_token: Option<String>,
}

/// Decodes what one list-watch of nodes receives.
#[derive(Debug)]
pub struct NodeDecoder(DecodeContext);

impl NodeDecoder {
    /// A decoder that reads nodes as `options` say.
    pub fn new(options: NodeOptions) -> Self {
        let nodes = Some(options);
        Self(DecodeContext::new(DecodeOptions { nodes, ..DecodeOptions::default() }))
    }

    pub(crate) const fn context(&mut self) -> &mut DecodeContext {
        &mut self.0
    }

    /// Decodes one event of a watch, which is in `encoding`.
    ///
    /// # Errors
    /// Where it is no event, has no object, is of a type that Kubernetes does not define, or is about something
    /// else than a node with a UID.
    pub fn decode_event(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
    ) -> Result<NodeWatchLine, DecodeError> {
        match encoding {
            ObjectEncoding::Json => self.line(event),
            ObjectEncoding::Protobuf => self.frame(event),
        }
    }

    /// Decodes one line of a watch in JSON.
    ///
    /// # Errors
    /// As [`NodeDecoder::decode_event`].
    pub fn line(&mut self, line: &[u8]) -> Result<NodeWatchLine, DecodeError> {
        read_lossily(line, |line| {
            let envelope = DocumentEnvelope::parse(line, &mut self.0)?;
            let object = envelope.object.flatten();
            NodeWatchLine::from_object(envelope.event_type.as_deref(), object, &mut self.0)
        })
    }

    /// Decodes one page of a list, which is in `encoding`. An item that is no node costs only itself.
    ///
    /// # Errors
    /// Where the body is no list, or has no items.
    pub fn list_page(
        &mut self,
        encoding: ObjectEncoding,
        body: &[u8],
    ) -> Result<NodeListPage, DecodeError> {
        if encoding == ObjectEncoding::Protobuf {
            return self.protobuf_page(body);
        }
        let list = DocumentEnvelope::parse(body, &mut self.0)?;
        match list.own.kind.as_deref() {
            Some("NodeList" | "List") => {}
            kind => return Err(ObjectFault::NotAList(shorten(kind.unwrap_or_default())).into()),
        }
        let items = list.items.ok_or(ObjectFault::NoItems)?;
        let unnamed = items.unnamed_nodes.len() as u64;
        let undecodable = items.undecodable + (items.pods.len() as u64).saturating_sub(unnamed);
        let nodes = items.nodes.into_iter().chain(items.unnamed_nodes);
        Ok(NodeListPage {
            nodes: nodes.collect(),
            undecodable,
            resource_version: list.own.metadata.resource_version.map(Cow::into_owned),
            continue_token: list.own.metadata.continue_token.map(Cow::into_owned),
        })
    }
}

impl NodeWatchLine {
    /// The event of type `event_type` with `object`.
    ///
    /// # Errors
    /// As [`NodeDecoder::decode_event`].
    pub fn from_object(
        event_type: Option<&str>,
        object: Option<ObjectFields<'_>>,
        context: &mut DecodeContext,
    ) -> Result<Self, DecodeError> {
        if event_type == Some("ERROR") {
            return Ok(Self { version: None, kind: NodeLineKind::Error(api_status(object)) });
        }
        let object = object.ok_or(ObjectFault::NotAnObject)?;
        let resource_version = object.metadata.version();
        let version = object.metadata.resource_version.as_deref().map(str::to_owned);
        let fault = |fault| DecodeError::Object { resource_version, fault };
        let kind = match event_type {
            Some("BOOKMARK") => {
                NodeLineKind::Bookmark { initial_events_end: object.metadata.initial_events_end }
            }
            Some("ADDED" | "MODIFIED") => {
                NodeLineKind::Applied(Box::new(object.into_node(context).map_err(fault)?))
            }
            Some("DELETED") => {
                NodeLineKind::Deleted(Box::new(object.into_node(context).map_err(fault)?))
            }
            unknown => {
                let unknown = shorten(unknown.unwrap_or_default());
                return Err(fault(ObjectFault::UnknownType(unknown)));
            }
        };
        Ok(Self { version, kind })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
