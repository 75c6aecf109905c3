//! One message, from its JSON.

use prost::encoding::int64;
use serde_json::Value;

use super::put_bytes;
use super::schema::{self, INLINE, MessageField};

/// The message of the type `name`; `None` where there is no such type, or the value is none of it.
pub(super) fn message(name: &str, value: &Value) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    match name {
        "Time" | "MicroTime" => time(value, &mut buffer)?,
        "Quantity" => match value {
            Value::String(text) => put_bytes(1, text.as_bytes(), &mut buffer),
            Value::Number(number) => put_bytes(1, number.to_string().as_bytes(), &mut buffer),
            _ => return None,
        },
        "IntOrString" => int_or_string(value, &mut buffer)?,
        "FieldsV1" => put_bytes(1, value.to_string().as_bytes(), &mut buffer),
        _ => {
            if !value.is_object() {
                return None;
            }
            for field in schema::fields(name)? {
                put(field, value, &mut buffer);
            }
        }
    }
    Some(buffer)
}

/// Puts the field of the object `outer`. A value of a type that the field cannot have is left out, since no
/// API server has it.
fn put(field: &MessageField, outer: &Value, buffer: &mut Vec<u8>) {
    if INLINE.contains(&field.name) {
        if let Some(inner) = message(field.kind, outer) {
            put_bytes(field.number, &inner, buffer);
        }
        return;
    }
    let value = &outer[field.name];
    match value {
        Value::Null if field.is_pointer => {}
        // Go writes a text or time that is no pointer also where it is empty.
        Value::Null
            if matches!(field.kind, "string" | "Time" | "MicroTime")
                && !field.repeated
                && !field.is_map =>
        {
            put_bytes(field.number, b"", buffer);
        }
        Value::Array(elements) if field.repeated => {
            for element in elements {
                put_one(field, element, buffer);
            }
        }
        Value::Object(entries) if field.is_map => {
            for (key, value) in entries {
                let mut entry = Vec::new();
                put_bytes(1, key.as_bytes(), &mut entry);
                let number = 2;
                put_one(&MessageField { number, ..*field }, value, &mut entry);
                put_bytes(field.number, &entry, buffer);
            }
        }
        _ if field.repeated || field.is_map => {}
        value => put_one(field, value, buffer),
    }
}

fn put_one(field: &MessageField, value: &Value, buffer: &mut Vec<u8>) {
    match (field.kind, value) {
        ("string", Value::String(text)) => put_bytes(field.number, text.as_bytes(), buffer),
        ("bool", Value::Bool(flag)) => int64::encode(field.number, &i64::from(*flag), buffer),
        ("int32" | "int64", Value::Number(number)) => {
            int64::encode_repeated(field.number, number.as_i64().as_slice(), buffer);
        }
        ("string" | "bool" | "int32" | "int64" | "bytes", _) => {}
        (name, value) => {
            if let Some(message) = message(name, value) {
                put_bytes(field.number, &message, buffer);
            }
        }
    }
}

/// A time, read with another library than the decoder has.
fn time(value: &Value, buffer: &mut Vec<u8>) -> Option<()> {
    let at: jiff::Timestamp = value.as_str()?.parse().ok()?;
    let (nanos, second) = (at.as_nanosecond(), 1_000_000_000);
    int64::encode(1, &(nanos.div_euclid(second) as i64), buffer);
    int64::encode(2, &(nanos.rem_euclid(second) as i64), buffer);
    Some(())
}

fn int_or_string(value: &Value, buffer: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Number(number) => {
            int64::encode(1, &0, buffer);
            int64::encode(2, &number.as_i64()?, buffer);
        }
        Value::String(text) => {
            int64::encode(1, &1, buffer);
            put_bytes(3, text.as_bytes(), buffer);
        }
        _ => return None,
    }
    Some(())
}
