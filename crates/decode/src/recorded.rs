//! Which objects may stand in a recording.

use serde::de::DeserializeSeed;

use super::node::NodeOptions;
use super::pod::envelope::Item;
use super::pod::lenient::Lenient;
use super::pod::object::ObjectReader;
use super::pod::{DecodeContext, DecodeOptions};

/// What an object of a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    Pod,
    Event,
    Node,
}

/// What `json` is, an object of a watch event or an item of a list; `None` where it is neither a pod or a
/// node with a UID nor an Event, or no JSON, so that a recording with it cannot be read.
pub fn recorded_kind(json: &str) -> Option<RecordedKind> {
    let mut context = DecodeContext {
        mixed_lists: true,
        ..DecodeContext::new(DecodeOptions {
            nodes: Some(NodeOptions::default()),
            ..DecodeOptions::default()
        })
    };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let object = Lenient(ObjectReader(&mut context)).deserialize(&mut deserializer);
    match Item::of(object.ok()?, &mut context).ok()? {
        Item::Pod(_) | Item::Unnamed(_) => Some(RecordedKind::Pod),
        Item::Node(_) => Some(RecordedKind::Node),
        Item::Event(_) => Some(RecordedKind::Event),
        Item::OtherShard => None,
    }
}
