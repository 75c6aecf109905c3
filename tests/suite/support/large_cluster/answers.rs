//! The answers of an API server, written object by object.

use std::io::{ErrorKind, Result, Write};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use podinit_sim::protobuf;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Value, json};

use super::template::numbered;
use super::{Form, Objects, Shared};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The version that every list is of.
const VERSION: &str = "9000000";

/// An exporter that hears nothing for half a minute is no longer in sync.
const BOOKMARK_EVERY: Duration = Duration::from_secs(10);

/// One page, or all objects. Its length is sent first, then object by object.
pub(super) fn json_list(out: &mut impl Write, page: Range<usize>, objects: &Objects) -> Result<()> {
    let Objects { kind, count, template } = objects;
    let template = &template.json;
    let mut metadata = json!({"resourceVersion": VERSION});
    if page.end < *count {
        metadata["continue"] = page.end.to_string().into();
        metadata["remainingItemCount"] = (count - page.end).into();
    }
    let head = format!(
        "{{\"kind\":\"{kind}List\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":["
    );
    let items = (page.len() * (template.len() + 1)).saturating_sub(1);
    let length = head.len() + items + "]}".len();
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

/// One page, or all objects, in protobuf and compressed, until the connection is closed.
pub(super) fn protobuf_list(
    out: &mut impl Write,
    page: Range<usize>,
    objects: &Objects,
) -> Result<()> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: {PROTOBUF}\r\nContent-Encoding: gzip\r\n\
         Connection: close\r\n\r\n"
    )?;
    let mut out = GzEncoder::new(out, Compression::fast());
    let template = &objects.template.protobuf;
    let item = key(2, template.len());
    let mut metadata = field(2, VERSION.as_bytes());
    if page.end < objects.count {
        metadata.extend(field(3, page.end.to_string().as_bytes()));
    }
    let metadata = field(1, &metadata);
    let list = metadata.len() + page.len() * (item.len() + template.len());
    let kind = format!("{}List", objects.kind);
    let types = [field(1, b"v1"), field(2, kind.as_bytes())].concat();
    let head = [b"k8s\0".to_vec(), field(1, &types), key(2, list), metadata];
    out.write_all(&head.concat())?;
    for number in page {
        out.write_all(&item)?;
        numbered(&mut out, template, number)?;
    }
    out.finish()?.flush()?;
    close()
}

/// All objects as the events with which a watch begins.
pub(super) fn streamed_list(out: &mut impl Write, objects: &Objects, form: Form) -> Result<()> {
    let end = json!({"type": "BOOKMARK", "object": {"kind": objects.kind, "apiVersion": "v1", "metadata": {
        "resourceVersion": VERSION, "annotations": {"k8s.io/initial-events-end": "true"}}}});
    let event = begin_watch(out, objects, form)?;
    let end = match form {
        Form::Json => format!("{end}\n").into_bytes(),
        Form::Protobuf => protobuf_event(&end),
    };
    for number in 0..objects.count {
        numbered(out, event, number)?;
    }
    out.write_all(&end)?;
    out.flush()?;
    close()
}

/// Begins to answer a watch. An event of it, with a place for its object's number.
fn begin_watch<'a>(out: &mut impl Write, objects: &'a Objects, form: Form) -> Result<&'a [u8]> {
    let (media_type, event) = match form {
        Form::Json => ("application/json", &objects.template.json_event),
        Form::Protobuf => {
            ("application/vnd.kubernetes.protobuf;stream=watch", &objects.template.protobuf_event)
        }
    };
    write!(out, "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n")?;
    out.flush()?;
    Ok(event)
}

/// A watch of nodes that send heartbeats when they are told to.
pub(super) fn heartbeats(out: &mut impl Write, shared: &Shared, form: Form) -> Result<()> {
    let event = begin_watch(out, &shared.nodes, form)?;
    while let Ok(count) = shared.beats.lock().unwrap().recv() {
        for number in 0..count {
            numbered(out, event, number % shared.nodes.count)?;
        }
        out.flush()?;
        shared.watch.send(()).ok();
    }
    close()
}

/// A watch in which nothing happens.
pub(super) fn silence(out: &mut impl Write) -> Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    out.write_all(head.as_bytes())?;
    out.flush()?;
    loop {
        std::thread::park();
    }
}

/// A watch in which nothing happens until it expires, but that bookmarks say so.
pub(super) fn watch(out: &mut impl Write, expired: &Mutex<Receiver<()>>) -> Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    out.write_all(head.as_bytes())?;
    out.flush()?;
    let metadata = json!({"resourceVersion": VERSION});
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": metadata});
    let bookmark = json!({"type": "BOOKMARK", "object": pod});
    let expired = expired.lock().unwrap();
    let has_expired = loop {
        match expired.recv_timeout(BOOKMARK_EVERY) {
            Ok(()) => break true,
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => {
                writeln!(out, "{bookmark}")?;
                out.flush()?;
            }
        }
    };
    if has_expired {
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
