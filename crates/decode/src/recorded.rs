//! Which objects may stand in a recording.

use serde::de::DeserializeSeed;

use super::pod::DecodeContext;
use super::pod::envelope::Item;
use super::pod::lenient::Lenient;
use super::pod::object::ObjectReader;

/// What an object of a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    Pod,
    Event,
}

/// What `json` is, an object of a watch event or an item of a list; `None` where it is neither a pod with a
/// UID nor an Event, or no JSON, so that a recording with it cannot be read.
pub fn recorded_kind(json: &str) -> Option<RecordedKind> {
    let mut context = DecodeContext {
        mixed_lists: true,
        ..DecodeContext::default()
    };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let object = Lenient(ObjectReader(&mut context)).deserialize(&mut deserializer);
    match Item::of(object.ok()?, &mut context).ok()? {
        Item::Pod(_) => Some(RecordedKind::Pod),
        Item::Event(_) => Some(RecordedKind::Event),
        // Nodes are not asked for.
        Item::OtherShard | Item::Node(_) | Item::Unnamed(_) => None,
    }
}
