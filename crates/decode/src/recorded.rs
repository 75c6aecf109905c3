//! Which objects may stand in a recording.

use serde::de::DeserializeSeed;

use super::node::NodeOptions;
use super::pod::DecodeContext;
use super::pod::envelope::ListItem;
use super::pod::lenient::LenientSeed;
use super::pod::object::ObjectReader;

/// What an object of a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    Pod,
    Event,
    Node,
}

/// What `json` is, an object of a watch event or an item of a list; `None` where it is neither a pod with a UID, nor a
/// node with one, nor an Event, or no JSON, so that a recording with it cannot be read. What states no kind is a pod
/// or an Event.
pub fn recorded_kind(json: &str) -> Option<RecordedKind> {
    let read = |nodes: Option<NodeOptions>| {
        let mut context = DecodeContext { mixed_lists: true, ..DecodeContext::default() };
        context.options.nodes = nodes;
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let object = LenientSeed(ObjectReader(&mut context)).deserialize(&mut deserializer);
        ListItem::from_object(object.ok()?, &mut context).ok()
    };
    match read(None) {
        Some(ListItem::Pod(_)) => Some(RecordedKind::Pod),
        Some(ListItem::Event(_)) => Some(RecordedKind::Event),
        Some(_) => None,
        None => match read(Some(NodeOptions::default()))? {
            ListItem::Node(_) => Some(RecordedKind::Node),
            _ => None,
        },
    }
}
