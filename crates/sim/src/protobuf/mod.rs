//! The protobuf form of what the API server serves as JSON (`application/vnd.kubernetes.protobuf`): made of
//! the JSON, with the field numbers of `kubernetes.proto`, so that it shares nothing with the decoder.

mod encode;
pub mod schema;

use bytes::Bytes;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::Value;

/// What every answer begins with.
const MAGIC: &[u8] = b"k8s\0";

/// The object or list whose JSON is `json`, with its `kind` and `apiVersion`; `None` where it is none that
/// Kubernetes has in protobuf.
pub fn document(json: &[u8]) -> Option<Vec<u8>> {
    answer(&parse(json)?)
}

/// The event of a watch whose JSON is `line`, without its length; `None` where there is no such event.
pub fn event(line: &[u8]) -> Option<Vec<u8>> {
    let event = parse(line)?;
    Some(watch_event(event["type"].as_str()?, &answer(&event["object"])?))
}

/// The events of a watch whose lines are `lines`, each with its length before it. A line that is no event
/// stays as wrong as it is: what is no JSON becomes no protobuf, and what is cut off an event that is.
pub(super) fn events(lines: &[u8]) -> Bytes {
    let mut body = Vec::new();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            let mut cut = framed(&[line, line].concat());
            cut.truncate(cut.len() - line.len());
            body.extend(cut);
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let event = event(line).unwrap_or_else(|| damaged(line));
        body.extend(framed(&event));
    }
    body.into()
}

/// `event` with its length before it.
pub fn framed(event: &[u8]) -> Vec<u8> {
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), event].concat()
}

/// An event that cannot be decoded, of the type of `line`, if that has one.
fn damaged(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let name = text.strip_prefix("{\"type\":\"");
    match name.and_then(|name| name.split_once('"')) {
        Some((name, _)) => watch_event(name, b"no protobuf"),
        None => line.to_vec(),
    }
}

/// Invalid UTF-8 is replaced, as API servers do when they write JSON.
fn parse(json: &[u8]) -> Option<Value> {
    serde_json::from_str(&String::from_utf8_lossy(json)).ok()
}

fn watch_event(name: &str, answer: &[u8]) -> Vec<u8> {
    let mut extension = Vec::new();
    put_bytes(1, answer, &mut extension);
    let mut event = Vec::new();
    put_bytes(1, name.as_bytes(), &mut event);
    put_bytes(2, &extension, &mut event);
    event
}

fn answer(value: &Value) -> Option<Vec<u8>> {
    let kind = value["kind"].as_str()?;
    let raw = encode::message(kind, value)?;
    let mut answer = MAGIC.to_vec();
    put_bytes(1, &encode::message("TypeMeta", value)?, &mut answer);
    put_bytes(2, &raw, &mut answer);
    put_bytes(3, b"", &mut answer);
    put_bytes(4, b"", &mut answer);
    Some(answer)
}

fn put_bytes(number: u32, bytes: &[u8], buffer: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, buffer);
    encode_varint(bytes.len() as u64, buffer);
    buffer.extend_from_slice(bytes);
}
