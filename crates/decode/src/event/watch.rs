//! Decodes what an API server sends of Events: the events of a watch, and the pages of a list.

use std::borrow::Cow;

use super::{is_of_other_shard, of_object};
use crate::pod::DecodeContext;
use crate::pod::envelope::{DocumentEnvelope, read_lossily};
use crate::pod::object::{ObjectFields, shorten};
use crate::{ApiStatus, DecodeError, DecodeOptions, ObjectEncoding, ObjectFault, api_status};
use podinit_core::kube_event::KubeEvent;
use podinit_core::shard::Shard;

/// One event of a watch of Events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventLine {
    /// The version of its object, from which the watch may go on
    pub version: Option<String>,
    pub kind: EventLineKind,
}

/// What an event of a watch of Events says.
#[derive(Clone, Debug, PartialEq)]
pub enum EventLineKind {
    /// `ADDED` or `MODIFIED`: an Event, or one more occurrence of it
    Applied(KubeEvent),
    /// The same of a pod of another shard, which is not decoded
    OtherShard,
    /// `DELETED`: the API server has forgotten the Event
    Deleted,
    /// `BOOKMARK`
    Bookmark,
    /// `ERROR`
    Error(ApiStatus),
}

/// One page of a list of Events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventListPage {
    pub events: Vec<KubeEvent>,
    /// Where the next page begins; `None` on the last one
    pub continue_token: Option<String>,
}

/// Decodes what one list-watch of Events receives. Its Events share the names they have in common.
#[derive(Debug, Default)]
pub struct EventDecoder(DecodeContext);

impl EventDecoder {
    /// A decoder that reads messages where `options` ask for them.
    pub fn new(options: DecodeOptions) -> Self {
        Self(DecodeContext::new(options))
    }

    /// The same for the Events of the pods of `shard` only, or of all.
    #[must_use]
    pub fn of_shard(mut self, shard: Option<Shard>) -> Self {
        self.0.shard = shard;
        self
    }

    /// Decodes one event of a watch, which is in `encoding`.
    ///
    /// # Errors
    /// As [`EventDecoder::line`] and [`EventDecoder::frame`].
    pub fn decode_event(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
    ) -> Result<EventLine, DecodeError> {
        match encoding {
            ObjectEncoding::Json => self.line(event),
            ObjectEncoding::Protobuf => self.frame(event),
        }
    }

    /// The version of a list of Events, which is in `encoding`.
    ///
    /// # Errors
    /// Where the body is no list of Events.
    pub fn version_of_list(
        &mut self,
        encoding: ObjectEncoding,
        body: &[u8],
    ) -> Result<Option<String>, DecodeError> {
        match encoding {
            ObjectEncoding::Json => self.list_version(body),
            ObjectEncoding::Protobuf => self.version_of_protobuf_list(body),
        }
    }

    pub(crate) const fn context(&mut self) -> &mut DecodeContext {
        &mut self.0
    }

    /// Decodes one line of a watch in JSON.
    ///
    /// # Errors
    /// Where the line is no JSON object, has no object, or is of a type that Kubernetes does not define.
    pub fn line(&mut self, line: &[u8]) -> Result<EventLine, DecodeError> {
        read_lossily(line, |line| {
            let envelope = DocumentEnvelope::parse(line, &mut self.0)?;
            let object = envelope.object.flatten();
            EventLine::from_object(envelope.event_type.as_deref(), object, &mut self.0)
        })
    }

    /// The version of a list of Events in JSON.
    ///
    /// # Errors
    /// Where the body is no JSON object, or of another kind than a list.
    pub fn list_version(&mut self, body: &[u8]) -> Result<Option<String>, DecodeError> {
        let list = list(body, &mut self.0)?;
        let version = list.own.metadata.resource_version;
        Ok(version.map(Cow::into_owned))
    }

    /// Decodes one page of a list. An item that is no Event costs only itself.
    ///
    /// # Errors
    /// Where the body is no JSON object, of another kind than a list, or has no `items`.
    pub fn list_page(&mut self, body: &[u8]) -> Result<EventListPage, DecodeError> {
        self.0.mixed_lists = true;
        let list = list(body, &mut self.0)?;
        let items = list.items.ok_or(ObjectFault::NoItems)?;
        let token = list.own.metadata.continue_token;
        Ok(EventListPage { events: items.events, continue_token: token.map(Cow::into_owned) })
    }
}

/// The list of Events that `body` is.
fn list<'de>(
    body: &'de [u8],
    context: &mut DecodeContext,
) -> Result<DocumentEnvelope<'de>, DecodeError> {
    let envelope = DocumentEnvelope::parse(body, context)?;
    match envelope.own.kind.as_deref() {
        Some("EventList" | "List") => Ok(envelope),
        kind => Err(ObjectFault::NotAList(shorten(kind.unwrap_or_default())).into()),
    }
}

impl EventLine {
    /// The event of type `event_type` with `object`.
    pub(crate) fn from_object(
        event_type: Option<&str>,
        object: Option<ObjectFields<'_>>,
        context: &mut DecodeContext,
    ) -> Result<Self, DecodeError> {
        if event_type == Some("ERROR") {
            return Ok(Self { version: None, kind: EventLineKind::Error(api_status(object)) });
        }
        let object = object.ok_or(ObjectFault::NotAnObject)?;
        let version = object.metadata.resource_version.as_deref();
        let version = version.map(str::to_owned);
        let kind = match event_type {
            Some("ADDED" | "MODIFIED") if is_of_other_shard(&object, context) => {
                EventLineKind::OtherShard
            }
            Some("ADDED" | "MODIFIED") => EventLineKind::Applied(of_object(object, context)),
            Some("DELETED") => EventLineKind::Deleted,
            Some("BOOKMARK") => EventLineKind::Bookmark,
            unknown => {
                return Err(DecodeError::Object {
                    resource_version: object.metadata.version(),
                    fault: ObjectFault::UnknownType(shorten(unknown.unwrap_or_default())),
                });
            }
        };
        Ok(Self { version, kind })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use podinit_core::pod::PodUid;

    fn line(text: &str) -> Result<EventLine, DecodeError> {
        EventDecoder::default().line(text.as_bytes())
    }

    #[test]
    fn lines_are_told_apart_by_their_type() {
        for event_type in ["ADDED", "MODIFIED"] {
            let text = format!(
                r#"{{"type":"{event_type}","object":{{"kind":"Event","metadata":{{"resourceVersion":"7"}},"involvedObject":{{"kind":"Pod","uid":"a"}}}}}}"#
            );
            let EventLine { version, kind } = line(&text).unwrap();
            assert_eq!(version.as_deref(), Some("7"));
            let EventLineKind::Applied(event) = kind else {
                unreachable!("{kind:?}");
            };
            assert_eq!(event.uid(), Some(PodUid::from_text("a")));
        }
        for (event_type, kind) in
            [("DELETED", EventLineKind::Deleted), ("BOOKMARK", EventLineKind::Bookmark)]
        {
            let text = format!(
                r#"{{"object":{{"metadata":{{"resourceVersion":"9"}}}},"type":"{event_type}"}}"#
            );
            let version = Some("9".to_owned());
            assert_eq!(line(&text), Ok(EventLine { version, kind }));
        }
        let expired = line(r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#);
        let EventLineKind::Error(status) = expired.unwrap().kind else {
            unreachable!();
        };
        assert_eq!(status.code, 410);
    }

    #[test]
    fn what_is_no_event_of_a_watch_is_refused() {
        for text in ["", "{", "[]", "{}", r#"{"type":"ADDED"}"#, r#"{"type":"NEW","object":{}}"#] {
            assert!(line(text).is_err(), "{text}");
        }
        let damaged = b"{\"type\":\"ADDED\",\"object\":{\"message\":\"\xff\"}}";
        assert!(EventDecoder::default().line(damaged).is_ok());
    }

    #[test]
    fn a_list_tells_its_version() {
        let version = |body: &str| EventDecoder::default().list_version(body.as_bytes());
        let body = r#"{"items":[{"reason":"Started"}],"metadata":{"resourceVersion":"12"},"kind":"EventList"}"#;
        assert_eq!(version(body), Ok(Some("12".to_owned())));
        assert_eq!(version(r#"{"kind":"EventList","items":null}"#), Ok(None));
        assert!(version(r#"{"kind":"PodList","items":[]}"#).is_err());
        assert!(version("{}").is_err());
    }

    #[test]
    fn a_page_of_a_list_has_its_events_and_leaves_out_what_is_none() {
        let body = r#"{"kind":"EventList","metadata":{"continue":"next"},"items":[
            {"involvedObject":{"kind":"Pod","uid":"a"},"reason":"Pulled"}, {"spec":{}}, 7]}"#;
        let page = EventDecoder::default().list_page(body.as_bytes()).unwrap();
        assert_eq!(page.continue_token.as_deref(), Some("next"));
        let pods: Vec<_> = page.events.iter().map(KubeEvent::uid).collect();
        assert_eq!(pods, [Some(PodUid::from_text("a"))]);
        let empty = br#"{"kind":"EventList","items":null}"#;
        assert_eq!(EventDecoder::default().list_page(empty), Ok(EventListPage::default()));
        for body in [r#"{"kind":"PodList","items":[]}"#, r#"{"kind":"EventList"}"#] {
            assert!(EventDecoder::default().list_page(body.as_bytes()).is_err());
        }
    }
}
