//! The answers of an API server, written pod by pod.

use std::io::{ErrorKind, Result, Write};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;

use flate2::Compression;
use flate2::write::GzEncoder;
use podinit_sim::protobuf;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Value, json};

use super::template::numbered;
use super::{Form, Shared};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The version that every list is of.
const VERSION: &str = "9000000";

/// One page, or all pods. Its length is sent first, then pod by pod.
pub(super) fn json_list(out: &mut impl Write, page: Range<usize>, shared: &Shared) -> Result<()> {
    let template = &shared.template.json;
    let mut metadata = json!({"resourceVersion": VERSION});
    if page.end < shared.pods {
        metadata["continue"] = page.end.to_string().into();
        metadata["remainingItemCount"] = (shared.pods - page.end).into();
    }
    let head =
        format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":[");
    let length = head.len() + page.len() * (template.len() + 1) - 1 + "]}".len();
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{head}"
    )?;
    for number in page.clone() {
        if number > page.start {
            out.write_all(b",")?;
        }
        numbered(out, template, number)?;
    }
    out.write_all(b"]}")?;
    out.flush()
}

/// One page, or all pods, in protobuf and compressed, until the connection is closed.
pub(super) fn protobuf_list(
    out: &mut impl Write,
    page: Range<usize>,
    shared: &Shared,
) -> Result<()> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: {PROTOBUF}\r\nContent-Encoding: gzip\r\n\
         Connection: close\r\n\r\n"
    )?;
    let mut out = GzEncoder::new(out, Compression::fast());
    let template = &shared.template.protobuf;
    let item = key(2, template.len());
    let mut metadata = field(2, VERSION.as_bytes());
    if page.end < shared.pods {
        metadata.extend(field(3, page.end.to_string().as_bytes()));
    }
    let metadata = field(1, &metadata);
    let list = metadata.len() + page.len() * (item.len() + template.len());
    out.write_all(b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList")?;
    out.write_all(&[key(2, list), metadata].concat())?;
    for number in page {
        out.write_all(&item)?;
        numbered(&mut out, template, number)?;
    }
    out.finish()?.flush()?;
    close()
}

/// All pods as the events with which a watch begins.
pub(super) fn streamed_list(out: &mut impl Write, shared: &Shared) -> Result<()> {
    let end = json!({"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {
        "resourceVersion": VERSION, "annotations": {"k8s.io/initial-events-end": "true"}}}});
    let (media_type, event, end) = match shared.form {
        Form::Json => (
            "application/json",
            &shared.template.json_event,
            format!("{end}\n").into_bytes(),
        ),
        Form::Protobuf => (
            "application/vnd.kubernetes.protobuf;stream=watch",
            &shared.template.protobuf_event,
            protobuf_event(&end),
        ),
    };
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n"
    )?;
    for number in 0..shared.pods {
        numbered(out, event, number)?;
    }
    out.write_all(&end)?;
    out.flush()?;
    close()
}

/// A watch in which nothing happens until it expires.
pub(super) fn watch(out: &mut impl Write, expired: &Mutex<Receiver<()>>) -> Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    out.write_all(head.as_bytes())?;
    out.flush()?;
    if expired.lock().unwrap().recv().is_ok() {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
            "reason": "Expired", "code": 410, "message": "too old resource version"});
        writeln!(out, "{}", json!({"type": "ERROR", "object": status}))?;
        out.flush()?;
    }
    close()
}

/// The end of the connection is that of the answer.
fn close() -> Result<()> {
    Err(ErrorKind::ConnectionAborted.into())
}

fn protobuf_event(event: &Value) -> Vec<u8> {
    protobuf::framed(&protobuf::event(event.to_string().as_bytes()).unwrap())
}

/// A field in protobuf.
fn field(number: u32, value: &[u8]) -> Vec<u8> {
    [key(number, value.len()), value.to_vec()].concat()
}

/// The key of a field in protobuf, and its length.
fn key(number: u32, length: usize) -> Vec<u8> {
    let mut head = Vec::new();
    encode_key(number, WireType::LengthDelimited, &mut head);
    encode_varint(length as u64, &mut head);
    head
}
