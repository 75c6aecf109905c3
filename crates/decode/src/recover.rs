//! Recovers what it can from valid JSON with a value that cannot be read: a number beyond any float,
//! half of a surrogate pair, invalid UTF-8. Only the object with that value is lost, not the page or
//! the version of the watch.
//!
//! Used only after the normal decoder has failed, so it may be slow.

use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny};
use serde_json::value::RawValue;

use super::error::DecodeError;
use super::list_page::ListPage;
use crate::pod::DecodeContext;
use crate::pod::envelope::{EnvelopeReader, ListItem, ListItems};
use crate::pod::lenient::LenientSeed;
use crate::pod::object::{ObjectFault, ObjectFields, ObjectReader};

/// The parts of a list, as unparsed JSON.
#[derive(Deserialize)]
struct RawList<'a> {
    #[serde(borrow)]
    kind: &'a RawValue,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

/// The parts of a watch event.
#[derive(Deserialize)]
struct RawEvent<'a> {
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The part of an object that says from where a watch may go on.
#[derive(Deserialize)]
struct RawObject<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

/// The page that `body` is without the items that cannot be read; `None` where it is no JSON.
pub(super) fn list_page(
    body: &[u8],
    context: &mut DecodeContext,
) -> Option<Result<ListPage, DecodeError>> {
    let text = String::from_utf8_lossy(body);
    let list: RawList<'_> = serde_json::from_str(&text).ok()?;
    let metadata = list.metadata.map_or("null", RawValue::get);
    let shell = format!("{{\"kind\":{},\"metadata\":{metadata}}}", list.kind.get());
    let mut deserializer = serde_json::Deserializer::from_str(&shell);
    let shell = LenientSeed(EnvelopeReader(context)).deserialize(&mut deserializer);
    let mut envelope = shell.ok()??;
    envelope.items = Some(items(list.items.unwrap_or_default(), context));
    Some(ListPage::from_envelope(envelope))
}

fn items(raw: Vec<&RawValue>, context: &mut DecodeContext) -> ListItems {
    let mut items = ListItems::default();
    for (position, raw) in raw.into_iter().enumerate() {
        items.push(position, item(raw, context));
    }
    items
}

fn item(raw: &RawValue, context: &mut DecodeContext) -> Result<ListItem, ObjectFault> {
    object(raw, context)
        .ok_or(ObjectFault::Unreadable)
        .and_then(|object| ListItem::from_object(object, context))
}

/// What `json`, an item of a list, is; `None` where it is no JSON.
pub(super) fn list_item(
    json: &[u8],
    context: &mut DecodeContext,
) -> Option<Result<ListItem, ObjectFault>> {
    let text = String::from_utf8_lossy(json);
    let raw = serde_json::from_str(&text).ok()?;
    Some(item(raw, context))
}

/// The object that `raw` is, the inner `None` where it is none; `None` where it cannot be read.
fn object<'de>(
    raw: &'de RawValue,
    context: &mut DecodeContext,
) -> Option<Option<ObjectFields<'de>>> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    LenientSeed(ObjectReader(context)).deserialize(&mut deserializer).ok()
}

/// What is wrong with `line`, a watch event that could not be decoded: the fault of its object
/// with its version, or `None` where the line is no JSON.
pub(super) fn watch_event(line: &[u8], context: &mut DecodeContext) -> Option<DecodeError> {
    let text = String::from_utf8_lossy(line);
    let event: RawEvent<'_> = serde_json::from_str(&text).ok()?;
    serde_json::from_str::<IgnoredAny>(event.object.get()).ok()?;
    let metadata = serde_json::from_str::<RawObject<'_>>(event.object.get()).ok();
    let resource_version = metadata.and_then(|RawObject { metadata }| {
        let shell = format!("{{\"metadata\":{}}}", metadata.get());
        let mut deserializer = serde_json::Deserializer::from_str(&shell);
        let object = LenientSeed(ObjectReader(context)).deserialize(&mut deserializer);
        object.ok()??.metadata.version()
    });
    Some(DecodeError::Object { resource_version, fault: ObjectFault::Unreadable })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{DecodeError, DecodeOptions, ObjectFault, PodDecoder};
    use podinit_core::pod::PodUid;

    const UNREADABLE: [&str; 2] = [r#"{"phase":1e999}"#, r#"{"phase":"\ud800"}"#];

    #[test]
    fn an_unreadable_item_costs_only_itself() {
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        for status in UNREADABLE {
            let body = format!(
                r#"{{"kind":"PodList","metadata":{{"resourceVersion":"5","continue":"c"}},"items":[
                {{"metadata":{{"uid":"a"}},"status":{status}}},{{"metadata":{{"uid":"b"}}}},7]}}"#
            );
            let page = decoder.list_page(body.as_bytes()).unwrap();
            assert_eq!(page.pods.len(), 1);
            assert_eq!(page.pods[0].uid, PodUid::from_text("b"));
            assert_eq!(page.undecodable, 2);
            assert_eq!(page.resource_version.as_deref(), Some("5"));
            assert_eq!(page.continue_token.as_deref(), Some("c"));
        }
        let damaged = b"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"uid\":\"\xff\"}}]}";
        assert_eq!(decoder.list_page(damaged).unwrap().pods.len(), 1);
        let cut_off = br#"{"kind":"PodList","items":[{"metadata":{"uid":"a"}}"#;
        let error = decoder.list_page(cut_off).unwrap_err();
        assert!(matches!(error, DecodeError::Json { .. }));
        let other = br#"{"kind":"NodeList","items":[{"status":{"phase":1e999}}]}"#;
        let error = decoder.list_page(other).unwrap_err();
        assert!(matches!(error, DecodeError::Object { .. }));
    }

    #[test]
    fn an_unreadable_event_tells_its_version() {
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        for status in UNREADABLE {
            let line = format!(
                r#"{{"type":"ADDED","object":{{"metadata":{{"uid":"a","resourceVersion":"8"}},"status":{status}}}}}"#
            );
            assert_eq!(
                decoder.watch_event(line.as_bytes()),
                Err(DecodeError::Object {
                    resource_version: Some(8),
                    fault: ObjectFault::Unreadable,
                })
            );
        }
    }
}
