//! An API server with many pods, none of which it holds: a list is made as it is sent.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use podinit::sim::protobuf;
use serde_json::{Value, json};

/// How many pods there are.
pub(crate) const PODS: usize = 100_000;

/// How long the JSON of each is.
const POD_BYTES: usize = 8192;

/// Stand in the template where a pod's number belongs.
const NUMBER: &str = "#######";

/// What state the pods are in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pods {
    /// All of them ready
    Ready,
    /// All of them waiting for their containers
    InFlight,
}

/// In what form the API server sends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// And compressed
    Protobuf,
}

/// A listening API server. Its threads end with the process.
pub(crate) struct Cluster {
    address: SocketAddr,
    watched: Receiver<()>,
}

impl Cluster {
    pub(crate) fn start(pods: Pods, form: Form) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (watch, watched) = channel();
        let template = Template::new(pods, form);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let (watch, template) = (watch.clone(), template.clone());
                thread::spawn(move || serve(connection.unwrap(), &template, &watch));
            }
        });
        Self { address, watched }
    }

    pub(crate) fn kubeconfig(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: big\n\
             clusters: [{{name: big, cluster: {{server: \"http://{}\"}}}}]\n\
             contexts: [{{name: big, context: {{cluster: big, user: nobody}}}}]\n",
            self.address
        )
    }

    /// Waits until a watch is asked for, which happens when the list is complete.
    pub(crate) fn until_listed(&self) {
        self.watched.recv().expect("the API server has failed");
    }
}

/// Answers the requests of one connection until the other side ends it.
fn serve(connection: TcpStream, template: &Template, watch: &Sender<()>) {
    connection.set_nodelay(true).unwrap();
    let mut requests = BufReader::new(connection.try_clone().unwrap());
    let mut answers = BufWriter::with_capacity(1 << 16, connection);
    loop {
        let mut request = String::new();
        if !matches!(requests.read_line(&mut request), Ok(length) if length > 0) {
            return;
        }
        let mut header = String::new();
        while requests.read_line(&mut header).is_ok() && header.trim_end() != "" {
            header.clear();
        }
        let answered = match parameter(&request, "watch") {
            // Only the answers to lists of all pods matter; the first request is for one.
            None if template.form == Form::Protobuf && parameter(&request, "limit").is_none() => {
                protobuf_list(&mut answers, template)
            }
            None => list(&mut answers, &request, template),
            Some(_) if parameter(&request, "sendInitialEvents").is_some() => {
                streamed_list(&mut answers, template)
            }
            Some(_) => {
                watch.send(()).ok();
                open_watch(&mut answers)
            }
        };
        if answered.is_err() {
            return;
        }
    }
}

/// One page, or all pods. Its length is sent first, then pod by pod.
fn list(out: &mut impl Write, request: &str, template: &Template) -> std::io::Result<()> {
    let number = |name| parameter(request, name).map(|text| text.parse::<usize>().unwrap());
    let begin = number("continue").unwrap_or(0);
    let end = PODS.min(begin + number("limit").unwrap_or(PODS));
    let mut metadata = json!({"resourceVersion": "9000000"});
    if end < PODS {
        metadata["continue"] = end.to_string().into();
        metadata["remainingItemCount"] = (PODS - end).into();
    }
    let head =
        format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":[");
    let length = head.len() + (end - begin) * (template.json.len() + 1) - 1 + "]}".len();
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{head}"
    )?;
    for number in begin..end {
        if number > begin {
            out.write_all(b",")?;
        }
        numbered(out, &template.json, number)?;
    }
    out.write_all(b"]}")?;
    out.flush()
}

/// All pods in protobuf, compressed, until the connection is closed.
fn protobuf_list(out: &mut impl Write, template: &Template) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n\
                Content-Encoding: gzip\r\nConnection: close\r\n\r\n";
    out.write_all(head.as_bytes())?;
    let mut out = GzEncoder::new(out, Compression::fast());
    let item = field(2, template.protobuf.len());
    let metadata = [field(2, 7), b"9000000".to_vec()].concat();
    let metadata = [field(1, metadata.len()), metadata].concat();
    let list = metadata.len() + PODS * (item.len() + template.protobuf.len());
    out.write_all(b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList")?;
    out.write_all(&[field(2, list), metadata].concat())?;
    for number in 0..PODS {
        out.write_all(&item)?;
        numbered(&mut out, &template.protobuf, number)?;
    }
    out.finish()?.flush()?;
    // The end of the connection is that of the answer.
    Err(std::io::ErrorKind::ConnectionAborted.into())
}

/// All pods as the events with which a watch begins.
fn streamed_list(out: &mut impl Write, template: &Template) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    out.write_all(head.as_bytes())?;
    for number in 0..PODS {
        out.write_all(b"{\"type\":\"ADDED\",\"object\":")?;
        numbered(out, &template.json, number)?;
        out.write_all(b"}\n")?;
    }
    let end = json!({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {
        "resourceVersion": "9000000", "annotations": {"k8s.io/initial-events-end": "true"}}}});
    writeln!(out, "{end}")?;
    out.flush()?;
    Err(std::io::ErrorKind::ConnectionAborted.into())
}

/// The pod of this number, made of a template.
fn numbered(out: &mut impl Write, template: &[u8], number: usize) -> std::io::Result<()> {
    let number = format!("{number:07}");
    let mut rest = template;
    while let Some(at) = memchr::memmem::find(rest, NUMBER.as_bytes()) {
        out.write_all(&rest[..at])?;
        out.write_all(number.as_bytes())?;
        rest = &rest[at + NUMBER.len()..];
    }
    out.write_all(rest)
}

/// The key of a field in protobuf, and its length.
fn field(number: u8, mut length: usize) -> Vec<u8> {
    let mut head = vec![number << 3 | 2];
    while length >= 0x80 {
        head.push(length as u8 | 0x80);
        length >>= 7;
    }
    head.push(length as u8);
    head
}

/// A watch in which nothing happens: its body has begun, and stays open.
fn open_watch(out: &mut impl Write) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    out.write_all(head.as_bytes())?;
    out.flush()
}

fn parameter<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let query = request.split_ascii_whitespace().nth(1)?.split_once('?')?.1;
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// A pod in both forms, with [`NUMBER`] in the place of its number.
#[derive(Clone)]
struct Template {
    form: Form,
    json: Vec<u8>,
    protobuf: Vec<u8>,
}

impl Template {
    fn new(pods: Pods, form: Form) -> Self {
        let json = template(pods);
        let mut pod: Value = serde_json::from_str(&json).unwrap();
        pod["kind"] = "Pod".into();
        pod["apiVersion"] = "v1".into();
        let document = protobuf::document(pod.to_string().as_bytes()).unwrap();
        Self {
            form,
            json: json.into(),
            protobuf: raw(&document).to_vec(),
        }
    }
}

/// The object in a document: field 2, after field 1 with its kind.
fn raw(document: &[u8]) -> &[u8] {
    let rest = document.strip_prefix(b"k8s\0\x0a").unwrap();
    let rest = &rest[1 + usize::from(rest[0])..];
    let rest = rest.strip_prefix(b"\x12").unwrap();
    let head = rest.iter().position(|byte| *byte < 0x80).unwrap() + 1;
    let digits = rest[..head].iter().rev();
    let length = digits.fold(0, |length, digit| length << 7 | usize::from(digit & 0x7f));
    &rest[head..][..length]
}

/// The JSON of a pod, with [`NUMBER`] in the place of its number and `managedFields` that fill it
/// up, as they do in real pods.
fn template(pods: Pods) -> String {
    let time = "2026-11-21T07:56:00Z";
    let ready = match pods {
        Pods::Ready => "True",
        Pods::InFlight => "False",
    };
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastTransitionTime": time});
    let pod = |filling: &str| -> Value {
        json!({
            "metadata": {
                "name": format!("checkout-7c9d8f6b5d-{NUMBER}"),
                "namespace": "shop",
                "uid": format!("6d14ca8c-7af5-46a4-8768-00000{NUMBER}"),
                "resourceVersion": format!("8{NUMBER}"),
                "creationTimestamp": time,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                    "name": "checkout-7c9d8f6b5d", "uid": "00000000-0000-4000-8000-000000000001"}],
                "managedFields": [{"manager": "kubelet", "fieldsV1": {filling: {}}}],
            },
            "spec": {"nodeName": "node-017", "containers": [{"name": "app", "image": "app:1.42.0"}]},
            "status": {
                "phase": "Running",
                "startTime": time,
                "conditions": [condition("PodScheduled", "True"),
                    condition("PodReadyToStartContainers", "True"),
                    condition("Initialized", "True"),
                    condition("ContainersReady", ready), condition("Ready", ready)],
            },
        })
    };
    let bare = pod("").to_string().len();
    let text = pod(&"f".repeat(POD_BYTES - bare)).to_string();
    assert_eq!(text.len(), POD_BYTES);
    text
}
