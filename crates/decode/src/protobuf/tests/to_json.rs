//! The JSON of a message, as an API server would write it: the way back from what the simulator encodes.

use prost::encoding::{WireType, decode_key, decode_varint};
use serde_json::{Map, Value, json};

use podinit_sim::protobuf::schema::{self, INLINE, MessageField};

/// What every answer begins with.
const MAGIC: &[u8] = b"k8s\0";

/// The JSON of an event that [`podinit_sim::protobuf::event`] has made.
pub(super) fn to_json(event: &[u8]) -> Option<Value> {
    let event = fields(event);
    let extension = fields(event[1].1.as_bytes());
    Some(json!({"type": event[0].1.as_text(), "object": document(extension[0].1.as_bytes())?}))
}

fn document(answer: &[u8]) -> Option<Value> {
    let unknown = fields(answer.strip_prefix(MAGIC)?);
    let type_meta = message("TypeMeta", unknown[0].1.as_bytes());
    let mut object = message(type_meta["kind"].as_str()?, unknown[1].1.as_bytes());
    object["kind"] = type_meta["kind"].clone();
    Some(object)
}

enum Raw<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
}

impl<'a> Raw<'a> {
    fn as_bytes(&self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Integer(_) => panic!("a number where bytes are"),
        }
    }

    fn as_text(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }

    fn as_integer(&self) -> i64 {
        match self {
            Self::Integer(number) => number.cast_signed(),
            Self::Bytes(_) => panic!("bytes where a number is"),
        }
    }
}

fn fields(mut message: &[u8]) -> Vec<(u32, Raw<'_>)> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let (number, wire_type) = decode_key(&mut message).unwrap();
        let value = decode_varint(&mut message).unwrap();
        found.push((
            number,
            match wire_type {
                WireType::Varint => Raw::Integer(value),
                _ => {
                    let (bytes, rest) = message.split_at(value as usize);
                    message = rest;
                    Raw::Bytes(bytes)
                }
            },
        ));
    }
    found
}

fn message(name: &str, bytes: &[u8]) -> Value {
    let read = fields(bytes);
    match (name, read.as_slice()) {
        ("Time" | "MicroTime", []) => return Value::Null,
        ("Time" | "MicroTime", [(1, seconds), ..]) => {
            let at = jiff::Timestamp::from_second(seconds.as_integer()).unwrap();
            return at.to_string().into();
        }
        ("Quantity", [(1, text)]) => return text.as_text().into(),
        ("IntOrString", [_, (2, number)]) => return number.as_integer().into(),
        ("IntOrString", [_, (3, text)]) => return text.as_text().into(),
        ("FieldsV1", [(1, text)]) => return serde_json::from_slice(text.as_bytes()).unwrap(),
        _ => {}
    }
    let mut object = Map::new();
    let known = schema::fields(name).unwrap();
    for (number, raw) in &read {
        let field = known.iter().find(|field| field.number == *number).unwrap();
        if INLINE.contains(&field.name) {
            let Value::Object(inner) = message(field.kind, raw.as_bytes()) else {
                panic!("not inline")
            };
            object.extend(inner);
        } else if field.is_map {
            let entry = fields(raw.as_bytes());
            let value = entry.get(1).map(|(_, value)| one(field, value));
            let map = object.entry(field.name).or_insert_with(|| json!({}));
            map[entry[0].1.as_text()] = value.unwrap_or_default();
        } else if field.repeated {
            let list = object.entry(field.name).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().push(one(field, raw));
        } else if one(field, raw) != "" {
            object.insert(field.name.to_owned(), one(field, raw));
        }
    }
    object.into()
}

fn one(field: &MessageField, raw: &Raw<'_>) -> Value {
    match field.kind {
        "string" => raw.as_text().into(),
        "bool" => (raw.as_integer() != 0).into(),
        "int32" | "int64" => raw.as_integer().into(),
        name => message(name, raw.as_bytes()),
    }
}
