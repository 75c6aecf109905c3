//! The messages of the Kubernetes API, read from `kubernetes.proto`. The decoder has tables of its own.

use std::collections::HashMap;
use std::sync::LazyLock;

const SOURCE: &str = include_str!("kubernetes.proto");

/// Messages whose fields stand among those of the outer one in JSON.
pub const INLINE: [&str; 4] =
    ["volumeSource", "handler", "ephemeralContainerCommon", "localObjectReference"];

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageField {
    /// As it stands before each value
    pub number: u32,
    /// As in JSON
    pub name: &'static str,
    /// A list
    pub repeated: bool,
    /// `string`, `bool`, `int32`, `int64`, `bytes`, or the name of a message. Of a map, that of its values
    pub kind: &'static str,
    /// A map, whose keys are texts
    pub is_map: bool,
    /// A text or time that API servers leave out where it is missing; they write the others empty
    pub(super) is_pointer: bool,
}

static MESSAGES: LazyLock<HashMap<&'static str, Vec<MessageField>>> = LazyLock::new(|| {
    let messages = SOURCE.split("\nmessage ").skip(1);
    messages
        .filter_map(|message| {
            let (name, fields) = message.split_once(" {")?;
            Some((name, fields.lines().filter_map(field).collect()))
        })
        .collect()
});

/// The fields of a message, by their numbers; `None` where there is none of that name.
pub fn fields(message: &str) -> Option<&'static [MessageField]> {
    MESSAGES.get(message).map(Vec::as_slice)
}

/// The field of a line such as `  optional string name = 1;`.
fn field(line: &'static str) -> Option<MessageField> {
    let (declared, number) = line.trim().strip_suffix(';')?.split_once(" = ")?;
    let (kind, name) = declared.rsplit_once(' ')?;
    let map = kind.strip_prefix("map<string, ");
    let values = map.and_then(|map| map.strip_suffix('>'));
    Some(MessageField {
        number: number.parse().ok()?,
        name,
        repeated: kind.starts_with("repeated "),
        kind: values.unwrap_or_else(|| kind.split_once(' ').map_or(kind, |(_, kind)| kind)),
        is_map: values.is_some(),
        is_pointer: kind.starts_with("pointer "),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_line_is_read_and_every_message_is_there() {
        let fields: usize = MESSAGES.values().map(Vec::len).sum();
        assert_eq!(fields, SOURCE.lines().filter(|line| line.ends_with(';')).count());
        for field in MESSAGES.values().flatten() {
            let scalar = ["string", "bool", "int32", "int64", "bytes"].contains(&field.kind);
            assert!(scalar || MESSAGES.contains_key(field.kind), "{field:?}");
        }
        let labels = super::fields("ObjectMeta").unwrap();
        let labels = labels.iter().find(|field| field.name == "labels").unwrap();
        assert!(labels.is_map && labels.number == 11 && labels.kind == "string");
        let deleted = super::fields("ObjectMeta").unwrap().iter();
        let pointers: Vec<_> = deleted.filter(|field| field.is_pointer).collect();
        assert_eq!((pointers.len(), pointers[0].name), (1, "deletionTimestamp"));
    }
}
